"""Tables for people: fitted to a terminal's width, or plain aligned columns in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Literal

from ..runtime.aligned import GAP, aligned_lines

LEAST_TEXT = 16
"""A cell longer than this may be folded (or shortened) down to it; what is shorter stays in one piece."""
NUMBERS = 24
"""Scales, multipliers and their ranges are not longer than this, and are never folded while others can be."""
PROSE = 32
"""Longer cells of the last column want at least this much room."""
MINIMUM = 8
"""Nothing is folded to less than this."""


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    title: str = "",
    shorten: Sequence[str] = (),
    spare: Sequence[str] = (),
    styles: Mapping[int, str] | None = None,
) -> None:
    """Print ``rows`` under ``columns`` on stdout; the columns named in ``right`` are aligned right.

    A pipe gets one line per row, nothing cut or folded. A terminal gets a table that fits its width: long
    cells are folded, those of the columns in ``shorten`` lose their beginning instead, and if that is not
    enough, the columns in ``spare`` are left out one after the other, and named below. A last column of long
    cells that would be too narrow to read goes below the rows. ``styles`` (of rich) are for rows by number.
    """
    if sys.stdout.isatty():
        _print_rich(columns, rows, right, title, shorten, spare, styles or {})
        return
    if title:
        print(title)
    for line in aligned_lines(columns, rows, right):
        print(line)


def _print_rich(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[str],
    title: str,
    shorten: Sequence[str],
    spare: Sequence[str],
    styles: Mapping[int, str],
) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console()
    least = [least_width(name, [row[i] for row in rows], name in shorten) for i, name in enumerate(columns)]
    prose = has_prose_below(columns, rows, least, console.width)
    kept = fitting(columns[: len(columns) - prose], least, console.width, spare)
    widths = shrunk(
        [max(len(name) for name in (columns[i], *(row[i] for row in rows))) for i in kept],
        [least[i] for i in kept],
        console.width,
    )

    def grid(vertical: Literal["top", "bottom"] = "top") -> Table:
        table = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
        for i, width in zip(kept, widths, strict=True):
            justify: Literal["left", "right"] = "right" if columns[i] in right else "left"
            table.add_column(justify=justify, vertical=vertical, overflow="fold", width=width)
        return table

    def below(text: str, style: str = "") -> Padding:
        return Padding(Text(text, style), (0, 0, 0, widths[0] + GAP))

    if title:
        console.print(Text(title))
    table = grid("bottom")
    table.add_row(*(Text(columns[i], "bold") for i in kept))
    console.print(table)
    if prose:
        console.print(below(columns[-1], "bold"))
    console.print("─" * min(sum(widths) + GAP * (len(widths) - 1), console.width))
    table = grid()
    for number, row in enumerate(rows):
        cells = [
            _without_beginning(row[i], width) if columns[i] in shorten else row[i]
            for i, width in zip(kept, widths, strict=True)
        ]
        table.add_row(
            *(Text(cell, styles.get(number, "")) for cell in cells)
        )  # Text: cells like `[1, 2]` are not markup
        if prose and row[-1]:
            console.print(table, below(row[-1]))
            table = grid()
    if table.row_count:
        console.print(table)
    left_out = [name for i, name in enumerate(columns[: len(columns) - prose]) if i not in kept]
    if left_out:
        print(f"({', '.join(left_out)}: left out, the terminal is too narrow; `| less -S` shows all)")


def has_prose_below(
    columns: Sequence[str], rows: Sequence[Sequence[str]], least: Sequence[int], width: int
) -> bool:
    """Whether the last column has long cells and little room: they are printed below their rows, then."""
    longest = max((len(row[-1]) for row in rows), default=0)
    room = width - sum(least[:-1]) - GAP * (len(columns) - 1)
    return len(columns) > 1 and longest > PROSE and room < PROSE


def least_width(name: str, cells: Sequence[str], is_shortened: bool) -> int:
    """How narrow a column may become: short cells and the header's words stay in one piece."""
    limit = LEAST_TEXT if is_shortened or any(len(cell) > NUMBERS for cell in cells) else NUMBERS
    words = [*name.split(), *(cell[:limit] for cell in cells)]
    return max((len(word) for word in words), default=1) or 1


def fitting(columns: Sequence[str], least: Sequence[int], width: int, spare: Sequence[str]) -> list[int]:
    """Which columns to show: all but as many of ``spare`` as must go, the first ones first."""
    kept = list(range(len(columns)))
    for name in spare:
        if sum(least[i] for i in kept) + GAP * (len(kept) - 1) <= width:
            break
        kept = [i for i in kept if columns[i] != name]
    return kept


def shrunk(widths: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """The widest columns, down to ``least`` where that is enough, until all of them fit into ``width``."""
    result = list(widths)
    for floor in (least, [MINIMUM] * len(result)):
        while sum(result) + GAP * (len(result) - 1) > width:
            wide = [i for i, w in enumerate(result) if w > floor[i]]
            if not wide:
                break
            result[max(wide, key=lambda i: result[i])] -= 1
    return result


def _without_beginning(text: str, width: int) -> str:
    return text if len(text) <= width else "…" + text[len(text) - width + 1 :]
