"""An explanation in words: the cells that the table, the page and the comparison share."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..dialect.describe import OpRow
from ..dialect.numerics import Rounding
from ..dialect.types import QuantParams, TensorType
from ..runtime.conversion_costs import Accuracy
from ..runtime.explanation import Explanation, Note, Row
from ..targets import Rule
from .cli_inspect import is_depthwise, span

COLUMNS = (
    "#",
    "operator",
    "tensor",
    "rule",
    "written in",
    "multiplier, shift before",
    "after",
    "SQNR dB",
    "bytes",
    "MACs",
    "what and why",
)
RIGHT = ("SQNR dB", "bytes", "MACs")
SPARE = ("bytes", "MACs", "written in")
"""What a narrow terminal can do without, first to last."""
_PATH = re.compile(r"[^\s()]*[/\\]([^/\\\s()]+\.toml:\d+)")
"""A target file and line, whose name is enough."""
_LONG_NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e[+-]?\d+)?(?![\w.])")
"""A scale, which passes write with all its digits."""
_OBVIOUS = ("fold_identity", "fold_constant", "merge_chain", "share", "sink")
"""Patterns whose refusal says nothing that the table does not show."""


def cells(row: Row) -> tuple[str, ...]:
    """One row of the table under ``COLUMNS``."""
    cost = row.cost
    return (
        row.label,
        operator(row),
        row.tensor.split(";")[0],
        rule_text(row.rule),
        origin(row.rule),
        rescale_text(row.before),
        _after(row),
        accuracy_text(cost.accuracy) if cost else "",
        str(cost.bytes) if cost else "",
        str(cost.macs) if cost else "",
        "; ".join(reasons(row)),
    )


def operator(row: Row) -> str:
    """The op, with what became of it where that is not nothing."""
    known = row.after or row.before
    name = f"{row.op} depthwise" if known is not None and is_depthwise(known) else row.op
    marks = {"inserted": "+ {}", "float": "{} (float)", "gone": "- {}", "changed": "{} (changed)"}
    return marks.get(row.status, "{}").format(name)


def rule_text(rule: Rule | None) -> str:
    return "" if rule is None else str(rule)


def origin(rule: Rule | None) -> str:
    """The target file's name and line."""
    return "" if rule is None else f"{Path(rule.origin.file).name}:{rule.origin.line}"


def rescale_text(row: OpRow | None) -> str:
    """Multiplier and shift, or the real scale where the op multiplies in floating point."""
    if row is None or not row.scales:
        return ""
    if row.rounding in (Rounding.DOUBLE.value, Rounding.EXACT.value):
        return f"{span(row.multipliers)}, {span(row.shifts)}"
    return f"x {span([float(f'{scale:.6g}') for scale in row.scales])}"


def _after(row: Row) -> str:
    if row.after is None:
        return "gone"
    if row.status == "float":
        return "float"
    text = rescale_text(row.after)
    return "same" if text and text == rescale_text(row.before) else text


def accuracy_text(accuracy: Accuracy | None) -> str:
    """Decibels; ``exact``; nothing if it was not measured."""
    if accuracy is None:
        return ""
    if accuracy.is_exact:
        return "exact"
    return "lossy" if accuracy.sqnr is None else f"{accuracy.sqnr:.1f}"


def decibels(accuracy: Accuracy) -> str:
    """The same with its unit."""
    text = accuracy_text(accuracy)
    return text if accuracy.sqnr is None else f"{text} dB"


def reasons(row: Row, everything: bool = False) -> list[str]:
    """What was decided about an op and why, the most telling only unless ``everything`` is asked for."""
    found = [f"breaks its rule: {row.unmet}"] if row.unmet else []
    if row.status == "inserted":
        found.append(_change(row))
    for note in row.notes:
        # what a pass did not do to an op that is as it was concerns nobody
        is_quiet = note.kind == "refused" and (row.status == "kept" or note.by in _OBVIOUS)
        if everything or not is_quiet:
            found.append(note_text(note))
    if row.no_family:
        found.append(f"no kernel family: {row.no_family}")
    if row.status == "gone" and not found:
        found.append("nothing reads it, or an equal one is there")
    return found


def _change(row: Row) -> str:
    assert row.after is not None, "what is inserted is there"
    if row.is_copy:
        return f"a copy of op {row.source}, in {parameters(row.after.result)}"
    source = parameters(row.after.inputs[0]) if row.after.inputs else "a constant"
    change = f"{source} to {parameters(row.after.result)}"
    if row.op == "clamp":
        low, high = row.after.attributes["clamp"]
        change = f"to the reals {low:g} to {high:g} that the quantized type holds"
    return change if row.forced_by is None else f"{change}, for op {row.forced_by}"


def note_text(note: Note) -> str:
    """``not by fold_into_producer: qnn.mean has other users``; the rule's own words are in another column."""
    detail = _PATH.sub(r"\1", note.detail.split(": rule '")[0])
    detail = _LONG_NUMBER.sub(lambda found: min(found[0], f"{float(found[0]):.6g}", key=len), detail)
    if note.kind == "refused":
        return f"not by {note.by}: {detail}"
    return f"{note.kind} by {note.by}: {detail}" if note.by else f"{note.kind}: {detail}"


def parameters(type_: TensorType) -> str:
    params = type_.element
    if not isinstance(params, QuantParams):
        return params
    if params.is_per_tensor:
        return f"{params.storage} ({params.scale:.6g}, {params.zero_point})"
    return f"{params.storage} ({len(params.scales)} scales)"


def counted(number: int, thing: str) -> str:
    """``1 island``, ``2 islands``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def totals_text(explanation: Explanation) -> list[str]:
    """The sums, one line each."""
    totals = explanation.totals
    found = [
        f"{counted(totals.ops_before, 'operator')}, {totals.ops_after} for {explanation.target.name}: "
        f"{totals.inserted} inserted, {totals.folded} folded, {totals.shared} shared, {totals.moved} moved"
    ]
    if totals.float_ops:
        islands = counted(totals.float_islands, "float island")
        found.append(f"{counted(totals.float_ops, 'operator')} in {islands}")
    if totals.inserted:
        work = f"{counted(totals.bytes, 'byte')} moved and {counted(totals.macs, 'MAC')}"
        found.append(f"what is inserted costs {work}")
    if totals.unmet:
        found.append(f"{counted(totals.unmet, 'operator')} still breaking the rule: see the table")
    left = sum(bool(row.no_family) for row in explanation.rows)
    if left:
        found.append(f"{counted(left, 'operator')} that no kernel family of {explanation.isa} takes: loops")
    return [*found, *outputs_text(explanation)]


def outputs_text(explanation: Explanation) -> list[str]:
    """How far the outputs are from the model's own, a line each."""
    if explanation.is_unchanged:
        return ["every operator satisfies its rule as it is: nothing changes"]
    return [
        f"output {output.name}: {_output_change(output.accuracy)} on {counted(explanation.samples, 'sample')}"
        for output in explanation.outputs
    ]


def _output_change(accuracy: Accuracy) -> str:
    if accuracy.is_exact:
        return f"none of {counted(accuracy.elements, 'value')} differs"
    changed = f"{accuracy.changed:,} of {counted(accuracy.elements, 'value')} differ"
    return f"{changed}, by {accuracy.max_error:.4g} at most, SQNR {decibels(accuracy)},"


@dataclass(frozen=True)
class Difference:
    """What two targets make of one op of a model."""

    source: int | None
    op: str
    tensor: str
    a: str
    b: str


def differences(a: Explanation, b: Explanation) -> list[Difference]:
    """The ops with which two targets deal differently, or for different rules."""
    ours, theirs = _by_source(a), _by_source(b)
    found = []
    for source in sorted({*ours, *theirs}, key=lambda s: -1 if s is None else s):
        rows = ours.get(source) or theirs[source]
        main = next((row for row in rows if row.before is not None), rows[0])
        texts = _dealt_with(ours.get(source, ())), _dealt_with(theirs.get(source, ()))
        if texts[0] != texts[1]:
            found.append(Difference(source, main.op, main.tensor.split(";")[0], *texts))
    return found


def _by_source(explanation: Explanation) -> dict[int | None, list[Row]]:
    groups: dict[int | None, list[Row]] = {}
    for row in explanation.rows:
        groups.setdefault(row.source, []).append(row)
    return groups


def _dealt_with(rows: Sequence[Row]) -> str:
    words = []
    for row in rows:
        if row.status == "inserted":
            words.append(f"+ {row.op} {_change(row)}{_in_decibels(row)}")
            continue
        what = {"kept": "", "changed": "changed", "float": "in float", "gone": "gone"}[row.status]
        if row.status == "changed" and row.after is not None:
            what = f"gives {parameters(row.after.result)}"
        words.append(": ".join(text for text in (rule_text(row.rule), what) if text))
    return "; ".join(word for word in words if word)


def _in_decibels(row: Row) -> str:
    return f", {decibels(row.cost.accuracy)}" if row.cost and row.cost.accuracy else ""


def document(explanation: Explanation) -> dict[str, Any]:
    """Everything, for JSON. ``sqnr`` is null where nothing is lost; infinite bounds are ``"inf"``."""
    found = {
        "model": explanation.model,
        "numerics": explanation.numerics,
        "target": explanation.target.name,
        "samples": explanation.samples,
        "isa": explanation.isa,
        "totals": asdict(explanation.totals),
        "outputs": [asdict(output) for output in explanation.outputs],
        "operators": [_row_document(row) for row in explanation.rows],
    }
    return {key: _plain(value) for key, value in found.items()}


def _plain(value: Any) -> Any:
    """What JSON has: attributes may hold numpy's numbers and arrays, and clamps infinities."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _row_document(row: Row) -> dict[str, Any]:
    rule = row.rule
    return {
        "label": row.label,
        "source": row.source,
        "operator": row.op,
        "tensor": row.tensor,
        "status": row.status,
        "rule": None
        if rule is None
        else {"text": str(rule), "file": rule.origin.file, "line": rule.origin.line},
        "forced_by": row.forced_by,
        "reads": row.reads,
        "notes": [asdict(note) for note in row.notes],
        "unmet": row.unmet,
        "no_family": row.no_family,
        "before": row.before.to_json() if row.before else None,
        "after": row.after.to_json() if row.after else None,
        "cost": asdict(row.cost) if row.cost else None,
    }
