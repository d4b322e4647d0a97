"""The proofs of ``kernels/float32_rescale.py``, against the integer rules and a model of the machine."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from float32_machine import rescaled, rescaled_array, round_float32
from random_tensors import seeds
from zeropoint.dialect import fixed_point as fx
from zeropoint.dialect.numerics import Rounding
from zeropoint.dialect.op_constants import Rescale
from zeropoint.kernels.float32_rescale import Float32Rescale, Form, holds, prove
from zeropoint.kernels.thresholds import FAR, by_bisection, thresholds

PROVED_ROUNDINGS = (Rounding.DOUBLE, Rounding.ONCE_HALF_AWAY, Rounding.SINGLE_HALF_UP)
LIMIT = 1 << 24


def rescale_of(scales: list[float], rounding: Rounding, zero_point: int, low: int, high: int) -> Rescale:
    if rounding is Rounding.FLOAT32_HALF_EVEN:
        scales = [fx.float32(scale) for scale in scales]
    pairs = [fx.quantize_multiplier(scale) for scale in scales]
    multipliers, shifts = zip(*pairs, strict=True)
    return Rescale(rounding, tuple(scales), multipliers, shifts, zero_point, low, high)


def random_scales(
    rng: np.random.Generator, count: int, lowest: float = -17, highest: float = 1
) -> list[float]:
    scales = 2.0 ** rng.uniform(lowest, highest, count)
    # Powers of two and short fractions have ties.
    scales[: count // 8] = 2.0 ** rng.integers(lowest, highest, count // 8)
    scales[count // 8 : count // 4] = rng.integers(1, 64, count // 4 - count // 8) / 2.0 ** rng.integers(
        8, 16
    )
    return [float(scale) for scale in scales]


def random_rescale(rng: np.random.Generator, rounding: Rounding, count: int) -> Rescale:
    zero_point = int(rng.choice([-128, 127, rng.integers(-128, 128)]))
    low, high = -128, 127
    if rng.random() < 0.5:
        low = zero_point
    if rng.random() < 0.3:
        low, high = sorted(int(x) for x in rng.integers(-128, 128, 2))
    return rescale_of(random_scales(rng, count), rounding, zero_point, low, high)


def random_ranges(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Wide and narrow ones, with zero inside and outside."""
    limit = 2.0 ** rng.uniform(4, 26)
    ends = np.sort(rng.uniform(-limit, limit, (2, count)), axis=0).astype(np.int64)
    if rng.random() < 0.7:
        ends[0] = np.minimum(ends[0], 0)
        ends[1] = np.maximum(ends[1], 0)
    return ends[0], ends[1]


def telling_accumulators(
    rng: np.random.Generator, rescale: Rescale, lowest: np.ndarray, highest: np.ndarray
) -> np.ndarray:
    """``[n, channels]``: around every threshold, the ends of the ranges, zero, and random ones."""
    if rescale.rounding is Rounding.FLOAT32_HALF_EVEN:
        magnitudes = np.minimum(by_bisection(rescale, LIMIT), 1 << 31)
    else:
        magnitudes = np.minimum(thresholds(rescale).magnitudes, 1 << 31)
    around = [sign * (magnitudes + d) for sign in (1, -1) for d in (-2, -1, 0, 1, 2)]
    near = [np.stack([end + d for d in (-1, 0, 1)]) for end in (lowest, highest, np.zeros_like(lowest))]
    anywhere = rng.integers(lowest, highest + 1, (500, len(lowest)))
    steps = rng.integers(-200, 201, (300, len(lowest))) / np.maximum(rescale.scales, 2.0**-31)
    every = np.concatenate(
        [*around, *near, anywhere, np.clip(steps, -(2.0**31), 2.0**31 - 1).astype(np.int64)]
    )
    return np.clip(every, lowest, highest)


@given(seeds, st.booleans())
def test_the_model_of_the_machine(seed: int, toward_zero: bool) -> None:
    """The vectorized model against exact rationals, on constants that need not be proved."""
    rng = np.random.default_rng(seed)
    rescale = random_rescale(rng, Rounding.DOUBLE, 8)
    form = Form.RELU if rescale.low >= rescale.zero_point else Form.LINEAR
    multiplier = np.array(rescale.scales, np.float32)
    correction = np.ldexp(rng.integers(0, 1 << 12, 8), -50).astype(np.float32)
    constants = Float32Rescale(form, multiplier, correction, rng.random(8, np.float32), np.ones(8, bool))
    acc = np.clip(rng.integers(-300, 300, (6, 8)) / multiplier, -LIMIT * 4, LIMIT * 4).astype(np.int64)
    expected = [
        [rescaled(constants, rescale, channel, int(row[channel]), toward_zero) for channel in range(8)]
        for row in acc
    ]
    assert (rescaled_array(constants, rescale, acc, toward_zero) == expected).all()


@given(st.floats(-(2.0**40), 2.0**40) | st.floats(-1e-37, 1e-37), st.integers(0, 1 << 40))
def test_rounding_to_float32_is_numpys(value: float, denominator: int) -> None:
    assert round_float32(Fraction(value), False) == Fraction(float(np.float32(value)))
    inner = round_float32(Fraction(value) / (denominator + 1), True)
    assert abs(inner) <= abs(Fraction(value) / (denominator + 1))
    beyond = float(np.nextafter(np.float32(float(inner)), np.float32(np.copysign(np.inf, value))))
    assert abs(Fraction(beyond)) > abs(Fraction(value) / (denominator + 1))


@pytest.mark.parametrize("rounding", PROVED_ROUNDINGS)
@settings(max_examples=25)
@given(seed=seeds)
def test_thresholds_are_where_the_rule_steps(rounding: Rounding, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rescale = random_rescale(rng, rounding, 16)
    found, searched = thresholds(rescale), by_bisection(rescale, LIMIT)
    inside = found.magnitudes <= LIMIT
    assert found.known.all()
    assert (inside == (searched != FAR)).all()
    assert (found.magnitudes[inside] == searched[inside]).all()


def test_thresholds_of_no_scale_are_far() -> None:
    rescale = rescale_of([0.0, 0.5], Rounding.DOUBLE, 0, -128, 127)
    assert (thresholds(rescale).magnitudes[:, 0] >= FAR).all()
    assert (thresholds(replace(rescale, rounding=Rounding.ONCE_HALF_AWAY)).magnitudes[:, 0] >= FAR).all()


@pytest.mark.parametrize("toward_zero", [True, False])
@pytest.mark.parametrize("rounding", [*PROVED_ROUNDINGS, Rounding.FLOAT32_HALF_EVEN])
@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_what_is_proved_holds(rounding: Rounding, toward_zero: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rescale = random_rescale(rng, rounding, 24)
    lowest, highest = random_ranges(rng, 24)
    proof = prove(rescale, lowest, highest, fma_toward_zero=toward_zero)
    acc = telling_accumulators(rng, rescale, lowest, highest)
    wrong = (rescaled_array(proof, rescale, acc, toward_zero) != rescale.apply(acc)).any(axis=0)
    assert not (wrong & proof.exact).any()
    assert not any(
        values[~proof.exact].any() for values in (proof.multiplier, proof.correction, proof.addend)
    )


@pytest.mark.parametrize("rounding", PROVED_ROUNDINGS)
@pytest.mark.parametrize(("zero_point", "low"), [(-128, -128), (-7, -128), (-7, -7), (3, 10)])
def test_every_accumulator_of_a_small_range(rounding: Rounding, zero_point: int, low: int) -> None:
    rng = np.random.default_rng(abs(low))
    rescale = rescale_of(random_scales(rng, 8, -9), rounding, zero_point, low, 127)
    acc = np.arange(-70000, 70001)[:, None] * np.ones(8, np.int64)
    proof = prove(rescale, -70000, 70000)
    assert proof.exact.mean() > 0.5  # scales with ties are hard
    assert (rescaled_array(proof, rescale, acc, True) == rescale.apply(acc))[:, proof.exact].all()


@pytest.mark.parametrize(
    ("zero_point", "low", "toward_zero", "expected"),
    # From 2^-12 up, two fmas toward zero leave nothing to wish for.
    [(-128, -128, True, 1.0), (-5, -128, True, 1.0), (-128, -128, False, 0.5), (-5, -128, False, 0.9)],
)
def test_how_much_is_proved(zero_point: int, low: int, toward_zero: bool, expected: float) -> None:
    rng = np.random.default_rng(5)
    scales = [float(scale) for scale in 2.0 ** rng.uniform(-12, -3, 1000)]
    rescale = rescale_of(scales, Rounding.DOUBLE, zero_point, low, 127)
    proof = prove(rescale, -(1 << 22), 1 << 22, fma_toward_zero=toward_zero)
    assert proof.exact.mean() >= expected
    if toward_zero:
        assert proof.fused == 2
    coarse = [scale for scale in scales if scale > 2.0**-8]
    one = prove(rescale_of(coarse, Rounding.DOUBLE, zero_point, low, 127), -(1 << 22), 1 << 22)
    assert one.exact.all()
    assert one.fused == 1


@pytest.mark.parametrize("toward_zero", [True, False])
@settings(max_examples=30, deadline=None)
@given(seed=seeds)
def test_broken_constants_are_refused(toward_zero: bool, seed: int) -> None:
    """The proof accepts what agrees at all thresholds, and nothing else."""
    rng = np.random.default_rng(seed)
    rescale = random_rescale(rng, Rounding(rng.choice([r.value for r in PROVED_ROUNDINGS])), 24)
    lowest, highest = random_ranges(rng, 24)
    proof = prove(rescale, lowest, highest, fma_toward_zero=toward_zero)
    assert holds(rescale, proof, lowest, highest, fma_toward_zero=toward_zero)[proof.exact].all()
    acc = telling_accumulators(rng, rescale, lowest, highest)
    for name, distance in itertools.product(("multiplier", "correction", "addend"), (-3, -1, 1, 3)):
        values = getattr(proof, name)
        # The last bits that the proof allows for.
        steps = np.maximum(np.spacing(values), np.float32(2.0**-50))
        moved = np.where(values > 0, values + distance * steps, values).astype(np.float32)
        broken = replace(proof, **{name: moved})
        accepted = holds(rescale, broken, lowest, highest, fma_toward_zero=toward_zero)
        agrees = (rescaled_array(broken, rescale, acc, toward_zero) == rescale.apply(acc)).all(axis=0)
        usual = proof.exact & (proof.multiplier > 0) & (moved < 1)
        assert (accepted == agrees)[usual].all()


def test_one_step_at_a_threshold_is_refused() -> None:
    """An accumulator that is a tie in the reals: the addend has no room downwards."""
    rescale = rescale_of([0.125], Rounding.ONCE_HALF_AWAY, 0, -128, 127)
    ones = np.ones(1, np.float32)
    right = Float32Rescale(Form.LINEAR, ones / 8, 0 * ones, ones / 2, np.ones(1, bool))
    assert holds(rescale, right, -1000, 1000).all()
    assert not holds(rescale, replace(right, addend=np.nextafter(right.addend, 0)), -1000, 1000).any()
    assert not holds(rescale, replace(right, multiplier=np.nextafter(right.multiplier, 0)), -1000, 1000).any()
    assert not holds(rescale, replace(right, addend=ones * np.float32(0.7)), -1000, 1000).any()
    assert holds(rescale, replace(right, addend=ones * np.float32(0.7)), -2, 2).all()  # no threshold


def test_dead_channels_are_constant() -> None:
    """Scales beyond all thresholds that are known, accumulators beyond float32: one result all the same."""
    rescale = rescale_of([2.0**-28.3, 2.0**-30.7, 2.0**-22.4], Rounding.DOUBLE, -128, -128, 127)
    lowest = np.array([(1 << 30) - 5, -(1 << 30), 99105456])
    proof = prove(rescale, lowest, lowest + 3)
    assert proof.exact.all()
    for channel, rest in itertools.product(range(3), range(4)):
        acc = int(lowest[channel]) + rest
        expected = rescale.apply(np.full(3, acc))[channel]
        assert rescaled(proof, rescale, channel, acc, True) == expected


def test_what_leaves_32_bits_is_refused() -> None:
    doubled = rescale_of([2.3], Rounding.DOUBLE, 0, -128, 127)
    assert prove(doubled, -(1 << 20), 1 << 20).exact.all()
    assert not prove(doubled, -(1 << 29), 1 << 29).exact.any()  # the left shift wraps
    once = replace(doubled, rounding=Rounding.ONCE_HALF_AWAY)
    assert not prove(once, -(1 << 30), 1 << 30).exact.any()  # the conversion to integers overflows
    assert not prove(replace(once, scales=(0.01,)), 0, 1 << 31).exact.any()  # no accumulator


def test_wide_results_are_refused() -> None:
    assert not prove(rescale_of([0.1], Rounding.DOUBLE, 0, -32768, 32767), -1000, 1000).exact.any()


def test_half_even_needs_no_proof_but_of_its_range() -> None:
    rescale = rescale_of([0.3, 1e-30, 3.0], Rounding.FLOAT32_HALF_EVEN, 4, -128, 127)
    proof = prove(rescale, -(1 << 30), 1 << 30)
    assert proof.form is Form.NEAREST
    assert proof.fused == 0
    assert proof.exact.tolist() == [True, True, False]
    acc = np.random.default_rng(0).integers(-(1 << 30), 1 << 30, (10000, 3))
    acc[:5000] %= 2000
    assert (rescaled_array(proof, rescale, acc, True) == rescale.apply(acc))[:, :2].all()


def test_one_scale_serves_channels_of_many_ranges() -> None:
    rescale = rescale_of([0.0123], Rounding.DOUBLE, -128, -128, 127)
    proof = prove(rescale, np.array([-5, -10000, 3]), np.array([5, 3, 90000]))
    assert proof.exact.shape == (1,)
    acc = np.arange(-10000, 90001)[:, None]
    assert proof.exact.all()
    assert (rescaled_array(proof, rescale, acc, True) == rescale.apply(acc)).all()


def test_a_scale_of_one() -> None:
    rescale = Rescale(Rounding.EXACT, (1.0,), (1 << 30,), (1,), 3, -128, 127)
    proof = prove(rescale, -(1 << 30), 1 << 30)
    assert proof.exact.all()
    acc = np.arange(-400, 400)[:, None]
    assert (rescaled_array(proof, rescale, acc, True) == rescale.apply(acc)).all()
