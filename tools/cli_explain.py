"""``zeropoint explain``: what a target's rules do to a model, operator by operator, and what it costs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..dialect.model import Model
from ..errors import InputError
from ..runtime.explain import explain, split_samples
from ..runtime.explanation import Explanation, Row
from .cli_arguments import add_model_arguments, load_model, whole_number
from .cli_run import read_inputs
from .explain_page import page
from .explain_text import COLUMNS, RIGHT, SPARE, Difference, cells, differences, document, totals_text
from .progress import ProgressLine
from .tables import print_table

EPILOG = """\
examples:
  zeropoint explain model.tflite --target tflite            the rule of each operator, and what it forces
  zeropoint explain model.tflite --target ./engine.toml --input image.npy --changed
  zeropoint explain model.tflite --target glow --diff xnnpack       where two targets deal differently
  zeropoint explain model.tflite --target xnnpack --html page.html  the graph, to open in a browser
"""


def register(commands: Any) -> None:
    """Add the subcommand to ``commands`` (argparse's subparsers)."""
    command: argparse.ArgumentParser = commands.add_parser(
        "explain",
        help="what a target's rules do to a model, and why",
        description="Legalize a model for a target and say what became of each operator: its rule\n"
        "and where that is written, what was inserted, folded or refused and why not,\n"
        "multiplier and shift before and after, and the cost of inserted operators:\n"
        "accuracy (SQNR) on the inputs given or on random ones, bytes and MACs.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model_arguments(command)
    command.add_argument("--target", required=True, metavar="TARGET", help="a target's name or .toml file")
    command.add_argument(
        "--diff", metavar="TARGET", help="show what this one would do instead, where it differs"
    )
    command.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]FILE",
        help="data to measure accuracy on (repeatable), as for `zeropoint run`; a .npy file may hold N "
        "samples one after the other, or along a leading axis. Inputs not given are random",
    )
    command.add_argument(
        "--quantize", action="store_true", help="float .npy inputs hold real values: quantize them"
    )
    command.add_argument("--seed", type=whole_number(0), default=0, help="of random inputs (default 0)")
    command.add_argument("--no-accuracy", action="store_true", help="do not run the model: faster, no SQNR")
    command.add_argument("--changed", action="store_true", help="leave out operators that stay as they are")
    command.add_argument(
        "--json", action="store_true", help="everything, every decision of a pass too, as JSON"
    )
    command.add_argument(
        "--html", metavar="FILE", help="write a page with the graph; works without a network"
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    model = load_model(arguments)
    samples = [] if arguments.no_accuracy else split_samples(model, read_inputs(model, arguments))
    first = _explain(model, arguments.target, samples)
    second = _explain(model, arguments.diff, samples) if arguments.diff else None
    differing = differences(first, second) if second else []
    if arguments.html:
        _write(arguments.html, page(first, second.target.name if second else "", differing))
    if arguments.json:
        print(json.dumps(_document(first, second, differing), indent=1, allow_nan=False))
    elif second:
        _print_diff(first, second, differing)
    else:
        _print(first, [row for row in first.rows if _is_shown(row, arguments.changed)])
    return 0


def _explain(model: Model, target: str, samples: Sequence[Sequence[Any]]) -> Explanation:
    with ProgressLine() as progress:
        return explain(model, target, samples, progress.show)


def _is_shown(row: Row, only_changed: bool) -> bool:
    return not only_changed or row.status != "kept" or bool(row.unmet)


def _print(explanation: Explanation, rows: Sequence[Row]) -> None:
    if rows:
        table = [cells(row) for row in rows]
        # a column that nobody has anything in is left out
        used = [i for i in range(len(COLUMNS)) if any(row[i] for row in table)]
        columns = [COLUMNS[i] for i in used]
        shown = [[row[i] for i in used] for row in table]
        print_table(columns, shown, right=RIGHT, shorten=("tensor",), spare=SPARE)
        print()
    for line in totals_text(explanation):
        print(line)


def _print_diff(first: Explanation, second: Explanation, differing: Sequence[Difference]) -> None:
    if differing:
        columns = ("#", "operator", "tensor", first.target.name, second.target.name)
        rows = [("" if d.source is None else str(d.source), d.op, d.tensor, d.a, d.b) for d in differing]
        print_table(columns, rows)
    else:
        print(f"{first.target.name} and {second.target.name} do the same to every operator")
    for explanation in (first, second):
        print()
        for line in totals_text(explanation):
            print(line)


def _document(
    first: Explanation, second: Explanation | None, differing: Sequence[Difference]
) -> dict[str, Any]:
    if second is None:
        return document(first)
    return {"targets": [document(first), document(second)], "differences": [asdict(d) for d in differing]}


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{file}: error: cannot be written: {error.strerror}") from error
