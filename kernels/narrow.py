"""Results of an epilogue as bytes in memory: whole lines where possible, and no shuffle that packing does for
nothing.

A *group* is one to four vectors of i32 whose channels lie side by side in memory. The instructions that
narrow them work in pieces of 128 bits, so lanes hold channels in the order that comes out right
(:func:`group_order`), in the packed filter as well as here. Four vectors of one pixel make a whole vector of
bytes; of three, a permutation drops the gaps; of two and of one, two and four pixels share a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .channels import Indices
from .epilogue import Epilogue
from .instructions import cut_to_words, narrow_to_bytes, narrow_to_words, saturating_add
from .writer import Writer


def groups_of(vectors: int) -> list[int]:
    """The groups of a pixel's vectors."""
    full, rest = divmod(vectors, 4)
    return [4] * full + ([rest] if rest else [])


def group_order(vectors: int, lanes: int, halved: bool = False) -> Indices:
    """``[vectors * lanes]``: the channel of each lane, counted from a panel's first. ``halved``: two pixels
    share the last vector.
    """
    orders, first = [], 0
    for group in groups_of(vectors - halved):
        vector, piece, lane = np.ogrid[:group, : lanes // 4, :4]
        orders.append((first + 4 * group * piece + 4 * vector + lane).reshape(-1))
        first += group * lanes
    if halved:
        orders += [first + np.arange(lanes // 2)] * 2
    return np.concatenate(orders)


@dataclass(frozen=True)
class SharedVector:
    """A whole vector of bytes: the channels of ``pixels`` pixels one after the other, from pixel ``first``.

    There is room for ``share``; what follows a pixel's channels and the last pixel is arbitrary.
    """

    value: str
    first: int
    pixels: int
    share: int


class Narrower:
    """Saturates, adds the zero point if it is lacking, clamps; and stores. The header's numbers are loaded
    where it is made.
    """

    def __init__(self, w: Writer, epilogue: Epilogue, header: str, signed: bool) -> None:
        self.w = w
        self.signed = signed
        self.flips, self.fits_words = epilogue.flips, epilogue.fits_words
        self.zero_point = w.load(w.at(header, 64), w.i16, volatile=True) if epilogue.offset else ""
        places = (128, 192) if epilogue.clamps else ()
        self.bounds = [w.load(w.at(header, place), w.i8, volatile=True) for place in places]

    def words(self, first: str, second: str) -> str:
        """Two i32 vectors as i16."""
        w = self.w
        words = (cut_to_words if self.fits_words else narrow_to_words)(w, first, second)
        return saturating_add(w, words, self.zero_point, w.i16) if self.zero_point else words

    def bytes(self, first: str, second: str) -> str:
        """Two vectors of :meth:`words` as clamped bytes."""
        w, kind = self.w, "s" if self.signed else "u"
        narrow = narrow_to_bytes(w, first, second, self.signed and not self.flips)
        if self.flips:
            narrow = w.binary("xori", narrow, w.splat(-128, w.i8), w.i8)
        for name, bound in zip(("max", "min"), self.bounds, strict=False):
            narrow = w.binary(f"{name}{kind}i", narrow, bound, w.i8)
        return narrow

    def rows(
        self,
        group: int,
        pixels: int,
        column: Callable[[int], Sequence[str]],
        change: Callable[[str, int, int], str] | None = None,
    ) -> list[tuple[str, int]]:
        """The results of a group, one vector of bytes per pixel and its size: see :meth:`vectors`.
        ``change(value, i, n)`` makes other bytes of a whole vector that ``n`` pixels share, from pixel ``i``.
        """
        rows = []
        for vector in self.vectors(group, pixels, column):
            if change is not None:
                vector = replace(vector, value=change(vector.value, vector.first, vector.share))
            rows += self.split(vector)
        return rows

    def vectors(self, group: int, pixels: int, column: Callable[[int], Sequence[str]]) -> list[SharedVector]:
        """The results of a group in whole vectors of bytes. ``column(j)`` computes vector ``j`` of all
        pixels, in i32.
        """
        if group >= 3:
            words = [self._pairs(column(0), column(1)), []]
            third = column(2)
            words[1] = self._pairs(third, column(3) if group == 4 else third)
            return [
                SharedVector(self._wide(low, high, group), i, 1, 1)
                for i, (low, high) in enumerate(zip(*words, strict=True))
            ]
        first = list(column(0))
        if group == 2:
            return self._shared(self._pairs(first, column(1)), 2, pixels)
        first += first[-1:] * (pixels % 2)
        return self._shared(self._pairs(first[::2], first[1::2]), 4, pixels)

    def halves(self, values: Sequence[str], pixels: int) -> list[SharedVector]:
        """The results in vectors that two pixels share each, in i32."""
        w, pieces = self.w, self.w.lanes // 4
        missing = -len(values) % 4
        whole = [*values, *[values[-1]] * missing]
        order = [
            4 * (pieces // 2 * (pixel % 2) + piece) + pixel // 2
            for pixel in range(8)
            for piece in range(pieces // 2)
        ]
        vectors = []
        for i in range(0, len(whole), 4):
            value = self.bytes(self.words(*whole[i : i + 2]), self.words(*whole[i + 2 : i + 4]))
            lanes = w.bitcast(value, w.i8, w.i32)
            value = w.bitcast(w.shuffle(lanes, lanes, order, w.i32), w.i32, w.i8)
            vectors.append(SharedVector(value, 2 * i, min(8, pixels - 2 * i), 8))
        return vectors

    def split(self, vector: SharedVector) -> list[tuple[str, int]]:
        """A vector of bytes per pixel, and its size."""
        w, width = self.w, self.w.lanes // vector.share
        if vector.share == 1:
            return [(vector.value, 4 * width)]
        lanes = w.bitcast(vector.value, w.i8, w.i32)
        parts = [
            w.shuffle(lanes, lanes, list(range(width * i, width * (i + 1))), w.i32)
            for i in range(vector.pixels)
        ]
        type_ = f"vector<{4 * width}xi8>"
        return [(w.bitcast(part, f"vector<{width}xi32>", type_), 4 * width) for part in parts]

    def _pairs(self, first: Sequence[str], second: Sequence[str]) -> list[str]:
        return [self.words(a, b) for a, b in zip(first, second, strict=True)]

    def _wide(self, first: str, second: str, group: int) -> str:
        """Three or four vectors of a pixel."""
        w = self.w
        together = self.bytes(first, second)
        if group == 4:
            return together
        order = sorted(range(w.lanes), key=lambda lane: (lane % 4 == 3, lane))
        lanes = w.bitcast(together, w.i8, w.i32)
        return w.bitcast(w.shuffle(lanes, lanes, order, w.i32), w.i32, w.i8)

    def _shared(self, words: Sequence[str], share: int, pixels: int) -> list[SharedVector]:
        w, run = self.w, 4 // share
        # In each 128 bits there are ``run`` lanes of every pixel.
        order = [
            4 * piece + run * pixel + lane
            for pixel in range(share)
            for piece in range(w.lanes // 4)
            for lane in range(run)
        ]
        vectors = []
        for i in range(0, len(words), 2):
            value = self.bytes(words[i], words[min(i + 1, len(words) - 1)])
            if order != sorted(order):
                lanes = w.bitcast(value, w.i8, w.i32)
                value = w.bitcast(w.shuffle(lanes, lanes, order, w.i32), w.i32, w.i8)
            first = i // 2 * share
            vectors.append(SharedVector(value, first, min(share, pixels - first), share))
        return vectors


def store_bytes(w: Writer, value: str, size: int, pointer: str, count: int) -> None:
    """The first ``count`` of ``size`` bytes, in few stores and none of them masked."""
    if count == size:
        w.store(value, pointer, f"vector<{size}xi8>")
        return
    done = 0
    while done < count:
        part = 1 << ((count - done).bit_length() - 1)
        lanes = list(range(done, done + part))
        type_ = f"vector<{part}xi8>"
        w.store(w.shuffle(value, value, lanes, f"vector<{size}xi8>"), w.at(pointer, done), type_)
        done += part
