"""Compiled machine code on disk, so that a network is compiled once per machine.

An entry is machine code that will be run: the folder must belong to the user and be writable by nobody else,
or it is not used; an entry's checksum is verified. Entries are keyed by everything that decides the code,
never by a model's name.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..codegen.machine import Machine

LOG = logging.getLogger("zeropoint.cache")
FOLDER_VARIABLE = "ZEROPOINT_CACHE_DIR"
LIMIT_BYTES = 256 << 20
"""The oldest entries go when the folder holds more."""
_DIGEST_BYTES = 32


def folder() -> Path:
    """``$ZEROPOINT_CACHE_DIR``, or ``zeropoint`` in the user's cache folder."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "zeropoint" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/zeropoint"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zeropoint"


def key(llvm_ir: str, machine: Machine) -> str:
    """Names the code made of ``llvm_ir`` for ``machine`` by the installed code generator."""
    try:
        generator = version("llvmlite")
    except PackageNotFoundError:
        generator = "unknown"
    text = "\0".join([generator, machine.triple, machine.cpu, machine.features, llvm_ir])
    return hashlib.sha256(text.encode()).hexdigest()


def read(name: str) -> bytes | None:
    """The code stored under ``name``; None if there is none, it is damaged, or the folder is not safe."""
    place = folder()
    path = place / f"{name}.o"
    try:
        if not path.is_file() or not _is_private(place):
            return None
        data = path.read_bytes()
    except OSError as error:
        LOG.warning("cache '%s' is not used: %s; set %s", place, error.strerror or error, FOLDER_VARIABLE)
        return None
    digest, code = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    if hashlib.sha256(code).digest() != digest:
        LOG.warning("cache entry '%s' is damaged; compiling again", path)
        return None
    return code


def write(name: str, code: bytes) -> None:
    """Store ``code``; a cache that cannot be written is only reported."""
    place = folder()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(place):
            return
        # A reader sees the whole entry or none.
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".tmp")
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(temporary).replace(place / f"{name}.o")
        _evict(place)
    except OSError as error:
        LOG.warning("cache '%s' is not used: %s; set %s", place, error.strerror or error, FOLDER_VARIABLE)


def _is_private(place: Path) -> bool:
    if sys.platform == "win32":  # the user's profile is protected by its access list
        return True
    status = place.stat()
    if status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return True
    LOG.warning(
        "cache '%s' is not used: others may write to it; chmod 700 it or set %s", place, FOLDER_VARIABLE
    )
    return False


def _evict(place: Path) -> None:
    entries = sorted(((e.stat().st_mtime, e.stat().st_size, e) for e in place.glob("*.o")), reverse=True)
    total = 0
    for _, size, entry in entries:
        total += size
        if total > LIMIT_BYTES:
            entry.unlink(missing_ok=True)
