"""What this machine can do at most: int8 dot products, and reads from each level of memory, on one core.

Measured with loops of our own, so that a kernel's time can be put in relation to what its arithmetic and the
bytes it moves need at least. The loops say nothing about a second core.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

ACCUMULATORS = 12
"""Independent sums: as many as latency times throughput of the instructions (4 to 6 cycles, 2 per cycle)."""
READ_SIZES = (16 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20)
"""Powers of two; in between, the bandwidth is interpolated."""
READ_STEP = 512
READ_BYTES = 16 << 20
"""One timed call reads at least so much: a call costs as much as reading some 10 KB."""
DOT_STEPS = 100_000
REPEATS = 25

Bound = Literal["arithmetic", "memory"]


@dataclass(frozen=True)
class Ceilings:
    """Of one core: ``dot_product`` in multiply-accumulates per second, None where no instruction is known for
    it; ``reads`` as pairs of a working set in bytes and bytes per second, empty if nothing could be measured.
    """

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

    def of_step(
        self, macs: int, constant_bytes: int, activation_bytes: int, network_bytes: int
    ) -> tuple[float, Bound] | None:
        """The seconds that one step of a network takes at least on one core, and what they are needed for.

        Constants were read last an inference ago, so they come from where all of the network's bytes fit;
        activations have just been written, and come from where they fit themselves.
        """
        least: list[tuple[float, Bound]] = []
        if self.dot_product is not None and macs:
            least.append((macs / self.dot_product, "arithmetic"))
        far, near = self.read_bandwidth(network_bytes), self.read_bandwidth(activation_bytes)
        if far is not None and near is not None and constant_bytes + activation_bytes:
            least.append((constant_bytes / far + activation_bytes / near, "memory"))
        return max(least, default=None)


@dataclass(frozen=True)
class _Dot:
    """How a machine multiplies bytes in vectors of ``bits``.

    ``body`` is LLVM IR of one step into accumulator ``i``: from the sums ``%a<i>`` and the vector ``%x`` it
    makes ``%b<i>``. A product of constants would be computed once, so one without a sum inside takes the
    sum so far as a factor.
    """

    features: frozenset[str]
    bits: int
    macs: int
    """Multiply-accumulates of a step."""
    operand: str
    """The type of ``%x``."""
    body: str
    declaration: str

    @property
    def sums(self) -> str:
        return f"<{self.bits // 32} x i32>"


def _summing(features: str, bits: int, call: str, macs_per_lane: int = 4) -> _Dot:
    """An instruction that adds products of bytes to i32 sums."""
    sums, bytes_ = f"<{bits // 32} x i32>", f"<{bits // 8} x i8>"
    return _Dot(
        frozenset(features.split()),
        bits,
        bits // 32 * macs_per_lane,
        bytes_,
        f"  %b<i> = call {sums} @{call}({sums} %a<i>, {bytes_} %x, {bytes_} %x)",
        f"declare {sums} @{call}({sums}, {bytes_}, {bytes_})",
    )


def _pairs(features: str, bits: int, call: str) -> _Dot:
    """An x86 instruction that sums two products of i16 (bytes, widened), to be added by another one."""
    sums, words = f"<{bits // 32} x i32>", f"<{bits // 16} x i16>"
    return _Dot(
        frozenset(features.split()),
        bits,
        bits // 16,
        words,
        f"  %v<i> = bitcast {sums} %a<i> to {words}\n"
        f"  %p<i> = call {sums} @{call}({words} %x, {words} %v<i>)\n"
        f"  %b<i> = add {sums} %a<i>, %p<i>",
        f"declare {sums} @{call}({words}, {words})",
    )


# Two products of bytes in i16 lanes, added up in pairs: smull, smlal, sadalp.
_NEON = _Dot(
    frozenset({"neon"}),
    128,
    16,
    "<8 x i8>",
    "  %w<i> = bitcast <4 x i32> %a<i> to <16 x i8>\n"
    "  %v<i> = shufflevector <16 x i8> %w<i>, <16 x i8> poison, <8 x i32> "
    "<i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>\n"
    "  %p<i> = call <8 x i16> @llvm.aarch64.neon.smull.v8i16(<8 x i8> %x, <8 x i8> %v<i>)\n"
    "  %q<i> = call <8 x i16> @llvm.aarch64.neon.smull.v8i16(<8 x i8> %v<i>, <8 x i8> %v<i>)\n"
    "  %r<i> = add <8 x i16> %p<i>, %q<i>\n"
    "  %t<i> = call <4 x i32> @llvm.aarch64.neon.saddlp.v4i32.v8i16(<8 x i16> %r<i>)\n"
    "  %b<i> = add <4 x i32> %a<i>, %t<i>",
    "declare <8 x i16> @llvm.aarch64.neon.smull.v8i16(<8 x i8>, <8 x i8>)\n"
    "declare <4 x i32> @llvm.aarch64.neon.saddlp.v4i32.v8i16(<8 x i16>)",
)

_DOTS = (
    _summing("avx512f avx512vnni", 512, "llvm.x86.avx512.vpdpbusd.512"),
    _summing("avxvnni", 256, "llvm.x86.avx512.vpdpbusd.256"),
    _pairs("avx512f avx512bw", 512, "llvm.x86.avx512.pmaddw.d.512"),
    _pairs("avx2", 256, "llvm.x86.avx2.pmadd.wd"),
    _pairs("sse2", 128, "llvm.x86.sse2.pmadd.wd"),
    _summing("neon i8mm", 128, "llvm.aarch64.neon.smmla.v4i32.v16i8", 8),
    _summing("neon dotprod", 128, "llvm.aarch64.neon.sdot.v4i32.v16i8"),
    _NEON,
)
"""The first one whose features the machine has is its best. AMX's tiles are not among them."""


@functools.lru_cache(maxsize=1)
def ceilings() -> Ceilings:
    """Of the core this process runs on; measured at the first call, which takes about half a second."""
    return measure()


def measure() -> Ceilings:
    """On the core this thread runs on; nothing is measured where there is no LLVM."""
    try:
        from ..codegen.machine import host
    except ImportError:
        return Ceilings(None, ())
    features = {name[1:] for name in host().features.split(",") if name.startswith("+")}
    dot = next((dot for dot in _DOTS if dot.features <= features), None)
    memory = np.ones(max(READ_SIZES) + 64, np.uint8)
    address = memory.ctypes.data + -memory.ctypes.data % 64
    return Ceilings(None if dot is None else dot_speed(dot, address), _read_speeds(address))


def dot_speed(dot: _Dot, address: int) -> float:
    """Multiply-accumulates per second of an instruction on registers."""
    call, _code = _compiled(_dot_ir(dot), "dot")
    return DOT_STEPS * ACCUMULATORS * dot.macs / _least(functools.partial(call, DOT_STEPS, address, 0))


def _read_speeds(address: int) -> tuple[tuple[int, float], ...]:
    call, _code = _compiled(_read_ir(), "read")
    speeds = []
    for size in READ_SIZES:
        blocks = max(size, READ_BYTES) // READ_STEP
        seconds = _least(functools.partial(call, blocks, address, size // READ_STEP - 1))
        speeds.append((size, blocks * READ_STEP / seconds))
    return tuple(speeds)


def _dot_ir(dot: _Dot) -> str:
    """``dot(steps, data, unused)``: in each step one dot product into each of the accumulators."""
    body = [dot.body.replace("<i>", str(i)) for i in range(ACCUMULATORS)]
    entry = [f"  %x = load {dot.operand}, ptr %data, align 64"]
    return _function("dot", dot.sums, ACCUMULATORS, entry, body, dot.declaration)


def _read_ir() -> str:
    """``read(steps, data, mask)``: each step loads 512 bytes, at block ``step & mask``."""
    body = [
        "  %block = and i64 %i, %mask",
        f"  %at = getelementptr [{READ_STEP} x i8], ptr %data, i64 %block",
    ]
    for i in range(8):
        body.append(f"  %p{i} = getelementptr i8, ptr %at, i64 {64 * i}")
        body.append(f"  %v{i} = load <16 x i32>, ptr %p{i}, align 64")
        body.append(f"  %b{i} = add <16 x i32> %a{i}, %v{i}")
    return _function("read", "<16 x i32>", 8, [], body)


def _function(
    name: str, lanes: str, sums: int, entry: Sequence[str], body: Sequence[str], declaration: str = ""
) -> str:
    """A loop whose ``body`` makes ``%b<i>`` of the sums ``%a<i>``; they are all needed."""
    phis = [f"  %a{i} = phi {lanes} [ zeroinitializer, %entry ], [ %b{i}, %loop ]" for i in range(sums)]
    totals = [f"  %s0 = add {lanes} zeroinitializer, %b0"]
    totals += [f"  %s{i} = add {lanes} %s{i - 1}, %b{i}" for i in range(1, sums)]
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
            *totals,
            f"  %lane = extractelement {lanes} %s{sums - 1}, i32 0",
            "  ret i32 %lane",
            "}",
        ]
    )


def _compiled(text: str, name: str) -> tuple[Callable[[int, int, int], Any], Any]:
    """The function ``name``, and what must stay alive while it is called."""
    from ..codegen.llvm import to_object
    from ..codegen.loader import load
    from ..codegen.machine import host

    code = load({name: to_object(text, host(), optimize=False)})
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
    return prototype(code.address(name, name)), code


def _least(call: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best
