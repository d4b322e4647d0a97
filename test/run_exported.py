#!/usr/bin/env python3
"""Run the shared model cases as C programs: export each, build it, run it (under an emulator where the target
is another machine), and compare its bits with those of ``zp.compile`` here.

    python test/run_exported.py ../shared/cases --target riscv64 [--only 'tfl_conv_*']
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import zeropoint as zp
from c_program import Program, toolchain
from zeropoint.runtime.inputs import arrange


def load(folder: Path, case: dict[str, Any]) -> tuple[zp.Model, list[Any]]:
    """The model of a case, and its inputs, those too that it does not read."""
    files = sorted(folder.glob("input_*.npy"), key=lambda path: int(path.stem.split("_")[1]))
    inputs = [np.load(file) for file in files]
    options: dict[str, Any] = {}
    if case.get("resize"):
        options["shapes"] = [list(array.shape) for array in inputs]
    if case.get("signature"):
        options["signature"] = case["signature"]
    model = zp.load(folder / "model.tflite", **options)
    return model, arrange(model.inputs, inputs)


def verdict(folder: Path, case: dict[str, Any], target: str) -> str:
    """Empty if the program's outputs have the bits of the Python API."""
    model, inputs = load(folder, case)
    want = zp.compile(model).run(*inputs)
    exported = zp.export(model, target, name="network")
    with tempfile.TemporaryDirectory() as place:
        (outputs,) = Program(exported, model, Path(place)).run(inputs)
    same = all(a.tobytes() == b.tobytes() for a, b in zip(want, outputs, strict=True))
    return "" if same else "other bits"


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the shared cases as C programs.")
    parser.add_argument("cases", type=Path, help="the folder of cases")
    parser.add_argument("--target", default="host")
    parser.add_argument("--only", default="tfl_*", metavar="PATTERN")
    arguments = parser.parse_args()
    if missing := toolchain(arguments.target).missing:
        parser.error(f"{missing} is not installed")
    run = wrong = 0
    for folder in sorted(arguments.cases.glob(arguments.only)):
        case = json.loads((folder / "case.json").read_text())
        if case["expect"] != "match":
            continue
        run += 1
        try:
            fault = verdict(folder, case, arguments.target)
        except (
            zp.ZeropointError,
            AssertionError,
        ) as error:  # the assertions of Program: it was not built or run
            fault = f"{type(error).__name__}: {error}"
        if fault:
            wrong += 1
            print(f"{folder.name}: {fault}", flush=True)
    print(f"{arguments.target}: {run - wrong} of {run} cases have the bits of the Python API")
    return 1 if wrong or not run else 0


if __name__ == "__main__":
    sys.exit(main())
