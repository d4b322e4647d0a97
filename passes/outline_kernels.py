"""outline-kernels: every computation becomes a private function, ``@main`` a flat list of calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import ir
from .entry import entry_function, symbol
from .kernel_builder import CONTRACTION, outline_op, own_destinations, producer, used_once
from .registry import ModulePass, register

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
        operations = module.regions[0].blocks[0].operations
        taken = {symbol(op) for op in operations if "sym_name" in op.operation.attributes}
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
            elif op.operation.name == "func.call":
                own_destinations(op)
            elif op.operation in barriers or (not self.before_fusion and op.operation.name not in _STAYS):
                kind = _kind(op)
                kernel, call = outline_op(op, before)
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
            size = 1 + sum(sizes.get(producer(operand), 0) for operand in operation.operands)
            if size > limit:
                barriers.add(operation)
            elif used_once(operation):
                sizes[operation] = size
    return barriers


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
