"""Every error a user can cause. Anything else that escapes is a bug of ours.

A message reads: where, what, got against expected, what to do; lower case, no full stop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class ZeropointError(Exception):
    """Root of every error Zeropoint raises on purpose."""


class ImportModelError(ZeropointError, ValueError):
    """A model file is broken, or says something its format does not allow."""


class UnsupportedOpError(ImportModelError):
    """A model is valid but uses operators Zeropoint cannot import; lists all of them at once.

    ``faults`` holds one line per unsupported operator.
    """

    def __init__(self, where: str, faults: Sequence[str]) -> None:
        self.faults = list(faults)
        count = len(self.faults)
        head = f"{where}: error: {count} unsupported operator{'s' if count != 1 else ''}"
        super().__init__("\n".join([head, *(f"  {fault}" for fault in self.faults)]))


class PipelineError(ZeropointError):
    """A pass name, a pass option, a pipeline text or the IR handed to a pass is wrong."""


class TargetError(ZeropointError):
    """A target is unknown, its file is wrong, or this machine cannot run it."""


class InputError(ZeropointError, ValueError):
    """A value handed to the API has the wrong type, dtype, shape, name or count."""


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """``; did you mean 'x'?``, or nothing when no candidate is close."""
    import difflib  # a loaded executable that runs needs none

    close = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
