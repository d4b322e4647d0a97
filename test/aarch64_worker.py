"""The part of ``run_aarch64.py`` that is emulated: runs saved networks and compares their outputs.

Needs numpy alone. Prints one line of JSON before each job, and one with what is wrong after it.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import zeropoint as zp


def check(job: dict[str, Any]) -> str:
    """What is wrong with a network's outputs; empty if nothing is."""
    executable = zp.load_executable(job["executable"])
    with np.load(job["data"]) as data:
        for run in range(len({name.split()[1] for name in data.files})):
            inputs, expected = (
                [data[name] for name in data.files if name.startswith(f"{kind} {run} ")]
                for kind in ("input", "output")
            )
            outputs = executable.run(*inputs)
            if why := difference(outputs, expected):
                return f"invocation {run}: {why}"
            if job["case"] and (why := stored(Path(job["case"]), outputs)):
                return f"differs from the stored output: {why}"
    return ""


def difference(outputs: list[Any], expected: list[Any]) -> str:
    """Where arrays' bits differ."""
    for k, (got, want) in enumerate(zip(outputs, expected, strict=True)):
        if got.dtype != want.dtype or got.shape != want.shape:
            return f"output {k}: got {got.dtype}{got.shape}, expected {want.dtype}{want.shape}"
        if got.tobytes() != want.tobytes():
            a, b = got.ravel(), want.ravel()
            off = np.flatnonzero((a != b) & ~((a != a) & (b != b)))  # NaNs are equal here, their bits are not
            if not len(off):
                return f"output {k}: signs of zeros or bits of NaNs differ"
            first = off[0]
            return (
                f"output {k}: {len(off)} of {a.size} elements differ, first [{first}]: got {a[first]}, "
                f"expected {b[first]}"
            )
    return ""


def stored(case: Path, outputs: list[Any]) -> str:
    """What the cases' own runner says of outputs."""
    settings = json.loads((case / "case.json").read_text())
    close_enough = _runner(case.parent / "run.py").close_enough
    wrong = (close_enough(settings, str(case), k, got) for k, got in enumerate(outputs))
    return next((why for why in wrong if why), "")


@lru_cache(maxsize=1)
def _runner(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("cases_runner", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    for job in json.loads(Path(sys.argv[1]).read_text()):
        print(json.dumps({"name": job["name"]}), flush=True)
        try:
            message = check(job)
        except Exception as error:  # one broken network leaves the others
            message = f"{type(error).__name__}: {error}"
        print(json.dumps({"name": job["name"], "message": message}), flush=True)


if __name__ == "__main__":
    main()
