"""Relabelling 8-bit storage, i8 <-> u8: what changes, and the proof that an op's numbers do not.

A relabelled tensor has stored values, zero point and bounds 128 higher (or lower) and the same scale, and so
means the same reals. Whether an op notices depends on its rounding rule: :func:`what_differs` finds out from
the constants of the op's arithmetic, or by trying every stored value with the numpy meaning. Nothing here
knows MLIR.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect import activation_tables as tables
from ..dialect import fixed_point as fx
from ..dialect import resampling, rescale
from ..dialect.meaning import evaluate
from ..dialect.numerics import Rounding
from ..dialect.types import QuantParams, Storage, TensorType
from .stored_maps import Step, follow, has_table, shifted, stored_values

DISTANCE = 128
"""From the stored value of an i8 label to that of the u8 label."""
MAX_SUMS = 1 << 20
"""As many sums of a mean are tried one by one."""


@dataclass(frozen=True)
class Signature:
    """An op as its numbers depend on it: types of operands and result, attributes, numerics mode."""

    op: str
    types: tuple[TensorType, ...]
    result: TensorType
    attributes: Mapping[str, Any]
    mode: str


def is_labelled(type_: TensorType) -> bool:
    """Whether a tensor has an i8 or u8 label that can change: 8-bit, with one scale or one per channel."""
    return type_.is_quantized and type_.params.storage.bits == 8 and not type_.params.block_sizes


def relabelled(type_: TensorType, storage: str | None) -> TensorType:
    """``type_`` under the label ``storage`` (i8, u8; None: as it is); the same type if it has no label."""
    if storage is None or not is_labelled(type_) or type_.params.storage.name == storage:
        return type_
    params, by = type_.params, DISTANCE if storage == "u8" else -DISTANCE
    bounds = params.storage.minimum + by, params.storage.maximum + by
    moved = Storage(8, storage == "i8", *bounds)
    points = tuple(point + by for point in params.zero_points)
    return TensorType(type_.shape, replace(params, storage=moved, zero_points=points))


def relabelled_values(stored: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Stored values under the other label, bits of int8 or uint8 in and out: the highest bit flips."""
    # asarray: of an array of rank 0, numpy makes a scalar
    flipped: npt.NDArray[np.generic] = np.asarray(stored.view(np.uint8) ^ np.uint8(0x80)).view(stored.dtype)
    return flipped


def distance(before: TensorType, after: TensorType) -> int:
    """What relabelling added to each stored value."""
    return after.params.storage.minimum - before.params.storage.minimum if before.is_quantized else 0


def with_product_in_filter(input: TensorType, filter: TensorType) -> TensorType:
    """``filter`` (relabelled from u8) with scales that carry the rounding of the uint8 rule.

    A conv2d with a uint8 filter multiplies by ``f32(s_x * s_w) / s_y``, one with an int8 filter by ``s_x *
    s_w / s_y``. With the filter scale ``f32(s_x * s_w) / s_x``, which is within 2^-24 of ``s_w``, the second
    gives the number of the first.
    """
    s_x = input.params.scale
    scales = tuple(fx.float32(s_x * s_w) / s_x for s_w in filter.params.scales)
    return TensorType(filter.shape, replace(filter.params, scales=scales))


def what_differs(before: Signature, after: Signature) -> str | None:
    """Why an op would give other numbers under other labels; None if every result is the same, relabelled."""
    return _PROOFS[before.op](before, after)


def _nothing(before: Signature, after: Signature) -> None:
    """Stored values only enter relative to the zero point, or are compared with each other."""


def _contraction(before: Signature, after: Signature) -> str | None:
    derive = rescale.conv2d if before.op == "conv2d" else rescale.fully_connected
    one, other = (
        derive(s.types[0], s.types[1], s.result, s.attributes["clamp"], s.mode, *s.types[2:])
        for s in (before, after)
    )
    return _rescale_differs(one.rescale, other.rescale, distance(before.result, after.result))


def _batch_matmul(before: Signature, after: Signature) -> str | None:
    one, other = (rescale.batch_matmul(s.types[0], s.types[1], s.result, s.mode) for s in (before, after))
    return _rescale_differs(one.rescale, other.rescale, distance(before.result, after.result))


def _rescale_differs(before: rescale.Rescale, after: rescale.Rescale, by: int) -> str | None:
    expected = shifted(before, by)
    if (expected.zero_point, expected.low, expected.high) != (after.zero_point, after.low, after.high):
        return f"its clamp would be [{after.low}, {after.high}], expected [{expected.low}, {expected.high}]"
    if expected.rounding is not after.rounding:
        return f"its rounding would change from {expected.rounding.value} to {after.rounding.value}"
    if expected.rounding in (Rounding.DOUBLE, Rounding.SINGLE_HALF_UP, Rounding.Q15_HALF_UP):
        same = expected.multipliers == after.multipliers and expected.shifts == after.shifts
    else:
        same = expected.rounding is Rounding.EXACT or expected.scales == after.scales
    return (
        None if same else "its multiplier would change: with a uint8 filter scales are multiplied in float32"
    )


def _per_value(before: Signature, after: Signature) -> str | None:
    """Ops that map, choose or move values one by one: every input, every stored value."""
    clamp = tuple(before.attributes.get("clamp", ()))
    for one, other in zip(before.types, after.types, strict=True):
        reason = _map_differs(before, (one, before.result), (other, after.result), clamp)
        if reason:
            return reason
    return None


def _map_differs(
    op: Signature,
    before: tuple[TensorType, TensorType],
    after: tuple[TensorType, TensorType],
    clamp: tuple[float, ...],
) -> str | None:
    """Compare ``op`` from a type to a type with the same under other labels."""
    by = distance(before[1], after[1])
    if not has_table(before[0].params):
        one, other = (
            rescale.requantize(source, result, clamp, op.mode) for source, result in (before, after)
        )
        return _rescale_differs(one.rescale, other.rescale, by)
    old, new = (
        follow(source.params, [Step(op.op, result.params, clamp)], op.mode)
        for source, result in (before, after)
    )
    return _count(old + by, new, "stored values")


def _count(expected: npt.NDArray[Any], got: npt.NDArray[Any], what: str) -> str | None:
    different = int(np.count_nonzero(expected != got))
    return f"{different} of {expected.size} {what} would give another result" if different else None


def _pad(before: Signature, after: Signature) -> str | None:
    real = float(before.attributes["value"])
    fills = [rescale.stored_value(s.types[0].params, real) for s in (before, after)]
    if fills[0] + distance(before.types[0], after.types[0]) != fills[1]:
        return f"its border would change from {fills[0]} to {fills[1]}"
    return _per_value(before, after)


def _avg_pool2d(before: Signature, after: Signature) -> str | None:
    if distance(before.types[0], after.types[0]) and any(n % 2 == 0 for n in _tap_counts(before)):
        return "means of an even number of taps have ties, which are rounded by the sign of the stored sum"
    return _per_value(before, after)


def _tap_counts(pool: Signature) -> set[int]:
    """How many taps of a window lie inside the input, over all windows."""
    top, bottom, left, right = pool.attributes["padding"]
    extents, borders = pool.types[0].shape[1:3], ((top, bottom), (left, right))
    counts = []
    for extent, border, window, stride in zip(
        extents, borders, pool.attributes["window"], pool.attributes["strides"], strict=True
    ):
        if extent < 0:
            return {0}  # not known yet: even ones may be among them
        starts = np.arange(-border[0], extent + border[1] - window + 1, stride)
        counts.append(np.minimum(starts + window, extent) - np.maximum(starts, 0))
    return {int(n) for n in np.unique(np.multiply.outer(counts[0], counts[1]))}


def _mean(before: Signature, after: Signature) -> str | None:
    shape, axes = before.types[0].shape, before.attributes["axes"]
    if any(shape[axis] < 0 for axis in axes):
        return "the number of its elements is not known yet"
    count = int(np.prod([shape[axis] for axis in axes], dtype=np.int64))
    one, other = (rescale.mean(s.types[0], s.result, count, s.mode) for s in (before, after))
    by = distance(before.result, after.result)
    if isinstance(one, rescale.Mean) and isinstance(other, rescale.Mean):
        return _rescale_differs(one.rescale, other.rescale, by)
    if not isinstance(one, rescale.FloatMean) or not isinstance(other, rescale.FloatMean):
        return "its constants would overflow in float32 under one label, and not under the other"
    storage = before.types[0].params.storage
    sums = range(count * storage.minimum, count * storage.maximum + 1)
    if len(sums) > MAX_SUMS:
        return "its zero points are added in float32, and there are too many sums to try all of them"
    totals = np.arange(sums.start, sums.stop, dtype=np.int64)
    moved = totals + count * distance(before.types[0], after.types[0])
    return _count(one.apply(totals) + by, other.apply(moved), "sums")


def _resize_bilinear(before: Signature, after: Signature) -> str | None:
    kinds = [resampling.bilinear_weights(s.types[0], s.mode) for s in (before, after)]
    # 11-bit weights add up to one and round half up; the others round by the sign of the stored value.
    if distance(before.types[0], after.types[0]) and set(kinds) != {resampling.Weights.FRACTION_11}:
        return f"its weights are {kinds[0].value} in {_label(before)}, {kinds[1].value} in {_label(after)}"
    return _per_value(before, after)


def _label(signature: Signature) -> str:
    return signature.types[0].params.storage.name


def _softmax(before: Signature, after: Signature) -> str | None:
    """Exponentials are of differences; then the kernel's own parameters become the declared ones."""
    produced = [
        tables.natural_params(s.op, s.result.params.storage, s.types[0].params.storage)
        for s in (before, after)
    ]
    natural = [
        tables.is_natural(s.result.params, own) for s, own in zip((before, after), produced, strict=True)
    ]
    if natural[0] != natural[1]:
        return "the kernel's own result would not be the declared one"
    if natural[0]:
        return None
    sources = [TensorType(before.result.shape, own) for own in produced]
    requantize = replace(before, op="requantize")
    return _map_differs(requantize, (sources[0], before.result), (sources[1], after.result), ())


def _binary(before: Signature, after: Signature) -> str | None:
    """add, maximum, compare ...: every pair of stored values."""
    if not any(is_labelled(t) for t in before.types):
        return None
    old, new = (_grid(s) for s in (before, after))
    return _count(old + distance(before.result, after.result), new, "pairs of stored values")


def _grid(signature: Signature) -> npt.NDArray[np.int64]:
    lhs, rhs = (signature.types[i].params for i in (0, 1))
    columns, row = _all_values(lhs)[:, None], _all_values(rhs)[None, :]
    types = TensorType(columns.shape, lhs), TensorType(row.shape, rhs)
    result = replace(signature.result, shape=(columns.shape[0], row.shape[1]))
    (values,) = evaluate(
        signature.op, [columns, row], list(types), [result], signature.attributes, signature.mode
    )
    return values.astype(np.int64)


def _unary(before: Signature, after: Signature) -> str | None:
    """A function of one number: every stored value."""
    if not any(is_labelled(t) for t in before.types):
        return None
    old, new = (_line(s) for s in (before, after))
    return _count(old + distance(before.result, after.result), new, "stored values")


def _line(signature: Signature) -> npt.NDArray[np.int64]:
    stored = _all_values(signature.types[0].params)
    source, result = (replace(t, shape=stored.shape) for t in (signature.types[0], signature.result))
    (values,) = evaluate(signature.op, [stored], [source], [result], signature.attributes, signature.mode)
    return values.astype(np.int64)


def _all_values(params: QuantParams) -> npt.NDArray[np.generic]:
    return stored_values(params).astype(params.storage.dtype)


Proof = Callable[[Signature, Signature], "str | None"]

_PROOFS: dict[str, Proof] = {
    "add": _binary,
    "arg_max": _nothing,
    "arg_min": _nothing,
    "avg_pool2d": _avg_pool2d,
    "binary": _binary,
    "broadcast": _per_value,
    "clamp": _per_value,
    "compare": _binary,
    "concat": _per_value,
    "conv2d": _contraction,
    "dequantize": _nothing,
    "batch_matmul": _batch_matmul,
    "fully_connected": _contraction,
    "leaky_relu": _unary,
    "logistic": _per_value,
    "max_pool2d": _per_value,
    "maximum": _binary,
    "mean": _mean,
    "minimum": _binary,
    "mul": _binary,
    "pad": _pad,
    "prelu": _binary,
    "quantize": _nothing,
    "requantize": _per_value,
    "reshape": _per_value,
    "resize_bilinear": _resize_bilinear,
    "resize_nearest": _per_value,
    "reverse": _per_value,
    "slice": _per_value,
    "softmax": _softmax,
    "sub": _binary,
    "tanh": _per_value,
    "top_k": _nothing,
    "transpose": _per_value,
    "unary": _unary,
}
"""op -> its proof; an op that is not here keeps its storage."""


def has_proof(op: str) -> bool:
    """Whether it is known how an op depends on the labels of its tensors."""
    return op in _PROOFS
