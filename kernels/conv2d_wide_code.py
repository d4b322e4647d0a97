"""The code of :mod:`.conv2d_wide`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from . import aarch64_conv2d_code, conv2d_code
from .aarch64_conv2d import BLOCK_BYTES
from .conv2d_code import POINTER, scalars_of, with_rows
from .instruction_set import InstructionSet
from .instructions import dot_quads
from .launch import Code, Option
from .narrow import store_bytes
from .scalars import Scalars


@dataclass(frozen=True)
class After:
    """What becomes of sums, as far as code depends on it: see :class:`.conv.Reals`; by default nothing."""

    real: bool = False
    asymmetric: bool = False
    scales_first: bool = False
    bias: bool = False
    clamps: bool = False
    blocked: bool = False
    nibbles: bool = False
    """Whether a byte of the filter holds the weights of two steps; sums are 16 times as much."""

    @classmethod
    def of_code(cls, code: Code) -> After:
        return cls(*(bool(code[field.name]) for field in fields(cls)))

    @property
    def options(self) -> tuple[tuple[str, Option], ...]:
        return tuple((field.name, bool(getattr(self, field.name))) for field in fields(self))

    @property
    def scalars(self) -> Scalars:
        return with_rows() if self.real else scalars_of(False)

    @property
    def vectors(self) -> int:
        """Of parameters, per vector of channels, behind what its sums start with."""
        scales = 0 if self.blocked else 1 + self.asymmetric
        return scales + self.bias if self.real else 0

    def block_bytes(self, lanes: int) -> int:
        """Of a block's parameters, per vector of channels."""
        return 8 * lanes if self.blocked else 0


def part_bytes(isa: InstructionSet, nibbles: bool) -> int:
    """Of a pixel: a block's taps are whole ones of so many."""
    return BLOCK_BYTES if isa.architecture == "aarch64" else 8 if nibbles else 4


def kernel(code: Code, isa: InstructionSet) -> conv2d_code.Kernel:
    usual = aarch64_conv2d_code.kernel_of(code) if isa.architecture == "aarch64" else conv2d_code.Kernel
    usual = _Nibbles if code["nibbles"] else usual
    return type("Kernel", (_Wide, usual), {})(code, isa)  # type: ignore[no-any-return]


class _Wide(conv2d_code.Kernel):
    """What differs, before a class that says how products come about."""

    def __init__(self, code: Code, isa: InstructionSet) -> None:
        self.after = After.of_code(code)
        super().__init__(code, isa)
        if self.after.real:
            self.images["rows"] = self.images["input"]

    def _scalars(self) -> Scalars:
        return self.after.scalars

    def _vector_parameters(self, isa: InstructionSet) -> int:
        return isa.vector_bytes * (1 + bool(self.code["sums"]) + self.after.vectors)

    def _start_of_panel(self, name: str, channels: Sequence[str]) -> str:
        return self.scalar("rows_start") if name == "rows" else super()._start_of_panel(name, channels)

    def _prefetch_next(self, name: str, first: str) -> None:
        """Results are written once, and too many for it to pay."""

    def _row_numbers(
        self, at: Mapping[str, Sequence[str]], offset: int, scalar: str, type_: str
    ) -> list[str]:
        """One of the parameters of each pixel's row, in all lanes."""
        w, pixels = self.w, self.pixels["rows"]
        places = [w.at(pixels.of(at["rows"], row), offset) for row in range(self.rows)]
        return [w.broadcast(w.load(place, scalar, 4), scalar, type_) for place in places]

    def _tile(self, first: Mapping[str, str], filter: str, parameters: str) -> None:
        if not self.after.blocked:
            super()._tile(first, filter, parameters)
            return
        at = {name: self.pixels[name].pointers(place) for name, place in first.items()}
        self._store(self._sum_of_blocks(at, filter), at, parameters)

    def _sum_of_blocks(self, at: Mapping[str, Sequence[str]], filter: str) -> list[str]:
        """In float32, the first pixel's first."""
        w, vector, count = self.w, self.w.isa.vector_bytes, self.rows * self.vectors
        zeros = self._row_numbers(at, 4, "i32", w.i32) if self.after.asymmetric else []

        def column(parameters: str) -> list[str]:
            start = w.load(parameters, w.i32)
            if not zeros:
                return [start] * self.rows
            products = [w.binary("muli", zero, start, w.i32) for zero in zeros]
            return [w.binary("subi", w.splat(0, w.i32), product, w.i32) for product in products]

        def block(_: str, *values: str) -> Sequence[str]:
            reals, parameters, pixels = values[:count], values[count], values[count + 1 :]
            starts = [column(w.at(parameters, 2 * j * vector)) for j in range(self.vectors)]
            weights = w.at(parameters, self.vectors * self.after.block_bytes(w.lanes))
            sums, rest = self.part(self.scalar("part_steps"), pixels, weights, starts)
            sums = [self._divided(value) for value in sums]
            totals = []
            for i, (number, so_far) in enumerate(zip(sums, reals, strict=True)):
                scale = w.load(w.at(parameters, (2 * (i % self.vectors) + 1) * vector), w.f32)
                real = w.op(f"arith.sitofp {number} : {w.i32} to {w.f32}")
                totals.append(w.binary("addf", so_far, w.binary("mulf", real, scale, w.f32), w.f32))
            return [*totals, *rest]

        carried = [*[w.splat(0.0, w.f32)] * count, filter, *self.places(at["input"])]
        types = [w.f32] * count + [POINTER] * (len(carried) - count)
        return w.loop_from(w.index(0), self.scalar("parts"), block, carried, types)[:count]

    def _store(self, totals: Sequence[str], at: Mapping[str, Sequence[str]], parameters: str) -> None:
        """By columns, so that the parameters of one vector of channels are loaded once for all pixels."""
        w, whole = self.w, self.w.isa.vector_bytes
        scales = self._row_numbers(at, 0, "f32", w.f32) if self.after.real else []
        zeros: list[str] = []
        if self.after.asymmetric and not self.after.blocked:
            zeros = self._row_numbers(at, 4, "i32", w.i32)
        bounds = [w.load(w.at(self.tables, 64 * i), w.f32) for i in range(2 * self.after.clamps)]
        for j in range(self.vectors):
            place = w.at(parameters, j * self.vector_parameters + whole * (1 + bool(self.code["sums"])))
            loaded = [
                w.load(w.at(place, whole * i), self._parameter_type(i), volatile=True)
                for i in range(self.after.vectors)
            ]
            for row in range(self.rows):
                value, type_ = totals[row * self.vectors + j], w.i32
                if not self.after.blocked:
                    value = self._divided(value)
                if self.after.real:
                    zero = zeros[row] if zeros else ""
                    value, type_ = self._real(value, loaded, scales[row], zero, bounds), w.f32
                target = w.at(self.pixels["output"].of(at["output"], row), whole * j)
                channels = min(w.lanes, self.width - j * w.lanes)
                store_bytes(w, w.bitcast(value, type_, w.i8), whole, target, 4 * channels)

    def _divided(self, value: str) -> str:
        w = self.w
        return w.binary("shrsi", value, w.splat(4, w.i32), w.i32) if self.after.nibbles else value

    def _parameter_type(self, number: int) -> str:
        is_sum = self.after.asymmetric and not self.after.blocked and number == 0
        return self.w.i32 if is_sum else self.w.f32

    def _real(self, total: str, loaded: Sequence[str], scale: str, zero: str, bounds: Sequence[str]) -> str:
        """A vector of results; ``loaded`` are its channels' parameters, ``scale`` and ``zero`` its row's."""
        w, numbers = self.w, list(loaded)
        if self.after.blocked:
            value = w.binary("mulf", total, scale, w.f32)
        else:
            if zero:
                total = w.binary("subi", total, w.binary("muli", zero, numbers.pop(0), w.i32), w.i32)
            factor = numbers.pop(0)
            real = w.op(f"arith.sitofp {total} : {w.i32} to {w.f32}")
            if self.after.scales_first:
                value = w.binary("mulf", real, w.binary("mulf", scale, factor, w.f32), w.f32)
            else:
                value = w.binary("mulf", w.binary("mulf", real, factor, w.f32), scale, w.f32)
        if self.after.bias:
            value = w.binary("addf", value, numbers.pop(0), w.f32)
        for predicate, bound in zip(("olt", "ogt"), bounds, strict=False):  # NaN stays
            beyond = w.op(f"arith.cmpf {predicate}, {value}, {bound} : {w.f32}")
            value = w.op(f"arith.select {beyond}, {bound}, {value} : vector<{w.lanes}xi1>, {w.f32}")
        return value


class _Nibbles(conv2d_code.Kernel):
    """Two steps at a time: the weights of the first are lower halves of bytes, of the second upper ones."""

    def _steps(self, count: str, at: Sequence[str], carried: Sequence[str]) -> list[str]:
        w, sums, vector = self.w, len(carried) - 1, self.w.isa.vector_bytes

        def step(_: str, *values: str) -> Sequence[str]:
            totals, weights, at = list(values[:sums]), values[sums], values[sums + 1 :]
            packed = [w.load(w.at(weights, j * vector), w.i8, vector) for j in range(self.vectors)]
            for half, name in enumerate(("low", "high")):
                wide = [self._times_16(value, name) for value in packed]
                places = [w.at(pointer, 4 * half) for pointer in at]
                for i in range(self.rows):
                    pixel = w.bitcast(self._quad(places, i), w.i32, w.i8)
                    for j in range(self.vectors):
                        k = i * self.vectors + j
                        totals[k] = dot_quads(w, totals[k], pixel, wide[j])
            return [*totals, w.at(weights, self.vectors * vector), *(w.at(pointer, 8) for pointer in at)]

        types = [w.i32] * sums + [POINTER] * (1 + len(at))
        return w.loop(count, step, [*carried, *at], types)

    def _run_table(self, run: str) -> tuple[str, str]:
        start, steps = super()._run_table(run)
        return start, self.w.binary("shrui", steps, self.w.index(1), "i64")

    def _times_16(self, packed: str, half: str) -> str:
        """One half of every byte, a number of four bits, in the upper half."""
        w = self.w
        if half == "low":
            words = w.bitcast(packed, w.i8, w.i16)
            packed = w.bitcast(w.binary("shli", words, w.splat(4, w.i16), w.i16), w.i16, w.i8)
        return w.binary("andi", packed, w.splat(-16, w.i8), w.i8)
