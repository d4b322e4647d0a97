"""One op of ``@main`` into a function of its own."""

from __future__ import annotations

from typing import Any

from ..dialect.mlir import func, ir

# (consumer, producer): the producer moves into the consumer's kernel, where both become one loop nest.
_ABSORBS = frozenset(
    {
        ("tensor.insert_slice", "linalg.copy"),
        ("linalg.copy", "tensor.extract_slice"),
    }
)
_INITIALIZERS = frozenset({"linalg.fill", "linalg.broadcast"})

CONTRACTION = "qnn.contraction"
"""Discardable attribute that tags a contraction and says which kind it is."""


def outline_op(root: Any, before: Any) -> tuple[Any, Any]:
    """Make a private function of ``root`` and put a call of it in its place; returns both.

    The function stands before the op ``before``. Producers that belong to the kernel are cloned into it;
    their originals die when their last reader has gone this way.
    """
    builder = _KernelBuilder(root, before)
    builder.add(root)
    return builder.finish()


class _KernelBuilder:
    def __init__(self, root: Any, before: Any) -> None:
        self.root = root
        with ir.InsertionPoint(before), root.location:
            self.function = func.FuncOp("kernel", ([], []), visibility="private")
        self.block = self.function.add_entry_block()
        self.arguments: list[Any] = []
        self.names: dict[Any, Any] = {}
        """A value of the caller -> the same inside the kernel."""
        self.results: list[Any] = []

    def add(self, op: Any) -> None:
        """Clone ``op`` into the kernel, after the producers that belong there."""
        operation = op.operation
        for operand in operation.operands:
            maker = producer(operand)
            if operand not in self.names and maker is not None and _belongs(maker, operation):
                self.add(maker)
        clone = operation.clone(ip=ir.InsertionPoint(self.block))
        self.results = list(clone.results)
        self.names.update(zip(operation.results, clone.results, strict=True))
        for i, operand in enumerate(operation.operands):
            # Destinations of several computations may be one tensor.empty after cse.
            shared = operand in self.names and _is_empty(operand) and operation.name.startswith("linalg.")
            clone.operands[i] = self.destination(operand) if shared else self.local(operand)
        for region in clone.regions:
            for block in region.blocks:
                self.localize(block, set())

    def finish(self) -> tuple[Any, Any]:
        """Return the results of the op added last, and replace the root with a call."""
        root = self.root.operation
        with ir.InsertionPoint(self.block), root.location:
            func.ReturnOp(self.results)
        result_types = [result.type for result in self.results]
        type_ = ir.FunctionType.get([value.type for value in self.arguments], result_types)
        self.function.attributes["function_type"] = ir.TypeAttr.get(type_)
        with ir.InsertionPoint(root), root.location:
            call = func.CallOp(result_types, "kernel", self.arguments)
        for old, new in zip(root.results, call.operation.results, strict=True):
            old.replace_all_uses_with(new)
        root.erase()
        return self.function, call

    def local(self, value: Any) -> Any:
        """The kernel's name for a value of the caller."""
        if value not in self.names:
            maker = producer(value)
            if maker is not None and maker.name == "arith.constant" and not _is_tensor(value):
                start = ir.InsertionPoint.at_block_begin(self.block)
                self.names[value] = maker.clone(ip=start).results[0]
            elif _is_empty(value):
                self.names[value] = self.destination(value)
            else:
                self.names[value] = self.argument(value)
        return self.names[value]

    def destination(self, empty: Any) -> Any:
        """An argument for a ``tensor.empty`` of this call alone, since cse merges those of several calls."""
        return self.argument(producer(empty).clone(ip=ir.InsertionPoint(self.root)).results[0])

    def argument(self, value: Any) -> Any:
        self.arguments.append(value)
        return self.block.add_argument(value.type, self.root.location)

    def localize(self, block: Any, inside: set[Any]) -> None:
        """Replace what the ops of a nested block capture from outside; ``inside`` holds what it may see."""
        inside.update(block.arguments)
        for op in block.operations:
            for i, operand in enumerate(op.operation.operands):
                if operand not in inside:
                    op.operation.operands[i] = self.local(operand)
            for region in op.operation.regions:
                for nested in region.blocks:
                    self.localize(nested, inside)
            inside.update(op.operation.results)


def own_destinations(call: Any) -> None:
    """Give a call of a kernel ``tensor.empty`` of its own for its destinations: cse merges those of several
    calls.
    """
    operation = call.operation
    for i, operand in enumerate(operation.operands):
        if _is_empty(operand):
            operation.operands[i] = producer(operand).clone(ip=ir.InsertionPoint(operation)).results[0]


def producer(value: Any) -> Any:
    """The op that defines ``value``, or None for a block argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def _is_tensor(value: Any) -> bool:
    return isinstance(value.type, ir.ShapedType)


def _is_empty(value: Any) -> bool:
    maker = producer(value)
    return maker is not None and maker.name == "tensor.empty"


def _belongs(maker: Any, consumer: Any) -> bool:
    """Whether the op ``maker`` is cloned into the kernel of ``consumer``."""
    return maker.name in _INITIALIZERS or (consumer.name, maker.name) in _ABSORBS


def used_once(operation: Any) -> bool:
    """Whether the results of an op have one use together."""
    return sum(1 for result in operation.results for _ in result.uses) == 1
