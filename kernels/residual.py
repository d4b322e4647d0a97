"""A residual addition inside an epilogue: on bytes in registers, as a separate kernel would find them in
memory.

All bytes are u8 here; those of a signed tensor are flipped (``q + 128``) and the constants moved. The sum is
the float32 form of :mod:`.float32_sum`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ..dialect.op_constants import Rescale, ShiftSum, Sum
from .aarch64_dots import behind
from .conv import Residual
from .elements import has_fused_multiply_add, rounds_toward_zero
from .float32_sum import Float32Sum, prove_sum
from .instruction_set import InstructionSet
from .instructions import cut_to_words, fused_multiply_add, narrow_to_bytes, shuffle_bytes
from .instructions.x86 import multiply_add_toward_zero
from .launch import Bytes, Code, Option
from .writer import Writer

HEADER_BYTES = 5 * 64
"""Of :func:`header`."""
NO_OPTIONS: tuple[tuple[str, Option], ...] = (
    ("residual", ""),
    ("other_signed", False),
    ("sum_signed", False),
    ("sum_clamps", False),
)


def unsigned_rescale(rescale: Rescale) -> Rescale:
    """Of results that are stored 128 higher."""
    return replace(
        rescale, zero_point=rescale.zero_point + 128, low=rescale.low + 128, high=rescale.high + 128
    )


def prove(residual: Residual, conv_signed: bool, isa: InstructionSet) -> Float32Sum | str:
    """The float32 form of the sum of u8, or the reason why there is none."""
    if not has_fused_multiply_add(isa):
        return "a residual, on an instruction set without fused multiply-adds"
    constants = _unsigned_sum(residual, conv_signed)
    found = prove_sum(constants, 0, 0, 0, fma_toward_zero=rounds_toward_zero(isa))
    return found or "a residual whose sum has no float32 form"


def _unsigned_sum(residual: Residual, conv_signed: bool) -> Sum | ShiftSum:
    signs = (conv_signed, residual.other_signed)
    lhs, rhs = (128 * sign for sign in (signs[::-1] if residual.conv_is_rhs else signs))
    sum_ = residual.constants
    moved = replace(sum_, lhs_zero_point=sum_.lhs_zero_point + lhs, rhs_zero_point=sum_.rhs_zero_point + rhs)
    if not residual.result_signed:
        return moved
    if isinstance(moved, Sum):
        return replace(moved, output=unsigned_rescale(moved.output))
    return replace(moved, zero_point=moved.zero_point + 128, low=moved.low + 128, high=moved.high + 128)


def options(residual: Residual, found: Float32Sum) -> tuple[tuple[str, Option], ...]:
    # The inner product is rhs's, unless they are swapped.
    conv_is_inner = residual.conv_is_rhs != found.swapped
    bounds = _bounds(residual)
    return (
        ("residual", "conv-inside" if conv_is_inner else "conv-outside"),
        ("other_signed", residual.other_signed),
        ("sum_signed", residual.result_signed),
        ("sum_clamps", bounds != (0, 255)),
    )


def _bounds(residual: Residual) -> tuple[int, int]:
    """Low and high of the sum, as u8."""
    sum_ = residual.constants
    limits = sum_.output if isinstance(sum_, Sum) else sum_
    shift = 128 if residual.result_signed else 0
    return limits.low + shift, limits.high + shift


def header(residual: Residual, found: Float32Sum) -> Bytes:
    """Lines of the conv's factor, the other's, the addend, in float32; low and high in bytes."""
    factors = (found.lhs_factor, found.rhs_factor)
    numbers = (*(factors[::-1] if residual.conv_is_rhs else factors), found.addend)
    lines = [np.full(16, number, np.float32).view(np.uint8) for number in numbers]
    lines += [np.full(64, bound, np.uint8) for bound in _bounds(residual)]
    return np.concatenate(lines)


class ResidualSum:
    """Adds bytes to bytes. The header's numbers are loaded where it is made."""

    def __init__(self, w: Writer, code: Code, header: str) -> None:
        self.w = w
        self.conv_inside = code["residual"] == "conv-inside"
        self.flips_other, self.flips_sum = bool(code["other_signed"]), bool(code["sum_signed"])
        self.numbers = [w.load(w.at(header, 64 * i), w.f32, volatile=True) for i in range(3)]
        places = (3, 4) if code["sum_clamps"] else ()
        self.bounds = [w.load(w.at(header, 64 * i), w.i8, volatile=True) for i in places]

    def add_all(self, convs: Sequence[str], others: Callable[[int], str]) -> Iterator[str]:
        """To each of some vectors the one that ``others(i)`` loads."""
        w, before = self.w, convs[1:]
        for i, conv in enumerate(convs):
            if w.isa.architecture == "aarch64":
                # One after the other, and when all of them are there: LLVM would have too much in registers.
                for value in before:
                    conv = behind(w, conv, w.bitcast(value, w.i8, w.i32))
            total = self.add(conv, others(i))
            before = [total]
            yield total

    def add(self, conv: str, other: str) -> str:
        """Two whole vectors of bytes."""
        w = self.w
        flip = w.splat(-128, w.i8)
        if self.flips_other:
            other = w.binary("xori", other, flip, w.i8)
        multiply_add = multiply_add_toward_zero if rounds_toward_zero(w.isa) else fused_multiply_add
        conv_factor, other_factor, addend = self.numbers
        sums = []
        for quarter in range(4):
            terms = [
                (self._widen(conv, quarter), conv_factor),
                (self._widen(other, quarter), other_factor),
            ]
            inner, outer = terms if self.conv_inside else terms[::-1]
            total = multiply_add(w, *outer, multiply_add(w, *inner, addend))
            sums.append(w.op(f"arith.fptosi {total} : {w.f32} to {w.i32}"))
        words = [cut_to_words(w, *sums[i : i + 2]) for i in (0, 2)]  # factors are at most four
        value = narrow_to_bytes(w, words[0], words[1], signed=False)
        for name, bound in zip(("maxui", "minui"), self.bounds, strict=False):
            value = w.binary(name, value, bound, w.i8)
        return w.binary("xori", value, flip, w.i8) if self.flips_sum else value

    def _widen(self, value: str, quarter: int) -> str:
        """Four bytes of every 128 bits as float32, in the order that narrowing undoes."""
        w = self.w
        table = [4 * quarter + byte // 4 if byte % 4 == 0 else -128 for byte in range(16)] * (w.lanes // 4)
        lanes = w.constant(f"dense<[{', '.join(map(str, table))}]> : {w.i8}")
        wide = w.bitcast(shuffle_bytes(w, value, lanes), w.i8, w.i32)
        return w.op(f"arith.sitofp {wide} : {w.i32} to {w.f32}")
