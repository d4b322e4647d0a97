"""Counted loops: an ``scf.for`` whose body works on one slice of each sequence at a time.

Sequences lie along their first dimension. The body reads a slice with ``tensor.extract_slice`` at the loop's
index, or from behind at ``count - 1 - index``, and writes one with ``tensor.insert_slice`` into a value that
the loop carries for nothing else, and that starts as ``tensor.empty``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ..dialect.mlir import ir
from ..errors import PipelineError


@dataclass(frozen=True)
class Loop:
    """A loop without its slices. ``arguments`` of the body are the values carried, then a slice of each
    sequence that is read; it passes on the values carried, then a slice of each sequence that is written.

    ``operands`` and ``results`` are the same with whole sequences, results without those that are read.
    """

    count: int
    carried: int
    arguments: list[Any]
    operands: list[Any]
    results: list[Any]
    reads: list[int]
    writes: list[int]
    """Directions, 1 or -1, of each sequence."""


def loop_attribute(loop: Loop) -> Any:
    """``qnn.loop``: how often, how many values are carried, and the directions of the sequences."""
    width = ir.IntegerType.get_signless(64)
    numbers = {"count": loop.count, "carried": loop.carried}
    return ir.DictAttr.get(
        {name: ir.IntegerAttr.get(width, value) for name, value in numbers.items()}
        | {"reads": ir.DenseI64ArrayAttr.get(loop.reads), "writes": ir.DenseI64ArrayAttr.get(loop.writes)}
    )


def take_slices(op: Any) -> Loop:
    """Make slices that the body reads arguments of its block, and let it pass on those that it writes.

    Raises:
        PipelineError: the loop is not of this kind.
    """
    lower, upper, step, *first = op.operands
    count = _number(upper, op)
    if _number(lower, op) != 0 or _number(step, op) != 1 or count < 1:
        _fail(op, "its bounds are not 0 to a constant by 1")
    block = op.regions[0].blocks[0]
    index, *carried = list(block.arguments)
    reader = _Slices(op, index, count)
    sequences, slices, reads = reader.reads(block)
    end = block.operations[len(block.operations) - 1].operation
    kept = [k for k, value in enumerate(end.operands) if not reader.is_insert(value)]
    written = [k for k in range(len(carried)) if k not in kept]
    inserts = [end.operands[k].owner.operation for k in written]
    writes = [reader.direction_into(carried[k], insert) for k, insert in zip(written, inserts, strict=True)]
    passed = [end.operands[k] for k in kept] + [insert.operands[0] for insert in inserts]
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("scf.yield", operands=passed)
    for unread in (end, *inserts):
        unread.erase()
    reader.drop_positions()
    return Loop(
        count,
        len(kept),
        [carried[k] for k in kept] + slices,
        [first[k] for k in kept] + sequences,
        [op.results[k] for k in (*kept, *written)],
        reads,
        writes,
    )


class _Slices:
    """Slices at the index of a loop."""

    def __init__(self, op: Any, index: Any, count: int) -> None:
        self._op, self._index, self._count = op, index, count

    def reads(self, block: Any) -> tuple[list[Any], list[Any], list[int]]:
        """Replace slices of sequences by arguments; gives the sequences, these, and directions."""
        sequences, slices, directions = [], [], []
        for operation in [view.operation for view in block.operations]:
            if operation.name != "tensor.extract_slice" or len(operation.operands) == 1:
                continue
            sequence, *offsets = operation.operands
            directions.append(self._direction(operation, offsets, sequence.type, operation.results[0].type))
            argument = block.add_argument(operation.results[0].type, operation.location)
            operation.results[0].replace_all_uses_with(argument)
            operation.erase()
            sequences.append(sequence)
            slices.append(argument)
        return sequences, slices, directions

    @staticmethod
    def is_insert(value: Any) -> bool:
        return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "tensor.insert_slice"

    def direction_into(self, carried: Any, insert: Any) -> int:
        """Of a sequence that is written; nothing else may read it."""
        source, target, *offsets = insert.operands
        if target != carried or len(list(carried.uses)) != 1 or len(list(insert.results[0].uses)) != 1:
            _fail(self._op, "a sequence that it writes is read")
        return self._direction(insert, offsets, target.type, source.type)

    def _direction(self, operation: Any, offsets: Sequence[Any], type_: Any, part: Any) -> int:
        """Forwards or backwards, of a slice that is one step of a sequence."""
        rank = len(type_.shape)
        starts, sizes, strides = (
            list(ir.DenseI64ArrayAttr(operation.attributes[f"static_{name}"]))
            for name in ("offsets", "sizes", "strides")
        )
        whole = starts[1:] == [0] * (rank - 1) and sizes == [1, *type_.shape[1:]] and strides == [1] * rank
        whole = whole and list(part.shape) == list(type_.shape[1:])
        if type_.shape[0] != self._count or not whole or len(offsets) != 1:
            _fail(self._op, f"'{operation.name}' takes no single step of a sequence of {self._count}")
        if offsets[0] == self._index:
            return 1
        owner = offsets[0].owner
        if not isinstance(owner, ir.Block) and owner.operation.name == "arith.subi":
            last, index = owner.operation.operands
            if index == self._index and _number(last, self._op) == self._count - 1:
                return -1
        _fail(self._op, f"'{operation.name}' is not at the loop's index")

    def drop_positions(self) -> None:
        """Erase the positions from behind, which nobody uses any more."""
        for use in list(self._index.uses):
            owner = use.owner.operation
            if owner.name != "arith.subi" or list(owner.results[0].uses):
                _fail(self._op, "it uses its index for something else than slices")
            owner.erase()


def _number(value: Any, op: Any) -> int:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        _fail(op, "its bounds are no constants")
    return int(ir.IntegerAttr(owner.operation.attributes["value"]).value)


def _fail(op: Any, what: str) -> NoReturn:
    raise PipelineError(f"{op.location}: error: '{op.name}': {what}")
