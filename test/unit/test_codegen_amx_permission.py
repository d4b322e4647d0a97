"""Asking the system for the tile registers."""

from __future__ import annotations

import errno
from collections.abc import Iterator

import pytest

from zeropoint.codegen import amx_permission
from zeropoint.codegen.machine import host
from zeropoint.errors import TargetError


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    amx_permission.why_not.cache_clear()
    yield
    amx_permission.why_not.cache_clear()


def on_linux(monkeypatch: pytest.MonkeyPatch, answer: int | None) -> list[int]:
    """A system call that gives ``answer``, and a list of its calls."""
    asked: list[int] = []

    def ask() -> int | None:
        asked.append(1)
        return answer

    monkeypatch.setattr(amx_permission.sys, "platform", "linux")
    monkeypatch.setattr(amx_permission.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(amx_permission, "_ask", ask)
    return asked


def test_this_machine() -> None:
    """A CPU without tiles is refused, whatever the system is."""
    if "+amx-tile" in host().features.split(","):
        assert amx_permission.why_not() is None or "tile registers" in str(amx_permission.why_not())
    else:
        with pytest.raises(TargetError, match=r"^this process cannot run AMX code: .*tile registers"):
            amx_permission.request()


def test_it_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = on_linux(monkeypatch, None)
    amx_permission.request()
    amx_permission.request()
    assert len(asked) == 1


def test_a_refusal_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    on_linux(monkeypatch, errno.EPERM)
    with pytest.raises(TargetError, match="not permitted"):
        amx_permission.request()


def test_other_systems_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = on_linux(monkeypatch, None)
    monkeypatch.setattr(amx_permission.sys, "platform", "darwin")
    with pytest.raises(TargetError, match="Linux"):
        amx_permission.request()
    assert not asked
