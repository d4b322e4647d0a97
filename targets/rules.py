"""Parameter rules: what a target demands of an op's scales and zero points, and how that is written."""

from __future__ import annotations

import re
import struct
from fractions import Fraction
from typing import Literal, NamedTuple, get_args

import msgspec

from ..errors import did_you_mean
from .operators import (
    ANY,
    BIAS,
    CONTRACTIONS,
    STORAGES,
    WITHOUT_RESULT_PARAMETERS,
    result_storage,
    storage_range,
)

Kind = Literal["free", "same-as-input", "same-as-result", "fixed", "derived", "unsupported"]

MEANINGS: dict[str, str] = {
    "free": "the result has its own parameters; the kernel rescales",
    "same-as-input": "the result has the input's parameters (concat: so have the other inputs)",
    "same-as-result": "every input is brought to the result's parameters",
    "fixed": "the result has this scale and zero point",
    "derived": "scale = input scale x filter scale, zero point 0",
    "unsupported": "the op stays in float, between dequantize and quantize",
}
"""kind -> what it says, in one line."""

_FIXED = re.compile(r"fixed\s*\(([^(),]*),([^(),]*)(?:,([^(),]*))?\)")


class Origin(NamedTuple):
    """Where something was written: a file and a line, counted from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Rule(msgspec.Struct, frozen=True):
    """One parameter rule.

    ``scale`` (a float32 value, as models hold it) and ``zero_point`` are only there for ``fixed``;
    ``tolerance`` is the relative error of the scale that the kernels forgive.
    """

    kind: Kind
    origin: Origin
    scale: float | None = None
    zero_point: int | None = None
    tolerance: float = 0.0
    text: str = ""

    def accepts(self, scale: float, zero_point: int) -> bool:
        """Whether a result with these parameters satisfies a ``fixed`` rule."""
        assert self.scale is not None, "only a fixed rule has parameters"
        return zero_point == self.zero_point and abs(scale - self.scale) <= self.tolerance * self.scale

    def demands_the_same(self, other: Rule) -> bool:
        """Equal but for where and how it is written."""
        return (self.kind, self.scale, self.zero_point, self.tolerance) == (
            other.kind,
            other.scale,
            other.zero_point,
            other.tolerance,
        )

    def __str__(self) -> str:
        return self.text or self.kind


def parse_rule(text: str, op: str, place: str, origin: Origin) -> Rule:
    """The rule that ``text`` says for ``op``, in the place of a storage type, ``i8->i16``, ``*`` or ``bias``.

    Raises ``ValueError``: got against expected.
    """
    written = text.strip()
    if written.startswith("fixed"):
        rule = _parse_fixed(written, result_storage(place), origin)
    elif written in get_args(Kind):
        kind: Kind = written  # type: ignore[assignment]  # narrowed by the test above
        rule = Rule(kind, origin, text=written)
    else:
        names = [name if name != "fixed" else "fixed(scale, zero_point)" for name in get_args(Kind)]
        raise ValueError(f"got '{text}', expected {', '.join(names)}{did_you_mean(written, get_args(Kind))}")
    _check_fits(rule, op, result_storage(place))
    return rule


def _check_fits(rule: Rule, op: str, storage: str) -> None:
    """A rule must have a meaning for the op and storage type."""
    if storage == BIAS:
        if rule.kind != "derived":
            raise ValueError(f"got '{rule}', expected derived (the accumulator's parameters)")
    elif rule.kind == "derived" and (op not in CONTRACTIONS or storage != "i32"):
        raise ValueError(f"got 'derived', which only fits 'i32' and 'bias' of {' and '.join(CONTRACTIONS)}")
    if op in WITHOUT_RESULT_PARAMETERS and rule.kind not in ("free", "unsupported"):
        raise ValueError(f"got '{rule}', expected free or unsupported ({op}'s result has no parameters)")


def _parse_fixed(text: str, storage: str, origin: Origin) -> Rule:
    """``fixed(SCALE, ZERO_POINT)`` or ``fixed(SCALE, ZERO_POINT, TOLERANCE)``; scales may be fractions."""
    match = _FIXED.fullmatch(text)
    if not match:
        raise ValueError(f"got '{text}', expected fixed(scale, zero_point) such as fixed(1/256, -128)")
    scale = float32(_number("scale", match[1]))
    if not 0.0 < scale < float("inf"):
        raise ValueError(f"scale: got '{match[1].strip()}', expected a positive float32")
    tolerance = _number("tolerance", match[3]) if match[3] else 0.0
    if not 0.0 <= tolerance < 1.0:
        raise ValueError(f"tolerance: got '{match[3].strip()}', expected a relative error such as 0.001")
    try:
        zero_point = int(match[2])
    except ValueError:
        raise ValueError(f"zero point: got '{match[2].strip()}', expected an integer") from None
    for name in STORAGES if storage == ANY else [storage] if storage in STORAGES else []:
        low, high = storage_range(name)
        if not low <= zero_point <= high:
            hint = "; write one rule per storage type" if storage == ANY else ""
            raise ValueError(f"zero point: got {zero_point}, expected {low} to {high} for {name}{hint}")
    return Rule("fixed", origin, scale, zero_point, tolerance, text)


def _number(label: str, text: str) -> float:
    try:
        return float(Fraction(text.strip()))
    except (ValueError, ZeroDivisionError, OverflowError):
        wanted = "a number or a fraction such as 1/256"
        raise ValueError(f"{label}: got '{text.strip()}', expected {wanted}") from None


def float32(value: float) -> float:
    """The nearest float32, infinity where there is none."""
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf")
