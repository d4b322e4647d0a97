"""A computed 8-bit matrix in the order in which :mod:`.matrix_product` reads it.

A *panel* is as many columns as a vector has bytes, in four vectors of i32 (:func:`.narrow.group_order`):

    ``[batch][panels]`` of ``[4 vectors][lanes]`` i32, where the sums of a column start, then
    ``[steps][4 vectors][lanes][4 bytes]``

The bytes of a lane are four rows of its column; behind the last row there are zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .instruction_set import InstructionSet
from .instructions import dot_quads
from .launch import Code, Launch
from .runs import narrowed
from .scalars import Scalars
from .writer import Writer

VECTORS = 4
_FEWEST_COLUMNS = 32
_SCALARS = Scalars(
    2,
    (
        *("panels", "last_column", "matrix", "row", "column", "steps"),
        *("panel_bytes", "zero_point", "constant", "mask"),
    ),
)


@dataclass(frozen=True)
class Layout:
    """Of a packed matrix."""

    width: int
    """Columns of a panel."""

    @classmethod
    def of(cls, columns: int, isa: InstructionSet) -> Layout | str:
        """For an instruction set, or the reason why there is none."""
        if isa.dot != "dot-u8s8":
            return "products of computed matrices on an instruction set without dot products of u8 and i8"
        if columns < _FEWEST_COLUMNS:
            return f"a product of computed matrices with fewer than {_FEWEST_COLUMNS} columns"
        return cls(min(isa.vector_bytes, 1 << (columns.bit_length() - 1)))


@dataclass(frozen=True)
class PackMatrix:
    """``[batch, depth, columns]`` of i8, or ``[batch, columns, depth]`` if it is ``transposed``.

    The sums of a column start at ``constant - zero_point * sum``.
    """

    batch: int
    depth: int
    columns: int
    transposed: bool
    zero_point: int
    constant: int

    @property
    def most_bytes(self) -> int:
        """Of the packed matrix, for any layout."""
        steps = -(-self.depth // 4)
        return self.batch * (self.columns + 63) * 4 * (steps + 4)


def plan(spec: PackMatrix, isa: InstructionSet) -> Launch | str:
    """A unit is a panel."""
    layout = Layout.of(spec.columns, isa)
    if isinstance(layout, str):
        return layout
    panels, steps = -(-spec.columns // layout.width), -(-spec.depth // 4)
    values = {
        "panels": panels,
        "last_column": spec.columns - layout.width,
        "matrix": spec.depth * spec.columns,
        "row": 1 if spec.transposed else spec.columns,
        "column": spec.depth if spec.transposed else 1,
        "steps": spec.depth // 4,
        "panel_bytes": VECTORS * layout.width * (1 + steps),
        "zero_point": spec.zero_point,
        "constant": spec.constant,
        "mask": (1 << 8 * (spec.depth % 4)) - 1,
    }
    options = (("bytes", layout.width), ("transposed", spec.transposed), ("tail", spec.depth % 4))
    return Launch(Code("pack_matrix", isa.name, options), spec.batch * panels, (), _SCALARS.pack(values))


def emit(code: Code, isa: InstructionSet) -> str:
    return _Kernel(code, isa).text()


class _Kernel:
    """Writes the code."""

    def __init__(self, code: Code, isa: InstructionSet) -> None:
        self.width, self.tail = int(code["bytes"]), int(code["tail"])
        self.transposed = bool(code["transposed"])
        self.w = Writer(narrowed(isa, self.width))
        self.step_bytes = VECTORS * self.width

    def text(self) -> str:
        w = self.w
        self.source, self.target = w.pointer(0), w.pointer(1)
        w.units(self._panel)
        return w.text()

    def _scalar(self, name: str) -> str:
        return _SCALARS.load(self.w, name)

    def _panel(self, unit: str) -> None:
        w = self.w
        batch, panel = w.split(unit, self._scalar("panels"))
        column = w.at_most(w.times(panel, self.width), self._scalar("last_column"))
        offset = w.plus(w.times(batch, self._scalar("matrix")), w.times(column, self._scalar("column")))
        source = w.at(self.source, offset)
        starts = w.at(self.target, w.times(unit, self._scalar("panel_bytes")))
        weights = w.at(starts, self.step_bytes)
        sums = (self._columns if self.transposed else self._rows)(source, weights)
        zero_point, constant = (
            w.broadcast(w.op(f"arith.trunci {self._scalar(name)} : i64 to i32"), "i32", w.i32)
            for name in ("zero_point", "constant")
        )
        for j, total in enumerate(sums):
            start = w.binary("subi", constant, w.binary("muli", total, zero_point, w.i32), w.i32)
            w.store(start, w.at(starts, j * self.width), w.i32)

    def _rows(self, source: str, weights: str) -> list[str]:
        """Pack rows that lie side by side; the sums of the columns."""
        w, pitch = self.w, self._scalar("row")
        types = ["!llvm.ptr", "!llvm.ptr", *[w.i32] * VECTORS]

        def step(rows: int, place: str, weights: str, sums: Sequence[str]) -> list[str]:
            loaded = []
            for _ in range(rows):
                loaded.append(w.load(place, w.i8))
                place = w.at(place, pitch)
            quads = self._interleaved(loaded + [w.splat(0, w.i8)] * (4 - rows))
            for j, quad in enumerate(quads):
                w.store(quad, w.at(weights, j * self.width), w.i8)
            return [place, w.at(weights, self.step_bytes), *self._added(sums, quads)]

        carried = [source, weights, *[w.splat(0, w.i32)] * VECTORS]
        place, weights, *sums = w.loop_from(
            w.index(0), self._scalar("steps"), lambda _, p, to, *sums: step(4, p, to, sums), carried, types
        )
        return step(self.tail, place, weights, sums)[2:] if self.tail else sums

    def _interleaved(self, rows: Sequence[str]) -> list[str]:
        """Four rows as quads: in each 128 bits the columns of one vector after the other."""
        w = self.w
        pairs = []
        for first, second in (rows[:2], rows[2:]):
            pairs.append([self._unpacked(first, second, w.i8, 16, upper) for upper in (False, True)])
        words = [[w.bitcast(value, w.i8, w.i16) for value in pair] for pair in pairs]
        return [
            w.bitcast(self._unpacked(words[0][half], words[1][half], w.i16, 8, upper), w.i16, w.i8)
            for half in range(2)
            for upper in (False, True)
        ]

    def _unpacked(self, first: str, second: str, type_: str, size: int, upper: bool) -> str:
        """In every 128 bits, of ``size`` elements, the lower or upper halves of both in turns."""
        whole = self.width // 16 * size
        lanes = [
            side * whole + piece * size + (size // 2 if upper else 0) + i
            for piece in range(self.width // 16)
            for i in range(size // 2)
            for side in range(2)
        ]
        return self.w.shuffle(first, second, lanes, type_)

    def _columns(self, source: str, weights: str) -> list[str]:
        """Pack columns that lie side by side, four bytes of four columns at a time; their sums."""
        w, pitch, steps = self.w, self._scalar("column"), self._scalar("steps")

        def four_columns(number: str) -> Sequence[str]:
            piece, vector = w.split(number, VECTORS)
            target = w.at(weights, w.plus(w.times(piece, 16), w.times(vector, self.width)))
            columns = [w.at(source, w.times(number, w.times(pitch, 4)))]
            for _ in range(3):
                columns.append(w.at(columns[-1], pitch))
            blocks, _ = w.split(steps, 4)
            w.loop_from(w.index(0), blocks, lambda index: self._sixteen_rows(columns, target, index))

            def step(index: str, mask: str = "") -> Sequence[str]:
                place = w.at(target, w.times(index, self.step_bytes))
                for lane, column in enumerate(columns):
                    quad = w.load(w.at(column, w.times(index, 4)), "i32")
                    quad = w.binary("andi", quad, mask, "i32") if mask else quad
                    w.store(quad, w.at(place, 4 * lane), "i32")
                return []

            w.loop_from(w.times(blocks, 4), steps, step)
            if self.tail:
                step(steps, w.op(f"arith.trunci {self._scalar('mask')} : i64 to i32"))
            return []

        w.loop_from(w.index(0), w.index(self.width // 4), four_columns)

        def add(index: str, *sums: str) -> list[str]:
            place = w.at(weights, w.times(index, self.step_bytes))
            quads = [w.load(w.at(place, j * self.width), w.i8) for j in range(VECTORS)]
            return self._added(sums, quads)

        count = w.plus(steps, 1) if self.tail else steps
        return w.loop_from(w.index(0), count, add, [w.splat(0, w.i32)] * VECTORS)

    def _sixteen_rows(self, columns: Sequence[str], target: str, index: str) -> list[str]:
        """Four steps of four columns, from step ``4 * index`` on."""
        w, quads = self.w, "vector<4xi32>"
        loaded = [w.load(w.at(column, w.times(index, 16)), quads) for column in columns]
        halves = [
            w.shuffle(loaded[i], loaded[i + 1], lanes, quads)
            for lanes in ((0, 4, 1, 5), (2, 6, 3, 7))
            for i in (0, 2)
        ]
        place = w.at(target, w.times(index, 4 * self.step_bytes))
        for step in range(4):
            first = step // 2 * 2
            lanes = (2, 3, 6, 7) if step % 2 else (0, 1, 4, 5)
            value = w.shuffle(halves[first], halves[first + 1], lanes, quads)
            w.store(value, w.at(place, step * self.step_bytes), quads)
        return []

    def _added(self, sums: Sequence[str], quads: Sequence[str]) -> list[str]:
        w, ones = self.w, self.w.splat(1, self.w.i8)
        return [dot_quads(w, total, ones, quad) for total, quad in zip(sums, quads, strict=True)]
