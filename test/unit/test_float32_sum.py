"""The constants of ``kernels/float32_sum.py`` against the integer meaning of additions and products."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from float32_machine import added, added_array, rescaled_array
from random_tensors import quantized, seeds
from zeropoint.dialect import rescale
from zeropoint.dialect.op_constants import ShiftSum, Sum
from zeropoint.kernels.float32_sum import Float32Sum, prove_product, prove_sum, sum_holds

MINIMUM = {"i8": -128, "u8": 0}
storages = st.sampled_from(["i8", "u8"])
modes = st.sampled_from(["reference", "xnnpack"])


def operand(storage: str) -> np.ndarray:
    return np.arange(256) + MINIMUM[storage]


def random_sum(rng: np.random.Generator, storage: str, mode: str) -> Sum | ShiftSum:
    """Scales as networks have them, an activation now and then."""
    lhs, rhs = np.exp(rng.uniform(-4, -2, 2))
    scales = lhs, rhs, max(lhs, rhs) * rng.uniform(0.7, 1.8)
    types = [quantized((1,), storage, scale, int(rng.choice(operand(storage)))) for scale in scales]
    clamp = (0.0, float(rng.choice([6.0, np.inf]))) if rng.random() < 0.3 else ()
    return rescale.add(*types, clamp, mode)


def limits(constants: Sum | ShiftSum) -> tuple[int, int]:
    owner: Any = constants.output if isinstance(constants, Sum) else constants
    return owner.low, owner.high


def machine(constants: Sum | ShiftSum, found: Float32Sum, storage: str, toward_zero: bool) -> np.ndarray:
    """What the kernel computes, ``[256, 256]``."""
    values = operand(storage)
    x = added_array(found, values[:, None], values, toward_zero) + MINIMUM[storage]
    return np.clip(x, *limits(constants)).astype(np.int64)


def meant(constants: Sum | ShiftSum, storage: str, sign: int) -> np.ndarray:
    values = operand(storage)
    return constants.apply(values[:, None], values, sign)


@settings(max_examples=60, deadline=None)
@given(seeds, storages, modes, st.booleans(), st.booleans())
def test_all_pairs_have_the_integer_meanings_bits(
    seed: int, storage: str, mode: str, subtract: bool, toward_zero: bool
) -> None:
    rng = np.random.default_rng(seed)
    constants = random_sum(rng, storage, mode)
    minimum = MINIMUM[storage]
    found = prove_sum(constants, minimum, minimum, minimum, subtract=subtract, fma_toward_zero=toward_zero)
    if found is None:
        return  # how often: the next test
    results = machine(constants, found, storage, toward_zero)
    assert (results == meant(constants, storage, -1 if subtract else 1)).all()
    for lhs, rhs in rng.choice(operand(storage), (20, 2)).tolist():
        exact = min(
            max(added(found, lhs, rhs, toward_zero) + minimum, limits(constants)[0]), limits(constants)[1]
        )
        assert exact == results[lhs - minimum, rhs - minimum]


@pytest.mark.parametrize("toward_zero", [True, False])
@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
def test_nearly_all_are_found(mode: str, toward_zero: bool) -> None:
    rng = np.random.default_rng(3)
    found = [
        prove_sum(random_sum(rng, "i8", mode), -128, -128, -128, fma_toward_zero=toward_zero)
        for _ in range(60)
    ]
    assert sum(one is not None for one in found) >= 57


def test_encodings_may_differ() -> None:
    """An i8 operand that a kernel holds as u8: its zero point moves with it."""
    constants = random_sum(np.random.default_rng(1), "i8", "reference")
    moved = replace(constants, rhs_zero_point=constants.rhs_zero_point + 128)
    found = prove_sum(moved, -128, 0, -128)
    assert found is not None
    x = added_array(found, operand("i8")[:, None], operand("u8"), True) - 128
    assert (np.clip(x, -128, 127) == meant(constants, "i8", 1)).all()


def test_the_other_operand_inside() -> None:
    """An addition of a real network that only the swapped order can do."""
    lhs = quantized((1,), "i8", 0.1, -6)
    types = [
        replace(lhs, element=replace(lhs.params, scales=(scale,), zero_points=(zero_point,)))
        for scale, zero_point in ((0.1, -6), (0.1, -31), (0.1, -14))
    ]
    constants = rescale.add(*types)
    output = replace(constants.output, multipliers=(1087021813,), shifts=(-18,))
    constants = replace(constants, rhs_multiplier=1921681490, rhs_shift=-1, output=output)
    found = prove_sum(constants, -128, -128, -128)
    assert found is not None
    assert found.swapped
    assert (machine(constants, found, "i8", True) == meant(constants, "i8", 1)).all()


@settings(max_examples=20, deadline=None)
@given(seeds, modes, st.booleans(), st.booleans())
def test_broken_constants_are_refused(seed: int, mode: str, subtract: bool, toward_zero: bool) -> None:
    rng = np.random.default_rng(seed)
    constants = random_sum(rng, "u8", mode)
    found = prove_sum(constants, 0, 0, 0, subtract=subtract, fma_toward_zero=toward_zero)
    if found is None:
        return
    expected = meant(constants, "u8", -1 if subtract else 1)
    broken = [found]
    for name in ("lhs_factor", "rhs_factor", "addend"):
        value = np.float32(getattr(found, name))
        steps = np.array([-1, 1, 40]) * np.spacing(value)
        broken += [replace(found, **{name: float(value + step)}) for step in steps.astype(np.float32)]
    accepted = [
        sum_holds(constants, one, 0, 0, 0, subtract=subtract, fma_toward_zero=toward_zero) for one in broken
    ]
    right = [bool((machine(constants, one, "u8", toward_zero) == expected).all()) for one in broken]
    assert accepted == right
    assert accepted[0]


def test_ties_on_both_sides_are_refused() -> None:
    """Half away from zero, of sums that are halves: no addend rounds both signs."""
    kind, coarse = quantized((1,), "i8", 1.0, 3), quantized((1,), "i8", 2.0, 5)
    assert prove_sum(rescale.add(kind, kind, coarse), -128, -128, -128) is None


def test_factors_outside_of_the_proof_are_refused() -> None:
    kind, fine, coarse = (quantized((1,), "i8", scale) for scale in (1.0, 0.2, 1e-6))
    assert prove_sum(rescale.add(kind, kind, fine), -128, -128, -128) is None
    assert prove_sum(rescale.add(kind, coarse, kind), -128, -128, -128) is None


def test_results_that_the_clamp_decides() -> None:
    kind = quantized((1,), "i8", 0.1, -128)
    high = rescale.add(kind, kind, quantized((1,), "i8", 0.1, 127), (5.0, 6.0))
    assert prove_sum(high, -128, -128, -128) is None  # one result
    sums = rescale.add(kind, kind, quantized((1,), "i8", 0.1, 127))
    found = prove_sum(sums, -128, -128, -128)
    assert found is not None
    assert (machine(sums, found, "i8", True) == 127).all()


@settings(max_examples=30, deadline=None)
@given(seeds, storages, modes)
def test_products(seed: int, storage: str, mode: str) -> None:
    rng = np.random.default_rng(seed)
    scales = np.exp(rng.uniform(-4, -1, 3))
    types = [quantized((1,), storage, scale, int(rng.choice(operand(storage)))) for scale in scales]
    constants = rescale.mul(*types, (), mode)
    values, minimum = operand(storage), MINIMUM[storage]
    found = prove_product(constants, minimum, minimum)
    assert found.exact.all()
    acc = (values[:, None] - constants.lhs_zero_point) * (values - constants.rhs_zero_point)
    results = rescaled_array(found, constants.output, acc.reshape(-1, 1), True).reshape(256, 256)
    assert (results == constants.apply(values[:, None], values)).all()
