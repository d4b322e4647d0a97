"""Find target files by name, path or entry point, and fold what they extend into one :class:`Target`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import msgspec

from ..errors import TargetError, did_you_mean
from .layers import Layer, read_layer
from .operators import ANY, BIAS
from .rules import Origin, Rule
from .target import Machine, StorageTypes, Target

DATA = Path(__file__).parent / "data"
"""The shipped target files; a file's name without ``.toml`` is the target's."""

ENTRY_POINTS = "zeropoint.targets"
"""Installed packages add targets here: ``name = "module:attribute"``, the attribute a path or a function that
returns one.
"""

HOST = "host"
"""The name of the machine we run on; see :func:`zeropoint.targets.host.detect_host`."""


def load_target(name_or_path: str | PathLike[str]) -> Target:
    """The target of that name (shipped, registered by an entry point, or ``host``), or of that file.

    Text is a path when it ends in ``.toml`` or has a slash in it. Raises :class:`TargetError`.
    """
    if not isinstance(name_or_path, str | PathLike):
        raise TargetError(f"target: got {type(name_or_path).__name__}, expected a name or the path of a file")
    text = fspath(name_or_path)
    if text == HOST:
        from .host import detect_host

        return detect_host()
    if not isinstance(name_or_path, str) or _is_path(text):
        path = Path(text)
        return _load(path.stem, path)
    return _load(text, _find(text))


def list_targets() -> tuple[str, ...]:
    """Names that :func:`load_target` knows: ``host``, the shipped ones, then those of installed packages."""
    shipped = _shipped()
    installed = sorted(name for name in _installed() if name not in shipped and name != HOST)
    return (HOST, *shipped, *installed)


@lru_cache(maxsize=1)
def _shipped() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in DATA.glob("*.toml")))


def _installed() -> dict[str, Any]:
    """Entry points by name; nothing is imported yet."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def _is_path(text: str) -> bool:
    return text.endswith(".toml") or "/" in text or "\\" in text


def _find(name: str, origin: Origin | None = None) -> Path:
    """The file of a named target; no package takes over a shipped name. ``origin``: who asks for it."""
    if name in _shipped():
        return DATA / f"{name}.toml"
    points = _installed()
    if name in points:
        return _entry_point_file(points[name])
    where = f"{origin}: error: extends: " if origin else ""
    hint = did_you_mean(name, list_targets()) or f"; there are {', '.join(list_targets())}"
    if Path(f"{name}.toml").is_file():
        hint = f"; a file is given by its path: '{name}.toml'"
    raise TargetError(f"{where}no target '{name}'{hint}")


def _entry_point_file(point: Any) -> Path:
    where = f"entry point '{point.name} = {point.value}' of {ENTRY_POINTS}"
    try:
        value = point.load()
        value = value() if callable(value) else value
        return Path(value)
    except Exception as error:  # code of somebody else's package: whatever it raises, its name must be said
        raise TargetError(f"{where}: error: expected a path, got {type(error).__name__}: {error}") from error


def _load(name: str, file: Path, before: tuple[Path, ...] = (), origin: Origin | None = None) -> Target:
    """``file`` and what it extends. ``before``: the files that led here, ``origin``: the line that did."""
    chain = (*before, file.resolve())
    if file.resolve() in before:
        names = " -> ".join(path.name for path in chain)
        raise TargetError(f"{origin}: error: extends: got '{name}', which leads back here: {names}")
    layer = read_layer(file)
    base = _base(layer, file, chain)
    return _checked(_over(base, layer, name))


def _base(layer: Layer, file: Path, chain: tuple[Path, ...]) -> Target | None:
    """What ``layer`` extends: another target by name, or a file relative to this one."""
    text = layer.extends
    if text is None:
        return None
    if text == HOST:
        from .host import detect_host

        return detect_host()
    if not _is_path(text):
        return _load(text, _find(text, layer.extends_origin), chain, layer.extends_origin)
    base = file.parent / text
    if not base.is_file():
        what = f"no file '{base}' (a path is relative to this file)"
        raise TargetError(f"{layer.extends_origin}: error: extends: {what}")
    return _load(base.stem, base, chain, layer.extends_origin)


def _over(base: Target | None, layer: Layer, name: str) -> Target:
    """``layer`` laid over ``base``: what it does not say is inherited."""
    if base is None:
        base = Target(name, "", (), Rule("free", Origin(layer.file, 1)), {}, {})
    rules = dict(base.rules)
    for op, written in layer.rules.items():
        rules[op] = _merged_rules(rules.get(op, {}), written)
    return Target(
        name=name,
        description=layer.description or "",
        files=(layer.file, *base.files),
        default=layer.default or base.default,
        rules=rules,
        storage_types=_merged_storage_types(base.storage_types, layer.storage_types),
        extends=layer.extends,
        machine=_merged_machine(base.machine, layer.machine),
        numerics=layer.numerics or base.numerics,
        activations=layer.activations or base.activations,
        weights=layer.weights or base.weights,
    )


def _merged_rules(inherited: dict[str, Rule], written: dict[str, Rule]) -> dict[str, Rule]:
    """``*`` speaks for every storage type: it replaces what was inherited for single ones (not the bias)."""
    if ANY in written:
        inherited = {place: rule for place, rule in inherited.items() if place == BIAS}
    return {**inherited, **written}


def _merged_storage_types(
    inherited: dict[str, StorageTypes], written: dict[str, StorageTypes]
) -> dict[str, StorageTypes]:
    """``storage.types`` replaces the inherited lists of single ops as well."""
    return dict(written) if ANY in written else {**inherited, **written}


def _merged_machine(base: Machine | None, raw: dict[str, Any]) -> Machine | None:
    """Key by key. Features are added to the inherited ones (``-x`` takes ``+x`` away), lists replaced."""
    if not raw:
        return base
    if base is None:
        return msgspec.convert(raw, Machine)
    merged: dict[str, Any] = msgspec.to_builtins(base)
    features = _merged_features(merged["features"], raw.get("features", ()))
    cache = {**merged["cache"], **raw.get("cache", {})}
    return msgspec.convert({**merged, **raw, "features": features, "cache": cache}, Machine)


def _merged_features(inherited: Sequence[str], added: Sequence[str]) -> list[str]:
    signs = {feature[1:]: feature[0] for feature in (*inherited, *added)}
    return [f"{sign}{name}" for name, sign in signs.items()]


def _checked(target: Target) -> Target:
    """What only the whole can tell: a machine is complete."""
    for key in _missing(target.machine):
        needed = "a machine needs triple, vector_bits and vector_registers"
        raise TargetError(f"{target.files[0]}: error: machine.{key}: missing ({needed})")
    return target


def _missing(machine: Machine | None) -> Iterator[str]:
    if machine is not None:
        yield from (key for key in ("triple", "vector_bits", "vector_registers") if not getattr(machine, key))
