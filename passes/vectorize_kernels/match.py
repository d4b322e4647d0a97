"""From a call of a kernel to the plain description of what it computes, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ...dialect.constants import elements_array
from ...dialect.mlir import ir
from ..epilogue import EPILOGUE, read_epilogue
from ..kernel_builder import CONTRACTION, producer
from .spec import ConvSpec, Kind
from .window import NoMatchError, Window, read_window

_WIDENING = {"arith.extsi": True, "arith.extui": False}


@dataclass(frozen=True)
class Match:
    """A call that vector code may replace: what it computes, its constants, its buffers in ``@main``."""

    spec: ConvSpec
    filter: npt.NDArray[Any]
    """As :meth:`.families.Family.pack` takes it."""
    bias: npt.NDArray[np.int32]
    input: Any
    result: Any


@dataclass(frozen=True)
class Surroundings:
    """What has to be known of ``@main`` and the module beyond the call."""

    globals: Mapping[str, Any]
    """Name -> ``memref.global``."""
    spare: frozenset[Any]
    """Buffers of ours: allocations that are not returned."""


def contraction_in(kernel: Any) -> Any:
    """The tagged contraction of a kernel function, or None."""
    for op in kernel.regions[0].blocks[0].operations:
        if CONTRACTION in op.operation.attributes:
            return op.operation
    return None


def match_call(call: Any, kernel: Any, around: Surroundings) -> Match:
    """Describe ``call`` of ``kernel``, which holds a contraction.

    Raises:
        NoMatchError: it is something else than bias, contraction of 8-bit values and rescale, on constants.
    """
    start, contraction, epilogue = _steps(kernel)
    block = kernel.regions[0].blocks[0]
    passed = {argument: call.operands[i] for i, argument in enumerate(block.arguments)}
    x, w, *zero_points = list(contraction.operands)[:-1]
    acc, out = contraction.operands[len(contraction.operands) - 1], epilogue.operands[-1]
    if start.operands[1] != acc or epilogue.operands[0] != acc:
        raise NoMatchError("its steps work on different accumulators")
    if len(list(acc.uses)) != 3:
        raise NoMatchError("its accumulator is read by something else")
    if any(value not in passed for value in (x, w, acc, out)):
        raise NoMatchError("it works on a part of its arguments")
    _require_bytes(x, w, out)
    window = read_window(contraction)
    channels = window.out_channels
    constants = _Constants(passed, around)
    filter_, bias = constants.array(w, "filter"), _bias(start, constants, channels)
    body = _read_body(contraction, [constants.array(value, "filter zero point") for value in zero_points])
    rescale, storage = read_epilogue(epilogue.attributes[EPILOGUE])
    if len(rescale.scales) not in (1, channels) or len(body.filter_zero_points) not in (1, channels):
        raise NoMatchError("its parameters belong to another axis than the channels")
    spec = _spec(window, body, rescale, storage, _root(passed[x]) in around.spare)
    return Match(
        spec,
        _in_order(filter_ if body.filter_signed else filter_.view(np.uint8), window),
        bias,
        passed[x],
        passed[out],
    )


def _spec(window: Window, body: _Body, rescale: Any, storage: Any, slack: bool) -> ConvSpec:
    return ConvSpec(
        kind=cast(Kind, window.kind),
        batch=window.batch,
        in_height=window.in_height,
        in_width=window.in_width,
        in_channels=window.in_channels,
        out_height=window.out_height,
        out_width=window.out_width,
        out_channels=window.out_channels,
        kernel_height=window.kernel_height,
        kernel_width=window.kernel_width,
        strides=window.strides,
        dilations=window.dilations,
        input_signed=body.input_signed,
        filter_signed=body.filter_signed,
        filter_zero_points=body.filter_zero_points,
        result_bits=storage.bits,
        result_signed=storage.signed,
        rescale=rescale,
        input_slack=slack,
    )


def _steps(kernel: Any) -> tuple[Any, Any, Any]:
    """The three ops of a kernel that is bias, contraction, rescale."""
    block = kernel.regions[0].blocks[0]
    steps = [op.operation for op in block.operations if op.operation.name != "arith.constant"]
    names = [step.name for step in steps]
    if len(steps) != 4 or names[0] not in ("linalg.fill", "linalg.broadcast") or names[3] != "func.return":
        raise NoMatchError("it is not bias, contraction and rescale alone")
    if CONTRACTION not in steps[1].attributes or EPILOGUE not in steps[2].attributes:
        raise NoMatchError("its rescale is not known in plain numbers")
    return steps[0], steps[1], steps[2]


def _require_bytes(*buffers: Any) -> None:
    for buffer in buffers:
        if str(buffer.type.element_type) != "i8":
            raise NoMatchError(f"it works on {buffer.type.element_type}, not on 8-bit values alone")


class _Constants:
    """Data behind the arguments of a kernel."""

    def __init__(self, passed: Mapping[Any, Any], around: Surroundings) -> None:
        self._passed = passed
        self._globals = around.globals

    def array(self, argument: Any, what: str) -> npt.NDArray[Any]:
        value = self._passed.get(argument)
        maker = None if value is None else producer(value)
        if maker is None or maker.name != "memref.get_global":
            raise NoMatchError(f"its {what} is not a constant")
        name = ir.FlatSymbolRefAttr(maker.attributes["name"]).value
        return elements_array(self._globals[name].attributes["initial_value"])


def _bias(start: Any, constants: _Constants, channels: int) -> npt.NDArray[np.int32]:
    if start.name == "linalg.fill":
        value = _number(start.operands[0])
        if value is None:
            raise NoMatchError("its bias is not a constant")
        return np.full(channels, value, np.int32)
    bias = constants.array(start.operands[0], "bias")
    rank = start.operands[1].type.rank
    if bias.shape != (channels,) or list(start.attributes["dimensions"]) != list(range(rank - 1)):
        raise NoMatchError("its bias belongs to another axis than the channels")
    return bias.astype(np.int32, copy=False)


@dataclass(frozen=True)
class _Body:
    """The scalar arithmetic of a contraction."""

    input_signed: bool
    filter_signed: bool
    filter_zero_points: tuple[int, ...]


def _read_body(contraction: Any, zero_points: Sequence[npt.NDArray[Any]]) -> _Body:
    """Read ``acc + ext(x) * (ext(w) - zero_point)``, the zero point a constant or the third operand."""
    block = contraction.regions[0].blocks[0]
    x, w, *rest = list(block.arguments)
    acc = rest[-1]
    total = _made_by(block.operations[len(block.operations) - 1].operands[0], "arith.addi")
    products = [value for value in total.operands if value != acc]
    if len(products) != 1:
        raise NoMatchError("it does not sum products")
    factors = [_factor(value) for value in _made_by(products[0], "arith.muli").operands]
    by_operand = {value: (signed, offset) for signed, value, offset in factors}
    if set(by_operand) != {x, w}:
        raise NoMatchError("it does not multiply an input with a filter")
    (input_signed, input_offset), (filter_signed, offset) = by_operand[x], by_operand[w]
    if input_offset is not None:
        raise NoMatchError("it subtracts the input's zero point itself")
    if offset is None:
        values: tuple[int, ...] = (0,)
    elif isinstance(offset, int):
        values = (offset,)
    elif len(zero_points) == 1 and offset == rest[0]:
        values = tuple(int(value) for value in zero_points[0].reshape(-1))
    else:
        raise NoMatchError("it subtracts something else than a zero point")
    return _Body(input_signed, filter_signed, values)


def _factor(value: Any) -> tuple[bool, Any, Any]:
    """Of ``ext(v) - z``: whether it extends the sign, ``v``, and ``z`` (a number, a value, or None)."""
    maker = producer(value)
    offset = None
    if maker is not None and maker.name in ("arith.subi", "arith.addi"):
        value, other = maker.operands
        number = _number(other)
        if maker.name == "arith.subi":
            offset = other if number is None else number
        else:  # canonical form of subtracting a constant
            offset = "unknown" if number is None else -number
        maker = producer(value)
    if maker is None or maker.name not in _WIDENING:
        raise NoMatchError("it does not multiply stored integers")
    return _WIDENING[maker.name], maker.operands[0], offset


def _made_by(value: Any, name: str) -> Any:
    maker = producer(value)
    if maker is None or maker.name != name:
        raise NoMatchError("it does not sum products")
    return maker


def _number(value: Any) -> int | None:
    maker = producer(value)
    if maker is None or maker.name != "arith.constant":
        return None
    return int(ir.IntegerAttr(maker.attributes["value"]).value)


def _in_order(filter_: npt.NDArray[Any], window: Window) -> npt.NDArray[Any]:
    """``[O, KH, KW, C]``; depthwise ``[KH, KW, O]``."""
    if window.kind == "matmul":
        return filter_.reshape(window.out_channels, 1, 1, window.in_channels)
    return filter_


def _root(value: Any) -> Any:
    """The buffer behind a view of it."""
    maker = producer(value)
    while maker is not None and maker.name.startswith("memref.") and len(maker.operands):
        value = maker.operands[0]
        maker = producer(value)
    return value


def surroundings(module: Any, entry: Any) -> Surroundings:
    """The globals of ``module`` and the allocations of ``entry`` that stay ours."""
    block = entry.regions[0].blocks[0]
    globals_ = {
        ir.StringAttr(op.operation.attributes["sym_name"]).value: op.operation
        for op in module.regions[0].blocks[0].operations
        if op.operation.name == "memref.global"
    }
    returned = {_root(value) for value in block.operations[len(block.operations) - 1].operands}
    allocated = {op.operation.results[0] for op in block.operations if op.operation.name == "memref.alloc"}
    return Surroundings(globals_, frozenset(allocated - returned))
