"""Plain tables: columns aligned with spaces."""

from __future__ import annotations

from collections.abc import Sequence

GAP = 2


def aligned_lines(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> list[str]:
    """``columns`` and below them ``rows``, a line each; the columns named in ``right`` are aligned right."""
    widths = [max(len(line[i]) for line in [columns, *rows]) for i in range(len(columns))]
    return [
        (" " * GAP)
        .join(
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(line, widths, columns, strict=True)
        )
        .rstrip()
        for line in [columns, *rows]
    ]
