"""SVDF: a recurrent layer of rank-reduced filters over time.

Every filter keeps the last ``memory`` values of its feature (a product with the input); a unit's output is
the sum over its ``rank`` filters of these, weighted by time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...dialect.types import TensorType
from .float_products import INTEGER_WEIGHTS, floats, product
from .operator_import import CLAMPS, FLOAT, Q16, OperatorImport, kind
from .raw_integers import (
    as_integers,
    bias_as_integers,
    float32_product,
    float32_quotient,
    integers,
    rescaled,
    weights_as_integers,
)
from .registry import importer
from .variables import assign_state, state_value

_INPUT, _FEATURE, _TIME, _BIAS, _STATE = range(5)
_CONV = {"strides": (1, 1), "dilations": (1, 1), "padding": (0, 0, 0, 0)}


@dataclass(frozen=True)
class _Sizes:
    batch: int
    filters: int
    rank: int
    memory: int

    @property
    def units(self) -> int:
        return self.filters // self.rank


@importer("SVDF")
def svdf(op: OperatorImport) -> None:
    """Features, the state moved on by one, and a convolution with one group per unit over the state."""
    op.demand_counts((5,))
    sizes = _sizes(op)
    x = op.type(_INPUT)
    if kind(x) in FLOAT and kind(op.type(_FEATURE)) in {*FLOAT, *INTEGER_WEIGHTS}:
        _float(op, sizes)
    elif kind(x) == "quantized i8" and kind(op.type(_FEATURE)) == "quantized i8":
        _integer(op, sizes)
    else:
        op.unsupported(f"{kind(x)} input with {kind(op.type(_FEATURE))} weights")


def _sizes(op: OperatorImport) -> _Sizes:
    x, feature, time, rank = op.type(_INPUT), op.type(_FEATURE), op.type(_TIME), op.option("rank")
    for type_, what in ((x, "input"), (feature, "feature weights"), (time, "time weights")):
        op.demand_rank(type_, 2, what)
    op.demand_positive(rank=rank)
    filters = feature.shape[0]
    if feature.shape[1] != x.shape[1] or time.shape[0] != filters or filters % rank or not time.shape[1]:
        op.fail(
            f"input {list(x.shape)}, feature weights {list(feature.shape)}, time weights {list(time.shape)} "
            f"and rank {rank} do not fit together"
        )
    return _Sizes(x.shape[0], filters, rank, time.shape[1])


def _state(op: OperatorImport, sizes: _Sizes) -> tuple[Any, TensorType]:
    value, type_ = state_value(op, _STATE)
    if type_.shape != (sizes.batch, sizes.filters * sizes.memory):
        op.fail(f"state of shape {list(type_.shape)}, expected {[sizes.batch, sizes.filters * sizes.memory]}")
    return value, type_


def _moved_on(op: OperatorImport, sizes: _Sizes, feature: Any) -> tuple[Any, TensorType]:
    """The state without its oldest column, with ``feature`` [batch, filters] (in its type) as the newest."""
    value, type_ = _state(op, sizes)

    def shaped(*shape: int) -> TensorType:
        return TensorType(shape, type_.element)

    batch, filters, memory = sizes.batch, sizes.filters, sizes.memory
    columns = op.build("reshape", [feature], shaped(batch, filters, 1), {})
    if memory > 1:
        old = op.build("reshape", [value], shaped(batch, filters, memory), {})
        attributes = {
            "offsets": (0, 0, 1),
            "sizes": (batch, filters, memory - 1),
            "strides": (1, 1, 1),
        }
        kept = op.build("slice", [old], shaped(batch, filters, memory - 1), attributes)
        columns = op.build("concat", [kept, columns], shaped(batch, filters, memory), {"axis": 2})
    moved = op.build("reshape", [columns], type_, {})
    assign_state(op, _STATE, moved)
    return moved, type_


def _integer(op: OperatorImport, sizes: _Sizes) -> None:
    """Features are rescaled and saturated to the state's storage, the sums over time to the result's.

    Both ratios are float32 products and quotients. A fused activation is what the result's range says.
    """
    x, feature, time = op.type(_INPUT), op.type(_FEATURE), op.type(_TIME)
    _, state = _state(op, sizes)
    if (kind(state), kind(time)) not in {("quantized i16",) * 2, ("quantized i8",) * 2}:
        op.unsupported(f"{kind(state)} state with {kind(time)} time weights")
    if kind(state) in Q16 and state.params.zero_point:
        op.fail(f"a state of int16 needs zero point 0, got {state.params.zero_point}")
    y = op.result_type((sizes.batch, sizes.units))
    op.demand_kind(y, {"quantized i8"}, "result")
    value, _ = as_integers(op, op.value(_INPUT), x)
    w = weights_as_integers(op, _FEATURE, op.constant(_FEATURE, "weights"), feature.shape)
    features = (sizes.batch, sizes.filters)
    acc = op.build("fully_connected", [value, w], integers(features, "i32"), {"clamp": ()})
    ratio = float32_quotient(float32_product(x.params.scale, feature.params.scale), state.params.scale)
    moved, _ = _moved_on(op, sizes, rescaled(op, acc, features, ratio, TensorType(features, state.params)))
    units, depth = sizes.units, sizes.rank * sizes.memory
    history, plain = as_integers(op, moved, state)
    image = integers((sizes.batch, 1, 1, units * depth), plain.params.storage.name, plain.params.zero_point)
    history = op.build("reshape", [history], image, {})
    over_time = weights_as_integers(op, _TIME, op.constant(_TIME, "weights"), (units, 1, 1, depth))
    sums = integers((sizes.batch, 1, 1, units), "i32")
    operands = [history, over_time, *bias_as_integers(op, _BIAS)]
    acc = op.build("conv2d", operands, sums, {**_CONV, "groups": units, "clamp": ()})
    acc = op.build("reshape", [acc], integers(y.shape, "i32"), {})
    ratio = float32_quotient(float32_product(state.params.scale, time.params.scale), y.params.scale)
    op.bind(rescaled(op, acc, y.shape, ratio, y), y)


def _float(op: OperatorImport, sizes: _Sizes) -> None:
    """On floats; weights may be integers: then the input is quantized at run time, and the weights over time
    are used as floats.
    """
    activation = op.option("activation")
    if activation not in CLAMPS:
        op.unsupported(f"a fused {activation} activation")
    y = op.result_type((sizes.batch, sizes.units))
    moved, _ = _moved_on(op, sizes, product(op, op.value(_INPUT), [_FEATURE]))
    units, depth = sizes.units, sizes.rank * sizes.memory
    history = op.build("reshape", [moved], floats(sizes.batch, 1, 1, units * depth), {})
    time = _time_weights(op).reshape(units, 1, 1, depth)
    operands = [history, op.constant_value(op.tensor(_TIME), time, floats(*time.shape), "over time")]
    if op.has(_BIAS):
        operands.append(op.value(_BIAS))
    attributes = {**_CONV, "groups": units, "clamp": CLAMPS[activation]}
    sums = op.build("conv2d", operands, floats(sizes.batch, 1, 1, units), attributes)
    op.bind(op.build("reshape", [sums], y, {}), y)


def _time_weights(op: OperatorImport) -> npt.NDArray[np.generic]:
    """As floats."""
    type_, stored = op.type(_TIME), op.constant(_TIME, "weights")
    if kind(type_) in FLOAT:
        return stored
    op.demand_kind(type_, INTEGER_WEIGHTS, "time weights")
    scaled: npt.NDArray[np.generic] = stored.astype(np.float32) * np.float32(type_.params.scale)
    return scaled
