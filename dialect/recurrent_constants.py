"""The plain constants of an LSTM step, as LiteRT's kernel of 8-bit activations prepares them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import fixed_point as fx
from . import rescale
from .fixed_point import Ints
from .types import TensorType

GATE_FRACTION_BITS = 12
"""Gates are added in Q3.12."""


@dataclass(frozen=True)
class GateSums:
    """How the sums of one operand become Q3.12: multiplier and shift of each gate."""

    multipliers: tuple[int, ...]
    shifts: tuple[int, ...]


@dataclass(frozen=True)
class CellUpdate:
    """``[low, high](rdivpot(f * c, 15) + rdivpot(i * u, product_shift))``, the sum saturated."""

    product_shift: int
    low: int
    high: int


@dataclass(frozen=True)
class Hidden:
    """``[-128, 127](rescale(o * tanh(c)) + zero_point)``; the cell has ``integer_bits`` before its point."""

    integer_bits: int
    multiplier: int
    shift: int
    zero_point: int


@dataclass(frozen=True)
class Gate:
    """Multiplier and shift of each term of ``lstm_gate``: both sums, then the product with the peephole."""

    multipliers: tuple[int, ...]
    shifts: tuple[int, ...]


@dataclass(frozen=True)
class Normalization:
    """``rescale((deviations * weights + bias) / 2^10)``, deviations in Q10; ``variance`` is what stands for a
    smaller one than 1.
    """

    multiplier: int
    shift: int
    variance: int


def gate_of(operands: Sequence[TensorType], result: TensorType) -> Gate:
    """Ratios of scales to the result's, each one float32 quotient."""
    scales = [type_.params.scale for type_ in operands[:2]]
    if len(operands) > 2:
        scales.append(operands[2].params.scale * operands[3].params.scale)
    ratios = [float(np.float32(scale) / np.float32(result.params.scale)) for scale in scales]
    return Gate(*fx.quantize_multipliers(ratios))


def normalization(weights: TensorType) -> Normalization:
    """To Q3.12 from the weights' scale."""
    scale = weights.params.scale
    multiplier, shift = fx.quantize_multiplier(scale)
    return Normalization(
        multiplier, shift + GATE_FRACTION_BITS, max(1, int(np.float32(10000) * np.float32(scale)))
    )


def gates_of(sums: TensorType, cell: TensorType) -> int:
    return sums.shape[1] // cell.shape[1]


def gate_sums(sums: TensorType, cell: TensorType) -> GateSums:
    """Scales of the sums, which are float32 products, over 2^-12: exact."""
    gates = gates_of(sums, cell)
    scales = sums.params.scales if len(sums.params.scales) == gates else sums.params.scales * gates
    return GateSums(*fx.quantize_multipliers([math.ldexp(scale, GATE_FRACTION_BITS) for scale in scales]))


def cell_exponent(cell: TensorType) -> int:
    """The cell state's scale is two to this power."""
    return math.frexp(cell.params.scale)[1] - 1


def cell_update(cell: TensorType, clamp: rescale.Clamp) -> CellUpdate:
    return CellUpdate(30 + cell_exponent(cell), *rescale.clamp_bounds(cell.params, clamp))


def hidden(cell: TensorType, result: TensorType) -> Hidden:
    """scale = 2^-30 / s_y, rounded to float32."""
    scale = float(np.float32(2.0**-15) / np.float32(result.params.scale) * np.float32(2.0**-15))
    return Hidden(15 + cell_exponent(cell), *fx.quantize_multiplier(scale), result.params.zero_point)


def gate(sums: Ints, recurrent: Ints, first: GateSums, second: GateSums, number: int) -> Ints:
    """Gate ``number`` in Q3.12: each operand rescaled, saturated to 16 bits after each."""
    start = fx.multiply_double_rounding(sums, first.multipliers[number], first.shifts[number])
    more = fx.multiply_double_rounding(recurrent, second.multipliers[number], second.shifts[number])
    result: Ints = fx.saturate16(fx.saturate16(start) + more)
    return result
