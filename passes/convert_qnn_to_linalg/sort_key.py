"""A value and its place as one i64, so that "the best, of equal ones the first" is a maximum of integers.

A maximum is a reduction that LLVM vectorizes; the best value together with its place, which are two, it does
not. The value is in the upper bits; in the 31 below it the place counts backwards. No two keys are equal.
"""

from __future__ import annotations

from .scalar import Scalar

NO_KEY, ABOVE_KEYS = -(1 << 63), (1 << 63) - 1
"""Less and more than every key."""
HIGHEST = (1 << 31) - 1
"""More than the order of infinity, which NaN may count as."""
MINUS_INFINITY = -0x7F800001
"""The order of minus infinity (:func:`_float_order`)."""
_PLACE_BITS = 31
_LAST_PLACE = (1 << _PLACE_BITS) - 2


def sort_key(value: Scalar, place: Scalar, nan: int) -> Scalar:
    """The key of an f32, or of an i64 of less than 2^32 in magnitude, at a place (an index of less than
    2^31 - 1). ``nan`` is the order of NaN.
    """
    order = _float_order(value, nan).extend("i64") if value.is_float else value
    return (order << _PLACE_BITS) + (_LAST_PLACE - place.index_to("i64"))


def place_of_key(key: Scalar) -> Scalar:
    """The place that a key was made of, as an i64."""
    return _LAST_PLACE - (key & ((1 << _PLACE_BITS) - 1))


def _float_order(value: Scalar, nan: int) -> Scalar:
    """An i32 that compares as the f32 does; both zeros are 0."""
    bits = value.body.create("arith.bitcast", "i32", [value + 0.0])  # -0 + 0 is +0
    # The bits below the sign grow with the magnitude: those of negative numbers are turned around.
    order = bits ^ ((bits >> 31) & HIGHEST)
    return value.compare("unordered", value).select(value.body.constant("i32", nan), order)
