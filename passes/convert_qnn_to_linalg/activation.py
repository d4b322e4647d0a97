"""logistic, tanh and softmax: table lookups and fixed-point sums on quantized tensors, ``math`` functions on
floats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...dialect import activation_tables as tables
from ...dialect import fixed_point_functions as fixed
from ...dialect.fixed_point import INT32_MAX, INT32_MIN
from ...dialect.types import QuantParams, TensorType
from .arith import by_unsigned, lookup, require_per_tensor, rounding_divide_by_pot, srdhm, to_result, widen
from .builder import Builder, Value
from .core import Call, storage_kind
from .scalar import Scalar


def logistic(builder: Builder, call: Call) -> Value:
    """A 256-entry table (65536 for 16 bits), or ``1 / (1 + exp(-x))`` in f32."""
    return _activation(builder, call, tables.LOGISTIC, lambda x: _one(x) / (_one(x) + (x * -1.0).call("exp")))


def tanh(builder: Builder, call: Call) -> Value:
    """A 256-entry table (65536 for 16 bits), or ``tanh(x)`` in f32."""
    return _activation(builder, call, tables.TANH, lambda x: x.call("tanh"))


def _one(x: Scalar) -> Scalar:
    return x.body.constant(x.kind, 1.0)


def _activation(builder: Builder, call: Call, op: str, function: Callable[[Scalar], Scalar]) -> Value:
    source = call.types[0]
    if not source.is_quantized:
        return builder.elementwise([call.operand(0)], call.result.shape, "f32", function)
    require_per_tensor(source, "the input")
    produced = require_per_tensor(call.result, "the result")
    if source.params.storage.bits == 16:
        produced = tables.natural_params(op, source.params.storage)
    entries = tables.activation_table(op, source.params, produced, call.mode)
    table = builder.constant(by_unsigned(entries, signed=source.params.storage.signed), f"{call.name}_table")
    kind = storage_kind(TensorType((), produced))
    value = builder.elementwise([call.operand(0)], source.shape, kind, lambda x: lookup(table, x))
    return to_result(builder, call, value, TensorType(source.shape, produced))


@dataclass(frozen=True)
class Rows:
    """The loops of an op that works on rows along one axis of the input."""

    builder: Builder
    shape: tuple[int, ...]
    axis: int

    @property
    def _names(self) -> list[str]:
        return [f"d{i}" for i in range(len(self.shape))]

    @property
    def full(self) -> str:
        """Index expressions of a whole tensor."""
        return ", ".join(self._names)

    @property
    def kept(self) -> str:
        """Index expressions of one value per row."""
        return ", ".join(name for i, name in enumerate(self._names) if i != self.axis)

    def reduce(self, x: Value, kind: str, start: float, formula: Callable[[Scalar, Scalar], Scalar]) -> Value:
        """One value per row: ``formula(element, value so far)``."""
        loops = " ".join(f"+{name}" if i == self.axis else name for i, name in enumerate(self._names))
        shape = [extent for i, extent in enumerate(self.shape) if i != self.axis]
        output = (self.builder.filled(shape, kind, start), self.kept)
        return self.builder.generic(loops, [(x, self.full)], [output], formula)[0]

    def map(self, x: Value, rows: list[Value], kind: str, formula: Callable[..., Scalar]) -> Value:
        """``formula(element, row values...)`` of every element."""
        inputs = [(x, self.full), *((row, self.kept) for row in rows)]
        output = (self.builder.empty(self.shape, kind), self.full)
        return self.builder.generic(
            " ".join(self._names), inputs, [output], lambda *scalars: formula(*scalars[:-1])
        )[0]


def softmax(builder: Builder, call: Call) -> Value:
    """Per row: the largest value, exponentials of the distances to it, their sum, the quotients."""
    source = call.types[0]
    rows = Rows(builder, source.shape, call["axis"] % len(source.shape))
    if not source.is_quantized:
        return _softmax_float(rows, call)
    require_per_tensor(source, "the input")
    storage = require_per_tensor(call.result, "the result").storage
    produced = tables.natural_params(tables.SOFTMAX, storage, source.params.storage)
    kernel = _softmax_16bit if source.params.storage.bits == 16 else _softmax_8bit
    values = kernel(rows, call, produced)
    if tables.is_natural(call.result.params, produced):
        return values
    return to_result(builder, call, values, TensorType(source.shape, produced))


def _softmax_float(rows: Rows, call: Call) -> Value:
    x = call.operand(0)
    beta = float(call["beta"])
    largest = rows.reduce(x, "f32", -np.inf, lambda e, best: e.maximum(best))
    exps = rows.map(x, [largest], "f32", lambda e, best: ((e - best) * beta).call("exp"))
    total = rows.reduce(exps, "f32", 0.0, lambda e, acc: acc + e)
    return rows.map(exps, [total], "f32", lambda e, acc: e / acc)


def _distance_exps(rows: Rows, call: Call, exps: Value) -> Value:
    """``exps[max - q]`` of every element, i32."""
    source = call.types[0]
    kind = storage_kind(source)
    signed = source.params.storage.signed
    lowest = int(np.iinfo(f"int{kind[1:]}").min) if signed else 0
    x = call.operand(0)
    largest = rows.reduce(x, kind, lowest, lambda e, best: e.maximum(best, signed=signed))

    def exp(e: Scalar, best: Scalar) -> Scalar:
        distance = widen(best, source.params) - widen(e, source.params)
        return e.body.extract(exps, [distance.to_index()])

    return rows.map(x, [largest], "i32", exp)


def _softmax_8bit(rows: Rows, call: Call, produced: QuantParams) -> Value:
    """Q0.31 exponentials, a Q12.19 sum, its reciprocal by three Newton steps (see
    ``activation_tables.Softmax8``).
    """
    builder = rows.builder
    constants = tables.softmax_8bit(call.types[0].params.scale, float(call["beta"]))
    table = builder.constant(np.asarray(constants.exps, np.int32), f"{call.name}_exp")
    exps = _distance_exps(rows, call, table)
    total = rows.reduce(exps, "i32", 0, lambda e, acc: acc + rounding_divide_by_pot(e, 12))
    storage = produced.storage
    inverse = builder.elementwise([total], total.type.shape, "i32", reciprocal)
    # The reciprocal of a Q12 value has 12 - clz(value) integer bits.
    shift = builder.elementwise(
        [total],
        total.type.shape,
        "i32",
        lambda x: x.body.constant("i32", 12 + 31 - storage.bits) - x.call("ctlz"),
    )

    def quotient(e: Scalar, inverse: Scalar, shift: Scalar) -> Scalar:
        # In i64, since the shift may exceed 31: then every result is the smallest one.
        wide = rounding_divide_by_pot(srdhm(inverse, e).extend("i64"), shift.extend("i64"))
        value = wide + storage.minimum
        return value.clip(storage.minimum, storage.maximum).truncate(storage_kind(TensorType((), produced)))

    return rows.map(exps, [inverse, shift], storage_kind(TensorType((), produced)), quotient)


def reciprocal(x: Scalar) -> Scalar:
    """``fixed_point_functions.reciprocal`` of an i32: the Q0.31 significand, saturated to i32."""
    return reciprocal_of_one_plus((x.extend("i64") << x.call("ctlz").extend("i64")) - (1 << 31))


def reciprocal_of_one_plus(fraction: Scalar) -> Scalar:
    """``1 / (1 + fraction)`` in Q0.31 of an i64 in Q0.31, saturated to i32."""
    half_denominator = ((fraction + (INT32_MAX + 1)) >> 1).truncate("i32")
    seed = srdhm(half_denominator, fixed.MINUS_THIRTY_TWO_SEVENTEENTHS).extend("i64")
    estimate = seed + fixed.FORTY_EIGHT_SEVENTEENTHS
    for _ in range(3):
        error = fraction.body.constant("i32", 1 << 29) - srdhm(half_denominator, estimate)
        correction = srdhm(estimate.truncate("i32"), error).extend("i64") << 2
        estimate = estimate + correction.clip(INT32_MIN, INT32_MAX)
    return (estimate << 1).clip(INT32_MIN, INT32_MAX).truncate("i32")


def _softmax_16bit(rows: Rows, call: Call, produced: QuantParams) -> Value:
    """Q0.15 exponentials from a table, their sum, ``1 / (1 + f)`` by interpolation (see
    ``activation_tables.Softmax16``).
    """
    builder = rows.builder
    constants = tables.softmax_16bit(call.types[0].params.scale, float(call["beta"]))
    table = builder.constant(constants.exps.astype(np.int32), f"{call.name}_exp")
    nodes = builder.constant(constants.one_over_one_plus.astype(np.int32), f"{call.name}_reciprocal")
    exps = _distance_exps(rows, call, table)
    total = rows.reduce(exps, "i32", 0, lambda e, acc: acc + e)

    def inverse(x: Scalar) -> Scalar:
        headroom = x.call("ctlz").extend("i64")
        scaled = (((x.extend("i64") << (headroom - 1)) + (1 << 13)) >> 14) - ((1 << 15) + (1 << 16))
        fraction = scaled.clip(-32768, 32767)
        step = (fraction >> 7) + 256
        base, following = (x.body.extract(nodes, [at.to_index()]) for at in (step, step + 1))
        weight = (fraction & 0x7F).truncate("i32")
        return base + (((following - base) * weight + 64) >> 7)

    shape = total.type.shape
    inverses = builder.elementwise([total], shape, "i32", inverse)
    zeros = builder.elementwise([total], shape, "i32", lambda x: x.call("ctlz"))
    kind = storage_kind(TensorType((), produced))

    def quotient(e: Scalar, inverse: Scalar, zeros: Scalar) -> Scalar:
        shift = zeros.body.constant("i64", 31) - zeros.extend("i64")
        half = zeros.body.constant("i64", 1) << (shift - 1)
        return ((e.extend("i64") * inverse.extend("i64") + half) >> shift).clip(0, 32767).truncate(kind)

    return rows.map(exps, [inverses, zeros], kind, quotient)
