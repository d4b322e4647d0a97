"""The code of :mod:`.conv2d_16x8`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..dialect.numerics import Rounding
from .elements import splat_i32
from .instruction_set import InstructionSet
from .instructions import dot_pairs, saturating_add
from .instructions.aarch64 import add_pair_products, narrow_to_numbers
from .launch import Code
from .scalars import Scalars
from .writer import Writer

_BUFFERS = 5
"""Input, filter, parameters, tables, result."""
SCALARS = Scalars(
    _BUFFERS,
    (
        *("panels", "tiles", "last_pixel", "lines", "channels"),
        *("source", "source_image", "source_line", "source_pixel"),
        *("target", "target_image", "target_line", "target_pixel"),
        *("filter_panel", "parameters_panel", "blocks", "segments", "zero_point", "low", "high"),
    ),
)
RESCALE_NUMBERS = {
    Rounding.Q15_HALF_UP: ("multiplier", "half", "right"),
    Rounding.DOUBLE: ("multiplier", "left", "half", "right", "negative"),
    Rounding.ONCE_HALF_AWAY: ("scale",),
}
"""Rounding -> its numbers, an i64 each per channel, behind the bias."""
_JUST_BELOW_HALF = 0.49999999999999994


class Kernel:
    """Writes the code."""

    def __init__(self, code: Code, isa: InstructionSet) -> None:
        self.code = code
        w = self.w = Writer(replace(isa, vector_bytes=int(code["bytes"])))
        self.rows, self.vectors = int(code["rows"]), int(code["vectors"])
        self.half_i32 = f"vector<{w.lanes // 2}xi32>"
        self.sums = self.rows * self.vectors
        self._dot = add_pair_products if isa.architecture == "aarch64" else dot_pairs

    def text(self) -> str:
        w = self.w
        self.source, self.filter, self.parameters, self.tables, self.target = (
            w.pointer(i) for i in range(_BUFFERS)
        )
        self.scratch = w.allocate(2 * w.lanes) if self.code["few"] else ""
        w.units(self._unit)
        return w.text()

    def _scalar(self, name: str) -> str:
        return SCALARS.load(self.w, name)

    def _unit(self, unit: str) -> None:
        w = self.w
        rest, panel = w.split(unit, self._scalar("panels"))
        line, tile = w.split(rest, self._scalar("tiles"))
        image, row = w.split(line, self._scalar("lines"))
        pixel = w.at_most(w.times(tile, self.rows), self._scalar("last_pixel"))
        starts = []
        offsets = w.at(self.tables, w.times(panel, 16))
        for end, buffer, number in (("source", self.source, 0), ("target", self.target, 1)):
            offset = w.plus(self._scalar(end), w.load(w.at(offsets, 8 * number), "i64"))
            for name, count in (("image", image), ("line", row), ("pixel", pixel)):
                offset = w.plus(offset, w.times(count, self._scalar(f"{end}_{name}")))
            starts.append(w.at(buffer, offset))
        weights = w.at(self.filter, w.times(panel, self._scalar("filter_panel")))
        numbers = w.at(self.parameters, w.times(panel, self._scalar("parameters_panel")))
        pitch = self._scalar("source_pixel")
        pixels = [w.at(starts[0], w.times(pitch, i)) if i else starts[0] for i in range(self.rows)]
        sums = self._sums(pixels, weights)
        self._store(sums, numbers, starts[1])

    def _sums(self, pixels: Sequence[str], weights: str) -> list[tuple[str, str]]:
        """Of every pixel and vector, the lower and the upper half of its lanes as i64."""
        w = self.w
        segments = w.at(self.tables, self._scalar("segments"))
        zeros = [w.splat(0, w.i32)] * self.sums
        if not self.code["folds"]:
            count = w.load(self._counts(), "i64")
            sums = self._block(pixels, weights, segments, count, zeros)[2:]
            return [self._halves(value) for value in sums]
        wide = [w.splat(0, w.i64)] * (2 * self.sums)

        def block(index: str, weights: str, segments: str, *totals: str) -> list[str]:
            count = w.load(w.at(self._counts(), w.times(index, 8)), "i64")
            weights, segments, *sums = self._block(pixels, weights, segments, count, zeros)
            added = [half for value in sums for half in self._halves(value)]
            grown = [w.binary("addi", a, b, w.i64) for a, b in zip(totals, added, strict=True)]
            return [weights, segments, *grown]

        types = ["!llvm.ptr", "!llvm.ptr", *[w.i64] * len(wide)]
        _, _, *totals = w.loop_from(
            w.index(0), self._scalar("blocks"), block, [weights, segments, *wide], types
        )
        return list(zip(totals[::2], totals[1::2], strict=True))

    def _counts(self) -> str:
        """Where the numbers of segments are."""
        w = self.w
        return w.at(self.tables, w.times(self._scalar("panels"), 16))

    def _block(
        self, pixels: Sequence[str], weights: str, segments: str, count: str, sums: Sequence[str]
    ) -> list[str]:
        """Weights and segments behind the block, and its sums."""
        w = self.w
        types = ["!llvm.ptr", "!llvm.ptr", *[w.i32] * self.sums]

        def segment(_: str, weights: str, place: str, *sums: str) -> list[str]:
            start, pairs = w.load(place, "i64"), w.load(w.at(place, 8), "i64")
            starts = [w.at(pixel, start) for pixel in pixels]

            def step(index: str, weights: str, *sums: str) -> list[str]:
                vectors = [w.load(w.at(weights, 4 * w.lanes * v), w.i32) for v in range(self.vectors)]
                result, offset = [], w.times(index, 4)
                for row, pointer in enumerate(starts):
                    pair = w.load(w.at(pointer, offset), "i32")
                    values = w.broadcast(pair, "i32", w.i32)
                    for v, vector in enumerate(vectors):
                        result.append(self._dot(w, sums[row * self.vectors + v], values, vector))
                return [w.at(weights, 4 * w.lanes * self.vectors), *result]

            carried = [weights, *sums]
            weights, *sums_ = w.loop_from(w.index(0), pairs, step, carried, [types[0], *types[2:]])
            return [weights, w.at(place, 16), *sums_]

        return w.loop_from(w.index(0), count, segment, [weights, segments, *sums], types)

    def _halves(self, value: str) -> tuple[str, str]:
        w = self.w
        half = w.lanes // 2
        parts = [w.shuffle(value, value, range(i, i + half), w.i32) for i in (0, half)]
        low, high = (w.op(f"arith.extsi {part} : {self.half_i32} to {w.i64}") for part in parts)
        return low, high

    def _store(self, sums: Sequence[tuple[str, str]], numbers: str, target: str) -> None:
        """Rescale the sums and store them."""
        w = self.w
        half, pitch = w.lanes // 2, self._scalar("target_pixel")
        whole, limits = f"vector<{w.lanes}xi16>", self._limits()
        for v in range(self.vectors):
            for row in range(self.rows):
                parts = []
                for part, value in enumerate(sums[row * self.vectors + v]):
                    place = w.at(numbers, 8 * (w.lanes * v + half * part))
                    parts.append(self._rescaled(value, place))
                result = self._finished(parts, limits)
                pixel = w.at(w.at(target, w.times(pitch, row) if row else 0), 2 * w.lanes * v)
                if self.code["few"]:
                    self._store_few(result, pixel, whole)
                else:
                    w.store(result, pixel, whole)

    def _store_few(self, value: str, target: str, type_: str) -> None:
        w = self.w
        w.store(value, self.scratch, type_)

        def one(index: str) -> Sequence[str]:
            offset = w.times(index, 2)
            w.store(w.load(w.at(self.scratch, offset), "i16"), w.at(target, offset), "i16")
            return []

        w.loop_from(w.index(0), self._scalar("channels"), one)

    def _rescaled(self, value: str, place: str) -> str:
        """An i64 vector of results; ``place`` is where the bias of its first lane is."""
        w = self.w
        pitch = 8 * w.lanes * self.vectors
        rounding = Rounding(str(self.code["rounding"]))
        value = w.binary("addi", value, w.load(place, w.i64), w.i64)
        if not self.code["wide"]:
            value = self._wrapped(value)
        numbers = {
            name: w.load(w.at(place, pitch * (1 + i)), w.i64)
            for i, name in enumerate(RESCALE_NUMBERS[rounding])
        }
        apply = {
            Rounding.Q15_HALF_UP: self._q15,
            Rounding.DOUBLE: self._double,
            Rounding.ONCE_HALF_AWAY: self._once,
        }
        return apply[rounding](value, numbers)

    @property
    def _narrows_first(self) -> bool:
        """AArch64 has no minimum of i64 lanes, but a saturating conversion of them."""
        return self.w.isa.architecture == "aarch64"

    def _limits(self) -> list[str]:
        """Zero point, low and high, in the lanes that are clamped."""
        w = self.w
        numbers = [self._scalar(name) for name in ("zero_point", "low", "high")]
        if self._narrows_first:
            return [splat_i32(w, number) for number in numbers]
        return [w.broadcast(number, "i64", w.i64) for number in numbers]

    def _finished(self, parts: Sequence[str], limits: Sequence[str]) -> str:
        """The zero point added, clamped, as i16; ``parts`` are both halves of a vector."""
        w, (zero_point, low, high) = self.w, limits

        def clamped(value: str, type_: str) -> str:
            value = w.binary("addi", value, zero_point, type_)
            return w.binary("minsi", w.binary("maxsi", value, low, type_), high, type_)

        if self._narrows_first:
            value = saturating_add(w, narrow_to_numbers(w, parts[0], parts[1]), zero_point, w.i32)
            value = w.binary("minsi", w.binary("maxsi", value, low, w.i32), high, w.i32)
            return w.op(f"arith.trunci {value} : {w.i32} to vector<{w.lanes}xi16>")
        words = f"vector<{w.lanes // 2}xi16>"
        halves = [w.op(f"arith.trunci {clamped(part, w.i64)} : {w.i64} to {words}") for part in parts]
        return w.shuffle(halves[0], halves[1], range(w.lanes), words)

    def _wrapped(self, value: str) -> str:
        """Modulo 2^32."""
        w = self.w
        return w.op(f"arith.extsi {self._low_halves(value)} : {self.half_i32} to {w.i64}")

    def _times(self, value: str, multiplier: str, short: bool = False) -> str:
        """The product of i64 vectors; ``multiplier`` is an i32 of at least zero, ``value`` any i64, or an i32
        if it is ``short``. AArch64 has no product of i64 lanes.
        """
        w = self.w
        if w.isa.architecture != "aarch64":
            return w.binary("muli", value, multiplier, w.i64)
        low, factor = (self._low_halves(number) for number in (value, multiplier))
        kind = "extsi" if short else "extui"
        wide = [w.op(f"arith.{kind} {half} : {self.half_i32} to {w.i64}") for half in (low, factor)]
        product = w.binary("muli", wide[0], wide[1], w.i64)
        if short:
            return product
        half = w.splat(32, w.i64)
        high = w.binary(
            "muli", self._low_halves(w.binary("shrui", value, half, w.i64)), factor, self.half_i32
        )
        moved = w.binary("shli", w.op(f"arith.extui {high} : {self.half_i32} to {w.i64}"), half, w.i64)
        return w.binary("addi", product, moved, w.i64)

    def _low_halves(self, value: str) -> str:
        return self.w.op(f"arith.trunci {value} : {self.w.i64} to {self.half_i32}")

    def _q15(self, value: str, numbers: dict[str, str]) -> str:
        w = self.w
        product = self._times(value, numbers["multiplier"])
        return w.binary("shrsi", w.binary("addi", product, numbers["half"], w.i64), numbers["right"], w.i64)

    def _double(self, value: str, numbers: dict[str, str]) -> str:
        w = self.w
        shifted = self._wrapped(w.binary("shli", value, numbers["left"], w.i64))
        product = self._times(shifted, numbers["multiplier"], short=True)
        high = w.binary("addi", product, w.splat(1 << 30, w.i64), w.i64)
        high = w.binary("shrsi", high, w.splat(31, w.i64), w.i64)
        sign = w.binary("shrsi", high, w.splat(63, w.i64), w.i64)
        rounded = w.binary("addi", high, numbers["half"], w.i64)
        rounded = w.binary("addi", rounded, w.binary("andi", sign, numbers["negative"], w.i64), w.i64)
        return w.binary("shrsi", rounded, numbers["right"], w.i64)

    def _once(self, value: str, numbers: dict[str, str]) -> str:
        """In float64; half away from zero is truncation of what is a little less than a half further."""
        w = self.w
        real = w.op(f"arith.sitofp {value} : {w.i64} to {w.f64}")
        product = w.binary("mulf", real, w.bitcast(numbers["scale"], w.i64, w.f64), w.f64)
        limit = float(1 << 30)  # of an i32; results are int16
        product = w.binary("maximumf", product, w.splat(-limit, w.f64), w.f64)
        product = w.binary("minimumf", product, w.splat(limit, w.f64), w.f64)
        sign = w.binary("andi", w.bitcast(product, w.f64, w.i64), w.splat(-(1 << 63), w.i64), w.i64)
        half = w.bitcast(w.splat(_JUST_BELOW_HALF, w.f64), w.f64, w.i64)
        half = w.bitcast(w.binary("ori", half, sign, w.i64), w.i64, w.f64)
        moved = w.binary("addf", product, half, w.f64)
        whole = w.op(f"arith.fptosi {moved} : {w.f64} to {self.half_i32}")
        return w.op(f"arith.extsi {whole} : {self.half_i32} to {w.i64}")
