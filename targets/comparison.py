"""Where two targets differ, and a target as plain data for tables and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from .operators import ANY, CONTRACTIONS, OPERATORS, STORAGES
from .rules import Rule
from .target import Dot, Target

COMPUTED = ("i8", "u8", "i16")
"""Storage types that every op computes on; the others are weights and accumulators."""


class Difference(NamedTuple):
    """One thing that two targets say differently; ``a`` and ``b`` are texts for people, ``-`` for nothing."""

    what: str
    a: str
    b: str


def diff_targets(a: Target, b: Target) -> list[Difference]:
    """Numerics, storage and machine first, then the rules of each op; not names, descriptions and files."""
    left, right = plain_facts(a), plain_facts(b)
    facts = [
        Difference(key, _text(left.get(key)), _text(right.get(key)))
        for key in dict.fromkeys([*left, *right])
        if left.get(key) != right.get(key)
    ]
    return [*facts, *_rule_differences(a, b)]


def _rule_differences(a: Target, b: Target) -> list[Difference]:
    """One row per op and pair of rules, over the storage types that both take (the lists are facts already).

    The storage types are named where a row does not hold for all of those.
    """
    rows: list[Difference] = []
    for op in OPERATORS:
        common = [name for name in STORAGES if _takes(a, op, name) and _takes(b, op, name)]
        pairs: dict[tuple[str, str], list[str]] = {}
        for place, left, right in _pairs(a, b, op, common):
            if not left.demands_the_same(right):
                pairs.setdefault((str(left), str(right)), []).append(place)
        for (first, second), places in pairs.items():
            suffix = "" if places == common else f" {' '.join(places)}"
            rows.append(Difference(f"rules.{op}{suffix}", first, second))
    return rows


def _pairs(a: Target, b: Target, op: str, common: list[str]) -> Iterator[tuple[str, Rule, Rule]]:
    for name in common:
        yield name, a.rule(op, name), b.rule(op, name)
    for place in dict.fromkeys([*a.changing_storage(op), *b.changing_storage(op)]):
        source, _, result = place.partition("->")
        if result in common:
            yield place, a.rule(op, result, source), b.rule(op, result, source)


def _takes(target: Target, op: str, storage: str) -> bool:
    types = target.types_of(op)
    return types is None or storage in types.names


def rule_summary(target: Target, op: str) -> str:
    """The rule of ``op`` in a few words: ``same-as-result, u8: free``; over i8, u8 and i16."""
    kinds: dict[str, list[str]] = {}
    for storage in COMPUTED:
        if _takes(target, op, storage):
            kinds.setdefault(target.rule(op, storage).kind, []).append(storage)
    usual = max(kinds, key=lambda kind: len(kinds[kind]), default="unsupported")
    rest = [f"{' '.join(places)}: {kind}" for kind, places in kinds.items() if kind != usual]
    return ", ".join([usual, *rest])


def plain_facts(target: Target) -> dict[str, Any]:
    """Everything but the rules as a flat table: ``machine.vector_bits`` -> 512."""
    facts: dict[str, Any] = {"numerics": target.numerics}
    facts["storage.activations"], facts["storage.weights"] = target.activations, target.weights
    for op, types in target.storage_types.items():
        facts["storage.types" if op == ANY else f"storage.ops.{op}"] = list(types.names)
    if target.machine is not None:
        plain = msgspec.to_builtins(target.machine)
        facts |= {f"machine.{key}": value for key, value in plain.items() if key not in ("cache", "dot")}
        facts |= {f"machine.cache.{key}": value for key, value in plain["cache"].items()}
        facts["machine.dot"] = [dot_text(dot) for dot in target.machine.dot]
    return facts


def dot_text(dot: Dot) -> str:
    """``vpdpbusd: u8 x i8 -> i32, 4 products per sum``."""
    parts = [f"{dot.name}: {dot.lhs} x {dot.rhs} -> {dot.accumulator}"]
    if dot.group > 1:
        parts.append(f"{dot.group} products per sum")
    if dot.rows * dot.columns > 1:
        parts.append(f"{dot.rows} x {dot.columns} sums")
    return ", ".join([*parts, *(["saturates"] if dot.saturates else [])])


def to_plain(target: Target) -> dict[str, Any]:
    """The whole target as JSON can hold it, every rule with the file and line that says it."""
    return {
        "name": target.name,
        "description": target.description,
        "extends": target.extends,
        "files": list(target.files),
        "numerics": target.numerics,
        "machine": msgspec.to_builtins(target.machine),
        "storage": {"activations": target.activations, "weights": target.weights},
        "rules": {op: dict(_plain_rules(target, op)) for op in OPERATORS},
    }


def _plain_rules(target: Target, op: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for storages, rule in target.grouped_rules(op):
        for storage in storages:
            yield storage, _plain_rule(rule)
    if op in CONTRACTIONS:
        yield "bias", _plain_rule(target.bias_rule(op))


def _plain_rule(rule: Rule) -> dict[str, Any]:
    plain: dict[str, Any] = {"rule": rule.kind, "file": rule.origin.file, "line": rule.origin.line}
    if rule.kind == "fixed":
        plain |= {"scale": rule.scale, "zero_point": rule.zero_point, "tolerance": rule.tolerance}
    return plain


def _text(value: Any) -> str:
    if value is None or value == []:
        return "-"
    return "; ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
