"""Functions of one 8-bit tensor: a table of 256 bytes. Copies are the simplest of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .image import Image
from .instruction_set import InstructionSet
from .instructions import saturating_subtract, shuffle_bytes
from .instructions.aarch64 import look_up_256
from .instructions.x86 import look_up_128
from .launch import Bytes, Code, Launch
from .runs import each_run, each_step, load_bytes, narrowed, runs_of, store_bytes
from .writer import Writer

_BYTES = np.arange(256, dtype=np.uint8)
_ROWS = 16
"""Of the table, of 16 entries each: what a byte shuffle looks up."""


@dataclass(frozen=True, eq=False)
class Table:
    """``table[stored byte]``: every function of one 8-bit tensor, and every copy of one.

    An input with a batch, height or width of one is repeated. With the identity for a table, elements may
    have more than one byte.
    """

    input: Image
    output: Image
    table: npt.NDArray[np.uint8]
    """``[256]``, by the stored byte as an unsigned number; results as bytes."""


def plan(spec: Table, isa: InstructionSet) -> Launch | str:
    kind = _kind(spec.table, isa)
    images = [spec.input, spec.output]
    if spec.input.element_bytes != spec.output.element_bytes:
        return "a table from elements of one size to those of another"
    if spec.output.element_bytes != 1:
        if kind != "copy":
            return f"a table for elements of {spec.output.element_bytes} bytes"
        images = [_as_bytes(image) for image in images]
    runs = runs_of(images)
    if isinstance(runs, str):
        return runs
    options = (("kind", kind), ("step", runs.step(isa.vector_bytes)))
    return Launch(Code("table", isa.name, options), runs.units, _pack(spec.table, kind), runs.scalars)


def emit(code: Code, isa: InstructionSet) -> str:
    kind, step = str(code["kind"]), int(code["step"])
    if kind != "permute":  # that one always looks up a whole vector
        isa = narrowed(isa, step)
    w = Writer(isa)
    table = [] if kind in ("copy", "flip") else _load(w, w.pointer(1), kind)
    result_slot = 2 if table else 1
    buffers = [w.pointer(0), w.pointer(result_slot)]

    def run(pointers: list[str], length: str) -> None:
        source, target = pointers

        def one(position: str) -> None:
            value = load_bytes(w, w.at(source, position), step, isa.vector_bytes)
            store_bytes(w, _apply(w, value, kind, table), w.at(target, position), step, isa.vector_bytes)

        each_step(w, length, step, one, unroll=4 if kind in ("copy", "flip") else 1)

    each_run(w, result_slot + 1, buffers, run)
    return w.text()


def _kind(table: npt.NDArray[np.uint8], isa: InstructionSet) -> str:
    if np.array_equal(table, _BYTES):
        return "copy"
    if np.array_equal(table, _BYTES ^ 0x80):
        return "flip"
    if isa.architecture == "aarch64":
        return "rows"
    return "permute" if "+avx512vbmi" in isa.features else "shuffle"


def _as_bytes(image: Image) -> Image:
    """The same bytes, one element each."""
    size = image.element_bytes
    return Image(
        image.batch,
        image.height,
        image.width,
        image.channels * size,
        image.border,
        image.pixel_channels * size,
        image.first_channel * size,
    )


def _pack(table: npt.NDArray[np.uint8], kind: str) -> tuple[Bytes, ...]:
    if kind in ("copy", "flip"):
        return ()
    if kind in ("permute", "rows"):
        return (table.copy(),)
    # A byte selects nothing while its top bit is set. Sixteen is taken from it before every row of the table,
    # so a byte 16 k + n below 128 selects entry n of rows 0..k, and one from 128 on of rows k-7..k (it wraps
    # around once). The rows are such that the exclusive or of those is the table's row k.
    rows = table.reshape(_ROWS, 16)
    packed = rows.copy()
    packed[1:] ^= rows[:-1]
    packed[8] ^= rows[0]
    for row in range(9, _ROWS):
        packed[row] ^= packed[row - 8]
    return (packed.reshape(-1),)


def _load(w: Writer, pointer: str, kind: str) -> list[str]:
    if kind == "permute":
        return [w.load(w.at(pointer, 64 * i), w.i8, 64) for i in range(4)]
    row = "vector<16xi8>"
    rows = [w.load(w.at(pointer, 16 * i), row, 16) for i in range(_ROWS)]
    count = w.isa.vector_bytes // 16
    if count == 1:
        return rows
    lanes = ", ".join(map(str, list(range(16)) * count))
    return [w.op(f"vector.shuffle {value}, {value} [{lanes}] : {row}, {row}") for value in rows]


def _apply(w: Writer, value: str, kind: str, table: list[str]) -> str:
    if kind == "copy":
        return value
    if kind == "flip":
        return w.binary("xori", value, w.splat(-128, w.i8), w.i8)
    if kind == "permute":
        low, high = look_up_128(w, table[0], value, table[1]), look_up_128(w, table[2], value, table[3])
        mask = w.i8.replace("i8", "i1")
        negative = w.op(f"arith.cmpi slt, {value}, {w.splat(0, w.i8)} : {w.i8}")
        return w.op(f"arith.select {negative}, {high}, {low} : {mask}, {w.i8}")
    if kind == "rows":
        return look_up_256(w, table, value)
    sixteen = w.splat(16, w.i8)
    result = shuffle_bytes(w, table[0], value)
    for row in range(1, _ROWS):
        if row <= 8:
            value = w.binary("subi", value, sixteen, w.i8)
        else:
            value = saturating_subtract(w, value, sixteen, w.i8)
        result = w.binary("xori", result, shuffle_bytes(w, table[row], value), w.i8)
    return result
