"""What a target makes of a model, op by op, as plain data: rules, what they forced, why not, what it costs.

The model is legalized as the compiler would do it, with the op it came from noted in each op's location, so
that every op and every decision of a pass finds its row. ``zeropoint explain`` prints the result; nothing
here prints.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy.typing as npt

from ..dialect.describe import OpRow, describe, location_name
from ..dialect.ir_types import to_tensor_type
from ..dialect.mlir import ir
from ..dialect.model import Model, TensorInfo, find_main
from ..dialect.types import TensorType
from ..errors import InputError
from ..passes.decisions import INSERTED_ATTRIBUTE, Decision, collect
from ..passes.parameter_rules import params_text, rule_of, unmet
from ..passes.pass_manager import run_pipeline
from ..passes.pipelines import passes_to
from ..targets import Rule, Target, load_target
from .conversion_costs import Cost, OutputChange, costs_of, output_changes
from .inputs import check_array

Array = npt.NDArray[Any]
Progress = Callable[[str], None]
Status = Literal["kept", "changed", "float", "inserted", "gone"]
"""Of an op: as it was; other parameters or multipliers; runs in float; new; no longer there."""

ALGEBRA = (
    "fold-requantize",
    "hoist-requantize",
    "merge-requantizes",
    "fold-requantize-into-constant",
    "fold-requantize-into-producer",
    "fold-concat-rescales",
    "sink-requantize",
)
"""Passes that get rid of requantizes; tried on a copy, if the compiler's pipeline has none of them."""

_SOURCE = re.compile(r'^loc\((?:"(?:[^"\\]|\\.)*"\()?fused<(\d+) : i32>')
_CONVERSIONS = ("dequantize", "quantize", "requantize")


@dataclass(frozen=True)
class Note:
    """A decision about an op: of a kind of ``passes/decisions.py``, ``foldable`` (see :data:`ALGEBRA`), or
    ``explicit``: the op it was inserted for did the same within.
    """

    kind: str
    by: str
    detail: str


@dataclass(frozen=True)
class Row:
    """An op of the legalized model, or one of the original that is gone.

    ``label`` is the number of the op in the model; inserted ones have a letter as well: ``9a`` follows what
    op 9 made. ``reads`` are positions in ``Explanation.rows``, -1 - i for input i of the model. ``forced_by``
    is the number of the op whose rule inserted it.
    """

    label: str
    source: int | None
    op: str
    tensor: str
    status: Status
    rule: Rule | None
    before: OpRow | None
    after: OpRow | None
    reads: tuple[int, ...] = ()
    forced_by: int | None = None
    notes: tuple[Note, ...] = ()
    unmet: str = ""
    """How the legalized op still breaks its rule; empty if it does not."""
    cost: Cost | None = None
    """Of an inserted op."""


@dataclass(frozen=True)
class Totals:
    """Counts over a model. ``bytes`` and ``macs`` are those of the inserted ops of one inference."""

    ops_before: int
    ops_after: int
    inserted: int
    folded: int
    shared: int
    moved: int
    float_ops: int
    float_islands: int
    unmet: int
    bytes: int
    macs: int


@dataclass(frozen=True)
class Explanation:
    """The rows in the order of the legalized model, and what changes at its outputs.

    ``returns`` are the rows that the outputs come from (-1 - i: input i). ``outputs`` is empty if nothing was
    measured or nothing was changed.
    """

    model: str
    numerics: str
    target: Target
    inputs: tuple[str, ...]
    output_names: tuple[str, ...]
    rows: tuple[Row, ...]
    returns: tuple[int, ...]
    outputs: tuple[OutputChange, ...]
    samples: int

    @property
    def is_unchanged(self) -> bool:
        """Whether the target leaves every op as it is, but for those that nothing needs."""
        return _is_unchanged(self.rows) and not any(row.unmet for row in self.rows)

    @property
    def totals(self) -> Totals:
        rows = self.rows
        kinds = [note.kind for row in rows for note in row.notes]
        inserted = [row for row in rows if row.status == "inserted"]
        return Totals(
            ops_before=sum(row.before is not None for row in rows),
            ops_after=sum(row.after is not None for row in rows),
            inserted=len(inserted),
            folded=kinds.count("folded"),
            shared=kinds.count("shared"),
            moved=kinds.count("hoisted") + kinds.count("sunk"),
            float_ops=sum(row.status == "float" for row in rows),
            float_islands=_count_islands(rows),
            unmet=sum(bool(row.unmet) for row in rows),
            bytes=sum(row.cost.bytes for row in inserted if row.cost),
            macs=sum(row.cost.macs for row in inserted if row.cost),
        )


def explain(
    model: Model,
    target: str,
    samples: Sequence[Sequence[Array]] = (),
    progress: Progress = lambda text: None,
) -> Explanation:
    """What compiling ``model`` for ``target`` (a name or a path) does to its ops. The model is left alone.

    ``samples`` are inputs (one array per input of the model, in its storage type) that accuracy is measured
    on; without any it is not. ``progress`` is told about steps that take long.

    Raises:
        InputError: an input has a dynamic dimension, or a sample does not fit.
        TargetError: there is no such target, or its file is wrong.
        PipelineError: a pass failed.
    """
    _require_static(model)
    found = load_target(target)
    before = describe(model.module)
    with model.context, model.module.operation.location:
        module = model.module.operation.clone()
        _mark_sources(module)
    passes = passes_to("legalized", target=target)
    with collect() as decisions:
        run_pipeline(module, passes)
    tried = _try_algebra(module, passes)
    with model.context:
        builder = _Rows(module, found, before, [_note(decision) for decision in decisions], tried)
        rows, returns = builder.rows(), builder.returns()
        inserted = [builder.operations[i] if row.status == "inserted" else None for i, row in enumerate(rows)]
        chosen = [op for op in inserted if op is not None]
        costs = iter(costs_of(module, chosen, samples, progress))
        rows = [
            row if op is None else replace(row, cost=next(costs))
            for row, op in zip(rows, inserted, strict=True)
        ]
        outputs = () if _is_unchanged(rows) else output_changes(model, module, samples, progress)
    names = tuple(info.name for info in model.inputs), tuple(info.name for info in model.outputs)
    return Explanation(model.name, model.numerics, found, *names, tuple(rows), returns, outputs, len(samples))


def _is_unchanged(rows: Sequence[Row]) -> bool:
    return all(row.status in ("kept", "gone") for row in rows)


def split_samples(model: Model, arrays: Sequence[Array]) -> list[list[Array]]:
    """Samples from one array per input, each of one sample or of N: along a leading axis of its own, or N
    times as long in the first dimension. An array of one sample goes with each of the N.

    Raises:
        InputError: a dtype or shape does not fit, or two arrays hold different numbers of samples.
    """
    _require_static(model)
    stacks = [_stacked(info, array) for info, array in zip(model.inputs, arrays, strict=True)]
    counts = {info.name: len(stack) for info, stack in zip(model.inputs, stacks, strict=True)}
    several = {name: count for name, count in counts.items() if count != 1}
    if len(set(several.values())) > 1:
        found = ", ".join(f"'{name}' {count}" for name, count in several.items())
        raise InputError(f"inputs hold different numbers of samples: {found}; give all the same, or one")
    count = max(several.values(), default=1)
    return [[stack[i if len(stack) > 1 else 0] for stack in stacks] for i in range(count)]


def _stacked(info: TensorInfo, array: Array) -> Array:
    """An input's array with a leading axis over samples."""
    shape = tuple(info.shape)
    longer = len(shape) > 0 and array.ndim == len(shape) and array.shape[1:] == shape[1:]
    if array.dtype == info.dtype and array.size:
        if array.shape == shape or array.shape[1:] == shape:
            return array.reshape(-1, *shape)
        if longer and shape[0] and array.shape[0] % shape[0] == 0:
            return array.reshape(-1, *shape)
    check_array(info, array)
    raise InputError(f"input '{info.name}': an array without elements holds no sample")


def _require_static(model: Model) -> None:
    for info in model.inputs:
        if not info.type.is_static:
            shape = ", ".join("?" if extent < 0 else str(extent) for extent in info.shape)
            raise InputError(
                f"{model.name}: input '{info.name}' has the dynamic shape [{shape}]; give it another one: "
                f"--shape {info.name}=EXTENT,... or load(..., shapes=...)"
            )


def _qnn_operations(module: Any) -> list[Any]:
    """The ops of ``@main`` that ``describe`` has rows for, in its order."""
    block = find_main(_ModuleView(module)).operation.regions[0].blocks[0]
    operations = [view.operation for view in block.operations]
    return [op for op in operations if op.name.startswith("qnn.") and op.name != "qnn.constant"]


@dataclass(frozen=True)
class _ModuleView:
    """A cloned module operation, as ``find_main`` and ``describe`` read modules."""

    module: Any

    @property
    def body(self) -> Any:
        return self.module.operation.regions[0].blocks[0]

    @property
    def operation(self) -> Any:
        return self.module.operation


def _mark_sources(module: Any) -> None:
    """Note in each op's location which one it is: an attribute would keep equal ops apart."""
    number = ir.IntegerType.get_signless(32)
    for index, op in enumerate(_qnn_operations(module)):
        name, old = location_name(op.location), op.location
        new = ir.Location.fused([old], ir.IntegerAttr.get(number, index))
        op.location = ir.Location.name(name, childLoc=new) if name else new


def _source(location: str) -> int | None:
    """The number that :func:`_mark_sources` left in a location."""
    found = _SOURCE.match(location)
    return int(found[1]) if found else None


_Noted = tuple[int | None, str, Note]
"""The number of the op that was decided about, its name (without ``qnn.``), and what."""


def _note(decision: Decision) -> _Noted:
    note = Note(decision.kind, decision.by, decision.detail)
    return _source(decision.location), decision.op.removeprefix("qnn."), note


def _try_algebra(module: Any, passes: Sequence[str]) -> list[_Noted]:
    """What could be done about the requantizes that are left, and why not: tried on a copy.

    The numbers are those of ``module``'s ops.
    """
    if any(name.partition("{")[0] in ALGEBRA for name in passes):
        return []
    with module.context, module.operation.location:
        if not any(op.name == "qnn.requantize" for op in _qnn_operations(module)):
            return []
        copy = module.operation.clone()
        _mark_sources(copy)
    with collect() as decisions:
        run_pipeline(copy, ALGEBRA)
    kinds = {"folded": "foldable", "refused": "refused"}
    noted = [_note(d) for d in decisions if d.op == "qnn.requantize" and d.kind in kinds]
    return [(number, op, replace(note, kind=kinds[note.kind])) for number, op, note in noted]


class _Rows:
    """Builds the rows of one legalized module."""

    def __init__(
        self,
        module: Any,
        target: Target,
        before: Sequence[OpRow],
        noted: Sequence[_Noted],
        tried: Sequence[_Noted],
    ) -> None:
        self.module, self.target, self.before = module, target, before
        self.noted, self.tried = noted, tried
        self.operations = _qnn_operations(module)
        self.after = describe(_ModuleView(module))
        self.position = {op.results[0]: index for index, op in enumerate(self.operations)}
        self.sources = [_source(str(op.location)) for op in self.operations]
        self.primary = [self._is_primary(index) for index in range(len(self.operations))]

    def rows(self) -> list[Row]:
        """A row per op, then those of the model's ops that are gone."""
        used: dict[int, int] = defaultdict(int)
        rows = [self._row(index, used) for index in range(len(self.operations))]
        there = {row.source for row in rows if row.before is not None}
        gone = [
            Row(str(old.index), old.index, old.op, old.name, "gone", self._rule(old), old, None)
            for old in self.before
            if old.index not in there
        ]
        return self._with_notes([*rows, *gone])

    def returns(self) -> tuple[int, ...]:
        block = find_main(_ModuleView(self.module)).operation.regions[0].blocks[0]
        return self._reads(block.operations[len(block.operations) - 1].operation)

    def _is_primary(self, index: int) -> bool:
        """Whether an op of the legalized module is one of the model's, not one that was inserted."""
        op, source = self.operations[index], self.sources[index]
        if source is None or INSERTED_ATTRIBUTE in op.attributes:
            return False
        return self.before[source].op == self.after[index].op

    def _row(self, index: int, used: dict[int, int]) -> Row:
        op, after, reads = self.operations[index], self.after[index], self._reads(self.operations[index])
        source = self.sources[index]
        if source is None:
            source = self._source_of_user(index)
        if self.primary[index] and source is not None:
            before = self.before[source]
            return Row(
                str(source), source, after.op, after.name, _status(before, after), self._rule(before), before,
                after, reads, unmet=self._unmet(op, after),
            )  # fmt: skip
        label = f"{'' if source is None else source}{_letters(used[-1 if source is None else source])}"
        used[-1 if source is None else source] += 1
        forced_by = self._forced_by(index, source)
        rule = None if forced_by is None else self._rule(self.before[forced_by])
        notes = () if forced_by is None else self._was_within(self.before[forced_by], after)
        return Row(
            label, source, after.op, after.name, "inserted", rule, None, after, reads, forced_by, notes
        )

    def _was_within(self, forcing: OpRow, inserted: OpRow) -> tuple[Note, ...]:
        """Whether the op that forced a requantize did just that by itself: then it costs no accuracy."""
        does = bool(forcing.inputs) and not forcing.scales and inserted.op == "requantize"
        if not does or (forcing.inputs[0].element, forcing.result.element) != (
            inserted.inputs[0].element,
            inserted.result.element,
        ):
            return ()
        return (Note("explicit", "", f"op {forcing.index} did this within before, so no number changes"),)

    def _reads(self, op: Any) -> tuple[int, ...]:
        arguments = {argument: -1 - i for i, argument in enumerate(op.block.arguments)}
        found = [self.position.get(operand, arguments.get(operand)) for operand in op.operands]
        return tuple(position for position in found if position is not None)

    def _rule(self, row: OpRow) -> Rule | None:
        return rule_of(self.target, row.op, row.inputs, row.result) if row.inputs else None

    def _unmet(self, op: Any, after: OpRow) -> str:
        types = _operand_types(op)
        return "; ".join(
            f"{params_text(demand.got)}, expected "
            + (params_text(demand.expected) if demand.expected else demand.because)
            for demand in unmet(self.target, after.op, types, after.result)
        )

    def _users(self, index: int) -> list[int]:
        users = (use.owner.operation for use in self.operations[index].results[0].uses)
        return sorted(
            self.position[u.results[0]] for u in users if len(u.results) and u.results[0] in self.position
        )

    def _source_of_user(self, index: int) -> int | None:
        return next((s for s in (self.sources[user] for user in self._users(index)) if s is not None), None)

    def _forced_by(self, index: int, source: int | None) -> int | None:
        """The op whose rule inserted this one."""
        row = self.after[index]
        if row.op == "dequantize":
            return self._source_of_user(index)
        if row.op == "requantize" and row.inputs:
            change = f"requantize {params_text(row.inputs[0].params)} to {params_text(row.result.params)}:"
            forcing = [
                by for by, _, note in self.noted if note.kind == "inserted" and note.detail.startswith(change)
            ]
            near = {source, *(self.sources[user] for user in self._users(index))}
            return next((by for by in forcing if by in near), forcing[0] if forcing else source)
        return source

    def _with_notes(self, rows: list[Row]) -> list[Row]:
        """Each decision at its op; those about a requantize at the one that was inserted there, if it is."""
        places: dict[tuple[int | None, str], list[int]] = defaultdict(list)
        primaries = {row.source: i for i, row in enumerate(rows) if row.before is not None}
        for i, row in enumerate(rows):
            places[row.source, row.op].append(i)
        notes: dict[int, list[Note]] = defaultdict(list)
        for source, op, note in self.noted:
            home = [primaries[source]] if source in primaries else []
            at = home if note.kind == "inserted" else places.get((source, op)) or home
            for i in at:
                if note not in notes[i]:
                    notes[i].append(note)
        for number, op, note in self.tried:
            if number is not None and rows[number].op == op and note not in notes[number]:
                notes[number].append(note)
        return [replace(row, notes=(*row.notes, *notes[i])) for i, row in enumerate(rows)]


def _operand_types(op: Any) -> list[TensorType]:
    return [to_tensor_type(operand.type) for operand in op.operands]


def _status(before: OpRow, after: OpRow) -> Status:
    if before.inputs and before.inputs[0].is_quantized and not after.inputs[0].is_quantized:
        return "float"
    same = (before.inputs, before.result, before.multipliers, before.shifts, before.scales) == (
        after.inputs,
        after.result,
        after.multipliers,
        after.shifts,
        after.scales,
    )
    return "kept" if same else "changed"


def _letters(count: int) -> str:
    """``a``, ``b`` ... ``z``, ``aa`` ..."""
    text = ""
    count += 1
    while count:
        count, digit = divmod(count - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def _count_islands(rows: Sequence[Row]) -> int:
    """Groups of ops that run in float because the target lacks them, connected by float values."""
    members = {
        i for i, row in enumerate(rows)
        if row.status == "float" or (row.status == "inserted" and row.op not in _CONVERSIONS)
    }  # fmt: skip
    group = {i: i for i in members}

    def root(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    for i in members:
        for read in rows[i].reads:
            if read in members:
                group[root(i)] = root(read)
    return len({root(i) for i in members})
