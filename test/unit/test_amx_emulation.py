"""The emulated AMX instructions against what the manual says they do; and the hardware where it is there."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernel_runner
from random_tensors import seeds
from zeropoint.codegen import amx_permission
from zeropoint.kernels import amx_instructions as amx
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.writer import Writer

NO_AMX = amx_permission.why_not()
HOW = [
    pytest.param(
        True, marks=pytest.mark.skipif(not kernel_runner.has("amx"), reason="this CPU has no AVX512-VNNI")
    ),
    pytest.param(False, marks=pytest.mark.skipif(NO_AMX is not None, reason=f"AMX: {NO_AMX}")),
]
RESULT, LEFT, RIGHT = 2, 5, 7


def kernel(body: Callable[[Writer, list[str]], None], emulated: bool) -> tuple[Callable[..., None], object]:
    """``f(configuration, sums, left, right, result)``."""
    w = Writer(INSTRUCTION_SETS["amx"])
    body(w, [w.pointer(slot) for slot in range(5)])
    run, life = kernel_runner.load(kernel_runner.llvm_ir(w.text()), "amx", "amx", emulated)

    def call(*arrays: np.ndarray) -> None:
        row = np.array([array.ctypes.data for array in arrays], np.int64)
        run(row.ctypes.data, 0, 1)

    return call, life


def product(lhs_signed: bool, rhs_signed: bool, pitch: int) -> Callable[[Writer, list[str]], None]:
    def body(w: Writer, at: list[str]) -> None:
        amx.configure(w, at[0])
        amx.load(w, RESULT, at[1], w.index(64))
        amx.load(w, LEFT, at[2], w.index(pitch))
        amx.load(w, RIGHT, at[3], w.index(64))
        amx.dot(w, RESULT, LEFT, RIGHT, lhs_signed, rhs_signed)
        amx.store(w, RESULT, at[4], w.index(80))
        amx.release(w)

    return body


@cache
def product_kernel(
    lhs_signed: bool, rhs_signed: bool, pitch: int, emulated: bool
) -> tuple[Callable[..., None], object]:
    return kernel(product(lhs_signed, rhs_signed, pitch), emulated)


@pytest.mark.parametrize("emulated", HOW)
@pytest.mark.parametrize("signs", [(True, True), (True, False), (False, True), (False, False)])
@settings(max_examples=25, deadline=None)
@given(rows=st.integers(1, 16), seed=seeds, pitch=st.sampled_from([0, 64, 100]))
def test_products(emulated: bool, signs: tuple[bool, bool], rows: int, seed: int, pitch: int) -> None:
    rng = np.random.default_rng(seed)
    call, _life = product_kernel(*signs, pitch, emulated)
    types = [np.int8 if signed else np.uint8 for signed in signs]
    memory = rng.integers(0, 256, 64 + 15 * pitch, dtype=np.uint8)
    left = np.stack([memory[pitch * m : pitch * m + 64] for m in range(rows)]).view(types[0])
    right = rng.integers(0, 256, (16, 64), dtype=np.uint8).view(types[1])
    sums = rng.integers(-(2**31), 2**31, (16, 16)).astype(np.int32)  # they wrap
    result = np.full((16, 20), 77, np.int32)
    heights = [1] * amx.TILES
    heights[RESULT] = heights[LEFT] = rows
    heights[RIGHT] = 16
    call(amx.configuration(heights), sums, memory, right, result)
    columns = right.reshape(16, 16, 4).transpose(0, 2, 1).reshape(64, 16).astype(np.int64)
    expected = (sums[:rows] + left.astype(np.int64) @ columns).astype(np.int32)
    np.testing.assert_array_equal(result[:rows, :16], expected)
    assert (result[:, 16:] == 77).all()
    assert (result[rows:] == 77).all()


def wrong(what: str) -> Callable[[Writer, list[str]], None]:
    def body(w: Writer, at: list[str]) -> None:
        if what != "no configuration":
            amx.configure(w, at[0])
        amx.zero(w, RESULT)
        if what == "heights":
            amx.dot(w, RESULT, LEFT, RIGHT, True, True)
        if what == "same tile":
            amx.dot(w, RESULT, RESULT, RIGHT, True, True)
        if what != "no release":
            amx.release(w)
        if what == "after release":
            amx.zero(w, RESULT)

    return body


@pytest.mark.skipif(not kernel_runner.has("amx"), reason="this CPU has no AVX512-VNNI")
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("no configuration", "would have failed"),
        ("heights", "would have failed"),
        ("same tile", "would have failed"),
        ("after release", "would have failed"),
        ("no release", "not released"),
    ],
)
def test_what_the_cpu_refuses_is_noticed(what: str, message: str) -> None:
    call, _life = kernel(wrong(what), emulated=True)
    heights = [16] * amx.TILES
    if what == "heights":
        heights[LEFT] = 3
    with pytest.raises(AssertionError, match=message):
        call(amx.configuration(heights), *[np.zeros(1024, np.uint8)] * 4)


def test_a_configuration_is_as_the_manual_lays_it_out() -> None:
    packed = amx.configuration([16, 3, 0, 0, 0, 0, 0, 9])
    assert packed[0] == 1  # the palette
    assert not packed[1:16].any()  # start row, reserved
    assert packed[16:32].view(np.uint16).tolist() == [64] * 8
    assert packed[48:56].tolist() == [16, 3, 0, 0, 0, 0, 0, 9]
    assert not packed[32:48].any()
    assert not packed[56:].any()
