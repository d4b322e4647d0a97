"""Products of two computed matrices: packed, then multiplied, against numpy, bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner as runner
from random_tensors import seeds
from zeropoint.dialect import fixed_point as fx
from zeropoint.dialect.numerics import Rounding
from zeropoint.dialect.op_constants import Rescale
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch
from zeropoint.kernels.matrix_product import MatrixProduct
from zeropoint.kernels.pack_matrix import PackMatrix, plan

ISAS = runner.each_of("avx512vnni", "avxvnni")
Array = np.ndarray[Any, Any]


def rescale_of(rng: np.random.Generator, depth: int, signed: bool) -> Rescale:
    scale = float(2.0 ** rng.uniform(-3, 2) / (127 * 60 * depth**0.5) * 127)
    rounding = [Rounding.DOUBLE, Rounding.FLOAT32_HALF_EVEN][int(rng.integers(0, 2))]
    scale = min(fx.float32(scale), 0.99)
    multiplier, shift = fx.quantize_multiplier(scale)
    low, high = (-128, 127) if signed else (0, 255)
    zero_point = int(rng.choice([low, low + 100, high]))
    return Rescale(rounding, (scale,), (multiplier,), (shift,), zero_point, low, high)


def run(spec: Any, isa: str, inputs: list[Array], size: int, pieces: int) -> Array:
    launch = runner.launch_of(spec, isa)
    assert isinstance(launch, Launch), launch
    result = runner.aligned(size)
    result[:] = 0xA5
    runner.run(launch, inputs, [result], pieces)
    return result


@pytest.mark.parametrize("isa", ISAS)
@settings(max_examples=60, deadline=None)
@given(seed=seeds, transposed=st.booleans(), repeats=st.booleans(), pieces=st.integers(1, 4))
def test_products(isa: str, seed: int, transposed: bool, repeats: bool, pieces: int) -> None:
    rng = np.random.default_rng(seed)
    batch, rows = int(rng.integers(1, 4)), int(rng.choice([1, 2, 5, 6, 7, 16, 23]))
    depth, columns = (
        int(rng.choice([1, 3, 4, 17, 64, 66, 127])),
        int(rng.choice([32, 33, 50, 63, 64, 65, 130])),
    )
    left, right = int(rng.integers(0, 256)), int(rng.choice([0, 0, -128, 127, 5]))
    signed = bool(rng.integers(0, 2))
    rescale = rescale_of(rng, depth, signed)
    lhs = rng.integers(0, 256, (1 if repeats else batch, rows, depth)).astype(np.uint8)
    shape = (batch, columns, depth) if transposed else (batch, depth, columns)
    rhs = rng.integers(-128, 128, shape).astype(np.int8)
    pack = PackMatrix(batch, depth, columns, transposed, left, depth * left * right)
    product = MatrixProduct(batch, rows, depth, columns, repeats, left, right, signed, rescale)
    sources = [runner.aligned(array.nbytes) for array in (lhs, rhs)]
    for source, array in zip(sources, (lhs, rhs), strict=True):
        source[:] = array.reshape(-1).view(np.uint8)
    packed = run(pack, isa, [sources[1]], pack.most_bytes, pieces)
    result = run(product, isa, [sources[0], packed], batch * rows * columns, pieces)
    matrix = rhs.swapaxes(1, 2) if transposed else rhs
    total = (lhs.astype(np.int64) - left) @ (matrix.astype(np.int64) - right)
    expected = rescale.apply(fx.wrap_int32(total))
    actual = result.view(np.int8 if signed else np.uint8).reshape(expected.shape)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("isa", "columns", "reason"), [("avx2", 64, "without dot"), ("avx512vnni", 31, "fewer")]
)
def test_reasons(isa: str, columns: int, reason: str) -> None:
    launch = plan(PackMatrix(1, 8, columns, False, 0, 0), INSTRUCTION_SETS[isa])
    assert isinstance(launch, str)
    assert reason in launch


def test_room_for_the_packed_matrix() -> None:
    """Whatever the layout, with what is read behind its end."""
    for isa in ("avx512vnni", "avxvnni"):
        for columns in (32, 33, 63, 64, 65, 127, 200):
            spec = PackMatrix(3, 33, columns, False, 0, 0)
            launch = plan(spec, INSTRUCTION_SETS[isa])
            assert isinstance(launch, Launch)
            panel_bytes = launch.scalars[6]
            assert launch.units * panel_bytes <= spec.most_bytes
