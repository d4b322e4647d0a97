"""Measures a :class:`~.profile.Profile`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..codegen.program import COPY, Program, Step
from ..errors import InputError
from ..kernels.launch import Code
from .ceilings import Ceilings, ceilings
from .inputs import arrange
from .profile import Kind, Profile, StepProfile, Work
from .step_times import sample_steps

if TYPE_CHECKING:
    from .executable import Executable

_PARTIAL = frozenset({"border"})
"""Families that touch only a part of their buffers: how many bytes those have says nothing."""


def profile(executable: Executable, inputs: Sequence[Any], repeats: int) -> Profile:
    """As ``Executable.profile``."""
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise InputError(f"repeats: got {repeats!r}, expected a positive whole number")
    program = executable._program
    run = executable.bind(*arrange(executable.inputs, inputs))
    runs: list[float] = []

    def whole_run() -> None:
        start = time.perf_counter()
        run()
        runs.append(time.perf_counter() - start)

    run()
    samples = sample_steps(
        len(program.steps), executable._code, executable._workspace_at(inputs), repeats, whole_run
    )
    found = ceilings()
    least, medians = samples.min(axis=0), np.median(samples, axis=0)
    total = float(least.sum())
    network_bytes = program.arena_bytes + executable.constant_bytes
    steps = []
    for index, step in enumerate(program.steps):
        seconds = float(least[index])
        work = _work(step, program, found, network_bytes, seconds, float(medians[index]), total)
        steps.append(_step_profile(index, step, program, work))
    return Profile(
        executable.name,
        tuple(executable.instructions),
        executable.threads,
        repeats,
        min(runs),
        float(np.median(runs)),
        program.arena_bytes,
        program.least_arena_bytes,
        executable.constant_bytes,
        found,
        tuple(steps),
    )


def _work(
    step: Step,
    program: Program,
    found: Ceilings,
    network_bytes: int,
    seconds: float,
    median: float,
    total: float,
) -> Work:
    code = program.codes.get(step.kernel)
    share = seconds / total if total else 0.0
    if code is not None and code.family in _PARTIAL:
        return Work(seconds, median, share, step.macs, None, 0, None, None)
    activations = step.bytes - step.constant_bytes
    ceiling = found.of_step(step.macs, step.constant_bytes, activations, network_bytes)
    least, bound = ceiling if ceiling is not None else (None, None)
    return Work(seconds, median, share, step.macs, step.bytes, step.constant_bytes, least, bound)


def _step_profile(index: int, step: Step, program: Program, work: Work) -> StepProfile:
    code = program.codes.get(step.kernel)
    kind: Kind = "family" if code is not None else "copy" if step.kernel == COPY else "generic"
    label = _label(code) if code is not None else step.kernel
    return StepProfile(index, step.kernel, label, kind, work, code, step.units, step.source, step.reason)


def _label(code: Code) -> str:
    """What a person wants to know of a kernel, short: ``conv2d 7x2 truncate add``.

    The size of its window or tile, which kind of it, how it rescales, and whether it adds a residual.
    """
    options = dict(code.options)
    words = [code.family.replace("depthwise_conv2d", "depthwise")]
    for one, other in (("height", "width"), ("rows", "vectors")):
        if options.get(one) and options.get(other):
            words.append(f"{options[one]}x{options[other]}")
            break
    words += [str(options[name]) for name in ("kind", "form") if options.get(name)]
    words += [str(options.get("epilogue", "")).split("-")[0]]
    words += ["add"] if options.get("residual") else []
    return " ".join(word for word in words if word)
