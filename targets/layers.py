"""One target file, read and checked on its own, before inheritance: a layer."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ..dialect.numerics import MODES
from ..errors import TargetError, did_you_mean
from .faults import hint, machine_fault, path_text, shown
from .locate import Path as KeyPath
from .locate import line_of, locate
from .operators import ANY, ARROW, BIAS, CONTRACTIONS, CONVERSIONS, OPERATORS, STORAGES
from .rules import Origin, Rule, parse_rule
from .target import Machine, StorageTypes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEYS = ("description", "extends", "numerics", "machine", "storage", "rules")
STORAGE_KEYS = ("activations", "weights", "types", "ops")
MAXIMUM_BYTES = 1 << 20
"""A target file is a page of text; anything larger is a mistake (a model, a device)."""


class Layer(msgspec.Struct, frozen=True):
    """What one file says; absent things are None or empty. ``rules`` and ``storage_types`` are by op."""

    file: str
    description: str | None
    extends: str | None
    numerics: str | None
    machine: dict[str, Any]
    activations: str | None
    weights: str | None
    default: Rule | None
    rules: dict[str, dict[str, Rule]]
    storage_types: dict[str, StorageTypes]
    extends_origin: Origin


def read_layer(file: Path) -> Layer:
    """Read ``file``; raises :class:`TargetError` that lists every fault with its line and the path inside."""
    text = _read_text(file)
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TargetError(_toml_message(file, error)) from error
    return _LayerReader(str(file), document, locate(text)).read()


def _read_text(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAXIMUM_BYTES + 1)
    except OSError as error:
        raise TargetError(f"{file}: error: cannot read the target file: {error.strerror or error}") from error
    if len(data) > MAXIMUM_BYTES:
        raise TargetError(f"{file}: error: larger than {MAXIMUM_BYTES} bytes, not a target file")
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise TargetError(f"{file}: error: not a text file in UTF-8") from error


def _toml_message(file: Path, error: Exception) -> str:
    what = str(error)[:1].lower() + str(error)[1:]
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", what)
    if not match:
        return f"{file}: error: not valid TOML: {what}"
    return f"{file}:{match[2]}:{match[3]}: error: not valid TOML: {match[1]}"


class _LayerReader:
    """Collects the faults of one file; ``read`` raises them all at once."""

    def __init__(self, file: str, document: dict[str, Any], lines: dict[KeyPath, int]) -> None:
        self.file = file
        self.document = document
        self.lines = lines
        self.faults: list[tuple[int, str]] = []

    def read(self) -> Layer:
        self._known_keys((), self.document, KEYS)
        description = self._text(("description",))
        extends = self._text(("extends",))
        numerics = self._choice(("numerics",), tuple(MODES))
        machine = self._machine()
        storage = self._table(("storage",), self.document.get("storage"))
        self._known_keys(("storage",), storage, STORAGE_KEYS)
        activations = self._choice(("storage", "activations"), STORAGES)
        weights = self._choice(("storage", "weights"), STORAGES)
        storage_types = dict(self._storage_types(storage))
        default, rules = self._rules()
        if self.faults:
            raise TargetError("\n".join(message for _, message in sorted(self.faults)))
        return Layer(
            self.file,
            description,
            extends,
            numerics,
            machine,
            activations,
            weights,
            default,
            rules,
            storage_types,
            self._origin(("extends",)),
        )

    def _origin(self, path: KeyPath) -> Origin:
        return Origin(self.file, line_of(self.lines, path))

    def _fault(self, path: KeyPath, what: str) -> None:
        origin = self._origin(path)
        self.faults.append((origin.line, f"{origin}: error: {path_text(path)}: {what}"))

    def _value(self, path: KeyPath) -> Any:
        value: Any = self.document
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def _text(self, path: KeyPath) -> str | None:
        value = self._value(path)
        if value is not None and not isinstance(value, str):
            self._fault(path, f"got {shown(value)}, expected a string")
            return None
        return value

    def _choice(self, path: KeyPath, choices: tuple[str, ...]) -> str | None:
        value = self._text(path)
        if value is not None and value not in choices:
            self._fault(path, f"got '{value}', expected {', '.join(choices)}{did_you_mean(value, choices)}")
        return value

    def _table(self, path: KeyPath, value: Any) -> dict[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._fault(path, f"got {shown(value)}, expected a table [{path_text(path)}]")
            return {}
        return value

    def _known_keys(self, path: KeyPath, table: dict[str, Any], known: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                self._fault((*path, key), f"no such key{hint(key, known)}")

    def _is_op(self, path: KeyPath, op: str) -> bool:
        if op in CONVERSIONS:
            self._fault(path, f"{op} is what legalization inserts and folds, it takes no rule")
        elif op not in OPERATORS:
            self._fault(path, f"no op '{op}'{hint(op, OPERATORS)}")
        return op in OPERATORS

    # machine

    def _machine(self) -> dict[str, Any]:
        raw = self._table(("machine",), self.document.get("machine"))
        try:
            machine = msgspec.convert(raw, Machine)
        except msgspec.ValidationError as error:
            self._fault(*machine_fault(str(error), raw))
            return {}
        for i, feature in enumerate(machine.features):
            if not re.fullmatch(r"[+-][a-z0-9.\-]+", feature):
                what = f"got '{feature}', expected a feature like '+avx2' or '-avx2'"
                self._fault(("machine", "features", i), what)
        for i, dot in enumerate(machine.dot):
            for field in ("lhs", "rhs", "accumulator"):
                if (got := getattr(dot, field)) not in STORAGES:
                    self._fault(
                        ("machine", "dot", i, field),
                        f"got '{got}', expected {', '.join(STORAGES)}{did_you_mean(got, STORAGES)}",
                    )
        return raw

    # storage

    def _storage_types(self, storage: dict[str, Any]) -> Iterator[tuple[str, StorageTypes]]:
        if "types" in storage:
            yield from self._storage_list(("storage", "types"), ANY, storage["types"])
        for op, value in self._table(("storage", "ops"), storage.get("ops")).items():
            path = ("storage", "ops", op)
            if self._is_op(path, op):
                yield from self._storage_list(path, op, value)

    def _storage_list(self, path: KeyPath, op: str, value: Any) -> Iterator[tuple[str, StorageTypes]]:
        if not isinstance(value, list):
            self._fault(path, f"got {shown(value)}, expected a list of storage types such as ['i8', 'u8']")
            return
        for i, name in enumerate(value):
            if name not in STORAGES:
                guess = did_you_mean(name, STORAGES) if isinstance(name, str) else ""
                self._fault((*path, i), f"got {shown(name)}, expected {', '.join(STORAGES)}{guess}")
        yield op, StorageTypes(tuple(str(name) for name in value), self._origin(path))

    # rules

    def _rules(self) -> tuple[Rule | None, dict[str, dict[str, Rule]]]:
        table = dict(self._table(("rules",), self.document.get("rules")))
        default = self._default(table.pop("default")) if "default" in table else None
        rules: dict[str, dict[str, Rule]] = {}
        for op, value in table.items():
            path = ("rules", op)
            if not self._is_op(path, op):
                continue
            by_storage = value if isinstance(value, dict) else {ANY: value}
            written = {
                storage: self._rule(path if value is not by_storage else (*path, storage), op, storage, text)
                for storage, text in by_storage.items()
                if self._is_place((*path, storage), op, storage)
            }
            rules[op] = {storage: rule for storage, rule in written.items() if rule}
        return default, rules

    def _default(self, value: Any) -> Rule | None:
        path = ("rules", "default")
        if value in ("free", "unsupported"):
            return Rule(value, self._origin(path), text=value)
        self._fault(path, f"got {shown(value)}, expected free or unsupported (other rules are per op)")
        return None

    def _is_place(self, path: KeyPath, op: str, storage: str) -> bool:
        places = (*STORAGES, ANY, *((BIAS,) if op in CONTRACTIONS else ()))
        source, arrow, result = storage.rpartition(ARROW)
        if storage in places or (arrow and source in STORAGES and result in STORAGES):
            return True
        self._fault(path, f"no storage type '{storage}'{hint(storage, places)}")
        return False

    def _rule(self, path: KeyPath, op: str, storage: str, text: Any) -> Rule | None:
        if not isinstance(text, str):
            self._fault(path, f"got {shown(text)}, expected a rule such as 'free' or 'fixed(1/256, -128)'")
            return None
        try:
            return parse_rule(text, op, storage, self._origin(path))
        except ValueError as error:
            self._fault(path, str(error))
            return None
