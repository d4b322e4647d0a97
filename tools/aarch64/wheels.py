"""The project's dependencies as wheels for AArch64, in the versions that pyproject.toml allows."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

from ...errors import ZeropointError
from .environment import ROOT, Environment, call, say

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_STAMP = "zeropoint-requirements"
"""Of a folder of wheels: the file that says what it was made from."""
_OLDEST_GLIBC = 17
"""Minor version of the oldest C library that wheels for AArch64 are made for."""


def requirements() -> list[str]:
    """What the project and its tests need.

    Raises:
        ZeropointError: there is no pyproject.toml beside the package.
    """
    path = ROOT / "pyproject.toml"
    if not path.exists():
        raise ZeropointError(f"{path} is missing: the emulated environment is set up from a checkout only")
    project: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *project["optional-dependencies"]["test"]]


def stamp(wanted: list[str]) -> str:
    """Says what a folder of wheels was made from."""
    return hashlib.sha256("\n".join(wanted).encode()).hexdigest()


def unpack(environment: Environment, wanted: list[str], python: tuple[int, int], glibc: int) -> None:
    """Download the wheels for a Python and a C library 2.``glibc``, and unpack them.

    Raises:
        ZeropointError: pip is missing or fails.
    """
    if importlib.util.find_spec("pip") is None:
        raise ZeropointError(f"pip is missing in {sys.executable}; install it: apt-get install python3-pip")
    partial = environment.site.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    platforms = [f"manylinux_2_{minor}_aarch64" for minor in range(glibc, _OLDEST_GLIBC - 1, -1)]
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command += ["--target", str(partial), "--only-binary=:all:", "--implementation", "cp"]
    command += ["--python-version", f"{python[0]}.{python[1]}"]
    for platform in (*platforms, "manylinux2014_aarch64"):
        command += ["--platform", platform]
    say("downloading wheels for AArch64 (some 200 MB)")
    call("downloading wheels", [*command, *wanted])
    (partial / _STAMP).write_text(stamp(wanted))
    shutil.rmtree(environment.site, ignore_errors=True)
    partial.rename(environment.site)


def is_current(environment: Environment, wanted: list[str]) -> bool:
    """Whether the wheels are there, for these requirements."""
    path: Path = environment.site / _STAMP
    return path.exists() and path.read_text() == stamp(wanted)
