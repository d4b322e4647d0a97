"""Compiled kernels on disk, so that each is compiled once per machine, and choices between them.

An entry is machine code that will be run: the folder must belong to the user and be writable by nobody else,
or it is not used; an entry's checksum is verified. Entries are keyed by everything that decides the code,
never by a model's name. Several processes may read and write at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

LOG = logging.getLogger("zeropoint.cache")
FOLDER_VARIABLE = "ZEROPOINT_CACHE_DIR"
LIMIT_BYTES = 256 << 20
"""The entries that were not used for longest go when the folder holds more."""
CODE = ".o"
CHOICE = ".choice"
_SUFFIXES = (CODE, CHOICE)
_DIGEST_BYTES = 32
_LEFTOVER_SECONDS = 3600
_DAY_SECONDS = 24 * 3600


def folder() -> Path:
    """``$ZEROPOINT_CACHE_DIR``, or ``zeropoint`` in the user's cache folder."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData/Local")) / "zeropoint" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/zeropoint"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zeropoint"


def names(suffix: str) -> set[str]:
    """Of the entries of one kind; of none if the folder is not safe."""
    place = folder()
    try:
        if not place.is_dir() or not _is_private(place):
            return set()
        return {path.stem for path in place.iterdir() if path.suffix == suffix}
    except OSError as error:
        _report(place, error)
        return set()


def read(names: Iterable[str], suffix: str = CODE) -> dict[str, bytes]:
    """What is stored under ``names``: without entries that are missing or damaged, and nothing at all if the
    folder is not safe.
    """
    place = folder()
    found: dict[str, bytes] = {}
    try:
        if not place.is_dir() or not _is_private(place):
            return found
        for name in names:
            path = place / f"{name}{suffix}"
            try:
                data = path.read_bytes()
            except FileNotFoundError:
                continue
            digest, code = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
            if hashlib.sha256(code).digest() == digest:
                found[name] = code
                _keep_young(path)
            else:
                LOG.warning("cache entry '%s' is damaged; it is not used", path)
    except OSError as error:
        _report(place, error)
    return found


def _keep_young(path: Path) -> None:
    """What is in use is not evicted: its time is renewed, at most once a day."""
    with contextlib.suppress(OSError):  # the folder may be read-only, or the entry evicted right now
        if time.time() - path.stat().st_mtime > _DAY_SECONDS:
            os.utime(path)


def write(entries: Mapping[str, bytes], suffix: str = CODE) -> None:
    """Store code, or what ``suffix`` says, by name; a cache that cannot be written is only reported."""
    place = folder()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(place):
            return
        for name, code in entries.items():
            # A reader sees the whole entry or none.
            handle, temporary = tempfile.mkstemp(dir=place, suffix=".tmp")
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            Path(temporary).replace(place / f"{name}{suffix}")
        _evict(place)
    except OSError as error:
        _report(place, error)


def _report(place: Path, error: OSError) -> None:
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
    """Remove what was not used for longest, beyond the limit, and what writers that died have left."""
    entries, leftover = [], time.time() - _LEFTOVER_SECONDS
    with os.scandir(place) as files:
        for file in files:
            with contextlib.suppress(FileNotFoundError):  # another process removed it
                status = file.stat()
                if file.name.endswith(_SUFFIXES):
                    entries.append((status.st_mtime, status.st_size, file.path))
                elif file.name.endswith(".tmp") and status.st_mtime < leftover:
                    Path(file.path).unlink()
    total = 0
    for _, size, path in sorted(entries, reverse=True):
        total += size
        if total > LIMIT_BYTES:
            Path(path).unlink(missing_ok=True)
