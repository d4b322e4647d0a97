"""Runs one network inside the emulated environment and marks what the counting plugin is to count.

``python3 aarch64_guest.py TASK.json``: a script, since nothing else of ``bench`` works there. The task names
a saved executable of ours or a ``.tflite`` file for LiteRT, the inputs, and where the answers go. Labels:
``ONCE`` and ``AGAIN`` are one inference each, after others that warm up; ``FIRST_STEP`` + i is step i of ours
by itself, called as ``NO_STEP`` calls none.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

MARK = 0x5A504D4B
"""The operation of prctl that the plugin looks out for (aarch64_counter.c); the kernel does not know it."""
ONCE, AGAIN, NO_STEP, FIRST_STEP = 1, 2, 3, 4
WARM_UP = 2
_HEADER_WORDS, _STEP_WORDS = 2, 7


def main() -> int:
    task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with np.load(task["inputs"]) as archive:
        inputs = [archive[f"arr_{i}"] for i in range(len(archive.files))]
    prctl = ctypes.CDLL(None).prctl
    open_session = open_ours if task["system"] == "zeropoint" else open_litert
    version, run, outputs, steps = open_session(task["model"], inputs)
    for _ in range(WARM_UP):
        run()
    for label in (ONCE, AGAIN):
        prctl(MARK, label)
        run()
        prctl(MARK, 0)
    results = outputs()
    for label, step in enumerate(steps, NO_STEP):
        prctl(MARK, label)
        step()
        prctl(MARK, 0)
    np.savez(task["outputs"], *results)
    Path(task["answer"]).write_text(json.dumps({"version": version}), encoding="utf-8")
    return 0


def open_ours(path: str, inputs: list[Any]) -> tuple[str, Callable[[], Any], Callable[[], Any], Any]:
    """Version; functions that run one inference, copy its outputs, run no step, and run each step."""
    import zeropoint as zp
    from zeropoint.codegen.driver import DRIVER, RUN

    executable = zp.load_executable(path)
    bound = executable.bind(*inputs)
    code = executable._code
    run_table = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(DRIVER, RUN))
    words = ctypes.c_int64 * (_HEADER_WORDS + _STEP_WORDS * len(executable._program.steps))
    row = words.from_address(bound._address)
    places = range(_HEADER_WORDS, len(row), _STEP_WORDS)
    # Team (none), number of steps, steps: the table of a call that does nothing, then one for each step.
    one_step = ctypes.c_int64 * (_HEADER_WORDS + _STEP_WORDS)
    tables = [one_step(0, 0), *(one_step(0, 1, *row[at : at + _STEP_WORDS]) for at in places)]
    addresses = [ctypes.addressof(table) for table in tables]
    steps = [lambda at=at, kept=tables: run_table(at) for at in addresses]
    return zp.__version__, bound, lambda: [array.copy() for array in bound.outputs], steps


def open_litert(path: str, inputs: list[Any]) -> tuple[str, Callable[[], Any], Callable[[], Any], Any]:
    """LiteRT as people run it, with its default kernels (XNNPACK), on one thread; it has no steps to show."""
    import ai_edge_litert
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(path, num_threads=1)
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    indices = [detail["index"] for detail in interpreter.get_output_details()]
    return (
        ai_edge_litert.__version__,
        interpreter.invoke,
        lambda: [interpreter.get_tensor(index) for index in indices],
        (),
    )


if __name__ == "__main__":
    sys.exit(main())
