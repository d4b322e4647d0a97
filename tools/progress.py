"""What takes so long, on a terminal."""

from __future__ import annotations

import sys


class ProgressLine:
    """One line of stderr, if that is a terminal; wiped out at the end."""

    def __enter__(self) -> ProgressLine:
        self.is_shown = False
        return self

    def show(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r\033[K{text} ...", end="", file=sys.stderr, flush=True)
            self.is_shown = True

    def __exit__(self, *error: object) -> None:
        if self.is_shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
