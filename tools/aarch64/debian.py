"""Debian's Python for arm64 and the libraries that it and the wheels need, unpacked into a folder.

apt does what it always does - its sources, its keys, its resolver - but for another architecture and with
folders of its own, so the system's packages and configuration stay as they are.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ...errors import ZeropointError
from .environment import Environment, call, say, tool

PACKAGES = ("python3", "libstdc++6", "zlib1g")
"""The rest follows from what they depend on."""

_CONFIGURATION = """\
APT::Architecture "arm64";
APT::Architectures {{ "arm64"; }};
APT::Install-Recommends "false";
Dir::State "{folder}/state";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Log "{folder}/log";
"""
# apt drops root's rights for downloads, and then cannot write into a folder of the user's.
_AS_ROOT = 'APT::Sandbox::User "root";\n'


def unpack(environment: Environment) -> None:
    """Download the packages and unpack them; ``environment.root`` is there afterwards.

    Raises:
        ZeropointError: a program is missing, or Debian's sources have no packages for arm64.
    """
    apt, dpkg = tool("apt-get", "apt"), tool("dpkg-deb", "dpkg")
    variables = {"APT_CONFIG": str(_configured(environment.folder / "apt")), "LC_ALL": "C"}
    archives = environment.folder / "apt" / "cache" / "archives"
    say("reading the lists of Debian's packages for arm64")
    call("reading the lists of packages", [apt, "update"], variables)
    call("removing outdated packages", [apt, "autoclean"], variables)
    say(f"downloading {', '.join(PACKAGES)} and what they depend on")
    try:
        call("downloading packages", [apt, "install", "--download-only", "-y", *PACKAGES], variables)
    except ZeropointError as error:
        raise ZeropointError(
            f"{error}\n  apt's sources of this system must offer packages for arm64, as Debian's do"
        ) from error
    packages = sorted(archives.glob("*.deb"))
    partial = environment.root.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    say(f"unpacking {len(packages)} packages")
    for package in packages:
        call(f"unpacking {package.name}", [dpkg, "-x", str(package), str(partial)])
    partial.rename(environment.root)
    shutil.rmtree(environment.folder / "apt")


def _configured(folder: Path) -> Path:
    """Write apt's configuration, and the folders that it names; returns the file."""
    for part in ("state/lists/partial", "cache/archives/partial", "log"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()  # nothing is installed yet
    text = _CONFIGURATION.format(folder=folder) + (_AS_ROOT if os.geteuid() == 0 else "")
    (folder / "apt.conf").write_text(text)
    return folder / "apt.conf"
