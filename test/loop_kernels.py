"""A kernel family for tests: scalar loops for every window under XNNPACK's rounding."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from zeropoint.dialect.numerics import Rounding
from zeropoint.passes.vectorize_kernels.spec import ConvSpec


class Loops:
    """Remembers the descriptions that it wrote code for: in order, and by code."""

    def __init__(self) -> None:
        self.emitted: dict[str, ConvSpec] = {}
        self.specs: list[ConvSpec] = []

    def supports(self, spec: ConvSpec) -> str | None:
        return None if spec.rescale.rounding is Rounding.FLOAT32_HALF_EVEN else "only XNNPACK's rounding"

    def pack(
        self, spec: ConvSpec, filter: npt.NDArray[Any], bias: npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """The filter less its zero points as i16, channels last; biases, then scales."""
        assert filter.dtype == (np.int8 if spec.filter_signed else np.uint8)
        last = filter if spec.kind == "depthwise_conv2d" else np.moveaxis(filter, 0, -1)
        assert last.shape[-1] == spec.out_channels
        centred = (last - np.asarray(spec.filter_zero_points)).astype(np.int16)
        scales = np.broadcast_to(np.float32(spec.rescale.scales), bias.shape)
        parameters = np.concatenate([bias, scales.copy().view(np.int32)])
        return np.ascontiguousarray(centred).reshape(-1).view(np.uint8), parameters.view(np.uint8)

    def emit(self, name: str, spec: ConvSpec) -> str:
        depthwise = spec.kind == "depthwise_conv2d"
        (sh, sw), (dh, dw) = spec.strides, spec.dilations
        rescale, extend = spec.rescale, "extsi" if spec.input_signed else "extui"
        low, high = rescale.low - rescale.zero_point, rescale.high - rescale.zero_point
        depth = 1 if depthwise else spec.in_channels
        numbers = {0, 1, 2, 4, spec.batch, spec.in_height, spec.in_width, spec.in_channels, spec.out_height}
        numbers |= {spec.out_width, spec.out_channels, spec.kernel_height, spec.kernel_width, sh, sw, dh, dw}
        numbers |= {depth, spec.out_channels // spec.in_channels or 1}
        constants = "\n".join(f"%c{n} = arith.constant {n} : i64" for n in sorted(numbers))
        channel = (
            f"%ch = arith.divui %o, %c{spec.out_channels // spec.in_channels} : i64"
            if depthwise
            else "%ch = arith.addi %c, %c0 : i64"
        )
        counter = _Sums()
        row = counter.sum(("%y", sh), ("%i", dh))
        column = counter.sum(("%v", sw), ("%j", dw))
        read = counter.nested(("%n", spec.in_height), (row, spec.in_width), (column, spec.in_channels), "%ch")
        weight = counter.nested(("%i", spec.kernel_width), ("%j", depth), ("%c", spec.out_channels), "%o")
        inner = counter.take()
        written = counter.nested(
            ("%n", spec.out_height), ("%y", spec.out_width), ("%v", spec.out_channels), "%o"
        )
        outer = counter.take()
        text = f"""
func.func private @{name}(%x: !llvm.ptr, %w: !llvm.ptr, %p: !llvm.ptr, %out: !llvm.ptr) {{
  {constants}
  %low = arith.constant {float(low)} : f32
  %high = arith.constant {float(high)} : f32
  %zero_point = arith.constant {rescale.zero_point} : i32
  scf.for %n = %c0 to %c{spec.batch} step %c1 : i64 {{
  scf.for %y = %c0 to %c{spec.out_height} step %c1 : i64 {{
  scf.for %v = %c0 to %c{spec.out_width} step %c1 : i64 {{
  scf.for %o = %c0 to %c{spec.out_channels} step %c1 : i64 {{
    %bias_at = llvm.getelementptr %p[%o] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %bias = llvm.load %bias_at : !llvm.ptr -> i32
    %sum = scf.for %i = %c0 to %c{spec.kernel_height} step %c1 iter_args(%a0 = %bias) -> (i32) : i64 {{
      %sum_i = scf.for %j = %c0 to %c{spec.kernel_width} step %c1 iter_args(%a1 = %a0) -> (i32) : i64 {{
        %sum_j = scf.for %c = %c0 to %c{depth} step %c1 iter_args(%a2 = %a1) -> (i32) : i64 {{
          {channel}
          {inner}
          %x_at = llvm.getelementptr %x[{read}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %x8 = llvm.load %x_at : !llvm.ptr -> i8
          %x32 = arith.{extend} %x8 : i8 to i32
          %w_at = llvm.getelementptr %w[{weight}] : (!llvm.ptr, i64) -> !llvm.ptr, i16
          %w16 = llvm.load %w_at : !llvm.ptr -> i16
          %w32 = arith.extsi %w16 : i16 to i32
          %product = arith.muli %x32, %w32 : i32
          %more = arith.addi %a2, %product : i32
          scf.yield %more : i32
        }}
        scf.yield %sum_j : i32
      }}
      scf.yield %sum_i : i32
    }}
    %scales = llvm.getelementptr %p[%c{spec.out_channels}] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %scale_at = llvm.getelementptr %scales[%o] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %scale = llvm.load %scale_at : !llvm.ptr -> f32
    %real = arith.sitofp %sum : i32 to f32
    %scaled = arith.mulf %real, %scale : f32
    %rounded = llvm.intr.roundeven(%scaled) : (f32) -> f32
    %above = arith.maximumf %rounded, %low : f32
    %inside = arith.minimumf %above, %high : f32
    %integer = arith.fptosi %inside : f32 to i32
    %moved = arith.addi %integer, %zero_point : i32
    %byte = arith.trunci %moved : i32 to i8
    {outer}
    %out_at = llvm.getelementptr %out[{written}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    llvm.store %byte, %out_at : i8, !llvm.ptr
  }} }} }} }}
  return
}}
"""
        self.emitted[text] = spec
        self.specs.append(spec)
        return text


class _Sums:
    """Index arithmetic as text; factors are the constants ``%c<number>``."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0

    def take(self) -> str:
        lines, self._lines = self._lines, []
        return "\n".join(lines)

    def sum(self, *terms: tuple[str, int]) -> str:
        """The sum of value * factor."""
        total = "%c0"
        for value, factor in terms:
            total = self._op("addi", total, self._op("muli", value, f"%c{factor}"))
        return total

    def nested(self, *parts: Any) -> str:
        """The position in an array of the index ``a, b, ..., last``; each but the last with the extent of the
        next.
        """
        total = parts[0][0]
        for (_, extent), following in pairwise(parts):
            value = following if isinstance(following, str) else following[0]
            total = self._op("addi", self._op("muli", total, f"%c{extent}"), value)
        return total

    def _op(self, name: str, lhs: str, rhs: str) -> str:
        self._count += 1
        self._lines.append(f"%t{self._count} = arith.{name} {lhs}, {rhs} : i64")
        return f"%t{self._count}"
