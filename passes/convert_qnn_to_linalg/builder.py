"""Creates tensor-level ops at one place of a function: constants, elementwise ops, reductions, pads,
reshapes.

Everything is static-shaped. Tensors are MLIR values whose element types are signless integers or floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, TypeAlias

import numpy.typing as npt

from ...dialect.constants import elements_attribute
from ...dialect.mlir import ir
from .scalar import Body, Scalar, scalar_type

Value: TypeAlias = Any
"""An MLIR tensor value."""

Writer: TypeAlias = Callable[[Body, list[Value]], Value]
"""From a kernel's body and its arguments to its result."""

Formula: TypeAlias = Callable[..., "Scalar | Sequence[Scalar]"]
"""From the scalars of a body (inputs, then accumulators) to what it yields."""


class Builder:
    """Appends ops to a block, all with the location of the op being lowered."""

    def __init__(self, block: Any, location: Any) -> None:
        self._point = ir.InsertionPoint(block)
        self.location = location

    def create(
        self,
        name: str,
        types: Sequence[Any],
        operands: Sequence[Value],
        attributes: dict[str, Any] | None = None,
        regions: int = 0,
    ) -> Any:
        return ir.Operation.create(
            name,
            results=types,
            operands=operands,
            attributes=attributes,
            regions=regions,
            loc=self.location,
            ip=self._point,
        )

    def kernel(self, name: str, operands: Sequence[Value], result: Value, write: Writer) -> Value:
        """A call of a new private function of the module, a kernel of its own: what elementwise ops cannot
        say.

        ``operands`` are what it reads and its scratch memory, ``result`` is its destination, both of them
        :meth:`empty`. ``write`` fills the body and returns the tensor that it made of the destination.
        """
        caller = self._point.block.owner
        taken = {
            str(op.attributes["sym_name"].value)
            for op in caller.parent.regions[0].blocks[0]
            if "sym_name" in op.attributes
        }
        symbol = next(title for title in (f"{name}_{i}" for i in count()) if title not in taken)
        arguments = [value.type for value in (*operands, result)]
        attributes = {
            "sym_name": ir.StringAttr.get(symbol),
            "sym_visibility": ir.StringAttr.get("private"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(arguments, [result.type])),
        }
        function = ir.Operation.create(
            "func.func", attributes=attributes, regions=1, loc=self.location, ip=ir.InsertionPoint(caller)
        )
        block = function.regions[0].blocks.append(*arguments, arg_locs=[self.location] * len(arguments))
        body = Body(block, self.location)
        body.yield_values([body.adopt(write(body, list(block.arguments)))], "func.return")
        callee = {"callee": ir.FlatSymbolRefAttr.get(symbol)}
        return self.create("func.call", [result.type], [*operands, result], callee).results[0]

    def constant(self, array: npt.NDArray[Any], name: str = "constant") -> Value:
        """A constant tensor; a large one lives outside the IR text under a key that starts with ``name``."""
        return self.constant_attribute(elements_attribute(array, name))

    def constant_attribute(self, attribute: Any) -> Value:
        return self.create("arith.constant", [attribute.type], [], {"value": attribute}).results[0]

    def empty(self, shape: Sequence[int], kind: str) -> Value:
        """An uninitialized tensor."""
        return self.create("tensor.empty", [tensor_type(shape, kind)], []).results[0]

    def generic(
        self,
        loops: str,
        inputs: Sequence[tuple[Value, str]],
        outputs: Sequence[tuple[Value, str]],
        formula: Formula,
        *,
        tag: str | None = None,
    ) -> list[Value]:
        """A ``linalg.generic``.

        ``loops`` names its loops, outermost first, a ``+`` marking reductions: ``"n y x o +i +j +c"``.

        Every operand comes with its index expressions: ``(x, "n, y * 2 + i, x * 2 + j, c")``. ``formula``
        gets one scalar per input and one per output (the value so far). ``tag`` is the discardable attribute
        ``qnn.contraction``.
        """
        names = loops.split()
        variables = ", ".join(name.lstrip("+") for name in names)
        maps = [
            ir.Attribute.parse(f"affine_map<({variables}) -> ({exprs})>") for _, exprs in (*inputs, *outputs)
        ]
        kinds = ["reduction" if name[0] == "+" else "parallel" for name in names]
        attributes = {
            "indexing_maps": ir.ArrayAttr.get(maps),
            "iterator_types": ir.ArrayAttr.get(
                [ir.Attribute.parse(f"#linalg.iterator_type<{k}>") for k in kinds]
            ),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
        }
        if tag is not None:
            attributes["qnn.contraction"] = ir.StringAttr.get(tag)
        values = [value for value, _ in (*inputs, *outputs)]
        types = [value.type for value, _ in outputs]
        operation = self.create("linalg.generic", types, values, attributes, regions=1)
        scalars = [value.type.element_type for value in values]
        body = Body(
            operation.regions[0].blocks.append(*scalars, arg_locs=[self.location] * len(scalars)),
            self.location,
        )
        results = formula(*body.arguments)
        body.yield_values([results] if isinstance(results, Scalar) else results)
        return list(operation.results)

    def elementwise(
        self, inputs: Sequence[Value], shape: Sequence[int], kind: str, formula: Formula
    ) -> Value:
        """``formula`` of every element, inputs broadcast to ``shape`` as numpy does; ``formula`` gets the
        inputs only.
        """
        names = [f"d{axis}" for axis in range(len(shape))]
        operands = [(value, _broadcast_exprs(value.type.shape, shape)) for value in inputs]
        output = (self.empty(shape, kind), ", ".join(names))
        return self.generic(" ".join(names), operands, [output], lambda *scalars: formula(*scalars[:-1]))[0]

    def transpose(self, source: Value, permutation: Sequence[int]) -> Value:
        """Result dimension ``d`` is the source's dimension ``permutation[d]``; an elementwise op, so that it
        fuses.
        """
        names = [f"d{axis}" for axis in range(len(permutation))]
        read = sorted(names, key=lambda name: permutation[int(name[1:])])
        shape = [source.type.shape[axis] for axis in permutation]
        output = (self.empty(shape, str(source.type.element_type)), ", ".join(names))
        return self.generic(" ".join(names), [(source, ", ".join(read))], [output], lambda x, _: x)[0]

    def broadcast(self, source: Value, shape: Sequence[int], added: Sequence[int]) -> Value:
        """``source`` repeated along the dimensions ``added`` of the result, as ``linalg.broadcast``."""
        attributes = {"dimensions": ir.DenseI64ArrayAttr.get(list(added))}
        return self._filler("linalg.broadcast", source, shape, str(source.type.element_type), attributes)

    def concat(self, parts: Sequence[Value], axis: int, shape: Sequence[int]) -> Value:
        """``tensor.concat``."""
        attributes = {"dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)}
        type_ = tensor_type(shape, str(parts[0].type.element_type))
        return self.create("tensor.concat", [type_], parts, attributes).results[0]

    def filled(self, shape: Sequence[int], kind: str, value: float) -> Value:
        """A tensor of one value, as ``linalg.fill``."""
        attributes = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])}
        return self._filler("linalg.fill", self.scalar(kind, value), shape, kind, attributes)

    def _filler(
        self, name: str, source: Value, shape: Sequence[int], kind: str, attributes: dict[str, Any]
    ) -> Value:
        """A named op whose body yields its only input."""
        empty = self.empty(shape, kind)
        operation = self.create(name, [empty.type], [source, empty], attributes, regions=1)
        type_ = scalar_type(kind)
        body = Body(
            operation.regions[0].blocks.append(type_, type_, arg_locs=[self.location] * 2), self.location
        )
        body.yield_values(body.arguments[:1])
        return operation.results[0]

    def scalar(self, kind: str, value: float) -> Value:
        type_ = scalar_type(kind)
        attribute = (
            ir.FloatAttr.get(type_, value) if kind[0] == "f" else ir.IntegerAttr.get(type_, int(value))
        )
        return self.create("arith.constant", [type_], [], {"value": attribute}).results[0]

    def pad(self, source: Value, low: Sequence[int], high: Sequence[int], value: float) -> Value:
        """``source`` with a border of the stored ``value``; ``source`` itself if the border is empty."""
        if not any((*low, *high)):
            return source
        kind = str(source.type.element_type)
        shape = [a + n + b for a, n, b in zip(low, source.type.shape, high, strict=True)]
        fill = self.scalar(kind, value)
        attributes = {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0]),
            "static_low": ir.DenseI64ArrayAttr.get(list(low)),
            "static_high": ir.DenseI64ArrayAttr.get(list(high)),
        }
        operation = self.create("tensor.pad", [tensor_type(shape, kind)], [source], attributes, regions=1)
        block = operation.regions[0].blocks.append(
            *[ir.IndexType.get()] * len(shape), arg_locs=[self.location] * len(shape)
        )
        ir.Operation.create("tensor.yield", operands=[fill], loc=self.location, ip=ir.InsertionPoint(block))
        return operation.results[0]

    def extract_slice(
        self, source: Value, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
    ) -> Value:
        type_ = tensor_type(sizes, str(source.type.element_type))
        attributes = _slice_attributes(1, offsets, sizes, strides)
        return self.create("tensor.extract_slice", [type_], [source], attributes).results[0]

    def insert_slice(self, source: Value, target: Value, offsets: Sequence[int]) -> Value:
        """``target`` with ``source`` written into it at ``offsets``."""
        attributes = _slice_attributes(2, offsets, source.type.shape, [1] * len(offsets))
        return self.create("tensor.insert_slice", [target.type], [source, target], attributes).results[0]

    def reshape(self, source: Value, shape: Sequence[int]) -> Value:
        """The same elements in row-major order: ``tensor.collapse_shape`` and ``tensor.expand_shape`` as
        needed.
        """
        old, new, kind = list(source.type.shape), list(shape), str(source.type.element_type)
        if old == new:
            return source
        groups = reshape_groups(old, new)
        middle = [math.prod(old[i] for i in left) for left, _ in groups]
        if len(middle) != len(old):
            attributes = {"reassociation": _reassociation([left for left, _ in groups])}
            source = self.create(
                "tensor.collapse_shape", [tensor_type(middle, kind)], [source], attributes
            ).results[0]
        if len(middle) != len(new):
            attributes = {
                "reassociation": _reassociation([right for _, right in groups]),
                "static_output_shape": ir.DenseI64ArrayAttr.get(new),
            }
            source = self.create(
                "tensor.expand_shape", [tensor_type(new, kind)], [source], attributes
            ).results[0]
        return source


def tensor_type(shape: Sequence[int], kind: str) -> Any:
    return ir.RankedTensorType.get(list(shape), scalar_type(kind))


def _broadcast_exprs(shape: Sequence[int], result: Sequence[int]) -> str:
    """Index expressions of an operand of ``shape``: aligned at the last dimension, extent-1 dimensions read
    at 0.
    """
    first = len(result) - len(shape)
    exprs = [f"d{first + i}" if extent == result[first + i] else "0" for i, extent in enumerate(shape)]
    return ", ".join(exprs)


def _slice_attributes(
    tensors: int, offsets: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> dict[str, Any]:
    return {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1] * tensors + [0, 0, 0]),
        "static_offsets": ir.DenseI64ArrayAttr.get(list(offsets)),
        "static_sizes": ir.DenseI64ArrayAttr.get(list(sizes)),
        "static_strides": ir.DenseI64ArrayAttr.get(list(strides)),
    }


def _reassociation(groups: Sequence[Sequence[int]]) -> Any:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get(
        [ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in group]) for group in groups]
    )


def reshape_groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """The shortest runs of dimensions of both shapes that hold equally many elements, in order.

    ``[1, 7, 7, 64] -> [1, 3136]`` gives ``[([0], [0]), ([1, 2, 3], [1])]``. A scalar shape, or an extent of
    0, gives no group or one.
    """
    if not old or not new:
        return []
    if 0 in old:
        return [(list(range(len(old))), list(range(len(new))))]
    groups = []
    i = j = 0
    while i < len(old) and j < len(new):
        left, right = [i], [j]
        a, b = old[i], new[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b:
                a, i = a * old[i], i + 1
                left.append(i - 1)
            else:
                b, j = b * new[j], j + 1
                right.append(j - 1)
        groups.append((left, right))
    # What is left over has extent 1: it joins the last group.
    groups[-1][0].extend(range(i, len(old)))
    groups[-1][1].extend(range(j, len(new)))
    return groups
