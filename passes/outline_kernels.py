"""outline-kernels: every computation becomes a private function, ``@main`` a flat list of calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import func, ir
from .entry import entry_function, functions, symbol
from .registry import ModulePass, register

CONTRACTION = "qnn.contraction"
"""Discardable attribute that tags a contraction and says which kind it is."""

# What stays in @main: it costs nothing at run time, or is a call already.
_STAYS = frozenset(
    {
        "arith.constant",
        "func.call",
        "func.return",
        "tensor.cast",
        "tensor.collapse_shape",
        "tensor.empty",
        "tensor.expand_shape",
        "tensor.reshape",
    }
)
# (consumer, producer): the producer moves into the consumer's kernel, where both become one loop nest.
_ABSORBS = frozenset(
    {
        ("tensor.insert_slice", "linalg.copy"),
        ("linalg.copy", "tensor.extract_slice"),
    }
)
_INITIALIZERS = frozenset({"linalg.fill", "linalg.broadcast"})


@register
@dataclass(frozen=True)
class OutlineKernelsPass(ModulePass):
    """Move every linalg op of ``@main``, with what initializes its destination, into a private function.

    A kernel takes all it reads, constants too, and its destinations as arguments, so that equal kernels are
    equal functions and one buffer plan covers the network.

    With ``before-fusion`` just those ops move that elementwise fusion, which runs next, must not touch: ops
    that reduce (contractions, pools, means), since it would pull their producers into the reduction and
    recompute them; and one op in every ``fusion-limit`` of a chain of elementwise ops, since a long chain
    would become one huge op, in quadratic time.
    """

    name: ClassVar[str] = "outline-kernels"
    before_fusion: bool = False
    fusion_limit: int = 4

    def run(self, module: Any) -> None:
        taken = {symbol(function) for function in functions(module)}
        entry = entry_function(module)
        if entry is not None:
            kernels = list(self._outline(entry))
            _name(reversed(kernels), taken)

    def _outline(self, function: Any) -> Iterator[tuple[str, Any, Any]]:
        """Outline bottom-up, so that an initializer is dead once its last user has taken a clone of it."""
        operations = list(function.regions[0].blocks[0].operations)
        barriers = _fusion_barriers(operations, self.fusion_limit) if self.before_fusion else set()
        before = function  # kernels stand before @main, in the order of their calls
        for op in reversed(operations):
            if op.operation.name == "func.return":
                continue
            if not any(True for result in op.operation.results for _ in result.uses):
                op.operation.erase()
            elif op.operation in barriers or (not self.before_fusion and op.operation.name not in _STAYS):
                kind = _kind(op)
                kernel, call = _outline_group(op, before)
                yield kind, kernel, call
                before = kernel


def _fusion_barriers(operations: Sequence[Any], limit: int) -> set[Any]:
    """The ops to keep out of elementwise fusion."""
    barriers = set()
    sizes: dict[Any, int] = {}  # op -> how many ops fusion would merge into it
    for op in operations:
        operation = op.operation
        if CONTRACTION in operation.attributes or _reduces(op):
            barriers.add(operation)
        elif operation.name == "linalg.generic":
            size = 1 + sum(sizes.get(_producer(operand), 0) for operand in operation.operands)
            if size > limit:
                barriers.add(operation)
            elif _used_once(operation):
                sizes[operation] = size
    return barriers


def _used_once(operation: Any) -> bool:
    return sum(1 for result in operation.results for _ in result.uses) == 1


def _reduces(op: Any) -> bool:
    attributes = op.operation.attributes
    return "iterator_types" in attributes and "reduction" in str(attributes["iterator_types"])


def _kind(op: Any) -> str:
    if CONTRACTION in op.operation.attributes:
        return str(ir.StringAttr(op.operation.attributes[CONTRACTION]).value)
    if op.operation.name == "linalg.generic":
        return "reduction" if _reduces(op) else "elementwise"
    return str(op.operation.name).split(".")[-1]


def _name(kernels: Iterable[tuple[str, Any, Any]], taken: set[str]) -> None:
    """``conv2d_0``, ``elementwise_1`` ...: the number is the position among the outlined kernels."""
    counts: defaultdict[str, int] = defaultdict(int)
    for kind, kernel, call in kernels:
        while (name := f"{kind}_{counts[kind]}") in taken:
            counts[kind] += 1
        taken.add(name)
        kernel.attributes["sym_name"] = ir.StringAttr.get(name)
        call.operation.attributes["callee"] = ir.FlatSymbolRefAttr.get(name)


def _outline_group(root: Any, before: Any) -> tuple[Any, Any]:
    """Build the kernel of ``root`` and put a call in its place; the originals of what it cloned die by
    themselves.
    """
    arguments, types = [], []
    with ir.InsertionPoint(before), root.location:
        kernel = func.FuncOp("kernel", ([], []), visibility="private")
    block = kernel.add_entry_block()
    mapping: dict[Any, Any] = {}

    def argument(value: Any) -> Any:
        arguments.append(value)
        types.append(value.type)
        return block.add_argument(value.type, root.location)

    def move(op: Any) -> Any:
        for operand in op.operation.operands:
            producer = _producer(operand)
            if operand not in mapping and producer is not None and _belongs(producer, op):
                move(producer)
        clone = op.operation.clone(ip=ir.InsertionPoint(block))
        mapping.update(zip(op.operation.results, clone.results, strict=True))
        localize_operands(clone, op)
        return clone

    def local(value: Any) -> Any:
        """The kernel's name for a value of the caller."""
        if value not in mapping:
            producer = _producer(value)
            if producer is not None and producer.name == "arith.constant" and not _is_tensor(value):
                start = ir.InsertionPoint.at_block_begin(block)
                mapping[value] = producer.clone(ip=start).results[0]
            elif _is_empty(value):
                mapping[value] = argument(_fresh(producer, root))
            else:
                mapping[value] = argument(value)
        return mapping[value]

    def localize_operands(clone: Any, original: Any) -> None:
        operands = list(original.operation.operands)
        for i, operand in enumerate(operands):
            if operand in operands[:i] and _is_empty(operand):  # two destinations, one value after cse
                clone.operands[i] = argument(_fresh(_producer(operand), root))
            else:
                clone.operands[i] = local(operand)
        inside: set[Any] = set()
        for region in clone.regions:
            for nested_block in region.blocks:
                _localize(nested_block, inside, local)

    clone = move(root)
    with ir.InsertionPoint(block), root.location:
        func.ReturnOp(list(clone.results))
    result_types = [r.type for r in clone.results]
    kernel.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, result_types))
    with ir.InsertionPoint(root), root.location:
        call = func.CallOp(result_types, "kernel", arguments)
    for old, new in zip(root.operation.results, call.operation.results, strict=True):
        old.replace_all_uses_with(new)
    root.operation.erase()
    return kernel, call


def _producer(value: Any) -> Any:
    """The op that defines ``value``, or None for a block argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def _is_tensor(value: Any) -> bool:
    return isinstance(value.type, ir.ShapedType)


def _is_empty(value: Any) -> bool:
    producer = _producer(value)
    return producer is not None and producer.name == "tensor.empty"


def _fresh(empty: Any, before: Any) -> Any:
    """A ``tensor.empty`` of this call alone: equal ones are one value after cse, but destinations must not be
    shared.
    """
    return empty.clone(ip=ir.InsertionPoint(before)).results[0]


def _belongs(producer: Any, consumer: Any) -> bool:
    """Whether ``producer`` is cloned into the kernel of ``consumer``."""
    if producer.name in _INITIALIZERS:
        return True
    return (consumer.operation.name, producer.name) in _ABSORBS


def _localize(block: Any, inside: set[Any], local: Any) -> None:
    """Replace what the ops of ``block`` capture from outside of it."""
    inside.update(block.arguments)
    for op in block.operations:
        for i, operand in enumerate(op.operation.operands):
            if operand not in inside:
                op.operation.operands[i] = local(operand)
        for region in op.operation.regions:
            for nested in region.blocks:
                _localize(nested, inside, local)
        inside.update(op.operation.results)
