"""How long each step of a program takes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..codegen.driver import DRIVER, PROFILE
from ..codegen.loader import LoadedCode
from ..codegen.program import Step
from ..codegen.table import Workspace
from ..errors import PipelineError, ZeropointError


@dataclass(frozen=True)
class StepTime:
    """``seconds`` that ``step`` takes, without the clock's own time."""

    step: Step
    seconds: float


def time_steps(steps: Sequence[Step], code: LoadedCode, workspace: Workspace, repeats: int) -> list[StepTime]:
    """The least time of each step in ``repeats`` runs of all steps in order, on this thread alone.

    Raises:
        ZeropointError: the driver for this system has no clock.
    """
    try:
        address = code.address(DRIVER, PROFILE)
    except PipelineError as error:
        raise ZeropointError("steps cannot be timed on this system") from error
    times = np.full(len(steps) + 1, np.iinfo(np.int64).max)
    profile = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
    for _ in range(max(repeats, 1)):
        profile(workspace.address, times.ctypes.data)
    seconds = np.maximum(times[:-1] - times[-1], 0) * 1e-9
    return [StepTime(step, float(time)) for step, time in zip(steps, seconds, strict=True)]
