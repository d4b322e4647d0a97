"""``zeropoint run --profile``: where the time of an inference goes, kernel by kernel."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .progress import ProgressLine
from .tables import print_table

if TYPE_CHECKING:
    from ..runtime.executable import Executable
    from ..runtime.profile import Profile

REPEATS = 100
GENERIC_STYLE = "yellow"


def add_profile_arguments(command: argparse.ArgumentParser) -> None:
    """What to measure and how to show it."""
    group = command.add_argument_group(
        "profile",
        "Instead of the outputs, show how long each kernel takes, and how fast this machine could be.",
    )
    group.add_argument(
        "--profile",
        action="store_true",
        help=f"a table of the kernels in the order they run; with --top N the N slowest. --repeat says how "
        f"many times each is timed (default {REPEATS})",
    )
    group.add_argument(
        "--by-kernel",
        action="store_true",
        help="one line for all calls of kernels of the same kind, slowest first",
    )
    group.add_argument("--profile-csv", metavar="FILE", help="write a line per call, for a spreadsheet")
    group.add_argument(
        "--profile-trace", metavar="FILE", help="write a trace for chrome://tracing or ui.perfetto.dev"
    )


def wants_profile(arguments: argparse.Namespace) -> bool:
    """Whether any of the arguments asks for one.

    Raises:
        InputError: an argument about outputs stands beside it.
    """
    wanted = any((arguments.profile, arguments.by_kernel, arguments.profile_csv, arguments.profile_trace))
    if wanted and arguments.labels:
        raise InputError("--labels: a profile shows no outputs; leave out one or the other")
    return wanted


def show_profile(executable: Executable, inputs: Sequence[Any], arguments: argparse.Namespace) -> None:
    """Measure, print and write what the arguments ask for."""
    from ..runtime.profile_formats import json_text

    with ProgressLine() as progress:
        progress.show("timing kernels")
        profile = executable.profile(*inputs, repeats=arguments.repeat or REPEATS)
    if arguments.profile_csv:
        profile.save_csv(arguments.profile_csv)
    if arguments.profile_trace:
        profile.save_trace(arguments.profile_trace)
    if arguments.json:
        print(json_text(profile.to_json()))
    else:
        _print(profile, arguments.by_kernel, arguments.top)


def _print(profile: Profile, by_kernel: bool, top: int) -> None:
    from ..runtime import profile_text as text

    columns: Sequence[str]
    if by_kernel:
        kernels = profile.by_kernel()
        shown = kernels[: top or None]
        columns, rows = text.KERNEL_COLUMNS, text.kernel_rows(shown)
        left_out, what = len(kernels) - len(shown), "kernels"
        kinds, rest = [kernel.kind for kernel in shown], 1 - sum(k.work.share for k in shown)
    else:
        steps = profile.slowest(top) if top else list(profile.steps)
        columns, rows = text.STEP_COLUMNS, text.step_rows(profile, steps)
        left_out, what = len(profile.steps) - len(steps), "steps"
        kinds, rest = [step.kind for step in steps], 1 - sum(step.work.share for step in steps)
    print_table(
        *text.without_empty(columns, rows),
        right=text.RIGHT,
        shorten=("tensor",),
        spare=text.SPARE,
        styles={row: GENERIC_STYLE for row, kind in enumerate(kinds) if kind == "generic"},
    )
    if left_out:
        print(f"({left_out} more {what}: {rest:.1%} of the time)")
    print()
    for line in text.summary(profile):
        print(line)
