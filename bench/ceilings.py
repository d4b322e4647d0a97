"""What this machine can do at most: int8 dot products, and reads from each level of memory, on one core.

Measured with two loops of our own, so that a network's time can be put in relation to what its arithmetic and
its weights need at least. ``python -m bench.ceilings`` prints them.
"""

from __future__ import annotations

import ctypes
import functools
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ACCUMULATORS = 12
"""Independent sums: more than latency times throughput of the dot product (4 or 5 cycles, 2 per cycle)."""
MACS_PER_STEP = ACCUMULATORS * 64
READ_SIZES = (16 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20)
"""Powers of two; in between, the bandwidth is interpolated."""
READ_STEP = 512
READ_BYTES = 4 << 20
"""One timed call reads at least so much: a call costs as much as reading some 10 KB."""
REPEATS = 15


@dataclass(frozen=True)
class Ceilings:
    """Of one core: ``dot_product`` in multiply-accumulates per second, ``reads`` as pairs of a working set in
    bytes and bytes per second. None and empty without AVX512-VNNI, which the loops are made for."""

    dot_product: float | None
    reads: tuple[tuple[int, float], ...]

    def read_bandwidth(self, size: int) -> float | None:
        """Bytes per second of reading ``size`` bytes again and again, interpolated where not measured."""
        if not self.reads:
            return None
        sizes, speeds = zip(*self.reads, strict=True)
        return float(np.interp(np.log(max(size, 1)), np.log(sizes), speeds))

    def least_seconds(self, macs: int, weight_bytes: int, threads: int) -> float | None:
        """What one inference takes at least on ``threads`` cores: for its arithmetic or its weights."""
        if self.dot_product is None:
            return None
        bandwidth = self.read_bandwidth(weight_bytes // threads)
        assert bandwidth is not None
        return max(macs / self.dot_product, weight_bytes / bandwidth) / threads


def dot_product_ir() -> str:
    """``dot(steps, data, unused)``: in each step one vpdpbusd into each of the accumulators."""
    phis, body, sums = [], [], []
    for i in range(ACCUMULATORS):
        phis.append(f"  %a{i} = phi <16 x i32> [ zeroinitializer, %entry ], [ %b{i}, %loop ]")
        body.append(
            f"  %b{i} = call <16 x i32> @llvm.x86.avx512.vpdpbusd.512"
            f"(<16 x i32> %a{i}, <64 x i8> %x, <64 x i8> %y)"
        )
        previous = f"%s{i - 1}" if i else "zeroinitializer"
        sums.append(f"  %s{i} = add <16 x i32> {previous}, %b{i}")
    return _function(
        "dot",
        "declare <16 x i32> @llvm.x86.avx512.vpdpbusd.512(<16 x i32>, <64 x i8>, <64 x i8>)",
        ["  %y.at = getelementptr i8, ptr %data, i64 64"]
        + [f"  %{v} = load <64 x i8>, ptr %{p}, align 64" for v, p in (("x", "data"), ("y", "y.at"))],
        phis,
        body,
        sums,
    )


def read_ir() -> str:
    """``read(steps, data, mask)``: each step loads 512 bytes, at block ``step & mask``."""
    phis, sums = [], []
    body = [
        "  %block = and i64 %i, %mask",
        f"  %at = getelementptr [{READ_STEP} x i8], ptr %data, i64 %block",
    ]
    for i in range(8):
        phis.append(f"  %a{i} = phi <16 x i32> [ zeroinitializer, %entry ], [ %b{i}, %loop ]")
        body.append(f"  %p{i} = getelementptr i8, ptr %at, i64 {64 * i}")
        body.append(f"  %v{i} = load <16 x i32>, ptr %p{i}, align 64")
        body.append(f"  %b{i} = add <16 x i32> %a{i}, %v{i}")
        previous = f"%s{i - 1}" if i else "zeroinitializer"
        sums.append(f"  %s{i} = add <16 x i32> {previous}, %b{i}")
    return _function("read", "", [], phis, body, sums)


def _function(
    name: str, declaration: str, entry: list[str], phis: list[str], body: list[str], sums: list[str]
) -> str:
    last = sums[-1].split()[0]
    return "\n".join(
        [
            declaration,
            f"define i32 @{name}(i64 %steps, ptr %data, i64 %mask) {{",
            "entry:",
            *entry,
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *phis,
            *body,
            "  %next = add i64 %i, 1",
            "  %more = icmp ult i64 %next, %steps",
            "  br i1 %more, label %loop, label %done",
            "done:",
            *sums,
            f"  %lane = extractelement <16 x i32> {last}, i32 0",
            "  ret i32 %lane",
            "}",
        ]
    )


def _compiled(ir: str, name: str) -> tuple[Callable[[int, int, int], Any], Any]:
    """The function, and what must stay alive while it is called."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(ir), machine)
    engine.finalize_object()
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    return prototype(engine.get_function_address(name)), engine


def _least(call: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def measure() -> Ceilings:
    """On the core this process runs on; takes about half a second."""
    import llvmlite.binding as llvm

    if not llvm.get_host_cpu_features().get("avx512vnni", False):
        return Ceilings(None, ())
    memory = np.ones(max(READ_SIZES) + 64, np.uint8)
    address = memory.ctypes.data + -memory.ctypes.data % 64
    dot, keep_dot = _compiled(dot_product_ir(), "dot")
    read, keep_read = _compiled(read_ir(), "read")
    steps = 100_000
    dot_product = steps * MACS_PER_STEP / _least(functools.partial(dot, steps, address, 0))
    reads = []
    for size in READ_SIZES:
        blocks = max(size, READ_BYTES) // READ_STEP
        seconds = _least(functools.partial(read, blocks, address, size // READ_STEP - 1))
        reads.append((size, blocks * READ_STEP / seconds))
    del keep_dot, keep_read
    return Ceilings(dot_product, tuple(reads))


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
