"""``--tune`` of the commands that compile a model to run it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .tables import print_table

if TYPE_CHECKING:
    from ..runtime.tuning import TunedProblem, Tuning

COLUMNS = ("tensor", "steps", "cost model", "µs", "chosen", "µs ", "gain")


def add_tune_argument(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--tune",
        action="store_true",
        help="measure several kernels for each layer on this machine and take the fastest, now and whenever a"
        " network with such layers is compiled here; takes some ten seconds. The results are the same",
    )


def print_tuning(tuning: Tuning | None) -> None:
    """What was changed, as a table, and what that gains; nothing if nothing was tuned."""
    if tuning is None:
        return
    changed = [tuned for tuned in tuning.problems if tuned.is_changed]
    print()
    if changed:
        print_table(
            COLUMNS,
            [_row(tuned) for tuned in changed],
            right=("steps", "µs", "µs ", "gain"),
            shorten=("tensor",),
            title="tuning has changed",
        )
    print(summary(tuning))


def summary(tuning: Tuning) -> str:
    """One line."""
    if not tuning.problems:
        return "tuned: there is nothing to choose in this network"
    changed = sum(tuned.is_changed for tuned in tuning.problems)
    gain = tuning.usual_seconds / tuning.chosen_seconds - 1
    return (
        f"tuned in {tuning.seconds:.1f} s, {tuning.measuring_seconds:.1f} s of that measuring: {changed} of "
        f"{len(tuning.problems)} kernels changed, {tuning.usual_seconds * 1e3:.3f} -> "
        f"{tuning.chosen_seconds * 1e3:.3f} ms ({gain:.1%})"
    )


def _row(tuned: TunedProblem) -> tuple[str, ...]:
    return (
        tuned.source,
        str(tuned.steps),
        str(tuned.usual),
        f"{tuned.usual_seconds * 1e6:.1f}",
        str(tuned.chosen),
        f"{tuned.chosen_seconds * 1e6:.1f}",
        f"{1 - tuned.chosen_seconds / tuned.usual_seconds:.1%}",
    )
