#!/usr/bin/env python3
"""Run the shared model cases, where they lie beside the project, for the operator families Zeropoint
supports.

    python test/run_shared_cases.py ../shared/cases [--pipeline reference]

The folder's own runner does the work, one process per family so that the output names what failed. A case
that is
expected to fail stands in EXPECTED_FAILURES with its reason; it is an error when such a case passes.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FAMILIES = (
    "bad_tfl_*",
    "tfl_conv_*",
    "tfl_dwconv_*",
    "tfl_fc_*",
    "tfl_sparse_*",
    "tfl_transpose_conv_*",
    "tfl_add_*",
    "tfl_mul_*",
    "tfl_*pool*",
    "tfl_concat_*",
    "tfl_pad*",
    "tfl_reshape_*",
    "tfl_quantize_*",
    "tfl_requantize_*",
    "tfl_dequantize_*",
    "tfl_softmax_*",
    "tfl_logistic_*",
    "tfl_if*",
    "tfl_while*",
)

EXPECTED_FAILURES: dict[str, str] = {}
"""Pattern -> reason."""


def run_family(cases: Path, family: str, environment: dict[str, str]) -> dict[str, dict[str, str]]:
    """The runner's verdict on every case of ``family``."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, str(cases / "run.py"), "--format", "tflite", "--only", family]
        subprocess.run(
            [*command, "--json", str(result)], env=environment, stdout=subprocess.DEVNULL, check=False
        )
        verdicts: dict[str, dict[str, str]] = json.loads(result.read_text()) if result.exists() else {}
    return verdicts


def expected_failure(name: str) -> str | None:
    """Why ``name`` may fail, or None."""
    return next((why for pattern, why in EXPECTED_FAILURES.items() if fnmatch.fnmatch(name, pattern)), None)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", type=Path, help="the folder of cases, with its run.py")
    parser.add_argument("--pipeline", default="optimized", help="how to compile (default: optimized)")
    arguments = parser.parse_args()
    environment = {**os.environ, "ZEROPOINT_CASE_PIPELINE": arguments.pipeline}
    passed = failed = skipped = 0
    for family in FAMILIES:
        for name, verdict in sorted(run_family(arguments.cases.resolve(), family, environment).items()):
            why = expected_failure(name)
            if verdict["status"] == "skip" or (why and verdict["status"] == "fail"):
                skipped += 1
            elif verdict["status"] == "pass" and why is None:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {name}: {verdict['message'] or f'passes, but is listed as failing: {why}'}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
