"""The choices between kernels that tuning has made on this machine, in the cache on disk.

A file per problem, written as a whole, so that several processes may read and write at once. Its name holds
the versions of what writes kernels and the machine: a choice is forgotten when these change.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from ..codegen.machine import Machine
from ..kernels.choices import Chooser, Problem, Way, Ways
from . import cache
from .kernel_objects import digest_on, sources_digest

LOG = logging.getLogger("zeropoint.cache")


def stored_chooser(machine: Machine) -> Chooser | None:
    """Takes what is stored, where something is; None if nothing is stored at all."""
    known = cache.names(cache.CHOICE)
    if not known:
        return None

    def choose(problem: Problem, ways: Ways) -> Way | None:
        name = _name(problem, machine)
        entry = cache.read([name], cache.CHOICE).get(name) if name in known else None
        if entry is None:
            return None
        way = _decoded(entry)
        if way in ways():
            return way
        LOG.warning("cache entry '%s%s' names no kernel of this version; it is not used", name, cache.CHOICE)
        return None

    return choose


def store(chosen: Mapping[Problem, Way], machine: Machine) -> None:
    """Keep the choices for later compilations."""
    cache.write({_name(p, machine): _encoded(way) for p, way in chosen.items()}, cache.CHOICE)


def _name(problem: Problem, machine: Machine) -> str:
    return digest_on(machine, problem.key, sources_digest("kernels"))


def _encoded(way: Way) -> bytes:
    return json.dumps([way.family, way.isa, way.options]).encode()


def _decoded(entry: bytes) -> Way | None:
    """What is not ours is None."""
    try:
        family, isa, options = json.loads(entry)
        return Way(family, isa, tuple((name, value) for name, value in options))
    except (ValueError, TypeError):
        return None
