"""What a target is: a machine (or none), the storage it prefers, and the parameter rule of every op."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from ..errors import TargetError, did_you_mean
from .operators import ANY, ARROW, BIAS, CONTRACTIONS, CONVERSIONS, OPERATORS, STORAGES
from .rules import Origin, Rule

Positive = Annotated[int, Meta(ge=1)]
Size = Annotated[int, Meta(ge=0)]


class Dot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An instruction that multiplies ``lhs`` with ``rhs`` elements, ``group`` products into each accumulator.

    Accumulators form ``rows`` x ``columns`` blocks (1 x 1: a plain vector of dot products). ``saturates``:
    sums that leave the accumulator's range are clipped, so results are only exact for small operands.
    """

    name: str
    lhs: str
    rhs: str
    accumulator: str
    group: Positive
    rows: Positive = 1
    columns: Positive = 1
    saturates: bool = False


class Cache(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Data caches that one core sees, in KiB (0: not there or not known), and the line in bytes."""

    l1_kib: Size = 0
    l2_kib: Size = 0
    l3_kib: Size = 0
    line_bytes: Positive = 64


class Machine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An instruction set. ``cpu`` and ``features`` (``+avx2``, ``-avx512f``) are LLVM's names.

    ``vector_bits`` and ``vector_registers`` describe the widest vector unit, ``alignment_bytes`` what buffers
    are aligned to, ``dot`` its dot instructions, best first.
    """

    triple: str = ""
    cpu: str = "generic"
    features: tuple[str, ...] = ()
    vector_bits: Size = 0
    vector_registers: Size = 0
    alignment_bytes: Positive = 64
    dot: tuple[Dot, ...] = ()
    cache: Cache = Cache()

    @property
    def architecture(self) -> str:
        """``x86_64``, ``aarch64`` ..."""
        return self.triple.split("-")[0].replace("arm64", "aarch64")


class StorageTypes(msgspec.Struct, frozen=True):
    """Storage types that a target takes for the results of an op, and where that was written."""

    names: tuple[str, ...]
    origin: Origin


class Target(msgspec.Struct, frozen=True):
    """A target as its files say, inheritance resolved.

    ``machine`` is None for a rule profile: it says what parameters must be like, not where to run.
    ``numerics`` is the mode whose bits the target's own kernels give, if known; a model keeps its own mode.
    ``activations`` and ``weights`` are the storage types it likes best (None: no preference). ``files``:
    where it was read from, its own first, then what it extends. ``rules`` and ``storage_types`` are as
    written, by op: ask :meth:`rule`.
    """

    name: str
    description: str
    files: tuple[str, ...]
    default: Rule
    rules: dict[str, dict[str, Rule]]
    storage_types: dict[str, StorageTypes]
    extends: str | None = None
    machine: Machine | None = None
    numerics: str | None = None
    activations: str | None = None
    weights: str | None = None

    def rule(self, op: str, storage: str, source: str | None = None) -> Rule:
        """The rule of ``op`` (without ``qnn.``) for results stored in ``storage``.

        ``storage`` is a storage type such as ``i8``; for an op whose result is an ordinary integer it is the
        input's. ``source`` is the first input's storage type (None: the result's), which matters to few ops.
        A storage type that the target does not take is ``unsupported``. Raises :class:`TargetError` for names
        that do not exist.
        """
        _check_name("op", op, (*OPERATORS, *CONVERSIONS))
        for name in (storage, source or storage):
            _check_name("storage type", name, STORAGES)
        if op in CONVERSIONS:
            return Rule("free", self.default.origin)
        types = self.types_of(op)
        if types and storage not in types.names:
            return Rule("unsupported", types.origin)
        written = self.rules.get(op, {})
        changing = written.get(f"{source}{ARROW}{storage}")
        return changing or written.get(storage) or written.get(ANY) or self.default

    def bias_rule(self, op: str) -> Rule:
        """The rule for the bias of a contraction: always ``derived``; ``origin`` is where a file says so."""
        _check_name("op with a bias", op, CONTRACTIONS)
        return self.rules.get(op, {}).get(BIAS) or Rule("derived", self.default.origin)

    def types_of(self, op: str) -> StorageTypes | None:
        """The storage types that were written for results of ``op``; None: all."""
        return self.storage_types.get(op) or self.storage_types.get(ANY)

    def storages(self, op: str) -> tuple[str, ...]:
        """Storage types in which the target takes results of ``op`` without going to float."""
        return tuple(storage for storage in STORAGES if self.rule(op, storage).kind != "unsupported")

    def changing_storage(self, op: str) -> dict[str, Rule]:
        """Rules that hold for inputs in one storage type and results in another: ``i8->i16`` -> rule."""
        return {place: rule for place, rule in self.rules.get(op, {}).items() if ARROW in place}

    def grouped_rules(self, op: str) -> list[tuple[tuple[str, ...], Rule]]:
        """The rules of ``op``, each with the storage types it holds for, in the order of ``STORAGES``."""
        groups: list[tuple[tuple[str, ...], Rule]] = []
        for storage, rule in [
            *((name, self.rule(op, name)) for name in STORAGES),
            *self.changing_storage(op).items(),
        ]:
            for i, (names, other) in enumerate(groups):
                if rule.demands_the_same(other) and rule.origin == other.origin:
                    groups[i] = ((*names, storage), other)
                    break
            else:
                groups.append(((storage,), rule))
        return groups


def _check_name(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise TargetError(f"no {what} '{name}'{did_you_mean(name, known)}")
