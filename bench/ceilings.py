"""The ceilings of one core of this machine; ``python -m bench.ceilings [CPU]`` prints them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from zeropoint.runtime.ceilings import Ceilings, measure


def measure_on(cpu: int) -> Ceilings:
    """In a process of its own, pinned to ``cpu``: the parent keeps its own affinity."""
    command = [sys.executable, "-m", f"{__package__}.ceilings", str(cpu)]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)
    document = json.loads(done.stdout)
    return Ceilings(document["dot_product"], tuple((size, speed) for size, speed in document["reads"]))


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    if words:
        os.sched_setaffinity(0, {int(words[0])})
    found = measure()
    print(json.dumps({"dot_product": found.dot_product, "reads": found.reads}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
