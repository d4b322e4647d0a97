"""Constraints that several ops share. Each function yields messages; ``number`` is the constraint's, e.g.
``"C2"``.

Callers stop at the first message, so every check may rely on those before it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..types import QuantParams, TensorType
from .shapes import Shape, same_shape

ACTIVATIONS = ("i8", "u8", "i16")
"""Storage types that ops compute on."""


def compute_types(
    number: str, types: Mapping[str, TensorType], storages: Sequence[str] = ACTIVATIONS
) -> Iterator[str]:
    """All of ``types`` (label -> type) are f32, or all are quantized per-tensor in one of ``storages``."""
    yield from same_family(number, types)
    for label, type_ in types.items():
        yield from per_tensor(number, label, type_)
        yield from stored_in(number, label, type_, storages)


def same_family(number: str, types: Mapping[str, TensorType]) -> Iterator[str]:
    """All of ``types`` are f32, or all are quantized."""
    if all(t.is_quantized for t in types.values()) or all(t.element == "f32" for t in types.values()):
        return
    yield f"({number}) {enumerated(list(types))} must be all f32 or all quantized, got {element_names(types)}"


def plain_types(number: str, types: Mapping[str, TensorType], allowed: Sequence[str]) -> Iterator[str]:
    """All have one element type, one of ``allowed``."""
    first = next(iter(types.values())).element
    if first not in allowed or any(type_.element != first for type_ in types.values()):
        names = enumerated(list(types))
        yield f"({number}) {names}: got {element_names(types)}, expected one of {', '.join(allowed)} for all"


def movable_types(number: str, types: Mapping[str, TensorType]) -> Iterator[str]:
    """All of ``types`` are quantized per-tensor, or all have the same element type (f32, or an ordinary
    integer).
    """
    if not all(t.is_quantized for t in types.values()) and len({t.element for t in types.values()}) > 1:
        yield (
            f"({number}) {enumerated(list(types))} must be all quantized or have the same element type, "
            f"got {element_names(types)}"
        )
    for label, type_ in types.items():
        yield from per_tensor(number, label, type_)


def per_tensor(number: str, label: str, type_: TensorType) -> Iterator[str]:
    """A quantized tensor has one scale and one zero point."""
    if type_.is_quantized and not type_.params.is_per_tensor:
        yield f"({number}) {label} must be quantized per-tensor, got {element_name(type_)}"


def stored_in(number: str, label: str, type_: TensorType, storages: Sequence[str]) -> Iterator[str]:
    """A quantized tensor is stored in one of ``storages``."""
    if type_.is_quantized and type_.params.storage.name not in storages:
        got = type_.params.storage.name
        yield f"({number}) {label}: got storage type {got}, expected {enumerated(storages, 'or')}"


def element_type(number: str, label: str, type_: TensorType, holds: bool, expected: str) -> Iterator[str]:
    """``holds`` says whether the element type is as ``expected`` describes it."""
    if not holds:
        yield f"({number}) {label} element type: got {element_name(type_)}, expected {expected}"


def equal_shape(number: str, label: str, got: Sequence[int], expected: Sequence[int]) -> Iterator[str]:
    """Two shapes agree (a dynamic extent agrees with any)."""
    if not same_shape(got, expected):
        yield f"({number}) {label} shape: got {list(got)}, expected {list(expected)}"


def inferred_shape(number: str, got: Sequence[int], infer: Callable[[], Shape]) -> Iterator[str]:
    """The result's shape is what one of the functions in ``shapes.py`` infers."""
    try:
        expected = infer()
    except ValueError as error:
        yield f"({number}) {error}"
        return
    yield from equal_shape(number, "result", got, expected)


def has_rank(number: str, label: str, type_: TensorType, rank: int) -> Iterator[str]:
    """A tensor has ``rank`` dimensions."""
    if len(type_.shape) != rank:
        yield f"({number}) {label} rank: got {len(type_.shape)}, expected {rank}"


def value_count(number: str, name: str, values: Sequence[Any], count: int) -> Iterator[str]:
    """An array attribute has ``count`` values."""
    if len(values) != count:
        yield f"({number}) {name}: got {len(values)} values, expected {count}"


def at_least(number: str, name: str, values: Sequence[int], minimum: int) -> Iterator[str]:
    """All values of an attribute are ``minimum`` or more."""
    if min(values, default=minimum) < minimum:
        yield f"({number}) {name}: got {list(values)}, expected values of at least {minimum}"


def axis_in_range(number: str, name: str, axis: int, rank: int) -> Iterator[str]:
    """``axis`` is a dimension of a tensor of ``rank``; negative ones are not counted from the end."""
    if not 0 <= axis < rank:
        yield f"({number}) {name}: got {axis}, expected a dimension of a tensor of rank {rank}"


def one_of(number: str, name: str, value: str, allowed: Sequence[str]) -> Iterator[str]:
    """An attribute is one of some names."""
    if value not in allowed:
        yield f"({number}) {name}: got '{value}', expected {enumerated(allowed, 'or')}"


def clamp_bounds(number: str, clamp: Sequence[float]) -> Iterator[str]:
    """``clamp`` is empty or [low, high], low <= high, neither of them NaN."""
    if not clamp:
        return
    if len(clamp) != 2:
        yield f"({number}) clamp: got {len(clamp)} values, expected none or low and high"
    if any(map(math.isnan, clamp)) or clamp[0] > clamp[1]:
        yield f"({number}) clamp: got {list(clamp)}, expected low <= high"


def element_names(types: Mapping[str, TensorType]) -> str:
    """``input i8, filter f32``."""
    return ", ".join(f"{label} {element_name(type_)}" for label, type_ in types.items())


def element_name(type_: TensorType) -> str:
    """``f32``, ``quantized i8``, ``quantized i8 per-axis 0``, ``quantized i4 sub-channel``."""
    params = type_.element
    if not isinstance(params, QuantParams):
        return params
    scheme = (
        "" if params.is_per_tensor else " sub-channel" if params.block_sizes else f" per-axis {params.axis}"
    )
    return f"quantized {params.storage.name}{scheme}"


def enumerated(words: Sequence[str], conjunction: str = "and") -> str:
    """``a, b and c``."""
    return f" {conjunction} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
