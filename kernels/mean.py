"""The mean of every channel of an image, which is a sum of bytes and one rescale.

A unit is a block of channels of one image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..dialect import op_constants
from . import epilogue, instructions, windows
from .channels import Channels
from .epilogue import Epilogue
from .image import Image
from .instruction_set import InstructionSet
from .launch import Bytes, Code, Launch, Option
from .scalars import Scalars
from .writer import Writer

_VECTORS = 4
"""Of a block: then a tap of the widest vectors is a cache line."""
_LARGEST_SUM = 1 << 31
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
        "blocks",
        "last_channel",
        "start",
    ),
)


@dataclass(frozen=True)
class Mean:
    """The mean over height and width; the constants are of the integers ``stored - offset``."""

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
    start = -spec.input_offset * taps
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
        parameters = steps.pack(rescale, Channels(isa.lanes, 1, isa.lanes)).reshape(-1)
        options, constants = (
            (("kind", "rescale"), *steps.options),
            np.concatenate([epilogue.header(rescale), parameters]),
        )
    channels = min(_VECTORS * isa.lanes, 1 << (source.channels.bit_length() - 1))
    blocks = -(-source.channels // channels)
    numbers = {
        "source_start": source.start,
        "source_image": source.image_pitch,
        "source_row": source.row_pitch,
        "source_pixel": source.pixel_pitch,
        "target_start": target.start,
        "target_image": target.image_pitch if target.batch == source.batch else target.pixel_pitch,
        "height": source.height,
        "width": source.width,
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
    w = Writer(isa)
    source, constants, target = (w.pointer(slot) for slot in range(3))
    channels = int(code["channels"])
    vectors = max(1, channels // w.lanes)

    def unit(unit: str) -> None:
        def number(name: str) -> str:
            return _SCALARS.load(w, name)

        image, block = w.split(unit, number("blocks"))
        channel = w.at_most(w.times(block, channels), number("last_channel"))
        pointer = w.at(w.at(source, number("source_start")), channel)
        pointer = w.at(pointer, w.times(image, number("source_image")))
        sums = _sums(w, bool(code["signed"]), vectors, pointer, number)
        store_at = w.at(w.at(target, number("target_start")), channel)
        store_at = w.at(store_at, w.times(image, number("target_image")))
        results = (_rounded if code["kind"] == "float" else _rescaled)(w, code, constants, sums)
        for i, result in enumerate(results):
            narrow = w.op(f"arith.trunci {result} : {w.i32} to {w.quarter}")
            stored = min(channels, w.lanes)
            windows.store_channels(w, narrow, w.lanes, stored, w.at(store_at, i * w.lanes))

    w.units(unit)
    return w.text()


def _sums(w: Writer, signed: bool, vectors: int, pointer: str, number: Callable[[str], str]) -> list[str]:
    taps = windows.WideSum(w, signed)
    row_pitch, pixel_pitch, width = number("source_row"), number("source_pixel"), number("width")
    start = w.broadcast(w.op(f"arith.trunci {number('start')} : i64 to i32"), "i32", w.i32)
    types = ["!llvm.ptr"] + [w.i32] * vectors

    def row(_: str, pointer: str, *sums: str) -> list[str]:
        def tap(_: str, pointer: str, *sums: str) -> list[str]:
            loaded = (taps.load(w.at(pointer, i * w.lanes)) for i in range(vectors))
            added = [taps.combine([total], tap)[0] for total, tap in zip(sums, loaded, strict=True)]
            return [w.at(pointer, pixel_pitch), *added]

        _, *sums_ = w.loop(width, tap, [pointer, *sums], types)
        return [w.at(pointer, row_pitch), *sums_]

    return w.loop(number("height"), row, [pointer, *[start] * vectors], types)[1:]


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
