"""Bars of the times relative to the best peer, as SVG."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

from .contestants import OURS, PEERS, TUNED
from .report import groups

COLOURS = {
    "zeropoint": "#1f5fa8",
    "zeropoint-xnnpack": "#7fb2e5",
    "zeropoint-tuned": "#123a66",
    "litert": "#d98a2b",
    "onnxruntime": "#9a9a9a",
    "openvino": "#6b4fa0",
}
LABELS = {
    "zeropoint": "Zeropoint, reference bits",
    "zeropoint-xnnpack": "Zeropoint, XNNPACK bits",
    "zeropoint-tuned": "Zeropoint, tuned",
    "litert": "LiteRT",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
}
LONGEST = 2.0
"""Bars end here; the number beside them tells the rest."""
LEFT, RIGHT, WIDTH = 330, 60, 1000
BAR, GAP = 11, 16
TOP = 64


def to_svg(rows: Sequence[Mapping[str, Any]]) -> str:
    """One group of bars per network and number of threads; the line at 1.0 is the best peer."""
    shapes: list[str] = []
    y = TOP
    for group in groups(rows):
        shown = [row for row in group if row.get("ratio_of_minima") is not None]
        if not shown:
            continue
        threads = group[0]["threads"]
        label = group[0]["network"] + (f", {threads} threads" if threads > 1 else "")
        middle = y + len(shown) * BAR / 2 + 4
        shapes.append(f'<text x="{LEFT - 10}" y="{middle:.0f}" text-anchor="end">{escape(label)}</text>')
        for row in shown:
            shapes += _bar(row, y)
            y += BAR
        y += GAP
    height = y + 12
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" font-family="sans-serif" font-size="12" fill="#222">',
            f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
            '<text x="12" y="20" font-size="14">Time of one inference relative to the best peer '
            "(ratio of minima; shorter is faster)</text>",
            *_legend({row["contestant"] for row in rows}),
            *_axis(y),
            *shapes,
            "</svg>\n",
        ]
    )


def _x(ratio: float) -> float:
    return LEFT + min(ratio, LONGEST) / LONGEST * (WIDTH - LEFT - RIGHT)


def _bar(row: Mapping[str, Any], y: int) -> list[str]:
    ratio, name = row["ratio_of_minima"], row["contestant"]
    end = _x(ratio)
    more = " →" if ratio > LONGEST else ""
    return [
        f'<rect x="{LEFT}" y="{y}" width="{end - LEFT:.1f}" height="{BAR - 1}" fill="{COLOURS[name]}">'
        f"<title>{escape(LABELS[name])}: {row['min_ms']:.4g} ms</title></rect>",
        f'<text x="{end + 4:.1f}" y="{y + BAR - 2}" font-size="10">{ratio:.2f}{more}</text>',
    ]


def _legend(there: Collection[str]) -> list[str]:
    shapes, x = [], 12
    for name in (*OURS, *(name for name in TUNED if name in there), *PEERS):
        shapes.append(f'<rect x="{x}" y="32" width="12" height="12" fill="{COLOURS[name]}"/>')
        shapes.append(f'<text x="{x + 17}" y="42">{escape(LABELS[name])}</text>')
        x += 40 + 7 * len(LABELS[name])
    return shapes


def _axis(bottom: int) -> list[str]:
    shapes = []
    for tenths in range(0, int(LONGEST * 10) + 1, 5):
        x = _x(tenths / 10)
        best = tenths == 10
        style = 'stroke="#222" stroke-width="1.5"' if best else 'stroke="#ddd"'
        shapes.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom - 8}" {style}/>')
        shapes.append(
            f'<text x="{x:.1f}" y="{bottom + 6}" text-anchor="middle" font-size="11">{tenths / 10:.1f}</text>'
        )
    return shapes
