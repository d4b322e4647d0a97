"""The index of each pixel's largest channel; the first one wins a tie. A unit is a row of pixels.

Bytes are turned around, so that the largest becomes the smallest unsigned one: machines have an instruction
that finds it. It is compared with the channels, and the lowest bit of the mask is the index. More channels
than a vector holds are compared from the last vector to the first, so that the first match is the last to be
kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import instructions
from .image import Image
from .instruction_set import InstructionSet
from .launch import Code, Launch
from .scalars import Scalars
from .writer import Writer

_SMALLEST_VECTOR = 16
_SCALARS = Scalars(
    3,
    (
        "source_start",
        "source_image",
        "source_row",
        "source_pixel",
        "target_start",
        "target_image",
        "target_row",
        "target_pixel",
        "height",
        "width",
        "full_vectors",
        "last_channel",
    ),
)


@dataclass(frozen=True)
class ArgMax:
    """The index of the largest stored byte along the channels."""

    input: Image
    output: Image
    """One channel, an i32 or i64."""
    signed: bool


def plan(spec: ArgMax, isa: InstructionSet) -> Launch | str:
    source, target = spec.input, spec.output
    if source.element_bytes != 1:
        return f"{source.element_bytes} bytes an element"
    if target.element_bytes not in (4, 8):
        return f"an index of {target.element_bytes} bytes"
    channels = source.channels
    width = min(isa.vector_bytes, max(_SMALLEST_VECTOR, 1 << (channels - 1).bit_length()))
    numbers = {
        "source_start": source.start,
        "source_image": source.image_pitch,
        "source_row": source.row_pitch,
        "source_pixel": source.pixel_pitch,
        "target_start": target.start,
        "target_image": target.image_pitch,
        "target_row": target.row_pitch,
        "target_pixel": target.pixel_pitch,
        "height": source.height,
        "width": source.width,
        "full_vectors": (channels - 1) // width,
        "last_channel": max(channels - width, 0),
    }
    options = (
        ("vector", width),
        ("several", channels > width),
        ("signed", spec.signed),
        ("index_bytes", target.element_bytes),
    )
    mask = np.where(np.arange(width) < channels, 0, 255).astype(np.uint8)
    code = Code("arg_max", isa.name, options)
    return Launch(code, source.batch * source.height, (mask,), _SCALARS.pack(numbers))


def emit(code: Code, isa: InstructionSet) -> str:
    w = Writer(isa)
    w.units(_Row(w, code).unit)
    return w.text()


class _Row:
    """The code of a unit."""

    def __init__(self, w: Writer, code: Code) -> None:
        self.w, self.width = w, int(code["vector"])
        self.several, self.signed, self.index_bytes = code["several"], code["signed"], code["index_bytes"]
        self.type = f"vector<{self.width}xi8>"
        self.source, mask, self.target = (w.pointer(slot) for slot in range(3))
        self.mask = w.load(mask, self.type, 16)

    def unit(self, unit: str) -> None:
        w = self.w

        def number(name: str) -> str:
            return _SCALARS.load(w, name)

        image, row = w.split(unit, number("height"))
        source, target = (
            w.at(
                w.at(pointer, number(f"{name}_start")),
                w.plus(w.times(image, number(f"{name}_image")), w.times(row, number(f"{name}_row"))),
            )
            for name, pointer in (("source", self.source), ("target", self.target))
        )
        source_pixel, target_pixel = number("source_pixel"), number("target_pixel")
        limits = number("full_vectors"), number("last_channel")

        def pixel(_: str, source: str, target: str) -> list[str]:
            index = self._among_several(source, *limits) if self.several else self._among(source)
            if self.index_bytes == 4:
                w.store(w.op(f"arith.trunci {index} : i64 to i32"), target, "i32", 4)
            else:
                w.store(index, target, "i64", 8)
            return [w.at(source, source_pixel), w.at(target, target_pixel)]

        w.loop(number("width"), pixel, [source, target], "!llvm.ptr")

    def _among(self, source: str) -> str:
        """Of at most a vector of channels. Lanes beyond them are 255: no less than a channel before them."""
        values = self.w.binary("ori", self._load(source), self.mask, self.type)
        return self._first(self._matches(values, self._reduced(values)))

    def _among_several(self, source: str, full: str, last: str) -> str:
        w = self.w
        end = self._load(w.at(source, last))

        def step(i: str, smallest: str) -> list[str]:
            return [w.binary("minui", smallest, self._load(w.at(source, w.times(i, self.width))), self.type)]

        smallest = self._reduced(w.loop(full, step, [end], self.type)[0])

        def earlier(i: str, index: str) -> list[str]:
            base = w.times(w.minus(w.minus(full, i), 1), self.width)
            matches = self._matches(self._load(w.at(source, base)), smallest)
            found = w.op(
                f"arith.cmpi ne, {matches}, {w.constant(f'0 : {self._mask_type}')} : {self._mask_type}"
            )
            here = w.plus(base, self._first(matches))
            return [w.op(f"arith.select {found}, {here}, {index} : i64")]

        at_end = w.plus(last, self._first(self._matches(end, smallest)))
        return w.loop(full, earlier, [at_end], "i64")[0]

    @property
    def _mask_type(self) -> str:
        return f"i{self.width}"

    def _load(self, pointer: str) -> str:
        """Turned around: ``127 - byte`` or ``255 - byte``, unsigned."""
        w = self.w
        turned = w.splat(127 if self.signed else -1, self.type)
        return w.binary("xori", w.load(pointer, self.type), turned, self.type)

    def _reduced(self, values: str) -> str:
        """The smallest byte, in all lanes."""
        w, width = self.w, self.width
        while width > _SMALLEST_VECTOR:
            type_, width = f"vector<{width}xi8>", width // 2
            low, high = (
                w.shuffle(values, values, range(start, start + width), type_) for start in (0, width)
            )
            values = w.binary("minui", low, high, f"vector<{width}xi8>")
        smallest = instructions.broadcast_smallest_byte(w, values)
        if self.width == _SMALLEST_VECTOR:
            return smallest
        return w.shuffle(smallest, smallest, [0] * self.width, "vector<16xi8>")

    def _matches(self, values: str, smallest: str) -> str:
        w = self.w
        equal = w.op(f"arith.cmpi eq, {values}, {smallest} : {self.type}")
        return w.op(f"llvm.bitcast {equal} : vector<{self.width}xi1> to {self._mask_type}")

    def _first(self, matches: str) -> str:
        """The lowest bit that is set, as an i64."""
        w = self.w
        lowest = w.op(f"math.cttz {matches} : {self._mask_type}")
        return lowest if self.width == 64 else w.op(f"arith.extui {lowest} : {self._mask_type} to i64")
