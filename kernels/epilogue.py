"""From i32 accumulators to stored bytes, in registers, by the kernel's rounding rule.

Which formula serves depends on the accumulators that can occur (:func:`reach`):

``truncate-relu``, ``truncate-linear``
    Float32 formulas that were proved to have the bits of the rule: :mod:`.float32_rescale`.
``nearest``
    FLOAT32_HALF_EVEN where no product overflows.
``double-relu``, ``double-linear``
    DOUBLE in one 64-bit addition per product. For a right shift ``e`` of at least one both roundings are one
    floor,

    ``y = floor((a * m + 2^30 + 2^(30 + e) + z * 2^(31 + e) - (a < 0) * 2^31) / 2^(31 + e))``

    The term in ``a < 0`` only matters where results may lie below the zero point. Accumulators start
    ``2^30`` higher, so that ``a' = a + 2^30`` is not negative: ``2 * m`` times ``a'`` is an unsigned product,
    the high half of the sum is a floor by ``2^32``, and ``(a' >> 30) - 1`` is the sign term.
``doubling-relu``, ``doubling-linear``, ``doubling-masked``, ``doubling``
    DOUBLE for every accumulator, by instructions of AArch64: :mod:`.doubling`.
``double``
    The same as the fast ones for every accumulator and shift, in 64 bits throughout. Without a shift there is
    only the first rounding, and neither that term nor ``2^(30 + e)``. With a large ``e`` the zero point is
    added after the division.
``float32-half-even``, ``once-half-away``
    Those rules for every accumulator and scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ..dialect.fixed_point import INT32_MAX, INT32_MIN, Ints
from ..dialect.numerics import Rounding
from ..dialect.op_constants import Rescale
from . import doubling
from .channels import Channels, as_bytes
from .elements import has_fused_multiply_add, rounds_toward_zero
from .float32_rescale import Float32Rescale, Form, prove
from .instruction_set import InstructionSet
from .instructions import fused_multiply_add, to_nearest_even
from .instructions.x86 import multiply_add_toward_zero
from .launch import Bytes, Code, Option
from .writer import Writer

_MAX_SHIFT = 31
_MAX_EARLY_SHIFT = 20
"""Beyond it ``z * 2^(31 + e)`` and a full product might not fit into 64 bits together."""
_LARGEST_SCALE = 2.0**60
"""So that a float32 product of an accumulator is finite."""
_ROUNDINGS = (Rounding.DOUBLE, Rounding.FLOAT32_HALF_EVEN, Rounding.ONCE_HALF_AWAY)
_UNSIGNED_START = 1 << 30
_WORD_RESULTS = (1 << 15) - 300.0
"""Less than a zero point and roundings below 2^15."""
HEADER_BYTES = 256
"""Of :func:`header`."""


def why_not(rescale: Rescale) -> str | None:
    """None if there is an epilogue for ``rescale``, else the reason why not."""
    if rescale.rounding not in _ROUNDINGS:
        return f"rounding '{rescale.rounding.value}' has no vector epilogue"
    if rescale.rounding is Rounding.DOUBLE:
        pairs = zip(rescale.multipliers, rescale.shifts, strict=True)
        if any(multiplier and not -_MAX_SHIFT <= shift <= 0 for multiplier, shift in pairs):
            return f"a shift outside -{_MAX_SHIFT}..0 (scales of one and more)"
    elif not all(0.0 <= scale <= _LARGEST_SCALE for scale in rescale.scales):
        return "a scale beyond 2^60"
    return None


def header(rescale: Rescale) -> Bytes:
    """What all channels share, ``[HEADER_BYTES]``: zero point, low and high as i32; then a line each of the
    zero point in i16, of low and of high in bytes.
    """
    zero_point, low, high = rescale.zero_point, rescale.low, rescale.high
    numbers = np.zeros(16, np.int32)
    numbers[:3] = zero_point, low, high
    words = np.full(32, zero_point, np.int16)
    clamps = [np.full(64, bound & 0xFF, np.uint8) for bound in (low, high)]
    return np.concatenate([numbers.view(np.uint8), words.view(np.uint8), *clamps])


def reach(
    filter: npt.NDArray[np.integer],
    zero_points: npt.ArrayLike,
    bias: npt.NDArray[np.integer],
    inputs: tuple[int, int] = (0, 255),
) -> tuple[Ints, Ints]:
    """The lowest and the highest accumulator of each channel: ``filter [channels, ...]``, its zero points,
    the bias that the sum starts with, the least and the largest input. All of int32 where a sum may wrap.
    """
    rows = filter.reshape(len(filter), -1)
    points = np.broadcast_to(np.asarray(zero_points, np.int16), (len(rows),))
    centred = rows - points[:, None] if points.any() else rows
    total = np.add.reduce(centred, 1, dtype=np.int32).astype(np.int64)
    positive = np.add.reduce(np.maximum(centred, 0), 1, dtype=np.int32).astype(np.int64)
    start, (least, largest) = bias.astype(np.int64), inputs
    lowest = start + largest * (total - positive) + least * positive
    highest = start + least * (total - positive) + largest * positive
    wraps = (lowest < INT32_MIN) | (highest > INT32_MAX)
    return np.where(wraps, INT32_MIN, lowest), np.where(wraps, INT32_MAX, highest)


@dataclass(frozen=True)
class Epilogue:
    """The epilogue of one kernel, as far as its code depends on it."""

    kind: str
    """See the module's docstring."""
    early: bool = False
    """``double``: whether the zero point is part of the sum that is divided."""
    corrects: bool = False
    """``double``: whether results may lie below the zero point."""
    fused: int = 0
    """Float32: multiply-adds."""
    offset: bool = False
    """Whether results of :meth:`apply` still lack a zero point."""
    clamps: bool = False
    """Whether they still have to be clamped to more than the storage's range."""
    flips: bool = False
    """Whether they are u8, 128 more than what is stored (AArch64, whose instructions saturate to both)."""
    fits_words: bool = False
    """Whether they fit into i16 (AArch64, where it is cheaper not to saturate)."""
    proof: Float32Rescale | None = field(default=None, compare=False)
    """Float32: the constants."""

    @classmethod
    def of(
        cls,
        rescale: Rescale,
        reach: tuple[Ints, Ints] | None = None,
        *,
        isa: InstructionSet,
    ) -> Epilogue:
        """The cheapest for accumulators in ``reach``, or one for all of int32, whose results are complete."""
        if reach is not None:
            found = cls._cheap(rescale, reach, isa)
            if found:
                full = (rescale.low, rescale.high) in ((0, 255), (-128, 127))
                added = found.kind in ("double-relu", "double-linear")
                offset = not added and rescale.zero_point != 0
                if isa.architecture != "aarch64":
                    return replace(found, offset=offset, clamps=not full)
                flips = not added and rescale.zero_point == -128
                fits = not added and _fit_words(rescale, reach)
                return replace(
                    found, offset=offset and not flips, clamps=not full, flips=flips, fits_words=fits
                )
        if rescale.rounding is not Rounding.DOUBLE:
            return cls(rescale.rounding.value)
        if doubling.serves(isa):
            return cls(doubling.COMPLETE)
        early = all(-shift <= _MAX_EARLY_SHIFT for shift in rescale.shifts)
        if early and reach is not None:
            early = all(-INT32_MAX // 2 < value < INT32_MAX // 2 for part in reach for value in part)
        elif early:
            early = all(shift < 0 for shift in rescale.shifts)
        return cls("double", early, rescale.low < rescale.zero_point)

    @classmethod
    def _cheap(cls, rescale: Rescale, reach: tuple[Ints, Ints], isa: InstructionSet) -> Epilogue | None:
        """One for bytes that :mod:`.narrow` completes, if there is any."""
        if rescale.rounding is Rounding.DOUBLE and doubling.serves(isa):
            return cls(doubling.kind(rescale))
        return cls._float32(rescale, reach, isa) or cls._double_fast(rescale, reach)

    @classmethod
    def _float32(cls, rescale: Rescale, reach: tuple[Ints, Ints], isa: InstructionSet) -> Epilogue | None:
        nearest = rescale.rounding is Rounding.FLOAT32_HALF_EVEN
        if not nearest and not has_fused_multiply_add(isa):
            return None
        proof = prove(rescale, *reach, fma_toward_zero=rounds_toward_zero(isa))
        if not proof.exact.all():
            return None
        kinds = {Form.RELU: "truncate-relu", Form.LINEAR: "truncate-linear", Form.NEAREST: "nearest"}
        return cls(kinds[proof.form], fused=proof.fused, proof=proof)

    @classmethod
    def _double_fast(cls, rescale: Rescale, reach: tuple[Ints, Ints]) -> Epilogue | None:
        lowest, highest = reach
        linear = rescale.low < rescale.zero_point
        shifts = [s for m, s in zip(rescale.multipliers, rescale.shifts, strict=True) if m]
        if (
            rescale.rounding is not Rounding.DOUBLE
            or lowest.min() < -_UNSIGNED_START
            or highest.max() >= _UNSIGNED_START
            or not all(-_MAX_EARLY_SHIFT <= shift <= (-1 if linear else 0) for shift in shifts)
        ):
            return None
        return cls("double-linear" if linear else "double-relu")

    @classmethod
    def of_code(cls, code: Code) -> Epilogue:
        """What :meth:`options` has put into a code."""
        names = ("early", "corrects", "offset", "clamps", "flips", "fits_words")
        early, corrects, offset, clamps, flips, fits_words = (bool(code[name]) for name in names)
        kind, fused = str(code["epilogue"]), int(code["fused"])
        return cls(kind, early, corrects, fused, offset, clamps, flips, fits_words)

    @property
    def options(self) -> tuple[tuple[str, Option], ...]:
        return (
            ("epilogue", self.kind),
            ("early", self.early),
            ("corrects", self.corrects),
            ("fused", self.fused),
            ("offset", self.offset),
            ("clamps", self.clamps),
            ("flips", self.flips),
            ("fits_words", self.fits_words),
        )

    @property
    def start(self) -> int:
        """What accumulators have to start above their bias."""
        return _UNSIGNED_START if self.kind in ("double-relu", "double-linear") else 0

    def parameter_bytes(self, lanes: int) -> int:
        """Per vector of channels."""
        return 4 * lanes * len(self._types("", "", ""))

    def _types(self, i64: str, f32: str, f64: str, i32: str = "") -> list[str]:
        """Of the vectors of parameters."""
        if self.kind == "double":
            return [i64] * 8
        if self.kind in ("double-relu", "double-linear"):
            return [i64] * 4 + [i32]
        if self.kind == "once-half-away":
            return [f64] * 2
        if self.kind in doubling.KINDS:
            return [i32] * doubling.parameter_count(self.kind)
        return [f32] * (1 + self.fused)

    def pack(self, rescale: Rescale, channels: Channels) -> Bytes:
        """``[vectors, parameter_bytes]``."""
        if self.proof is not None:
            constants = [self.proof.multiplier, self.proof.addend, self.proof.correction][: 1 + self.fused]
            return as_bytes(np.stack([channels.spread(values, np.float32) for values in constants], 1))
        if self.kind in doubling.KINDS:
            return as_bytes(doubling.pack(self.kind, rescale, channels))
        if self.kind == "float32-half-even":
            return as_bytes(channels.spread(rescale.scales, np.float32))
        if self.kind == "once-half-away":
            return as_bytes(channels.spread(rescale.scales, np.float64))
        multiplier = channels.spread(rescale.multipliers, np.int64)
        exponent = -channels.spread(rescale.shifts, np.int64)
        exponent = np.where(multiplier == 0, 1, exponent)  # any will do, the product is zero
        one, shifts = np.int64(1), exponent > 0
        offset = (one << 30) + np.where(shifts, one << (30 + exponent), 0)
        if self.kind == "double":
            if self.early:
                offset += np.int64(rescale.zero_point) << (31 + exponent)
            columns = [multiplier, offset, 31 + exponent, np.where(shifts, -(one << 31), 0)]
            return as_bytes(_halves(columns))
        offset = 2 * (offset + (np.int64(rescale.zero_point) << (31 + exponent))) - (multiplier << 31)
        if self.kind == "double-linear":
            offset -= one << 32
        wide = as_bytes(_halves([2 * multiplier, offset]))
        return np.concatenate([wide, as_bytes(exponent.astype(np.int32))], 1)

    def limits(self, w: Writer, pointer: str) -> list[str]:
        """Zero point, low and high from a header, in all i32 lanes; empty where :meth:`apply` needs none."""
        if self.kind not in ("double", doubling.COMPLETE, "float32-half-even", "once-half-away"):
            return []
        return [w.broadcast(w.load(w.at(pointer, 4 * i), "i32", 4), "i32", w.i32) for i in range(3)]

    def load(self, w: Writer, pointer: str, volatile: bool = True) -> list[str]:
        """The parameters of one vector of channels.

        LLVM would move ordinary loads out of the loop over tiles, into registers that are not free, and
        reload them from the stack; and it would forget there how wide a multiplier is.
        """
        types = self._types(w.i64, w.f32, w.f64, w.i32)
        if self.kind == "double" and not self.corrects:
            types = types[:-2]  # the corrections, which are packed last
        return [
            w.load(w.at(pointer, w.isa.vector_bytes * i), type_, volatile=volatile)
            for i, type_ in enumerate(types)
        ]

    def apply(self, w: Writer, accumulator: str, parameters: Sequence[str], limits: Sequence[str]) -> str:
        """An i32 vector of accumulators (which began at bias + :attr:`start`) to i32 numbers.

        Saturated to the result's storage and clamped (with the zero point added before, if it is lacking),
        they are the results; :mod:`.narrow` does that. Where there are ``limits`` they are clamped already.
        """
        if self.kind == "double":
            return self._double(w, accumulator, parameters, limits)
        if self.kind in doubling.KINDS:
            result = doubling.apply(w, self.kind, accumulator, parameters)
            return _completed(w, result, limits) if self.kind == doubling.COMPLETE else result
        if self.kind in ("double-relu", "double-linear"):
            return self._unsigned(w, accumulator, parameters)
        if self.kind == "float32-half-even":
            return self._half_even(w, accumulator, parameters, limits)
        if self.kind == "once-half-away":
            return self._once(w, accumulator, parameters, limits)
        real = w.op(f"arith.sitofp {accumulator} : {w.i32} to {w.f32}")
        if self.kind == "nearest":
            return to_nearest_even(w, w.binary("mulf", real, parameters[0], w.f32))
        return self._truncate(w, real, parameters)

    def _truncate(self, w: Writer, real: str, parameters: Sequence[str]) -> str:
        multiply_add = multiply_add_toward_zero if rounds_toward_zero(w.isa) else fused_multiply_add
        addend = parameters[1]
        if self.kind == "truncate-linear":
            sign = w.binary("andi", w.bitcast(real, w.f32, w.i32), w.splat(-(1 << 31), w.i32), w.i32)
            signed = w.binary("ori", w.bitcast(addend, w.f32, w.i32), sign, w.i32)
            addend = w.bitcast(signed, w.i32, w.f32)
        if self.fused == 2:
            addend = multiply_add(w, real, parameters[2], addend)
        return w.op(f"arith.fptosi {multiply_add(w, real, parameters[0], addend)} : {w.f32} to {w.i32}")

    def _unsigned(self, w: Writer, accumulator: str, parameters: Sequence[str]) -> str:
        half, low_half = w.splat(32, w.i64), w.splat((1 << 32) - 1, w.i64)
        wide = w.bitcast(accumulator, w.i32, w.i64)
        values = (w.binary("andi", wide, low_half, w.i64), w.binary("shrui", wide, half, w.i64))
        totals = []
        for value, multiplier, offset in zip(values, parameters[:2], parameters[2:4], strict=True):
            # Both are 32 bits wide: said so that LLVM takes vpmuludq.
            factor = w.binary("andi", multiplier, low_half, w.i64)
            total = w.binary("addi", w.binary("muli", value, factor, w.i64), offset, w.i64)
            totals.append(w.bitcast(total, w.i64, w.i32))
        high = w.shuffle(
            totals[0], totals[1], [i + 1 if i % 2 == 0 else i + w.lanes for i in range(w.lanes)], w.i32
        )
        if self.kind == "double-linear":
            not_negative = w.binary("shrui", accumulator, w.splat(30, w.i32), w.i32)
            high = w.binary("addi", high, not_negative, w.i32)
        return w.binary("shrsi", high, parameters[4], w.i32)

    def _double(self, w: Writer, accumulator: str, parameters: Sequence[str], limits: Sequence[str]) -> str:
        wide = w.bitcast(accumulator, w.i32, w.i64)
        half = w.splat(32, w.i64)
        even = w.binary("shrsi", w.binary("shli", wide, half, w.i64), half, w.i64)
        odd = w.binary("shrsi", wide, half, w.i64)
        results = []
        for lanes, value in enumerate((even, odd)):
            multiplier, offset, shift = parameters[lanes], parameters[2 + lanes], parameters[4 + lanes]
            # It is 32 bits wide: said so that LLVM takes vpmuldq and not the slower full product.
            multiplier = w.binary("shrsi", w.binary("shli", multiplier, half, w.i64), half, w.i64)
            total = w.binary("addi", w.binary("muli", value, multiplier, w.i64), offset, w.i64)
            if self.corrects:
                sign = w.binary("shrsi", value, w.splat(63, w.i64), w.i64)
                correction = w.binary("andi", sign, parameters[6 + lanes], w.i64)
                total = w.binary("addi", total, correction, w.i64)
            results.append(w.bitcast(w.binary("shrsi", total, shift, w.i64), w.i64, w.i32))
        # The low halves of both are the results of the even and of the odd lanes.
        interleave = [lane if lane % 2 == 0 else lane + w.lanes - 1 for lane in range(w.lanes)]
        merged = w.shuffle(results[0], results[1], interleave, w.i32)
        if self.early:
            return w.binary("minsi", w.binary("maxsi", merged, limits[1], w.i32), limits[2], w.i32)
        return _completed(w, merged, limits)

    def _half_even(
        self, w: Writer, accumulator: str, parameters: Sequence[str], limits: Sequence[str]
    ) -> str:
        product = w.binary(
            "mulf", w.op(f"arith.sitofp {accumulator} : {w.i32} to {w.f32}"), parameters[0], w.f32
        )
        bounds = [
            w.op(f"arith.sitofp {w.binary('subi', limit, limits[0], w.i32)} : {w.i32} to {w.f32}")
            for limit in limits[1:]
        ]
        return w.binary("addi", to_nearest_even(w, _limit(w, product, bounds, w.f32)), limits[0], w.i32)

    def _once(self, w: Writer, accumulator: str, parameters: Sequence[str], limits: Sequence[str]) -> str:
        halves, count = [], w.lanes // 2
        part_type = f"vector<{count}xi32>"
        for half, scale in enumerate(parameters):
            lanes = list(range(count * half, count * half + count))
            part = w.shuffle(accumulator, accumulator, lanes, w.i32)
            product = w.binary("mulf", w.op(f"arith.sitofp {part} : {part_type} to {w.f64}"), scale, w.f64)
            bounds = [
                w.op(f"arith.sitofp {w.shuffle(bound, bound, lanes, w.i32)} : {part_type} to {w.f64}")
                for bound in (w.binary("subi", limits[i], limits[0], w.i32) for i in (1, 2))
            ]
            rounded = w.op(f"math.round {_limit(w, product, bounds, w.f64)} : {w.f64}")
            halves.append(w.op(f"arith.fptosi {rounded} : {w.f64} to {part_type}"))
        both = w.shuffle(halves[0], halves[1], list(range(w.lanes)), part_type)
        return w.binary("addi", both, limits[0], w.i32)


def _fit_words(rescale: Rescale, reach: tuple[Ints, Ints]) -> bool:
    """Whether all results are i16, before the zero point is added and with it."""
    largest = np.maximum(np.abs(reach[0]), np.abs(reach[1])).astype(np.float64)
    if rescale.rounding is Rounding.DOUBLE:
        scales = np.ldexp(np.array(rescale.multipliers, np.float64), np.array(rescale.shifts) - 31)
    else:
        scales = np.array(rescale.scales)
    return bool((largest * scales < _WORD_RESULTS).all())


def _halves(columns: Sequence[Ints]) -> Ints:
    """Even and odd lanes of each column, ``[vectors, 2 * columns, lanes / 2]``."""
    return np.stack([values[:, start::2] for values in columns for start in (0, 1)], 1)


def _completed(w: Writer, value: str, limits: Sequence[str]) -> str:
    """The zero point added and clamped: first the latter, as near the ends of int32 the sum would wrap."""
    zero_point, *bounds = limits
    for name, limit in zip(("maxsi", "minsi"), bounds, strict=True):
        value = w.binary(name, value, w.binary("subi", limit, zero_point, w.i32), w.i32)
    return w.binary("addi", value, zero_point, w.i32)


def _limit(w: Writer, value: str, bounds: Sequence[str], type_: str) -> str:
    """Clamp before rounding: the bounds are whole numbers, so the order does not matter, and the conversion
    to integers cannot overflow.
    """
    mask = type_.replace("f32", "i1").replace("f64", "i1")
    for predicate, limit in zip(("ogt", "olt"), bounds, strict=True):
        keep = w.op(f"arith.cmpf {predicate}, {value}, {limit} : {type_}")
        value = w.op(f"arith.select {keep}, {value}, {limit} : {mask}, {type_}")
    return value
