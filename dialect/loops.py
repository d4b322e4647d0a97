"""Counted loops over sequences in upstream's ops: an ``scf.for`` that reads and writes one slice at a time.

A sequence lies along the first dimension of a tensor. What a body does with these ops only is what
``passes/counted_loops.py`` understands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .ir_types import to_ir_type
from .mlir import ir
from .types import TensorType


class CountedLoop:
    """``count`` steps that carry values of ``types`` from ``first``, and that write one slice of a sequence
    each.

    The body is built at :attr:`point`, from :attr:`carried`; :meth:`end` closes it.
    """

    def __init__(
        self,
        count: int,
        first: Sequence[Any],
        types: Sequence[TensorType],
        slice_type: TensorType,
        location: Any,
        point: Any,
    ) -> None:
        self._location, self._count, self._slice = location, count, slice_type
        sequence = to_ir_type(TensorType((count, *slice_type.shape), slice_type.element))
        (empty,) = self._create("tensor.empty", [], [sequence], point)
        bounds = [self._index(number, point) for number in (0, count, 1)]
        carried = [to_ir_type(type_) for type_ in types]
        self._op = ir.Operation.create(
            "scf.for",
            results=[*carried, sequence],
            operands=[*bounds, *first, empty],
            regions=1,
            loc=location,
            ip=point,
        )
        arguments = [ir.IndexType.get(), *carried, sequence]
        block = self._op.regions[0].blocks.append(*arguments, arg_locs=[location] * len(arguments))
        self.before: Any = ir.InsertionPoint(self._op)
        """In front of the loop."""
        self.point: Any = ir.InsertionPoint(block)
        index, *self.carried = block.arguments
        self._written = self.carried.pop()
        self._time = self._position = index

    def run_backwards(self) -> None:
        """Read and write from the end of the sequences."""
        last = self._index(self._count - 1, self.point)
        (self._position,) = self._create("arith.subi", [last, self._time], [ir.IndexType.get()])

    def slice_of(self, sequence: Any, type_: TensorType) -> Any:
        """This step's part of a sequence, without the dimension of time."""
        attributes = _slice_attributes(type_.shape, [1, 1])
        return self._create(
            "tensor.extract_slice", [sequence, self._position], [to_ir_type(type_)], attributes=attributes
        )[0]

    def end(self, carried: Sequence[Any], written: Any) -> list[Any]:
        """Close the body; gives what the loop carried at last, then the sequence that it wrote."""
        attributes = _slice_attributes(self._slice.shape, [1, 1, 1])
        operands = [written, self._written, self._position]
        (sequence,) = self._create(
            "tensor.insert_slice", operands, [self._written.type], attributes=attributes
        )
        self._create("scf.yield", [*carried, sequence], [])
        return list(self._op.results)

    def _index(self, number: int, point: Any) -> Any:
        attributes = {"value": ir.IntegerAttr.get(ir.IndexType.get(), number)}
        return self._create("arith.constant", [], [ir.IndexType.get()], point, attributes)[0]

    def _create(
        self,
        name: str,
        operands: Sequence[Any],
        results: Sequence[Any],
        point: Any = None,
        attributes: dict[str, Any] | None = None,
    ) -> list[Any]:
        op = ir.Operation.create(
            name,
            results=list(results),
            operands=list(operands),
            attributes=attributes or {},
            loc=self._location,
            ip=point or self.point,
        )
        return list(op.results)


def _slice_attributes(shape: Sequence[int], before: Sequence[int]) -> dict[str, Any]:
    """Of one step along a dimension before ``shape``; ``before``: one per operand up to the offset."""
    rank = len(shape)
    numbers = {
        "offsets": [ir.ShapedType.get_dynamic_size(), *[0] * rank],
        "sizes": [1, *shape],
        "strides": [1] * (rank + 1),
    }
    attributes: dict[str, Any] = {
        f"static_{name}": ir.DenseI64ArrayAttr.get(values) for name, values in numbers.items()
    }
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([*before, 0, 0])
    return attributes
