"""A layered drawing of a graph, on plain numbers: where nodes and edges go.

Layers run from left to right by longest path. At the right margin the drawing goes on in the next band below,
as text does in the next line. An edge that passes a layer has a lane of its own there, so edges never cross
nodes; at a margin it leaves the band and comes back at the left of the next one. Edges that would pass very
many layers are cut: both ends say where the other one is.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

NODE_WIDTH, NODE_HEIGHT = 156, 44
GAP_X, GAP_Y = 28, 20
LANE = 14
"""Height of an edge's lane."""
BAND_GAP = 30
MARGIN = 36
MAX_SPAN = 48
"""Edges over more layers are cut."""
_LANES_PER_NODE = 4
_LANES_AT_LEAST = 2000
"""Of all edges together; the longest edges are cut until it fits, which bounds time and area."""
_SWEEPS = 6
_MAX_LABELS = 4
"""A node with more edges than this coming in at a margin has no labels there: they would overlap."""


@dataclass(frozen=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True)
class Line:
    """A piece of an edge within a band, as points to join; the last piece ends in an arrow."""

    source: int
    target: int
    points: tuple[Point, ...]
    is_arrow: bool


@dataclass(frozen=True)
class Label:
    """A short text at an end of something that is not drawn in one piece; ``at`` is where its line stands."""

    text: str
    at: Point
    anchor: str = "start"


@dataclass(frozen=True)
class Layout:
    """``nodes`` are top left corners, in the order of the nodes' numbers."""

    nodes: tuple[Point, ...]
    lines: tuple[Line, ...]
    labels: tuple[Label, ...]
    width: float
    height: float


@dataclass(eq=False)
class _Slot:
    """A node's place in a layer, or that of an edge which passes by (``node`` is None)."""

    layer: int
    node: int | None
    before: list[_Slot] = field(default_factory=list)
    after: list[_Slot] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    order: int = 0
    ports: dict[_Slot, float] = field(default_factory=dict)
    """Where the edge from a slot before arrives."""

    @property
    def height(self) -> float:
        return LANE if self.node is None else NODE_HEIGHT

    @property
    def right(self) -> Point:
        return Point(self.x + NODE_WIDTH, self.y + self.height / 2)

    def left(self, source: _Slot) -> Point:
        return Point(self.x, self.ports[source])


def layered(
    edges: Sequence[tuple[int, int]], labels: Sequence[str], width: float, late: Sequence[int] = ()
) -> Layout:
    """Draw ``len(labels)`` nodes; each edge goes from a lower number to a higher one.

    ``labels`` name nodes where an edge is cut, ``late`` are nodes without predecessors that may stand right
    before their first reader.
    """
    columns = max(1, int((width - 2 * MARGIN + GAP_X) // (NODE_WIDTH + GAP_X)))
    edges = sorted(set(edges))
    depth = _depths(edges, len(labels), set(late))
    slots = [_Slot(depth[node], node) for node in range(len(labels))]
    layers: list[list[_Slot]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for slot in slots:
        layers[slot.layer].append(slot)
    short = _drawn(edges, depth)
    chains = [(source, target, _chain(slots[source], slots[target], layers)) for source, target in short]
    _order(layers)
    height = _place(layers, columns)
    lines: list[Line] = []
    texts = _cut_labels(sorted({*edges} - {*short}), slots, labels)
    for source, target, chain in chains:
        pieces = _pieces(chain, columns)
        for index, points in enumerate(pieces):
            lines.append(Line(source, target, tuple(points), index == len(pieces) - 1))
            if index and len(slots[target].before) <= _MAX_LABELS:
                texts.append(Label(labels[source], Point(3, points[0].y - 3)))
    used = min(columns, len(layers))
    wide = 2 * MARGIN + used * (NODE_WIDTH + GAP_X) - GAP_X
    return Layout(tuple(Point(s.x, s.y) for s in slots), tuple(lines), tuple(texts), wide, height)


def _depths(edges: Sequence[tuple[int, int]], count: int, late: set[int]) -> list[int]:
    """The longest path to each node."""
    depth = [0] * count
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        assert source < target, "edges go forward"
        after[source].append(target)
    for node in range(count):
        for target in after[node]:
            depth[target] = max(depth[target], depth[node] + 1)
    for node in late:
        if after[node]:
            depth[node] = min(depth[target] for target in after[node]) - 1
    return depth


def _drawn(edges: Sequence[tuple[int, int]], depth: Sequence[int]) -> list[tuple[int, int]]:
    """The edges that are drawn in full, in order: the shortest first, as long as there is room."""
    room = max(_LANES_AT_LEAST, _LANES_PER_NODE * len(depth))
    kept = []
    for source, target in sorted(edges, key=lambda edge: depth[edge[1]] - depth[edge[0]]):
        span = depth[target] - depth[source]
        room -= span - 1
        if span > MAX_SPAN or room < 0:
            break
        kept.append((source, target))
    return sorted(kept)


def _chain(source: _Slot, target: _Slot, layers: list[list[_Slot]]) -> list[_Slot]:
    """The slots of an edge, with new ones in the layers that it passes."""
    passing = [_Slot(layer, None) for layer in range(source.layer + 1, target.layer)]
    for slot in passing:
        layers[slot.layer].append(slot)
    chain = [source, *passing, target]
    for left, right in itertools.pairwise(chain):
        left.after.append(right)
        right.before.append(left)
    return chain


def _order(layers: list[list[_Slot]]) -> None:
    """Order each layer by where its neighbours are (barycenters), nodes before passing edges on a tie."""
    for layer in layers:
        for index, slot in enumerate(layer):
            slot.order = index
    for sweep in range(_SWEEPS):
        is_down = sweep % 2 == 0
        for layer in layers if is_down else reversed(layers):
            keys = {slot: _key(slot, slot.before if is_down else slot.after) for slot in layer}
            layer.sort(key=keys.__getitem__)
            for index, slot in enumerate(layer):
                slot.order = index


def _key(slot: _Slot, near: Sequence[_Slot]) -> tuple[float, bool, int]:
    center = sum(other.order for other in near) / len(near) if near else float(slot.order)
    return center, slot.node is None, slot.order


def _place(layers: list[list[_Slot]], columns: int) -> float:
    """Coordinates of every slot and of where edges arrive; returns the drawing's height."""
    top = MARGIN * 0.75
    for start in range(0, len(layers), columns):
        tallest = 0.0
        for column, layer in enumerate(layers[start : start + columns]):
            y = 0.0
            for slot in layer:
                slot.x, slot.y = MARGIN + column * (NODE_WIDTH + GAP_X), top + y
                y += slot.height + (0 if slot.node is None else GAP_Y)
            tallest = max(tallest, y)
        top += tallest - GAP_Y + BAND_GAP
    for slot in itertools.chain.from_iterable(layers):
        before = sorted(slot.before, key=lambda other: (other.layer, other.order))
        step = slot.height / (len(before) + 1)
        slot.ports = {other: slot.y + step * (index + 1) for index, other in enumerate(before)}
    return top - BAND_GAP + MARGIN * 0.75


def _pieces(chain: list[_Slot], columns: int) -> list[list[Point]]:
    """The points of an edge, one list per band."""
    pieces = [[chain[0].right]]
    for left, right in itertools.pairwise(chain):
        arrival = right.left(left)
        if left.layer // columns != right.layer // columns:
            pieces[-1].append(Point(left.x + NODE_WIDTH + MARGIN - 6, left.right.y))
            pieces.append([Point(4, arrival.y)])
        pieces[-1].append(arrival)
        if right.node is None:
            pieces[-1].append(right.right)
    return pieces


def _cut_labels(
    edges: Sequence[tuple[int, int]], slots: Sequence[_Slot], labels: Sequence[str]
) -> list[Label]:
    """Beside both ends of edges that are not drawn: which nodes the other ends are."""
    out: dict[int, list[str]] = {}
    into: dict[int, list[str]] = {}
    for source, target in edges:
        out.setdefault(source, []).append(labels[target])
        into.setdefault(target, []).append(labels[source])
    return [
        *(
            Label(f"to {_few(names)}", Point(slots[n].x + NODE_WIDTH, slots[n].y + NODE_HEIGHT + 9), "end")
            for n, names in out.items()
        ),
        *(Label(f"from {_few(names)}", Point(slots[n].x, slots[n].y - 4)) for n, names in into.items()),
    ]


def _few(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
