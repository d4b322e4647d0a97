"""exp, reciprocal and inverse square root in fixed point, as gemmlowp's and TFLite's reference code computes
them (used by 8-bit softmax, division, normalization).

``Qm.n`` holds ``real * 2^n`` in an int32. All products are :func:`.fixed_point.srdhm`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .fixed_point import INT32_MAX, INT32_MIN, Ints, rounding_divide_by_pot, srdhm

EXP_MINUS_EIGHTH = 1895147668
"""exp(-1/8) in Q0.31."""
ONE_THIRD = 715827883
"""1/3 in Q0.31."""
EXP_OF_MINUS_POWERS_OF_TWO = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""exp(-2^k) in Q0.31 for k = -2 ... 4."""
FORTY_EIGHT_SEVENTEENTHS = 1515870810
"""48/17 in Q2.29."""
MINUS_THIRTY_TWO_SEVENTEENTHS = -1010580540
"""-32/17 in Q2.29."""
THREE_HALVES = (1 << 28) + (1 << 27)
"""3/2 in Q3.28."""
SQRT_HALF = 1518500250
"""sqrt(1/2) in Q0.31."""
LOG_TWO = 1488522236
"""log(2) in Q0.31."""
FOURTH_ROOT_OF_HALF = 1805811301
"""2^(-1/4) in Q0.31."""
LOG_NUMERATOR = 117049297
"""11/240 * 2^(1/4) in Q0.31."""
LOG_DENOMINATOR = (1057819769, 127690142, 638450708)
"""2^(3/4) - 2^(1/4), 2^(1/4) / 20 and 2^(1/4) / 4 in Q0.31."""
LOG_STEP = 25
"""One in Q6.25, what logarithms are added up in."""


def exp_on_negative_values(a: npt.ArrayLike) -> Ints:
    """``exp(a)`` in Q0.31 of ``a <= 0`` in Q5.26.

    ``a`` splits into a remainder in ``[-1/4, 0)``, whose exp is a Taylor polynomial around -1/8, and a
    multiple of 1/4, whose binary digits each multiply by one of :data:`EXP_OF_MINUS_POWERS_OF_TWO`.
    """
    wide = np.asarray(a, dtype=np.int64)
    quarter = 1 << 24
    remainder = (wide & (quarter - 1)) - quarter
    result = _exp_between_minus_quarter_and_zero(remainder << 5)
    multiple = remainder - wide
    for k, factor in enumerate(EXP_OF_MINUS_POWERS_OF_TWO, start=-2):
        result = np.where(multiple & (1 << (26 + k)), srdhm(result, factor), result)
    return np.where(wide == 0, INT32_MAX, result)


def _exp_between_minus_quarter_and_zero(a: Ints) -> Ints:
    x = a + (1 << 28)
    x2 = srdhm(x, x)
    x3, x4 = srdhm(x2, x), srdhm(x2, x2)
    cubic = srdhm(rounding_divide_by_pot(x4, 2) + x3, ONE_THIRD)
    return EXP_MINUS_EIGHTH + srdhm(EXP_MINUS_EIGHTH, x + rounding_divide_by_pot(cubic + x2, 1))


def reciprocal(x: npt.ArrayLike, integer_bits: int) -> tuple[Ints, Ints]:
    """``(r, bits)`` with ``1 / x ~= r * 2^-31 * 2^-bits``, for ``x > 0`` in ``Q<integer_bits>`` (int32);
    ``r`` is Q0.31.

    ``x`` is normalized to ``1 + f``, ``f`` in ``[0, 1)``; three Newton steps from ``48/17 - 32/17 * d`` find
    ``1 / (1 + f)``.
    """
    wide = np.asarray(x, dtype=np.int64)
    leading_zeros = 31 - np.floor(np.log2(wide)).astype(
        np.int64
    )  # float64 log2 is exact enough for 31-bit integers
    fraction = (wide << leading_zeros) - (1 << 31)
    return _reciprocal_of_one_plus(fraction), integer_bits - leading_zeros


def _reciprocal_of_one_plus(fraction: Ints) -> Ints:
    """``1 / (1 + fraction)`` in Q0.31 of a fraction in Q0.31."""
    half_denominator = (fraction + INT32_MAX + 1) >> 1
    estimate = FORTY_EIGHT_SEVENTEENTHS + srdhm(half_denominator, MINUS_THIRTY_TWO_SEVENTEENTHS)
    for _ in range(3):
        error = (1 << 29) - srdhm(half_denominator, estimate)
        estimate = estimate + _saturate(srdhm(estimate, error) << 2)
    return _saturate(estimate << 1)


def _saturate(x: Ints) -> Ints:
    return np.clip(x, INT32_MIN, INT32_MAX)


def inverse_square_root(x: npt.ArrayLike) -> tuple[Ints, Ints]:
    """``(r, shift)`` with ``1 / sqrt(x) ~= r * 2^-31 * 2^-shift`` for an integer ``x >= 1`` (int32).

    ``x`` is normalized by an even shift; five Newton steps in Q3.28 find its inverse root. 1 (and 0, which
    has none) gives the largest ``r`` and shift 0.
    """
    wide = np.maximum(np.asarray(x, dtype=np.int64), 2)
    shift = np.full_like(wide, 11)
    for _ in range(2):
        large = wide >= 1 << 29
        wide, shift = np.where(large, wide // 4, wide), shift + large
    leading_zeros = 31 - np.floor(np.log2(wide)).astype(np.int64)
    pairs = (leading_zeros - 1) // 2 - 1
    wide, shift = wide << (2 * pairs), shift - pairs
    half_input = rounding_divide_by_pot(wide >> 1, 1)
    root = np.full_like(wide, 1 << 28)
    for _ in range(5):
        cube = _saturate(srdhm(srdhm(root, root), root) << 6)
        step = srdhm(THREE_HALVES, root) - srdhm(half_input, cube)
        root = _saturate(step << 3)
    root = srdhm(root, SQRT_HALF)
    negative = np.maximum(-shift, 0)
    root, shift = root << negative, np.maximum(shift, 0)
    small = np.asarray(x, dtype=np.int64) <= 1
    return np.where(small, INT32_MAX, root), np.where(small, 0, shift)


def logarithm(x: npt.ArrayLike) -> Ints:
    """``log(x)`` in Q5.26 of ``x >= 1`` in Q12.19.

    ``x`` is ``r * 2^k`` with ``r`` around ``2^(-1/4)`` and ``k`` a multiple of a half, less a quarter;
    ``log(r)`` is a quotient of polynomials in ``q = 2 * (r - 2^(-1/4))``.
    """
    wide = np.asarray(x, dtype=np.int64)
    zeros = _leading_zeros(wide)
    first = _saturate(srdhm(wide << (zeros - 1), SQRT_HALF) << 1)
    headroom = _leading_zeros(srdhm(wide, SQRT_HALF)) - 1
    quarter = 1 << (LOG_STEP - 2)
    ratio = np.minimum(first, _saturate(wide << headroom))
    exponent = np.maximum(((12 - zeros) << LOG_STEP) + quarter, ((12 - headroom) << LOG_STEP) - quarter)
    middle = _half_sum(ratio, FOURTH_ROOT_OF_HALF)
    q = (ratio - FOURTH_ROOT_OF_HALF) << 1
    square = srdhm(q, q)
    numerator = srdhm(q, ratio) + srdhm(srdhm(q, square), LOG_NUMERATOR)
    constant, quadratic, linear = LOG_DENOMINATOR
    denominator = srdhm(middle, constant + q + srdhm(quadratic, square)) + srdhm(linear, q)
    inverse = _reciprocal_of_one_plus(denominator)
    total = srdhm(exponent, LOG_TWO) + srdhm(rounding_divide_by_pot(numerator, 6), inverse)
    return _saturate(total << 1)


def _leading_zeros(x: Ints) -> Ints:
    """Of a positive int32."""
    return 31 - np.floor(np.log2(x)).astype(np.int64)


def _half_sum(a: Ints, b: int) -> Ints:
    """``(a + b) / 2`` to nearest, ties away from zero."""
    total = a + b
    half = np.abs(total) + 1 >> 1
    result: Ints = np.sign(total) * half
    return result
