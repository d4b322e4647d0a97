"""How long each step of a program takes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..codegen.driver import DRIVER, PROFILE
from ..codegen.loader import LoadedCode
from ..codegen.table import Workspace
from ..errors import PipelineError, ZeropointError


def sample_steps(
    count: int,
    code: LoadedCode,
    workspace: Workspace,
    repeats: int,
    between: Callable[[], object] = lambda: None,
) -> npt.NDArray[np.float64]:
    """The seconds of each of ``count`` steps, without the clock's own time: a row for each of ``repeats``
    runs of all steps in order on this thread alone. ``between`` is called after every run.

    Raises:
        ZeropointError: the driver for this system has no clock.
    """
    try:
        address = code.address(DRIVER, PROFILE)
    except PipelineError as error:
        raise ZeropointError("steps cannot be timed on this system") from error
    profile = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)
    # The driver keeps the lower of what is there and what it measures; the last column is for no step.
    samples = np.full((repeats, count + 1), np.iinfo(np.int64).max)
    for times in samples:
        profile(workspace.address, times.ctypes.data)
        between()
    seconds: npt.NDArray[np.float64] = np.maximum(samples[:, :-1] - samples[:, -1].min(), 0) * 1e-9
    return seconds
