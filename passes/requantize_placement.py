"""Where requantizes go, on plain data: the fewest that give every reader of a value the parameters it wants.

A change of parameters works on each stored integer alone, so it may be done before or after an op that only
moves values, with equal results. Ops that move form trees: a root, which some other op computes, and the
values that moving makes of it. What a reader gets is therefore a *position* in such a tree and a *version*:
the root, and the list of changes of parameters on the way from it. Two readers that want equal versions
share one requantize at their last common position; a version that nobody wants is not made. Versions are
never taken from one another but in their own order of changes, so nothing is rounded that was not rounded
before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..dialect.types import QuantParams, TensorType
from ..targets import Rule

Version: TypeAlias = tuple[int, tuple[QuantParams, ...]]
"""A root value and the changes of parameters since."""
Allowed: TypeAlias = Callable[[int, QuantParams], bool]
"""Whether the moving op of an index may run in these parameters."""


@dataclass(frozen=True)
class PlainOp:
    """One op: values by number, attributes plain; ``result`` is None for a return."""

    name: str
    operands: tuple[int, ...]
    result: int | None
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PlainGraph:
    """Ops in order, and the type of every value by number (None for what is no tensor)."""

    types: tuple[TensorType | None, ...]
    ops: tuple[PlainOp, ...]

    def params(self, value: int) -> QuantParams | None:
        """The parameters of a value, None if it is not quantized."""
        type_ = self.types[value]
        return type_.params if type_ is not None and type_.is_quantized else None


@dataclass(frozen=True)
class Choice:
    """How one op is to run.

    ``inputs`` has the parameters that an operand must be brought to (by operand index; others stay as they
    are), ``produced`` those of the result before it is brought back to its own type (None: its own).
    ``moves``: the op only moves values, in whatever parameters they come. ``rule`` is what forced the
    change, if there is one.
    """

    inputs: Mapping[int, QuantParams] = field(default_factory=dict)
    produced: QuantParams | None = None
    moves: bool = False
    rule: Rule | None = None


@dataclass
class Forest:
    """The trees of a graph under one choice per op.

    ``place_of``: value -> its position and version. A position is the value's number; a requantize that was
    there before has its operand's position. ``parent`` and ``mover``: the position an op moves from, and
    that op. ``needs``: version -> positions where it is read. ``existing``: requantizes that were there
    before. ``sharers``: version -> the ops that force it.
    """

    graph: PlainGraph
    place_of: dict[int, tuple[int, Version]] = field(default_factory=dict)
    base: dict[int, QuantParams | None] = field(default_factory=dict)
    parent: dict[int, int] = field(default_factory=dict)
    mover: dict[int, int] = field(default_factory=dict)
    needs: dict[Version, set[int]] = field(default_factory=dict)
    existing: dict[tuple[int, Version], int] = field(default_factory=dict)
    sharers: dict[Version, list[int]] = field(default_factory=dict)

    def params(self, version: Version) -> QuantParams | None:
        """The parameters that a version has."""
        root, changes = version
        return changes[-1] if changes else self.base[root]

    def path_up(self, position: int) -> Iterator[int]:
        """A position and those above it, up to the root."""
        yield position
        while position in self.parent:
            position = self.parent[position]
            yield position

    @property
    def forced_by(self) -> dict[Version, int]:
        """Version -> the first op that forces it."""
        return {version: indices[0] for version, indices in self.sharers.items()}

    def force(self, version: Version, index: int) -> None:
        """Op ``index`` wants a version that the graph has not by itself."""
        self.sharers.setdefault(version, []).append(index)

    def need(self, version: Version, position: int) -> None:
        self.needs.setdefault(version, set()).add(position)


class Unplaceable(Exception):  # noqa: N818 - the planner's signal, not an error
    """No position is allowed for a change that op ``index`` forces."""

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def grow(graph: PlainGraph, choices: Sequence[Choice]) -> Forest:
    """The forest of a graph under ``choices``, one per op."""
    forest = Forest(graph)
    made = {op.result for op in graph.ops}
    for value in range(len(graph.types)):
        if value not in made:
            _root(forest, value, graph.params(value))
    read = {value for op in graph.ops for value in op.operands}
    for index, (op, choice) in enumerate(zip(graph.ops, choices, strict=True)):
        if choice.moves:
            _move(forest, index, op)
        elif op.name == "requantize" and graph.params(op.operands[0]) != graph.params(_result(op)):
            _requantize(forest, index, op)
        else:
            _compute(forest, index, op, choice)
        if op.result is not None and op.result not in read:
            forest.need(*reversed(forest.place_of[op.result]))  # type: ignore[arg-type]
    return forest


def _result(op: PlainOp) -> int:
    assert op.result is not None, "a return has no result"
    return op.result


def _root(forest: Forest, value: int, params: QuantParams | None) -> None:
    forest.base[value] = params
    forest.place_of[value] = (value, (value, ()))


def _move(forest: Forest, index: int, op: PlainOp) -> None:
    source, result = op.operands[0], _result(op)
    position, version = forest.place_of[source]
    params = forest.graph.params(result)
    assert params is not None, "only quantized tensors are moved between parameters"
    if not params.same_values(forest.graph.params(source) or params):
        version = (version[0], (*version[1], params))
        forest.force(version, index)
    forest.parent[result], forest.mover[result] = position, index
    forest.place_of[result] = (result, version)


def _requantize(forest: Forest, index: int, op: PlainOp) -> None:
    position, version = forest.place_of[op.operands[0]]
    forest.need(version, position)
    params = forest.graph.params(_result(op))
    assert params is not None, "a requantize has a quantized result"
    changed = (version[0], (*version[1], params))
    forest.existing.setdefault((position, changed), index)
    forest.place_of[_result(op)] = (position, changed)


def _compute(forest: Forest, index: int, op: PlainOp, choice: Choice) -> None:
    for place, value in enumerate(op.operands):
        position, version = forest.place_of[value]
        wanted = choice.inputs.get(place)
        if wanted is not None:
            version = (version[0], (*version[1], wanted))
            forest.force(version, index)
        forest.need(version, position)
    if op.result is None:
        return
    own = forest.graph.params(op.result)
    _root(forest, op.result, own if choice.produced is None else choice.produced)
    if choice.produced is not None:
        assert own is not None, "only a quantized result is produced in other parameters"
        version = (op.result, (own,))
        forest.force(version, index)
        forest.place_of[op.result] = (op.result, version)


def place(forest: Forest, allowed: Allowed) -> dict[tuple[int, Version], int]:
    """The requantizes to insert: (position, version) -> the op that forced it.

    Raises:
        Unplaceable: the target allows a moving op in neither the old nor the new parameters.
    """
    needs = {version: set(positions) for version, positions in forest.needs.items()}
    inserted: dict[tuple[int, Version], int] = {}
    finder, forced_by = _Finder(forest, allowed), forest.forced_by
    for length in range(max((len(changes) for _, changes in needs), default=0), 0, -1):
        for version in [v for v in needs if len(v[1]) == length]:
            before = (version[0], version[1][:-1])
            positions = [p for p in sorted(needs[version]) if not finder.is_there(version, p)]
            for group in finder.regions(version, positions):
                position = finder.lowest(version, before, group)
                position = finder.smallest(version, before, position, needs.get(before, set()))
                inserted[position, version] = forced_by[version]
                needs.setdefault(before, set()).add(position)
    return inserted


@dataclass
class _Finder:
    """Positions in a forest, as far as moving ops are allowed in a version's parameters."""

    forest: Forest
    allowed: Allowed

    def moves_in(self, position: int, version: Version) -> bool:
        """Whether the op that makes a position from the one above may run in a version's parameters."""
        params = self.forest.params(version)
        return params is not None and self.allowed(self.forest.mover[position], params)

    def reach(self, position: int, version: Version) -> list[int]:
        """A position and those above it from where moving in this version leads to it."""
        found = []
        for above in self.forest.path_up(position):
            found.append(above)
            if above in self.forest.parent and not self.moves_in(above, version):
                break
        return found

    def is_there(self, version: Version, position: int) -> bool:
        return any((above, version) in self.forest.existing for above in self.reach(position, version))

    def can_be(self, position: int, version: Version) -> bool:
        """Whether a version can be had at a position at all.

        One that no op forces is only made where the graph makes it already.
        """
        reach = self.reach(position, version)
        if not version[1]:
            return reach[-1] not in self.forest.parent
        if self.is_there(version, position):
            return True
        before = (version[0], version[1][:-1])
        return version in self.forest.sharers and any(self.can_be(above, before) for above in reach)

    def regions(self, version: Version, positions: Sequence[int]) -> list[list[int]]:
        """Positions grouped by the topmost one they can share."""
        groups: dict[int, list[int]] = {}
        for position in positions:
            groups.setdefault(self.reach(position, version)[-1], []).append(position)
        return list(groups.values())

    def lowest(self, version: Version, before: Version, positions: Sequence[int]) -> int:
        """The lowest position above all ``positions`` at which the version before is there, or can be had."""
        shared = set.intersection(*(set(self.reach(position, version)) for position in positions))
        fitting = [p for p in self.reach(positions[0], version) if p in shared and self.can_be(p, before)]
        if not fitting:
            raise Unplaceable(self.forest.forced_by[version])
        return next((position for position in fitting if self.is_there(before, position)), fitting[0])

    def smallest(self, version: Version, before: Version, position: int, others: set[int]) -> int:
        """The lowest of the smallest tensors from a position up, as far as nobody else reads the version
        before further down (that would need the moving ops on the way twice), and not above the
        requantize that makes it.
        """
        best, size = position, self._elements(position)
        made_here = self.is_there(before, position)
        while position in self.forest.parent and self.moves_in(position, version) and size is not None:
            read_below = any(position in self.forest.path_up(other) for other in others)
            position = self.forest.parent[position]
            here = self._elements(position)
            if here is None or read_below or not self.can_be(position, before):
                break
            if made_here and not self.is_there(before, position):
                break
            if here < size:
                best, size = position, here
        return best

    def _elements(self, position: int) -> int | None:
        """How many elements a position's tensor has, None if that is not known yet."""
        type_ = self.forest.graph.types[position]
        return type_.elements if type_ is not None and type_.is_static else None
