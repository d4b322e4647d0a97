"""The rule DOUBLE by AArch64's own instructions: every kind, any accumulator, ties of negative numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernel_runner
from zeropoint.dialect.numerics import Rounding
from zeropoint.dialect.op_constants import Rescale
from zeropoint.kernels import doubling, epilogue
from zeropoint.kernels.channels import Channels
from zeropoint.kernels.epilogue import Epilogue
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.narrow import Narrower
from zeropoint.kernels.writer import Writer

ISA = INSTRUCTION_SETS["neon"]
RUNS_HERE = pytest.mark.parametrize("isa", kernel_runner.each_of("neon"))
ROWS = 400
FULL = np.array([-(2**31)]), np.array([2**31 - 1])
Array = np.ndarray[Any, Any]


def rescale_of(
    multipliers: tuple[int, ...], shifts: tuple[int, ...], zero_point: int, low: int, high: int
) -> Rescale:
    scales = tuple(m * 2.0 ** (s - 31) for m, s in zip(multipliers, shifts, strict=True))
    return Rescale(Rounding.DOUBLE, scales, multipliers, shifts, zero_point, low, high)


def accumulators(shifts: tuple[int, ...], seed: int) -> Array:
    """``[ROWS, 4]``: near zero, ties after a multiplier of a half, around the ends, anything."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-(2**31), 2**31, (ROWS, 4))
    values >>= rng.integers(0, 31, (ROWS, 1))
    odd = 2 * rng.integers(-300, 300, (100, 4)) + 1
    values[:100] = np.clip(odd << np.maximum(-np.array(shifts), 0), -(2**31), 2**31 - 1)
    values[100:140] = np.arange(-20, 20)[:, None]
    values[140:142] = [[-(2**31)], [2**31 - 1]]
    return values.astype(np.int32)


def run(rescale: Rescale, values: Array, signed: bool, complete: bool = False) -> Array:
    """Results of ``[ROWS, 4]`` accumulators, a channel per column."""
    ending = Epilogue.of(rescale, None if complete else FULL, isa=ISA)
    channels = Channels(4, 1, 4)
    header = epilogue.header(rescale)
    constants = [np.concatenate([header, ending.pack(rescale, channels).reshape(-1)])]
    w = Writer(ISA)
    source, numbers, target = (w.pointer(i) for i in range(3))

    def unit(index: str) -> list[str]:
        limits = ending.limits(w, numbers)
        parameters = ending.load(w, w.at(numbers, epilogue.HEADER_BYTES))
        place = w.times(index, 64)
        results = [
            ending.apply(w, w.load(w.at(w.at(source, place), 16 * i), w.i32), parameters, limits)
            for i in range(4)
        ]
        if complete:
            for i, result in enumerate(results):
                w.store(result, w.at(w.at(target, place), 16 * i), w.i32)
            return []
        narrower = Narrower(w, ending, numbers, signed)
        words = [narrower.words(*results[i : i + 2]) for i in (0, 2)]
        w.store(narrower.bytes(*words), w.at(target, w.times(index, 16)), w.i8)
        return []

    w.units(unit)
    inputs = [kernel_runner.aligned(values.nbytes), kernel_runner.aligned(constants[0].nbytes)]
    inputs[0][:], inputs[1][:] = values.view(np.uint8).reshape(-1), constants[0]
    result = kernel_runner.aligned(values.size * (4 if complete else 1))
    kernel_runner.run_text(w.text(), ISA.name, inputs, [result], ROWS // 4)
    dtype = np.int32 if complete else np.int8 if signed else np.uint8
    return result.view(dtype).reshape(ROWS, 4)


CASES = [
    ((1 << 30,) * 4, (-1, -2, -8, -31), doubling.LINEAR),
    ((1 << 30,) * 4, (0, -1, -4, 0), doubling.MASKED),
    ((2**31 - 1, 1 << 30, 1518500250, 1 << 30), (-1, -3, -7, -12), doubling.LINEAR),
    ((2**31 - 1, 1 << 30, 1518500250, 0), (0, -20, 0, 3), doubling.MASKED),
    ((1717986918, 0, 1073741825, 2**31 - 2), (-9, 2, -10, -11), doubling.LINEAR),
]


@RUNS_HERE
@pytest.mark.parametrize(("multipliers", "shifts", "kind"), CASES)
@pytest.mark.parametrize("signed", [True, False])
def test_every_accumulator_has_the_bits_of_the_rule(
    isa: str, multipliers: tuple[int, ...], shifts: tuple[int, ...], kind: str, signed: bool
) -> None:
    values = accumulators(shifts, len(kind))
    low, high = (-128, 127) if signed else (0, 255)
    for zero_point in (low + 128, low, low + 3):
        for bounds in ((low, high), (zero_point, high), (max(low, zero_point - 9), zero_point + 100)):
            rescale = rescale_of(multipliers, shifts, zero_point, *bounds)
            relu = bounds[0] >= zero_point
            assert Epilogue.of(rescale, FULL, isa=ISA).kind == (doubling.RELU if relu else kind)
            found = run(rescale, values, signed)
            np.testing.assert_array_equal(found, rescale.apply(values.astype(np.int64)))


@RUNS_HERE
@pytest.mark.parametrize(("multipliers", "shifts", "kind"), CASES)
def test_complete_results(isa: str, multipliers: tuple[int, ...], shifts: tuple[int, ...], kind: str) -> None:
    values = accumulators(shifts, 1)
    for bounds in ((-128, 127), (5, 100)):
        rescale = rescale_of(multipliers, shifts, 5, *bounds)
        found = run(rescale, values, True, complete=True)
        np.testing.assert_array_equal(found, rescale.apply(values.astype(np.int64)))
