"""``zeropoint targets``: what can be compiled for, what a target demands, and where two differ."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import TargetError
from ..targets import Rule, Target, diff_targets, list_targets, load_target, to_plain
from ..targets.comparison import dot_text, rule_summary
from ..targets.operators import CONTRACTIONS, OPERATORS, STORAGES
from ..targets.rules import MEANINGS
from .tables import print_table

EPILOG = """\
examples:
  zeropoint targets                            all targets by name
  zeropoint targets x86-64-vnni                its machine, the rule of each op, and the line that says it
  zeropoint targets ./engine.toml              a file of your own (docs/targets.md shows how to write one)
  zeropoint targets --rules tflite xnnpack     one column per target, one row per op
  zeropoint targets diff tflite xnnpack        only where they differ

`zeropoint explain MODEL --target NAME` says what a target's rules do to a model,
`zeropoint run MODEL --target NAME` runs it under them.
"""


def register(commands: Any) -> None:
    """Add the subcommand to ``commands`` (argparse's subparsers)."""
    command: argparse.ArgumentParser = commands.add_parser(
        "targets",
        help="targets and their parameter rules",
        description="List targets, explain one, or compare. A target says what a machine is,\n"
        "and which ops must share scale and zero point between input and result there.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "names", nargs="*", metavar="NAME", help="a target's name or .toml file; `diff A B` compares two"
    )
    command.add_argument(
        "--rules", action="store_true", help="a table of ops by targets (all profiles if none is named)"
    )
    command.add_argument("--json", action="store_true", help="as JSON, for scripts")
    command.set_defaults(run=run, usage_error=command.error)


def run(arguments: argparse.Namespace) -> int:
    names: list[str] = arguments.names
    if names[:1] == ["diff"]:
        if len(names) != 3:
            given = f": {', '.join(names[1:])}" if names[1:] else ""
            arguments.usage_error(f"diff: needs two targets, got {len(names) - 1}{given}")
        return _diff(load_target(names[1]), load_target(names[2]), arguments.json)
    if arguments.rules:
        return _rules([load_target(name) for name in names or _profiles()], arguments.json)
    if not names:
        return _list(arguments.json)
    if len(names) > 1:
        arguments.usage_error(f"got {len(names)} names, expected one (or `diff A B`, or --rules)")
    return _explain(load_target(names[0]), arguments.json)


def _profiles() -> Iterator[str]:
    """Targets without a machine."""
    yield from (name for name in list_targets() if load_target(name).machine is None)


def _list(as_json: bool) -> int:
    targets, status = [], 0
    for name in list_targets():
        try:
            targets.append(load_target(name))
        except TargetError as error:  # one broken package must not hide the other targets
            print(f"zeropoint: error: {error}", file=sys.stderr)
            status = 1
    if as_json:
        print(json.dumps([to_plain(target) for target in targets], indent=1))
        return status
    targets.sort(key=lambda target: target.machine is None)
    rows = [(t.name, "machine" if t.machine else "rules", t.extends or "", t.description) for t in targets]
    print_table(("target", "kind", "extends", "description"), rows)
    print("\n`zeropoint targets NAME` explains one; a target file of your own is given by its path")
    print("`zeropoint explain MODEL --target NAME` says what it does to a model, `run` takes --target, too")
    return status


def _diff(a: Target, b: Target, as_json: bool) -> int:
    differences = diff_targets(a, b)
    if as_json:
        print(json.dumps([{"what": d.what, a.name: d.a, b.name: d.b} for d in differences], indent=1))
    elif differences:
        print_table(("what", a.name, b.name), differences)
    else:
        print(f"{a.name} and {b.name} say the same")
    return 0


def _rules(targets: list[Target], as_json: bool) -> int:
    rows = [(op, *(rule_summary(target, op) for target in targets)) for op in OPERATORS]
    columns = ("op", *(target.name for target in targets))
    if as_json:
        print(json.dumps([dict(zip(columns, row, strict=True)) for row in rows], indent=1))
    else:
        print_table(columns, rows)
    return 0


def _explain(target: Target, as_json: bool) -> int:
    if as_json:
        print(json.dumps(to_plain(target), indent=1))
        return 0
    for label, text in _facts(target):
        print(f"{label:9} {text}")
    print()
    print_table(("op", "result", "rule", "meaning", "written in"), list(_rule_rows(target)))
    return 0


def _facts(target: Target) -> Iterator[tuple[str, str]]:
    yield "target", f"{target.name}: {target.description}" if target.description else target.name
    yield "files", " extends ".join(_short(file) for file in target.files)
    machine = target.machine
    if machine is None:
        yield "machine", "none: a profile of parameter rules"
    else:
        cache = machine.cache
        yield "machine", f"{machine.triple}, cpu {machine.cpu}"
        yield "features", " ".join(feature for feature in machine.features if feature.startswith("+"))
        yield "vectors", f"{machine.vector_registers} registers of {machine.vector_bits} bits"
        yield from (("dot", dot_text(dot)) for dot in machine.dot)
        yield (
            "caches",
            f"{cache.l1_kib} + {cache.l2_kib} + {cache.l3_kib} KiB, lines of {cache.line_bytes} bytes",
        )
        yield "buffers", f"aligned to {machine.alignment_bytes} bytes"
    if target.activations or target.weights:
        yield (
            "storage",
            f"activations {target.activations or 'any'}, weights {target.weights or 'any'} preferred",
        )
    if target.numerics:
        yield "numerics", f"{target.numerics} (a model keeps its own)"


def _rule_rows(target: Target) -> Iterator[tuple[str, ...]]:
    for op in OPERATORS:
        for storages, rule in target.grouped_rules(op):
            yield _rule_row(op, "any" if storages == STORAGES else " ".join(storages), rule)
        if op in CONTRACTIONS:
            yield _rule_row(op, "bias", target.bias_rule(op))


def _rule_row(op: str, place: str, rule: Rule) -> tuple[str, ...]:
    return op, place, str(rule), MEANINGS[rule.kind], f"{_short(rule.origin.file)}:{rule.origin.line}"


def _short(file: str) -> str:
    return Path(file).name
