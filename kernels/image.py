"""How a tensor lies in its buffer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Image:
    """``[batch, height, width, channels]`` elements in a buffer that may be larger on every side.

    A tensor of another rank is an image of one row: ``batch = height = 1``.
    """

    batch: int
    height: int
    width: int
    channels: int
    border: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Rows above and below, columns left and right of each image; they hold the zero point (or whatever the
    reader wants there).
    """
    pixel_channels: int = 0
    """Channels from one pixel to the next; 0 means ``channels``. More where the tensor is a slice of a wider
    one.
    """
    first_channel: int = 0
    """Of the slice."""
    element_bytes: int = 1

    @property
    def pixel_pitch(self) -> int:
        """Bytes from a pixel to the next in its row."""
        return (self.pixel_channels or self.channels) * self.element_bytes

    @property
    def row_pitch(self) -> int:
        """Bytes from a row to the next."""
        return (self.border[2] + self.width + self.border[3]) * self.pixel_pitch

    @property
    def image_pitch(self) -> int:
        """Bytes from an image to the next."""
        return (self.border[0] + self.height + self.border[1]) * self.row_pitch

    @property
    def start(self) -> int:
        """The byte where the first pixel's first channel lies."""
        return (
            self.border[0] * self.row_pitch
            + self.border[2] * self.pixel_pitch
            + self.first_channel * self.element_bytes
        )

    @property
    def buffer_bytes(self) -> int:
        return self.batch * self.image_pitch

    @property
    def buffer_shape(self) -> tuple[int, int, int, int]:
        top, bottom, left, right = self.border
        return (
            self.batch,
            top + self.height + bottom,
            left + self.width + right,
            self.pixel_channels or self.channels,
        )

    @property
    def is_dense(self) -> bool:
        """Whether the tensor fills its buffer."""
        return not any(self.border) and self.pixel_pitch == self.channels * self.element_bytes

    @property
    def elements(self) -> int:
        return self.batch * self.height * self.width * self.channels
