"""Fixed-point arithmetic against exact rational arithmetic and C's definitions."""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeropoint.dialect import fixed_point as fx
from zeropoint.dialect import rescale
from zeropoint.dialect.fixed_point_functions import exp_on_negative_values, reciprocal
from zeropoint.dialect.numerics import MODES, Rounding, rule
from zeropoint.dialect.types import QuantParams, Storage, TensorType

int32s = st.integers(fx.INT32_MIN, fx.INT32_MAX) | st.sampled_from([fx.INT32_MIN, -1, 0, 1, fx.INT32_MAX])
multipliers = st.integers(1 << 30, fx.INT32_MAX) | st.sampled_from([0, 1 << 30, fx.INT32_MAX])


def half_away(value: Fraction) -> int:
    whole = math.floor(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


@given(st.floats(2.0**-40, 2.0**20))
def test_quantize_multiplier_is_within_half_a_unit(real: float) -> None:
    multiplier, shift = fx.quantize_multiplier(real)
    if real < 2.0**-32:
        assert (multiplier, shift) == (0, 0)
    elif multiplier:
        assert 1 << 30 <= multiplier <= fx.INT32_MAX
        assert abs(Fraction(real) - Fraction(multiplier) * Fraction(2) ** (shift - 31)) <= Fraction(2) ** (
            shift - 32
        )


@pytest.mark.parametrize(
    ("real", "expected"),
    [
        (0.0, (0, 0)),
        (1.0, (1 << 30, 1)),
        (0.5, (1 << 30, 0)),
        (math.nextafter(1.0, 0.0), (1 << 30, 1)),  # rounds up to 2^31, which is halved
        (2.0**-32, (1 << 30, -31)),
        (2.0**-33, (0, 0)),
        (12.5, (1677721600, 4)),
        (2.0**127, (1 << 30, 128)),
        (math.inf, (0, 0)),
    ],
)
def test_quantize_multiplier_at_its_borders(real: float, expected: tuple[int, int]) -> None:
    assert fx.quantize_multiplier(real) == expected


@given(st.lists(st.floats(0.0, 2.0**127) | st.just(math.inf) | st.sampled_from([1 - 2.0**-40, 2.0**-32])))
def test_many_multipliers_at_once(reals: list[float]) -> None:
    pairs = [fx.quantize_multiplier(real) for real in reals]
    assert fx.quantize_multipliers(reals) == (tuple(m for m, _ in pairs), tuple(s for _, s in pairs))


def gemmlowp_srdhm(a: int, b: int) -> int:
    """The definition: a nudge by sign, then C's truncating division, and one saturation."""
    if a == b == fx.INT32_MIN:
        return fx.INT32_MAX
    product = a * b
    nudged = product + ((1 << 30) if product >= 0 else 1 - (1 << 30))
    return math.trunc(Fraction(nudged, 1 << 31))


@given(int32s, int32s)
def test_srdhm(a: int, b: int) -> None:
    assert int(fx.srdhm(a, b)) == gemmlowp_srdhm(a, b)


@given(int32s, st.integers(0, 34))
def test_rounding_divide_by_pot(x: int, exponent: int) -> None:
    assert int(fx.rounding_divide_by_pot(x, exponent)) == half_away(Fraction(x, 1 << exponent))


@given(int32s, multipliers, st.integers(-31, 8) | st.integers(30, 128))
def test_double_rounding(x: int, multiplier: int, shift: int) -> None:
    shifted = int(fx.wrap_int32(x << max(shift, 0) % 32))
    expected = half_away(Fraction(gemmlowp_srdhm(shifted, multiplier), 1 << max(-shift, 0)))
    assert int(fx.multiply_double_rounding(x, multiplier, shift)) == expected


@given(st.integers(-(1 << 20), 1 << 20), multipliers, st.integers(-31, 8))
def test_single_rounding_is_half_up(x: int, multiplier: int, shift: int) -> None:
    exact = Fraction(x * multiplier) * Fraction(2) ** (shift - 31)
    assert int(fx.multiply_single_rounding(x, multiplier, shift)) == math.floor(exact + Fraction(1, 2))


def test_double_rounding_differs_from_single_rounding() -> None:
    """-1.5 halves first to -1 (half up), then stays; 5 * 3/8 = 1.875 goes through 2 either way."""
    assert int(fx.multiply_double_rounding(3, 1 << 30, -1)) == 1  # 3/4: 3/2 -> 2, 2/2 -> 1
    assert (
        int(fx.multiply_double_rounding(1, 1 << 30, -1)) == 1
    )  # 1/4: 1/2 -> 1, 1/2 -> 1 where a single rounding gives 0
    assert int(fx.multiply_single_rounding(1, 1 << 30, -1)) == 0


@pytest.mark.parametrize(
    ("acc", "away", "even"),
    [(1, 1, 0), (3, 2, 2), (5, 3, 2), (-1, -1, 0), (-3, -2, -2), (-5, -3, -2), (2**31 - 1, 2**30, 2**30)],
)
def test_the_single_rounding_float_rules_on_ties(acc: int, away: int, even: int) -> None:
    assert int(fx.multiply_once_half_away(acc, 0.5)) == away
    assert int(fx.multiply_float32_half_even(acc, 0.5)) == even


@pytest.mark.parametrize("multiply", [fx.multiply_once_half_away, fx.multiply_float32_half_even])
def test_float_rules_saturate(multiply: object) -> None:
    assert callable(multiply)
    assert [int(multiply(x, 1e30)) for x in (-5, 0, 5)] == [fx.INT32_MIN, 0, fx.INT32_MAX]


@given(st.floats(-1e6, 1e6))
def test_round_half_away(value: float) -> None:
    assert fx.round_half_away(value) == half_away(Fraction(value))
    assert int(fx.round_half_away_array(np.array(value))) == half_away(Fraction(value))


def test_round_half_away_just_below_a_half() -> None:
    below = math.nextafter(0.5, 0.0)
    assert fx.round_half_away(below) == 0
    assert float(fx.round_half_away_array(np.array(-below))) == 0.0


@given(st.integers(-(1 << 40), 1 << 40))
def test_wrap_int32(x: int) -> None:
    assert int(fx.wrap_int32(x)) == (x + (1 << 31)) % (1 << 32) - (1 << 31)


@given(st.integers(-(1 << 40), 1 << 40), multipliers, st.integers(-31, 7))
def test_int64_accumulator(x: int, multiplier: int, shift: int) -> None:
    m15 = 0x7FFF if multiplier >= 0x7FFF0000 else (multiplier + (1 << 15)) >> 16
    expected = (x * m15 + (1 << (14 - shift))) >> (15 - shift)
    assert int(fx.multiply_q15_half_up(x, multiplier, shift)) == expected


@given(st.integers(-(31 << 26), 0))
def test_fixed_point_exp(a: int) -> None:
    assert int(exp_on_negative_values(a)) == pytest.approx(math.exp(a / 2**26) * 2**31, abs=2.0**12)


@given(st.integers(1 << 19, fx.INT32_MAX))
def test_fixed_point_reciprocal(x: int) -> None:
    inverse, bits = reciprocal(x, 12)
    assert float(inverse) * 2.0**-31 * 2.0 ** -float(bits) == pytest.approx(2.0**19 / x, rel=1e-7)


def _type(storage: str, scale: float, zero_point: int = 0) -> TensorType:
    return TensorType(
        (1, 1, 1, 1), QuantParams(Storage.of(storage), (float(np.float32(scale)),), (zero_point,))
    )


def test_legacy_uint8_scales_multiply_in_float32() -> None:
    """float32(s_x * s_w) / s_y, where per-channel kernels keep the float64 product."""
    scales = 0.0078125001, 0.023528477, 0.021
    x, w, y = (float(np.float32(scale)) for scale in scales)
    legacy = rescale.conv2d(_type("u8", x), _type("u8", w), _type("u8", y)).rescale
    assert legacy.scales == (float(np.float32(x * w)) / y,)
    assert rescale.conv2d(_type("i8", x), _type("i8", w), _type("i8", y)).rescale.scales == (x * w / y,)


@pytest.mark.parametrize(
    ("clamp", "expected"),
    [
        ((), (-128, 127)),
        ((0.0, math.inf), (3, 127)),
        ((0.0, 6.0), (3, 15)),
        ((-1.0, 1.0), (1, 5)),
        ((-1.25, 1.25), (0, 6)),
    ],
)
def test_clamp_bounds(clamp: tuple[float, ...], expected: tuple[int, int]) -> None:
    assert rescale.clamp_bounds(_type("i8", 0.5, 3).params, clamp) == expected


def test_clamp_bounds_of_xnnpack_round_with_the_zero_point() -> None:
    """6 / 4 + 1 = 2.5 rounds to even."""
    params = _type("i8", 4.0, 1).params
    assert rescale.clamp_bounds(params, (0.0, 6.0), Rounding.FLOAT32_HALF_EVEN) == (1, 2)
    assert rescale.clamp_bounds(params, (0.0, 6.0)) == (1, 3)


def test_folded_bias_absorbs_the_input_zero_point() -> None:
    rng = np.random.default_rng(0)
    q, w = rng.integers(0, 256, (1, 7)), rng.integers(0, 256, (3, 7)).astype(np.uint8)
    constants = rescale.Contraction(
        11, (130,), rescale.make_rescale([1.0], _type("u8", 1.0).params, (), Rounding.DOUBLE)
    )
    bias = np.array([5, -6, 7], np.int32)
    folded = rescale.folded_bias(w, bias, constants)
    expected = (q - 11) @ (w.astype(np.int64) - 130).T + bias
    np.testing.assert_array_equal(q @ (w.astype(np.int64) - 130).T + folded, expected)


@pytest.mark.parametrize("mode", sorted(MODES))
def test_every_mode_answers_for_every_op(mode: str) -> None:
    assert rule(mode, "conv2d") is {"reference": Rounding.DOUBLE, "xnnpack": Rounding.FLOAT32_HALF_EVEN}[mode]
    assert rule(mode, "an_op_it_does_not_list") is Rounding.DOUBLE


SHARED = Path(__file__).parents[3] / "shared"


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared models are not beside the checkout")
def test_multipliers_of_the_hosted_mobilenet() -> None:
    """The published multipliers and shifts of the 27 convolutions of the uint8 MobileNetV1."""
    tflite = pytest.importorskip("tflite", reason="needs the tflite package")
    data = (SHARED / "models" / "mobilenet_v1_1.0_224_quant_embedding_extractor.tflite").read_bytes()
    graph = tflite.Model.GetRootAs(data, 0).Subgraphs(0)

    def scale(index: int) -> float:
        return float(graph.Tensors(index).Quantization().Scale(0))

    actual = []
    for number in range(graph.OperatorsLength()):
        operator = graph.Operators(number)
        if operator.InputsLength() == 3:
            types = [
                _type("u8", scale(index))
                for index in (operator.Inputs(0), operator.Inputs(1), operator.Outputs(0))
            ]
            constants = rescale.conv2d(*types).rescale
            actual.append((constants.multipliers[0], constants.shifts[0]))
    table = (SHARED / "reference" / "mobilenet_v1_u8_multipliers.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in table if not line.startswith("#")))
    expected = [(int(row["multiplier"]), int(row["shift"])) for row in rows if "conv" in row["op"]]
    assert len(actual) == 27
    assert actual == expected[:27]
