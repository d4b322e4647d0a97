"""The mean or the sum of every channel of an image, which is a sum of bytes and one rescale.

A unit is a block of channels of one image, a vector of bytes for every pixel. They are added in pairs, as
words modulo 2^16, and their high bytes alone, too: for up to 256 pixels that gives both sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..dialect import op_constants
from . import epilogue, instructions
from .channels import Channels
from .epilogue import Epilogue
from .image import Image
from .instruction_set import InstructionSet
from .launch import Bytes, Code, Launch, Option
from .runs import narrowed, store_bytes
from .scalars import Scalars
from .writer import Body, Writer

_PIXELS = 256
"""Whose bytes are summed up in words."""
_AT_ONCE = 4
"""Pixels."""
_LARGEST_SUM = 1 << 31
_TO_UNSIGNED = 128
_SCALARS = Scalars(
    3,
    (
        "source_start",
        "source_image",
        "source_row",
        "source_pixel",
        "target_start",
        "target_image",
        "height",
        "width",
        "pieces",
        "blocks",
        "last_channel",
        "start",
    ),
)


@dataclass(frozen=True)
class Mean:
    """The mean, or the sum, over height and width; the constants are of the integers ``stored - offset``."""

    input: Image
    output: Image
    """``[batch, 1, 1, channels]``, or the same as one row of ``batch`` pixels."""
    input_signed: bool
    constants: op_constants.Mean | op_constants.FloatMean
    input_offset: int = 0
    """The stored number of the integer 0: 128 where an i8 tensor is kept as u8, -128 the other way round."""
    result_offset: int = 0


def plan(spec: Mean, isa: InstructionSet) -> Launch | str:
    source, target = spec.input, spec.output
    taps = source.height * source.width
    if source.element_bytes != 1 or target.element_bytes != 1:
        return "elements of more than one byte"
    if 256 * taps > _LARGEST_SUM:
        return f"a mean of more than {_LARGEST_SUM // 256} elements"
    channels = min(isa.vector_bytes, 1 << (source.channels.bit_length() - 1))
    lanes = narrowed(isa, channels).lanes
    start = -spec.input_offset * taps - (_TO_UNSIGNED * taps if spec.input_signed else 0)
    options: tuple[tuple[str, Option], ...]
    if isinstance(spec.constants, op_constants.FloatMean):
        options, constants = (("kind", "float"),), _float_constants(spec.constants, spec.result_offset)
    else:
        rescale = _shifted(spec.constants.rescale, spec.result_offset)
        reason = epilogue.why_not(rescale)
        if reason:
            return reason
        start -= spec.constants.sum_zero_point
        steps = Epilogue.of(rescale, isa=isa)
        parameters = steps.pack(rescale, Channels(lanes, 1, lanes)).reshape(-1)
        options, constants = (
            (("kind", "rescale"), *steps.options),
            np.concatenate([epilogue.header(rescale), parameters]),
        )
    is_flat = source.row_pitch == source.width * source.pixel_pitch
    height, width = (1, taps) if is_flat else (source.height, source.width)
    blocks = -(-source.channels // channels)
    numbers = {
        "source_start": source.start,
        "source_image": source.image_pitch,
        "source_row": source.row_pitch,
        "source_pixel": source.pixel_pitch,
        "target_start": target.start,
        "target_image": target.image_pitch if target.batch == source.batch else target.pixel_pitch,
        "height": height,
        "width": width,
        "pieces": -(-width // _PIXELS),
        "blocks": blocks,
        "last_channel": source.channels - channels,
        "start": (start + (1 << 31)) % (1 << 32) - (1 << 31),
    }
    code = Code("mean", isa.name, (("channels", channels), ("signed", spec.input_signed), *options))
    return Launch(code, source.batch * blocks, (constants,), _SCALARS.pack(numbers))


def _shifted(rescale: op_constants.Rescale, offset: int) -> op_constants.Rescale:
    return replace(
        rescale,
        zero_point=rescale.zero_point + offset,
        low=rescale.low + offset,
        high=rescale.high + offset,
    )


def _float_constants(constants: op_constants.FloatMean, offset: int) -> Bytes:
    """Scale, offset, low and high as float32; at byte 16 the result's offset, an i32."""
    reals = np.zeros(epilogue.HEADER_BYTES // 4, np.float32)
    reals[:4] = constants.scale, constants.offset, constants.low, constants.high
    reals[4:5] = np.array([offset], np.int32).view(np.float32)
    return reals.view(np.uint8)


def emit(code: Code, isa: InstructionSet) -> str:
    channels = int(code["channels"])
    w = Writer(narrowed(isa, channels))
    source, constants, target = (w.pointer(slot) for slot in range(3))

    def unit(unit: str) -> None:
        def number(name: str) -> str:
            return _SCALARS.load(w, name)

        image, block = w.split(unit, number("blocks"))
        channel = w.at_most(w.times(block, channels), number("last_channel"))
        pointer = w.at(w.at(source, number("source_start")), channel)
        pointer = w.at(pointer, w.times(image, number("source_image")))
        sums = _sums(w, bool(code["signed"]), pointer, number)
        store_at = w.at(w.at(target, number("target_start")), channel)
        store_at = w.at(store_at, w.times(image, number("target_image")))
        results = (_rounded if code["kind"] == "float" else _rescaled)(w, code, constants, sums)
        store_bytes(w, _as_bytes(w, results), store_at, channels, w.isa.vector_bytes)

    w.units(unit)
    return w.text()


def _as_bytes(w: Writer, results: Sequence[str]) -> str:
    """Vector ``j`` has every fourth channel, from ``j`` on."""
    whole = w.binary("andi", results[0], w.splat(255, w.i32), w.i32)
    for j, result in enumerate(results[1:], 1):
        byte = w.binary("andi", result, w.splat(255, w.i32), w.i32)
        whole = w.binary("ori", whole, w.binary("shli", byte, w.splat(8 * j, w.i32), w.i32), w.i32)
    return w.bitcast(whole, w.i32, w.i8)


def _sums(w: Writer, signed: bool, pointer: str, number: Callable[[str], str]) -> list[str]:
    """Of unsigned bytes (signed ones 128 larger), in four vectors: see :func:`_as_bytes`."""
    row_pitch, pixel_pitch, width = number("source_row"), number("source_pixel"), number("width")
    start = w.broadcast(w.op(f"arith.trunci {number('start')} : i64 to i32"), "i32", w.i32)
    types = ["!llvm.ptr", *[w.i32] * 4]
    word_types = ["!llvm.ptr", w.i16, w.i16]

    def pixels(count: int) -> Body:
        def some(_: str, pointer: str, total: str, high: str) -> list[str]:
            for _pixel in range(count):
                value = w.load(pointer, w.i8)
                if signed:
                    value = w.binary("xori", value, w.splat(-128, w.i8), w.i8)
                words = w.bitcast(value, w.i8, w.i16)
                total = w.binary("addi", total, words, w.i16)
                high = w.binary("addi", high, w.binary("shrui", words, w.splat(8, w.i16), w.i16), w.i16)
                pointer = w.at(pointer, pixel_pitch)
            return [pointer, total, high]

        return some

    def piece(index: str, pointer: str, *sums: str) -> list[str]:
        count = w.at_most(w.minus(width, w.times(index, _PIXELS)), _PIXELS)
        groups, rest = w.split(count, _AT_ONCE)
        zero = w.splat(0, w.i16)
        carried = w.loop(groups, pixels(_AT_ONCE), [pointer, zero, zero], word_types)
        pointer, total, high = w.loop(rest, pixels(1), carried, word_types)
        low = w.binary("subi", total, w.binary("shli", high, w.splat(8, w.i16), w.i16), w.i16)
        added = list(sums)
        for j, words in enumerate((low, high)):
            pairs = w.bitcast(words, w.i16, w.i32)
            halves = (
                w.binary("andi", pairs, w.splat(0xFFFF, w.i32), w.i32),
                w.binary("shrui", pairs, w.splat(16, w.i32), w.i32),
            )
            for k, half in zip((j, j + 2), halves, strict=True):
                added[k] = w.binary("addi", added[k], half, w.i32)
        return [pointer, *added]

    def row(_: str, pointer: str, *sums: str) -> list[str]:
        _, *added = w.loop(number("pieces"), piece, [pointer, *sums], types)
        return [w.at(pointer, row_pitch), *added]

    return w.loop(number("height"), row, [pointer, *[start] * 4], types)[1:]


def _rescaled(w: Writer, code: Code, constants: str, sums: Sequence[str]) -> list[str]:
    steps = Epilogue.of_code(code)
    limits = steps.limits(w, constants)
    parameters = steps.load(w, w.at(constants, epilogue.HEADER_BYTES))
    return [steps.apply(w, total, parameters, limits) for total in sums]


def _rounded(w: Writer, code: Code, constants: str, sums: Sequence[str]) -> list[str]:
    scale, offset, low, high = (
        w.broadcast(w.load(w.at(constants, 4 * i), "f32", 4), "f32", w.f32) for i in range(4)
    )
    result_offset = w.broadcast(w.load(w.at(constants, 16), "i32", 4), "i32", w.i32)
    results = []
    for total in sums:
        product = w.binary("mulf", w.op(f"arith.sitofp {total} : {w.i32} to {w.f32}"), scale, w.f32)
        # Limited first: the bounds are whole, and what is beyond them need not fit into an i32.
        real = w.binary("addf", product, offset, w.f32)
        for predicate, bound in (("ogt", low), ("olt", high)):
            inside = w.op(f"arith.cmpf {predicate}, {real}, {bound} : {w.f32}")
            real = w.op(f"arith.select {inside}, {real}, {bound} : vector<{w.lanes}xi1>, {w.f32}")
        results.append(w.binary("addi", instructions.to_nearest_even(w, real), result_offset, w.i32))
    return results
