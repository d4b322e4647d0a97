"""The report of an exported network for people: a row per layer, then what it adds up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..runtime.profile_text import short_names
from .tables import print_table

if TYPE_CHECKING:
    from ..runtime.export import Exported
    from ..runtime.export_report import ExportReport, LayerSize

COLUMNS = ("#", "layer", "kernels", "MMAC", "constants", "code", "arena", "in use")
RIGHT = ("#", "MMAC", "constants", "code", "arena")
SPARE = ("MMAC", "in use", "kernels")
BAR = 10
"""Characters of the longest bar."""
SHARED = "″"
"""In place of a size: counted in a row above."""


def print_report(exported: Exported) -> None:
    """Print it on stdout."""
    report = exported.report
    title = f"{exported.name} for {exported.target}: bytes by layer"
    print_table(COLUMNS, _rows(report), right=RIGHT, title=title, shorten=("layer",), spare=SPARE)
    print()
    for label, text in _totals(exported):
        print(f"{label:8} {text}")


def _rows(report: ExportReport) -> list[tuple[str, ...]]:
    names = short_names([layer.tensor for layer in report.layers])
    rows = [
        (
            str(number),
            names[number],
            _kernels(layer),
            f"{layer.macs / 1e6:.3f}" if layer.macs else "",
            f"{layer.constants:,}" if layer.constants else "",
            _code(layer),
            f"{layer.arena:,}" if layer.arena else "",
            _bar(layer.arena, report.peak_bytes),
        )
        for number, layer in enumerate(report.layers)
    ]
    macs = sum(layer.macs for layer in report.layers)
    entry = f"{report.entry_bytes:,}" if report.entry_bytes else ""
    total = (f"{macs / 1e6:.3f}" if macs else "", f"{report.constant_bytes:,}", f"{report.code_bytes:,}")
    return [
        *rows,
        ("", "init, run and checks", "", "", "", entry, "", ""),
        ("", "total", "", *total, f"{report.peak_bytes:,}", "at most"),
    ]


def _kernels(layer: LayerSize) -> str:
    """``border + conv2d neon``, ``3 loops``."""
    counts = Counter(layer.kernels)
    names = [name if count == 1 else f"{count} {name}" for name, count in counts.items()]
    sets = {name.rpartition(" ")[2] for name in counts if " " in name}
    if len(sets) == 1:
        (isa,) = sets
        return f"{' + '.join(name.removesuffix(f' {isa}') for name in names)} ({isa})"
    return " + ".join(names)


def _code(layer: LayerSize) -> str:
    return SHARED if layer.shares_code else f"{layer.code:,}" if layer.code else ""


def _bar(size: int, most: int) -> str:
    return "█" * -(-BAR * size // most) if most else ""


def _totals(exported: Exported) -> Iterator[tuple[str, str]]:
    report = exported.report
    yield (
        "flash",
        f"{report.flash_bytes:,} bytes: {report.constant_bytes:,} constants, {report.code_bytes:,} code, "
        f"{report.table_bytes:,} tables",
    )
    state = f"; {report.state_bytes:,} of them are remembered from run to run" if report.state_bytes else ""
    yield "arena", f"{report.arena_bytes:,} bytes, {report.peak_bytes:,} in use at one time{state}"
    yield "caller", f"{report.input_bytes:,} bytes of inputs, {report.output_bytes:,} of outputs"
    yield "calls", ", ".join(report.calls) or "nothing outside itself"
    for file in exported.files:
        yield "wrote", str(file)
