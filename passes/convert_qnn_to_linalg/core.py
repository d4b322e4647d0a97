"""The mechanism of ``convert-qnn-to-linalg``: every function is rebuilt on storage integers, op by op.

Each ``qnn`` op is handed as a :class:`Call` (plain types and attributes, lowered operands) to its entry in
the table of lowerings; any other op is cloned onto the lowered operands. ``qnn.constant`` becomes an
``arith.constant`` only where a lowering asks for the tensor, so weights that are rearranged at compile time
leave no second copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy.typing as npt

from ...dialect.attributes import from_attribute
from ...dialect.constants import elements_array
from ...dialect.ir_types import to_tensor_type
from ...dialect.mlir import ir, quant
from ...dialect.numerics import MODES
from ...dialect.types import DYNAMIC, QuantParams, TensorType
from .builder import Builder, Value

_SEGMENTS = "operandSegmentSizes"

Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class Call:
    """One ``qnn`` op: plain types and attributes, operands as lowered tensors or constant arrays."""

    op: Any
    types: tuple[TensorType, ...]
    result: TensorType
    attributes: Mapping[str, Any]
    mode: str
    _values: ValueMap

    def __getitem__(self, attribute: str) -> Any:
        return self.attributes[attribute]

    @property
    def clamp(self) -> tuple[float, ...]:
        """The fused activation's real bounds, empty if there is none."""
        return tuple(self.attributes["clamp"])

    def operand(self, index: int) -> Value:
        """The lowered tensor of an operand."""
        return self._values.lowered(self.op.operands[index])

    def operands(self) -> list[Value]:
        return [self.operand(index) for index in range(len(self.types))]

    def array(self, index: int) -> Array | None:
        """The stored integers of an operand that is a constant, in its type's dtype; None for any other or
        absent one.
        """
        return self._values.array(self.op.operands[index]) if index < len(self.types) else None

    @cached_property
    def name(self) -> str:
        """What constants derived for this op are called: the name in its location, if it has one."""
        location = self.op.location
        return (
            str(location.name_str)
            if isinstance(location, ir.NameLoc)
            else str(self.op.name).removeprefix("qnn.")
        )


Lowering: TypeAlias = Callable[[Builder, Call], Value]
"""Appends what a ``qnn`` op means and returns the value of its result."""


class ValueMap:
    """Old values to their lowered ones; constants on demand."""

    def __init__(self, block: Any) -> None:
        self._block = block
        self._lowered: dict[Any, Value] = {}
        self._constants: dict[Any, Any] = {}

    def set(self, old: Any, new: Value) -> None:
        self._lowered[old] = new

    def set_constant(self, old: Any, op: Any) -> None:
        self._constants[old] = op

    def knows(self, old: Any) -> bool:
        return old in self._lowered or old in self._constants

    def lowered(self, old: Any) -> Value:
        value = self._lowered.get(old)
        if value is None:
            op = self._constants[old]
            value = Builder(self._block, op.location).constant_attribute(op.attributes["value"])
            self._lowered[old] = value
        return value

    def array(self, old: Any) -> Array | None:
        op = self._constants.get(old)
        if op is None:
            return None
        dtype = to_tensor_type(old.type).dtype
        array = elements_array(op.attributes["value"])
        return array if array.dtype == dtype else array.view(dtype)


def convert_type(type_: Any) -> Any:
    """Quantized tensors and those of unsigned integers to tensors of signless storage integers (4-bit
    storage: one value per byte); other types stay.
    """
    if not isinstance(type_, ir.RankedTensorType):
        return type_
    element = type_.element_type
    if isinstance(element, quant.QuantizedType):
        width = max(8, element.storage_type_integral_width)
    elif isinstance(element, ir.IntegerType) and element.is_unsigned:
        width = element.width
    else:
        return type_
    return ir.RankedTensorType.get(type_.shape, ir.IntegerType.get_signless(width))


def storage_kind(type_: TensorType) -> str:
    """The element type of the lowered tensor: ``i8 i16 i32 i64 f32`` ..."""
    if type_.is_quantized:
        return f"i{max(8, type_.params.storage.bits)}"
    element = str(type_.element)
    return f"i{element[1:]}" if element[0] == "u" else element


def is_signed(type_: TensorType) -> bool:
    """Whether the bits of a stored integer are to be read as a signed number."""
    if isinstance(type_.element, QuantParams):
        return type_.element.storage.signed
    return type_.element != "i1" and type_.element[0] != "u"


def convert_module(module: Any, lowerings: Mapping[str, Lowering]) -> None:
    """Rebuild every ``func.func`` of ``module`` in place.

    What cannot be converted (an op without lowering, a dynamic shape, several blocks ...) is an error
    diagnostic at its location; its function then stays as it was.
    """
    mode = _numerics_mode(module)
    if mode is None:
        return
    for op in list(module.regions[0].blocks[0].operations):
        function = op.operation
        if function.name != "func.func":
            continue
        replacement = _declaration(function)
        try:
            _convert_body(function, replacement, mode, lowerings)
        except _ConversionError as error:
            error.op.location.emit_error(f"'{error.op.name}' op {error}")
            replacement.erase()
        else:
            function.erase()


def _numerics_mode(module: Any) -> str | None:
    """The module's ``qnn.numerics``, ``"reference"`` if it has none; None after an error."""
    attributes = module.attributes
    mode = str(attributes["qnn.numerics"].value) if "qnn.numerics" in attributes else "reference"
    if mode in MODES:
        return mode
    module.location.emit_error(f"qnn.numerics: unknown mode '{mode}', expected one of {', '.join(MODES)}")
    return None


def _declaration(function: Any) -> Any:
    """A function before ``function`` of its name and attributes, with lowered types and no body yet."""
    old_type = function.attributes["function_type"].value
    new_type = ir.FunctionType.get(
        [convert_type(t) for t in old_type.inputs], [convert_type(t) for t in old_type.results]
    )
    attributes = {name: function.attributes[name] for name in function.attributes}
    attributes["function_type"] = ir.TypeAttr.get(new_type)
    point = ir.InsertionPoint(function)
    return ir.Operation.create("func.func", attributes=attributes, regions=1, loc=function.location, ip=point)


def _convert_body(function: Any, replacement: Any, mode: str, lowerings: Mapping[str, Lowering]) -> None:
    blocks = list(function.regions[0].blocks)
    if len(blocks) > 1:
        raise _ConversionError(function, f"has {len(blocks)} blocks, expected structured control flow in one")
    if not blocks:
        return
    arguments = blocks[0].arguments
    block = replacement.regions[0].blocks.append(
        *[convert_type(argument.type) for argument in arguments],
        arg_locs=[argument.location for argument in arguments],
    )
    values = ValueMap(block)
    for old, new in zip(arguments, block.arguments, strict=True):
        values.set(old, new)
    for op in blocks[0].operations:
        _convert_op(op.operation, block, values, mode, lowerings)


def _convert_op(op: Any, block: Any, values: ValueMap, mode: str, lowerings: Mapping[str, Lowering]) -> None:
    if op.name == "qnn.constant":
        values.set_constant(op.results[0], op)
    elif op.name == "quant.scast":  # between a quantized type and its storage type: the same tensor here
        values.set(op.results[0], values.lowered(op.operands[0]))
    elif op.name.startswith("qnn."):
        values.set(op.results[0], _lower(op, Builder(block, op.location), values, mode, lowerings))
    else:
        for old, new in zip(op.results, _clone(op, block, values).results, strict=True):
            values.set(old, new)


def _lower(
    op: Any, builder: Builder, values: ValueMap, mode: str, lowerings: Mapping[str, Lowering]
) -> Value:
    name = op.name.removeprefix("qnn.")
    if name not in lowerings:
        raise _ConversionError(op, "has no lowering to linalg")
    types = tuple(to_tensor_type(operand.type) for operand in op.operands)
    result = to_tensor_type(op.results[0].type)
    for type_ in (*types, result):
        if not type_.is_static:
            shape = ["?" if extent == DYNAMIC else extent for extent in type_.shape]
            raise _ConversionError(
                op, f"has the dynamic shape [{', '.join(map(str, shape))}], expected static ones"
            )
    attributes = {key: from_attribute(op.attributes[key]) for key in op.attributes if key != _SEGMENTS}
    try:
        value = lowerings[name](builder, Call(op, types, result, attributes, mode, values))
    except UnsupportedFormError as error:
        raise _ConversionError(op, str(error)) from error
    expected = convert_type(op.results[0].type)
    assert value.type == expected, f"{op.name}: lowered to {value.type}, expected {expected}"
    return value


def _clone(op: Any, block: Any, values: ValueMap) -> Any:
    """An op of another dialect, on the lowered operands."""
    point = ir.InsertionPoint(block)
    if len(op.regions) == 0:
        return ir.Operation.create(
            op.name,
            results=[convert_type(result.type) for result in op.results],
            operands=[values.lowered(operand) for operand in op.operands],
            attributes={name: op.attributes[name] for name in op.attributes},
            loc=op.location,
            ip=point,
        )
    if any(convert_type(result.type) != result.type for result in op.results):
        raise _ConversionError(op, "has regions and quantized results, which cannot be converted")
    outer: list[tuple[Any, int, Value]] = []
    _collect_outer_operands(op, values, [])  # says what is wrong inside, at its place
    clone = op.clone(point)
    _collect_outer_operands(clone, values, outer)
    for user, index, value in outer:
        user.operands[index] = value
    return clone


def _collect_outer_operands(op: Any, values: ValueMap, found: list[tuple[Any, int, Value]]) -> None:
    """Operands of ``op`` and the ops inside it that are values of the function, with their lowered ones."""
    if op.name.startswith("qnn."):
        raise _ConversionError(op, "inside a region of another op, expected directly in a function")
    for index, operand in enumerate(op.operands):
        if values.knows(operand):
            found.append((op, index, values.lowered(operand)))
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                _collect_outer_operands(inner.operation, values, found)


class UnsupportedFormError(Exception):
    """A lowering's way to say what it does not support; the op's name and location are added."""


class _ConversionError(Exception):
    """``op`` cannot be converted; the message follows the words ``'qnn.x' op``."""

    def __init__(self, op: Any, message: str) -> None:
        super().__init__(message)
        self.op = op
