"""Groups: one or several qnn ops that one launch, or a few, may compute; how each becomes kernels' specs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...dialect.constants import elements_array
from ...dialect.types import TensorType
from ...kernels.image import Image
from .. import graph

NO_BORDER = (0, 0, 0, 0)
_FLIP = 128


@dataclass(frozen=True)
class Form:
    """How an 8-bit tensor is kept: what the reader may choose."""

    flipped: bool = False
    """In the other sign: an i8 tensor as u8 (``q + 128`` in every byte), or a u8 one as i8 (``q - 128``)."""
    border: tuple[int, int, int, int] = NO_BORDER

    def covers(self, other: Form) -> bool:
        """Whether who wants ``other`` can read this."""
        return self.flipped == other.flipped and all(
            have >= need for have, need in zip(self.border, other.border, strict=True)
        )


PLAIN = Form()


@dataclass(frozen=True)
class Stored:
    """A tensor in its buffer."""

    type: TensorType
    form: Form
    image: Image

    @property
    def signed(self) -> bool:
        """Whether the bytes are int8."""
        return self.type.params.storage.signed != self.form.flipped

    @property
    def shift(self) -> int:
        """What is added to a stored number of the type to get the byte's."""
        if not self.form.flipped:
            return 0
        return _FLIP if self.type.params.storage.signed else -_FLIP

    @property
    def zero_point(self) -> int:
        return self.type.params.zero_point + self.shift


@dataclass(frozen=True)
class Part:
    """One launch of a group: what it computes, and which of the group's inputs it reads."""

    spec: Any
    inputs: tuple[int, ...] = (0,)
    temporary: int = 0
    """If its result is none of the group's but only read by later parts: how many bytes. It is input number
    ``inputs of the group + temporary results before it``.
    """


Parts: TypeAlias = list[Part] | str
"""The launches, or the reason why there are none."""
Make: TypeAlias = Callable[[Sequence[Stored], Stored], Parts]


@dataclass(frozen=True)
class Want:
    """What a group asks of one input: which sign, room around the image."""

    signed: bool | None = None
    """Bytes as i8 or as u8; None: as the type says."""
    border: tuple[int, int, int, int] = NO_BORDER
    any_sign: bool = False
    """Both will do."""
    like_result: bool = False
    """As the group's result is kept."""

    def form(self, type_: TensorType, kept: Form, result: Form) -> Form:
        """The form it reads, of a tensor that is kept as ``kept``, where the group's result is kept as
        ``result``.
        """
        if self.like_result:
            return Form(result.flipped, self.border)
        return Form(kept.flipped if self.any_sign else self.flips(type_), self.border)

    def flips(self, type_: TensorType) -> bool:
        """Whether it asks for the other sign than a tensor's type has."""
        return self.signed is not None and is_8bit(type_) and type_.params.storage.signed != self.signed


@dataclass(frozen=True)
class Group:
    """Ops that become launches: the last one's result is theirs."""

    op: Any
    """The last op."""
    inputs: tuple[Any, ...]
    wants: tuple[Want, ...]
    make: Make
    result_has_border: bool = True
    """Whether the result may be kept with a border."""
    inner: tuple[Any, ...] = field(default=())
    """The ops before the last, whose results nobody else sees."""

    @property
    def result(self) -> Any:
        return self.op.results[0]


@dataclass(frozen=True)
class Around:
    """What specs depend on besides the op."""

    mode: str
    """Of numerics."""
    signed_inputs: bool
    """Whether the instruction set multiplies i8 activations with i8 weights, not u8 ones."""


def is_8bit(type_: TensorType) -> bool:
    """Whether a tensor is quantized to 8 bits, with one scale."""
    return (
        type_.is_quantized
        and type_.params.storage.bits == 8
        and type_.params.is_per_tensor
        and type_.is_static
    )


def is_16bit(type_: TensorType) -> bool:
    """Whether a tensor is quantized to int16, with one scale."""
    return (
        type_.is_quantized
        and type_.params.storage.name == "i16"
        and type_.params.is_per_tensor
        and type_.is_static
    )


def image_of(type_: TensorType, border: tuple[int, int, int, int] = NO_BORDER) -> Image:
    """The image of a tensor: of four dimensions as they are, of others one row of its last dimension."""
    size = type_.dtype.itemsize
    if len(type_.shape) == 4:
        n, h, w, c = type_.shape
        return Image(n, h, w, c, border, element_bytes=size)
    channels = type_.shape[-1] if type_.shape else 1
    return Image(1, 1, math.prod(type_.shape[:-1]), channels, border, element_bytes=size)


def of_four(stored_: Stored) -> Image:
    """The image whose dimensions are the tensor's own (of four at most), ones in front."""
    shape = stored_.type.shape
    if len(shape) == 4:
        return stored_.image
    n, h, w, c = (*(1,) * (4 - len(shape)), *shape)
    return replace(stored_.image, batch=n, height=h, width=w, channels=c)  # perhaps a slice


def stored(type_: TensorType, form: Form) -> Stored:
    return Stored(type_, form, image_of(type_, form.border))


def constant_array(value: Any) -> npt.NDArray[Any] | None:
    """The stored integers behind a value that is a ``qnn.constant``, in its type's dtype."""
    op = graph.producer(value, "constant")
    if op is None:
        return None
    dtype = graph.type_of(value).dtype
    array = elements_array(op.attributes["value"])
    return array if array.dtype == dtype else array.view(dtype)


Builder: TypeAlias = Callable[[Any, Mapping[str, Any], Around], Group | str]
"""From an op and its plain attributes to a group of it alone, or the reason why it is none."""


def byte_range(stored_: Stored) -> npt.NDArray[Any]:
    """All 256 bytes as numbers of the tensor's dtype, in the order of the bytes as unsigned numbers."""
    raw = np.arange(256, dtype=np.uint8)
    unshifted = raw ^ np.uint8(0x80) if stored_.form.flipped else raw
    return unshifted.view(stored_.type.dtype)


def as_stored(values: npt.NDArray[Any], stored_: Stored) -> npt.NDArray[np.uint8]:
    """Numbers of a tensor's dtype as the bytes they are kept as."""
    raw = np.ascontiguousarray(values).view(np.uint8)
    return raw ^ np.uint8(0x80) if stored_.form.flipped else raw
