"""An explanation as one HTML page that needs nothing else: no network, no scripts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ..runtime.explanation import Explanation, Row
from ..targets.rules import MEANINGS
from .cli_inspect import shape
from .explain_style import STYLE
from .explain_svg import ERRORS, error_class, graph_svg, rule_class
from .explain_text import COLUMNS, RIGHT, Difference, cells, counted, outputs_text, parameters, reasons

_TYPES = "shape, (scale, zero point)"
_TABLE = (*COLUMNS[:3], _TYPES, *(name for name in COLUMNS[3:] if name != "written in"))
_CLASSES = {
    _TYPES: ' class="whole"',
    "rule": ' class="whole"',
    "tensor": ' class="long"',
    "what and why": ' class="why"',
    **dict.fromkeys(RIGHT, ' class="number"'),
}


def page(explanation: Explanation, other: str = "", differing: Sequence[Difference] = ()) -> str:
    """The page; with ``other`` (a target's name) also what that one would do otherwise."""
    target, name = explanation.target, escape(explanation.target.name)
    title = f"{escape(explanation.model)} for {name}"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>\n<style>{STYLE}</style></head>\n<body>",
        f"<header><h1>{title}</h1><p>{escape(target.description)}</p></header>\n<main>",
        *_totals(explanation),
        "<h2>Graph</h2>",
        *_legend(explanation),
        f'<div class="graph" tabindex="0" role="region" aria-label="Graph">{graph_svg(explanation)}</div>',
        *(_differences(name, escape(other), differing) if other else ()),
        "<h2>Operators</h2>",
        *_table(explanation),
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


def _totals(explanation: Explanation) -> Iterator[str]:
    totals = explanation.totals
    moves = f"{totals.folded} folded, {totals.shared} shared, {totals.moved} moved"
    facts = [
        ("operators", totals.ops_before, f"{totals.ops_after} for this target"),
        ("inserted", totals.inserted, moves),
        ("in float", totals.float_ops, f"in {counted(totals.float_islands, 'island')}"),
        ("bytes moved", totals.bytes, "by what is inserted"),
        ("MACs", totals.macs, "of what is inserted"),
    ]
    if totals.unmet:
        facts.append(("rules broken", totals.unmet, "see the table"))
    yield '<dl class="totals">'
    for label, number, more in facts:
        yield f"<div><dt>{label}</dt><dd>{number:,}</dd><dd>{more}</dd></div>"
    yield "</dl>"
    for text in outputs_text(explanation):
        yield f"<p>{escape(text)}</p>"


def _legend(explanation: Explanation) -> Iterator[str]:
    kinds = {rule_class(row) for row in explanation.rows}
    yield '<ul class="legend">'
    for kind, meaning in MEANINGS.items():
        if kind in kinds:
            yield f'<li><span class="key r-{kind}"></span><b>{kind}</b>: {meaning}</li>'
    if any(row.status == "inserted" for row in explanation.rows):
        words = "<b>+</b>, dashed: inserted for the rule of its colour"
        yield f'<li><span class="key s-inserted"></span>{words}</li>'
    if any(row.status == "float" for row in explanation.rows):
        yield '<li><span class="key s-float"></span><b>float</b>, thick: runs in float</li>'
    found = {error_class(row) for row in explanation.rows}
    for key, words in ERRORS:
        if key in found:
            yield f'<li><span class="key bar e-{key}"></span>bar: {words}</li>'
    yield "</ul>"


def _differences(name: str, other: str, differing: Sequence[Difference]) -> Iterator[str]:
    yield f"<h2>What {other} would do</h2>"
    if not differing:
        yield f"<p>The same as {name}, for every operator.</p>"
        return
    heads = _heads(("#", "operator", "tensor", name, other), ())
    yield f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>'
    for row in differing:
        label = "" if row.source is None else str(row.source)
        texts = (label, row.op, row.tensor, row.a, row.b)
        yield "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in texts) + "</tr>"
    yield "</tbody></table></div>"


def _heads(columns: Sequence[str], right: Sequence[str]) -> str:
    return "".join(
        f'<th scope="col"{" class=number" if name in right else ""}>{name}</th>' for name in columns
    )


def _table(explanation: Explanation) -> Iterator[str]:
    rows = [_table_row(row) for row in explanation.rows]
    used = [i for i, name in enumerate(_TABLE) if name in ("#", "rule") or any(row[i] for row in rows)]
    heads = _heads([_TABLE[i] for i in used], RIGHT)
    yield f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>'
    for row, texts in zip(explanation.rows, rows, strict=True):
        label, *others = (texts[i] for i in used)
        body = "".join(
            f"<td{_CLASSES.get(_TABLE[i], '')}>{text}</td>" for i, text in zip(used[1:], others, strict=True)
        )
        yield f'<tr id="op-{row.label}" class="s-{row.status}"><th scope="row">{label}</th>{body}</tr>'
    yield "</tbody></table></div>"


def _table_row(row: Row) -> tuple[str, ...]:
    """The cells under ``_TABLE``, as HTML."""
    label, name, tensor, rule, written, before, after, sqnr, moved, macs, _ = map(escape, cells(row))
    known = row.after or row.before
    types = "" if known is None else f"{shape(known.result)}<br>{escape(parameters(known.result))}"
    place = f'<a href="#node-{label}">{label}</a>' if row.after is not None else label
    key = f'<span class="key r-{rule_class(row)}"></span>{rule}<br><small>{written}</small>' if rule else ""
    return place, name, tensor, types, key, before, after, sqnr, moved, macs, _why(row)


def _why(row: Row) -> str:
    few, all_ = reasons(row), reasons(row, everything=row.status != "kept")
    text = "<br>".join(map(escape, few))
    more = [escape(reason) for reason in all_ if reason not in few]
    if not more:
        return text
    return f"{text}<details><summary>{len(more)} more</summary>{'<br>'.join(more)}</details>"
