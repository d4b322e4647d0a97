"""What passes decided about an op, and why: shown by ``--explain``, collected for ``zeropoint explain``.

A pass calls :func:`record` where it changes an op for a reason a user may ask about, and
:func:`..registry.no_match` where it leaves one alone. Nothing is kept unless somebody collects::

    with collect() as decisions:
        run_pipeline(module, "legalize-params{target=tflite}")
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ..dialect.describe import location_name
from ..dialect.places import place_text

LOG = logging.getLogger("zeropoint.passes")

Kind = Literal["inserted", "folded", "hoisted", "sunk", "shared", "changed", "isolated", "refused"]

INSERTED_ATTRIBUTE = "qnn.inserted"
"""Attribute of a ``qnn.requantize`` that legalization put there: the kind of the rule that forced it."""


@dataclass(frozen=True)
class Decision:
    """One decision.

    ``op`` is the op's name (``qnn.reshape``), ``tensor`` its tensor's in the model file (may be empty),
    ``location`` where it came from, ``by`` the pass or pattern that decided, ``detail`` why.
    """

    kind: Kind
    op: str
    tensor: str
    location: str
    by: str
    detail: str


_COLLECTORS: ContextVar[tuple[list[Decision], ...]] = ContextVar("collectors", default=())


@contextmanager
def collect() -> Iterator[list[Decision]]:
    """The decisions made inside the ``with`` block, in order; blocks may be nested."""
    decisions: list[Decision] = []
    token = _COLLECTORS.set((*_COLLECTORS.get(), decisions))
    try:
        yield decisions
    finally:
        _COLLECTORS.reset(token)


def record(kind: Kind, op: Any, detail: str, by: str = "") -> None:
    """Note a decision about ``op`` (an operation or a view of one), made ``by`` a pass or pattern.

    Logged at DEBUG as ``<by>: <kind>: <op> at <place>: <detail>``.
    """
    assert kind in get_args(Kind), f"no such kind of decision: {kind}"
    collectors = _COLLECTORS.get()
    if not collectors and not LOG.isEnabledFor(logging.DEBUG):
        return
    operation = op.operation
    words = "no match" if kind == "refused" else kind
    location = operation.location
    if LOG.isEnabledFor(logging.DEBUG):
        LOG.debug("%s: %s: %s at %s: %s", by, words, operation.name, place_text(location), detail)
    decision = Decision(kind, operation.name, location_name(location), str(location), by, detail)
    for collector in collectors:
        collector.append(decision)
