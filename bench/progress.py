"""What a benchmark is at."""

from __future__ import annotations

import sys


def say(text: str) -> None:
    """One line on a terminal, which the next one replaces; nothing elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
