"""The legalized graph as inline SVG: a box per op, coloured by rule, with a bar and a text for its error."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

from ..runtime.explanation import Explanation, Row
from .cli_inspect import shape
from .explain_text import cells, decibels, operator, origin, parameters, reasons
from .graph_layout import NODE_HEIGHT, NODE_WIDTH, Layout, Point, layered

WIDTH = 1360
FIRST_LINE, SECOND_LINE = 20, 22
"""Characters that fit the two lines of a box: a monospaced font is 0.6 of its size wide."""

ERRORS = (
    ("exact", "exact"),
    ("high", "40 dB or more"),
    ("medium", "20 to 40 dB"),
    ("low", "under 20 dB"),
)
"""Classes of error and what they mean, in words."""


@dataclass(frozen=True)
class _Node:
    """A box: an op, or (``row`` None) an input or output of the model."""

    label: str
    first: str
    second: str
    row: Row | None = None


def graph_svg(explanation: Explanation) -> str:
    """The drawing, one ``g.op`` per op of the legalized model."""
    nodes, edges, late = _graph(explanation)
    layout = layered(edges, [node.label for node in nodes], WIDTH, late)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{layout.width:g}" height="{layout.height:g}" '
        f'viewBox="0 0 {layout.width:g} {layout.height:g}" role="group" '
        f'aria-label="Graph of {len(nodes)} boxes; the table below has the same content">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>',
        *_edges(layout),
        *(_box(node, point) for node, point in zip(nodes, layout.nodes, strict=True)),
        "</svg>",
    ]
    return "\n".join(parts)


def _graph(explanation: Explanation) -> tuple[list[_Node], list[tuple[int, int]], range]:
    """Inputs, ops and outputs as nodes; edges by their numbers; and which nodes are inputs."""
    count = len(explanation.inputs)
    # where an edge goes on, there is room for five characters
    short = ["input"] if count == 1 else [f"in {i}" for i in range(count)]
    nodes = [_Node(i, "input", name) for i, name in zip(short, explanation.inputs, strict=True)]
    edges: list[tuple[int, int]] = []
    there = [row for row in explanation.rows if row.after is not None]
    for row in there:
        edges += [(_number(read, count), len(nodes)) for read in row.reads]
        nodes.append(_Node(row.label, f"{row.label} {_first_line(row)}", _second_line(row), row))
    for name, read in zip(explanation.output_names, explanation.returns, strict=True):
        edges.append((_number(read, count), len(nodes)))
        nodes.append(_Node(name, "output", name))
    return nodes, edges, range(count)


def _number(read: int, inputs: int) -> int:
    return -1 - read if read < 0 else inputs + read


def _first_line(row: Row) -> str:
    return operator(row) if row.status == "inserted" else operator(replace(row, status="kept"))


def _second_line(row: Row) -> str:
    kind = row.rule.kind if row.rule is not None else ""
    if row.unmet:
        return f"breaks {kind}"
    if row.cost is not None and row.cost.accuracy is not None:
        return decibels(row.cost.accuracy)
    return f"{kind} {row.status}" if row.status in ("changed", "float") else kind


def error_class(row: Row) -> str:
    """Which of ``ERRORS`` an inserted op belongs to; empty if nothing was measured."""
    accuracy = row.cost.accuracy if row.cost else None
    if accuracy is None:
        return ""
    if accuracy.is_exact:
        return "exact"
    level = -300.0 if accuracy.sqnr is None else accuracy.sqnr
    return "high" if level >= 40 else "medium" if level >= 20 else "low"


def rule_class(row: Row) -> str:
    """The colour of a row: its rule, or none for ops that take no rule."""
    return "none" if row.rule is None else row.rule.kind


def _box(node: _Node, at: Point) -> str:
    row = node.row
    lines = (
        f'<text class="first" x="14" y="18">{escape(_fit(node.first, FIRST_LINE))}</text>'
        f'<text class="second" x="14" y="34">{escape(_fit(node.second, SECOND_LINE))}</text>'
    )
    place = f'transform="translate({at.x:g} {at.y:g})"'
    rect = f'<rect width="{NODE_WIDTH}" height="{NODE_HEIGHT}" rx="{{}}"/>'
    if row is None:
        title = f"<title>{escape(node.first)} {escape(node.second)}</title>"
        return f'<g class="port" {place}>{title}{rect.format(22)}{lines}</g>'
    error = error_class(row)
    bar = f'<rect class="bar e-{error}" width="6" height="{NODE_HEIGHT}"/>' if error else ""
    classes = f"op r-{rule_class(row)} s-{row.status}{' unmet' if row.unmet else ''}"
    return (
        f'<a href="#op-{row.label}" aria-label="{escape(node.first)}, {escape(node.second)}">'
        f'<g class="{classes}" id="node-{row.label}" {place}><title>{escape(tooltip(row))}</title>'
        f"{rect.format(4)}{bar}{lines}</g></a>"
    )


def tooltip(row: Row) -> str:
    """What there is to say about an op, a line each."""
    found = [f"{row.label} {operator(row)}", row.tensor.split(";")[0]]
    if row.after is not None:
        types = [f"{shape(t)} {parameters(t)}" for t in (*row.after.inputs, row.after.result)]
        found.append(f"{' + '.join(types[:-1])} -> {types[-1]}")
    if row.rule is not None:
        found.append(f"rule {row.rule} ({origin(row.rule)})")
    before, after = cells(row)[5:7]
    if before or after:
        found.append(f"multiplier, shift: {before or 'none'}; after: {after or 'none'}")
    if row.cost is not None:
        found.append(f"{row.cost.bytes} bytes, {row.cost.macs} MACs")
    return "\n".join(line for line in [*found, *reasons(row)] if line)


def _edges(layout: Layout) -> Iterator[str]:
    yield '<g class="edges" aria-hidden="true">'
    for line in layout.lines:
        marker = ' marker-end="url(#arrow)"' if line.is_arrow else ""
        yield f'<path d="{_curve(line.points)}"{marker}/>'
    for label in layout.labels:
        where = f'x="{label.at.x:g}" y="{label.at.y:g}"'
        yield f'<text {where} text-anchor="{label.anchor}">{escape(_fit(label.text, 15))}</text>'
    yield "</g>"


def _curve(points: Sequence[Point]) -> str:
    """Through the points, level at each of them."""
    path = [f"M{points[0].x:g} {points[0].y:g}"]
    for a, b in itertools.pairwise(points):
        if a.y == b.y:
            path.append(f"H{b.x:g}")
        else:
            middle = (a.x + b.x) / 2
            path.append(f"C{middle:g} {a.y:g} {middle:g} {b.y:g} {b.x:g} {b.y:g}")
    return "".join(path)


def _fit(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"
