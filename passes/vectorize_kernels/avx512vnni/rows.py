"""Where rows of a result find their input."""

from __future__ import annotations

from ..spec import ConvSpec
from .writer import Writer


def row_offset(w: Writer, spec: ConvSpec, row: str, batch: int, out_height: int) -> str:
    """The byte at which the input of a row of the result starts; all images' rows are counted through."""
    pitch = spec.in_width * spec.in_channels
    step = spec.strides[0] * pitch
    if batch == 1:
        return w.times(row, step)
    height = w.index(out_height)
    image, y = w.binary("divsi", row, height, "i64"), w.binary("remsi", row, height, "i64")
    return w.plus(w.times(image, spec.in_height * pitch), w.times(y, step))
