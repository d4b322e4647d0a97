"""Tables for people: rich on a terminal, plain aligned columns in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = (), title: str = ""
) -> None:
    """Print ``rows`` under ``columns`` on stdout; the columns named in ``right`` are aligned right.

    A terminal gets a rich table that folds long cells; a pipe gets one line per row, nothing cut or folded.
    """
    if sys.stdout.isatty():
        _print_rich(columns, rows, right, title)
        return
    widths = [max(len(line[i]) for line in [columns, *rows]) for i in range(len(columns))]
    if title:
        print(title)
    for line in [columns, *rows]:
        cells = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(line, widths, columns, strict=True)
        ]
        print("  ".join(cells).rstrip())


def _print_rich(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str], title: str
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))  # Text: cells like `[1, 2]` are not markup
    Console().print(table)
