"""The instructions that kernels share, each on whole vectors against numpy: random values and those at the
ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import kernel_runner
from zeropoint.kernels import instructions
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.instructions import aarch64
from zeropoint.kernels.writer import Writer

ISAS = kernel_runner.each_of("avx512vnni", "avx2", "sse4", "neon", "dotprod")
ARM = kernel_runner.each_of("neon", "dotprod", "i8mm")
UNITS = 64
Array = np.ndarray[Any, Any]
Body = Callable[..., str]


def vectors(isa: str, dtype: Any, seed: int, values: Sequence[int] = ()) -> Array:
    """``[UNITS, lanes]``: the ends and their neighbours, then anything; or any of ``values``."""
    rng, limits = np.random.default_rng(seed), np.iinfo(dtype)
    lanes = INSTRUCTION_SETS[isa].vector_bytes // np.dtype(dtype).itemsize
    if values:
        return rng.choice(np.array(values, dtype), (UNITS, lanes))
    ends = [
        limits.min,
        limits.min + 1,
        limits.max,
        limits.max - 1,
        0,
        1,
        limits.max // 2,
        limits.max // 2 + 1,
    ]
    drawn = rng.integers(limits.min, limits.max, (UNITS, lanes), dtype, endpoint=True)
    drawn >>= rng.integers(0, limits.bits - 1, (UNITS, 1)).astype(dtype)
    drawn[:8] = rng.choice(np.array(ends, dtype), (8, lanes))
    drawn[8:16, ::2] = rng.choice(np.array(ends, dtype), (8, (lanes + 1) // 2))
    return drawn


def kinds(w: Writer, array: Array) -> str:
    return {
        "i1": w.i8,
        "u1": w.i8,
        "i2": w.i16,
        "u2": w.i16,
        "i4": w.i32,
        "f4": w.f32,
        "i8": w.i64,
        "u8": w.i64,
    }[array.dtype.str[1:]]


def results_of(isa: str, body: Body, inputs: list[Array], dtype: Any) -> Array:
    """``body(w, *vectors)`` of every unit."""
    w = Writer(INSTRUCTION_SETS[isa])
    size = w.isa.vector_bytes
    pointers = [w.pointer(i) for i in range(len(inputs) + 1)]
    result = kernel_runner.aligned(UNITS * size)

    def unit(index: str) -> list[str]:
        offset = w.times(index, size)
        loaded = [
            w.load(w.at(pointer, offset), kinds(w, array))
            for pointer, array in zip(pointers, inputs, strict=False)
        ]
        value = body(w, *loaded)
        w.store(value, w.at(pointers[-1], offset), kinds(w, np.empty(0, dtype)))
        return []

    w.units(unit)
    stored = []
    for array in inputs:
        flat = kernel_runner.aligned(array.nbytes)
        flat[:] = np.ascontiguousarray(array).view(np.uint8).reshape(-1)
        stored.append(flat)
    kernel_runner.run_text(w.text(), isa, stored, [result], UNITS)
    return result.view(dtype).reshape(UNITS, -1)


def by_128_bits(low: Array, high: Array) -> Array:
    """Pieces of 16 bytes of both results in turn; each array has half of them."""
    each = 8 // low.dtype.itemsize
    pieces = [part.reshape(UNITS, -1, each) for part in (low, high)]
    return np.stack(pieces, 2).reshape(UNITS, -1)


@pytest.mark.parametrize("isa", kernel_runner.each_of("avx512vnni", "avxvnni", "dotprod", "i8mm"))
def test_dot_quads(isa: str) -> None:
    unsigned = INSTRUCTION_SETS[isa].unsigned_inputs
    total = vectors(isa, np.int32, 1) >> 2
    values, weights = vectors(isa, np.uint8 if unsigned else np.int8, 2), vectors(isa, np.int8, 3)
    products = values.astype(np.int32) * weights.astype(np.int32)
    expected = total + products.reshape(UNITS, -1, 4).sum(2, dtype=np.int32)
    found = results_of(isa, instructions.dot_quads, [total, values, weights], np.int32)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("isa", ISAS)
def test_dot_pairs(isa: str) -> None:
    total = vectors(isa, np.int32, 1)
    lhs, rhs = vectors(isa, np.int16, 2), vectors(isa, np.int16, 3)
    sums = (lhs.astype(np.int64) * rhs).reshape(UNITS, -1, 2).sum(2) + total

    def body(w: Writer, total: str, *pairs: str) -> str:
        return instructions.dot_pairs(w, total, *(w.bitcast(pair, w.i16, w.i32) for pair in pairs))

    found = results_of(isa, body, [total, lhs, rhs], np.int32)
    np.testing.assert_array_equal(found, sums.astype(np.int32))


@pytest.mark.parametrize("isa", ARM)
@pytest.mark.parametrize("upper", [False, True])
def test_multiply_words(isa: str, upper: bool) -> None:
    lhs, rhs = vectors(isa, np.int16, 4), vectors(isa, np.int16, 5)[::-1]
    half = slice(4, 8) if upper else slice(0, 4)
    found = results_of(isa, lambda w, a, b: aarch64.multiply_words(w, a, b, upper), [lhs, rhs], np.int32)
    np.testing.assert_array_equal(found, lhs[:, half].astype(np.int32) * rhs[:, half])


@pytest.mark.parametrize("isa", ARM)
def test_add_pair_products(isa: str) -> None:
    total, weights = vectors(isa, np.int32, 1), vectors(isa, np.int16, 2)
    pair = np.tile(vectors(isa, np.int16, 3)[:, :2], 4)
    products = pair[:, :1].astype(np.int64) * weights[:, :4] + pair[:, 1:2].astype(np.int64) * weights[:, 4:]

    def body(w: Writer, total: str, *pairs: str) -> str:
        return aarch64.add_pair_products(w, total, *(w.bitcast(each, w.i16, w.i32) for each in pairs))

    found = results_of(isa, body, [total, pair, weights], np.int32)
    np.testing.assert_array_equal(found, (products + total).astype(np.int32))


@pytest.mark.parametrize("isa", ISAS)
def test_to_nearest_even(isa: str) -> None:
    rng = np.random.default_rng(4)
    lanes = INSTRUCTION_SETS[isa].lanes
    reals = (rng.integers(-300, 300, (UNITS, lanes)) / 2).astype(np.float32)
    reals[1::3] *= np.float32(1.0001)
    reals[2::3] = rng.uniform(-(2.0**31), 2.0**31 - 256, reals[2::3].shape).astype(np.float32)
    reals[5] = -(2.0**33)
    found = results_of(isa, instructions.to_nearest_even, [reals], np.int32)
    np.testing.assert_array_equal(found, np.clip(np.rint(reals.astype(np.float64)), -(2**31), None))


@pytest.mark.parametrize("isa", ISAS)
def test_pinned_is_the_same_value(isa: str) -> None:
    values = vectors(isa, np.int32, 5)
    found = results_of(isa, lambda w, value: instructions.pinned(w, value, w.i32), [values], np.int32)
    np.testing.assert_array_equal(found, values)


@pytest.mark.parametrize("isa", ISAS)
def test_shuffle_bytes(isa: str) -> None:
    table = vectors(isa, np.uint8, 6)
    lanes = vectors(isa, np.uint8, 7, [*range(16), 128, 200, 255])
    rows = table.reshape(UNITS, -1, 16)
    picked = np.take_along_axis(rows, lanes.reshape(rows.shape).astype(np.intp) % 16, 2).reshape(UNITS, -1)
    found = results_of(isa, instructions.shuffle_bytes, [table, lanes], np.uint8)
    np.testing.assert_array_equal(found, np.where(lanes < 16, picked, 0))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_saturating_sums_and_differences(isa: str, dtype: Any) -> None:
    lhs, rhs = vectors(isa, dtype, 8), vectors(isa, dtype, 9)[::-1]
    limits = np.iinfo(dtype)
    for function, wide in (
        (instructions.saturating_add, lhs.astype(np.int32) + rhs),
        (instructions.saturating_subtract, lhs.astype(np.int32) - rhs),
    ):

        def body(w: Writer, a: str, b: str, function: Any = function) -> str:
            return str(function(w, a, b, w.i8 if dtype is np.int8 else w.i16))

        found = results_of(isa, body, [lhs, rhs], dtype)
        np.testing.assert_array_equal(found, np.clip(wide, limits.min, limits.max))


@pytest.mark.parametrize("isa", ISAS)
def test_multiply_high_words(isa: str) -> None:
    lhs, rhs = vectors(isa, np.uint16, 10), vectors(isa, np.uint16, 11)[::-1]
    found = results_of(isa, instructions.multiply_high_words, [lhs, rhs], np.uint16)
    np.testing.assert_array_equal(found, lhs.astype(np.uint32) * rhs >> 16)


@pytest.mark.parametrize("isa", ISAS)
def test_shifts(isa: str) -> None:
    words, numbers = vectors(isa, np.uint16, 12), vectors(isa, np.int32, 13)
    counts = np.zeros_like(words)
    counts[:, 0] = np.arange(UNITS) % 16
    every = np.repeat((np.arange(UNITS) % 32).astype(np.int32)[:, None], numbers.shape[1], 1)

    def body(w: Writer, value: str, count: str) -> str:
        place = w.allocate(w.isa.vector_bytes)
        w.store(count, place, w.i16)
        return instructions.shift_right_words(w, value, instructions.word_shift(w, place))

    found = results_of(isa, body, [words, counts], np.uint16)
    np.testing.assert_array_equal(found, words >> counts[:, :1])
    found = results_of(isa, instructions.shift_right, [numbers, every], np.int32)
    np.testing.assert_array_equal(found, numbers >> every)


@pytest.mark.parametrize("isa", ISAS)
def test_narrowing(isa: str) -> None:
    low, high = vectors(isa, np.int32, 14), vectors(isa, np.int32, 15)[::-1]
    words = [np.clip(part, -(2**15), 2**15 - 1).astype(np.int16) for part in (low, high)]
    found = results_of(isa, instructions.narrow_to_words, [low, high], np.int16)
    np.testing.assert_array_equal(found, by_128_bits(*words))
    low, high = vectors(isa, np.int16, 16), vectors(isa, np.int16, 17)[::-1]
    for dtype in (np.int8, np.uint8):
        limits = np.iinfo(dtype)
        parts = [np.clip(part, limits.min, limits.max).astype(dtype) for part in (low, high)]

        def body(w: Writer, a: str, b: str, signed: bool = dtype is np.int8) -> str:
            return instructions.narrow_to_bytes(w, a, b, signed)

        np.testing.assert_array_equal(results_of(isa, body, [low, high], dtype), by_128_bits(*parts))


@pytest.mark.parametrize("isa", ISAS)
def test_sum_bytes(isa: str) -> None:
    values = vectors(isa, np.uint8, 18)
    values[0] = 255
    found = results_of(isa, instructions.sum_bytes, [values], np.int64)
    np.testing.assert_array_equal(found, values.reshape(UNITS, -1, 8).sum(2))


@pytest.mark.parametrize("isa", kernel_runner.each_of("sse4", "neon", "dotprod"))
def test_smallest_byte(isa: str) -> None:
    values = vectors(isa, np.uint8, 19) | 8
    values[np.arange(UNITS), np.arange(UNITS) % 16] &= 7
    found = results_of(isa, instructions.broadcast_smallest_byte, [values], np.uint8)
    np.testing.assert_array_equal(found, np.repeat(values.min(1)[:, None], 16, 1))


@pytest.mark.parametrize("isa", ARM)
def test_narrow_to_numbers(isa: str) -> None:
    low, high = vectors(isa, np.int64, 34), vectors(isa, np.int64, 35)[::-1]
    expected = np.clip(np.concatenate([low, high], 1), -(2**31), 2**31 - 1)
    np.testing.assert_array_equal(results_of(isa, aarch64.narrow_to_numbers, [low, high], np.int32), expected)


@pytest.mark.parametrize("isa", ARM)
def test_look_up_256(isa: str) -> None:
    table = np.random.default_rng(20).permutation(256).astype(np.uint8)
    lanes = vectors(isa, np.uint8, 21)
    lanes[:16] = np.arange(256).reshape(16, 16)

    def body(w: Writer, lanes: str) -> str:
        rows = [
            w.constant(f"dense<[{', '.join(map(str, row.view(np.int8)))}]> : {w.i8}")
            for row in table.reshape(16, 16)
        ]
        return aarch64.look_up_256(w, rows, lanes)

    np.testing.assert_array_equal(results_of(isa, body, [lanes], np.uint8), table[lanes])


@pytest.mark.parametrize("isa", ARM)
def test_rounding_shift(isa: str) -> None:
    values = vectors(isa, np.int32, 22)
    left = vectors(isa, np.int32, 23, [*range(-31, 1)])
    wide = values.astype(np.int64)
    expected = np.where(left < 0, wide + (1 << np.maximum(-left.astype(np.int64) - 1, 0)) >> -left, wide)
    found = results_of(isa, aarch64.rounding_shift, [values, left], np.int32)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("isa", ARM)
def test_doubling_multiply_high(isa: str) -> None:
    lhs, rhs = vectors(isa, np.int32, 24), vectors(isa, np.int32, 25)[::-1]
    rhs = np.maximum(rhs, -(2**31) + 1)
    expected = (lhs.astype(np.int64) * rhs + (1 << 30)) >> 31
    found = results_of(isa, aarch64.doubling_multiply_high, [lhs, rhs], np.int32)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("isa", ARM)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_add_products(isa: str, upper: bool, count: int) -> None:
    totals = [vectors(isa, np.int32, 26), vectors(isa, np.int32, 27)]
    values = [vectors(isa, np.int8, 28 + i) for i in range(count)]
    weights = [np.maximum(vectors(isa, np.int8, 30 + i)[::-1], -127) for i in range(count)]
    half = slice(8, 16) if upper else slice(0, 8)
    products = [a.astype(np.int32)[:, half] * b[:, half] for a, b in zip(values, weights, strict=True)]
    sums = np.sum(products, 0).reshape(UNITS, 2, 4)

    for part in range(2):

        def body(w: Writer, low: str, high: str, *factors: str, part: int = part) -> str:
            pairs = list(zip(factors[:count], factors[count:], strict=True))
            return aarch64.add_products(w, [low, high], pairs, upper)[part]

        found = results_of(isa, body, [*totals, *values, *weights], np.int32)
        np.testing.assert_array_equal(found, (totals[part] + sums[:, part]).astype(np.int32))
