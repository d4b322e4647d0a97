"""Executables: what goes in, what comes out, and what is refused; threads; memory."""

from __future__ import annotations

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import zeropoint as zp
from zeropoint.dialect.context import parse_module
from zeropoint.dialect.evaluate import evaluate_module

Array: TypeAlias = npt.NDArray[Any]

NETWORK = """
!x = !quant.uniform<i8:f32, 5.0e-01:3>
!w = !quant.uniform<i8:f32, 2.5e-01>
!y = !quant.uniform<i8:f32, 4.0>
func.func @main(
    %image: tensor<1x6x6x4x!x> {qnn.name = "image"}, %bias: tensor<1x6x6x8x!y> {qnn.name = "shift"})
    -> (tensor<1x6x6x8x!y> {qnn.name = "sum"}, tensor<1x3x3x8x!y> {qnn.name = "pooled"}) {
  %w = "qnn.constant"() {value = dense<2> : tensor<8x3x3x4xi8>} : () -> tensor<8x3x3x4x!w>
  %conv = "qnn.conv2d"(%image, %w) {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      groups = 1 : i64, padding = array<i64: 1, 1, 1, 1>, clamp = array<f32>,
      operandSegmentSizes = array<i32: 1, 1, 0>}
      : (tensor<1x6x6x4x!x>, tensor<8x3x3x4x!w>) -> tensor<1x6x6x8x!y> loc("conv")
  %sum = "qnn.add"(%conv, %bias) {clamp = array<f32>}
      : (tensor<1x6x6x8x!y>, tensor<1x6x6x8x!y>) -> tensor<1x6x6x8x!y> loc("sum")
  %pooled = "qnn.max_pool2d"(%sum) {window = array<i64: 2, 2>, strides = array<i64: 2, 2>,
      padding = array<i64: 0, 0, 0, 0>, clamp = array<f32>}
      : (tensor<1x6x6x8x!y>) -> tensor<1x3x3x8x!y> loc("pooled")
  return %sum, %pooled : tensor<1x6x6x8x!y>, tensor<1x3x3x8x!y>
}
"""


def load(text: str = NETWORK) -> zp.Model:
    return zp.Model.from_module(parse_module(text), "network.mlir")


@pytest.fixture(scope="module")
def model() -> zp.Model:
    return load()


@pytest.fixture(scope="module")
def executable(model: zp.Model) -> zp.Executable:
    return zp.compile(model, cache=False)


def random_inputs(seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.integers(-128, 128, shape, np.int8) for shape in ((1, 6, 6, 4), (1, 6, 6, 8))]


def assert_same(left: list[Array], right: list[Array]) -> None:
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_results_equal_the_meaning(model: zp.Model, executable: zp.Executable) -> None:
    for seed in range(5):
        inputs = random_inputs(seed)
        assert_same(executable.run(*inputs), evaluate_module(model.module, inputs))


def test_model_is_not_changed_by_compiling(model: zp.Model) -> None:
    before = model.text()
    zp.compile(model, cache=False, keep_intermediates=True)
    assert model.text() == before


def test_inputs_and_outputs_are_described(executable: zp.Executable) -> None:
    assert [i.name for i in executable.inputs] == ["image", "shift"]
    assert [(o.name, o.shape, o.dtype) for o in executable.outputs] == [
        ("sum", (1, 6, 6, 8), np.int8),
        ("pooled", (1, 3, 3, 8), np.int8),
    ]
    assert (executable.inputs[0].scale, executable.inputs[0].zero_point) == (0.5, 3)


def test_executable_says_what_it_is(executable: zp.Executable) -> None:
    assert repr(executable) == (
        "<Executable network.mlir (image: int8[1, 6, 6, 4], shift: int8[1, 6, 6, 8]) "
        "-> (sum: int8[1, 6, 6, 8], pooled: int8[1, 3, 3, 8])>"
    )


def test_inputs_by_name(executable: zp.Executable) -> None:
    image, shift = random_inputs()
    assert_same(executable.run({"shift": shift, "image": image}), executable.run(image, shift))


def test_results_are_fresh_arrays(executable: zp.Executable) -> None:
    first = executable.run(*random_inputs(0))
    kept = [array.copy() for array in first]
    executable.run(*random_inputs(1))
    assert_same(first, kept)


def test_non_contiguous_and_unaligned_inputs_are_copied(executable: zp.Executable) -> None:
    image, shift = random_inputs()
    strided = np.empty((1, 6, 6, 8), np.int8)[..., ::2]
    strided[...] = image
    fortran = np.asfortranarray(shift)
    assert not strided.flags.c_contiguous
    assert_same(executable.run(strided, fortran), executable.run(image, shift))


def test_inputs_are_not_written(executable: zp.Executable) -> None:
    inputs = random_inputs()
    for array in inputs:
        array.flags.writeable = False
    executable.run(*inputs)
    assert_same(inputs, random_inputs())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "got 0 inputs, expected 2: 'image', 'shift'"),
        (["image"], "got 1 inputs, expected 2: 'image', 'shift'"),
        (["image", "shift", "shift"], "got 3 inputs, expected 2"),
        ([{"imag": "image", "shift": "shift"}], "no input is named 'imag'; did you mean 'image'?"),
        ([{"zzz": "image"}], "no input is named 'zzz'; the inputs are 'image', 'shift'"),
        ([{"image": "image"}], "input 'shift' is missing"),
        (
            [np.zeros((1, 6, 6, 4), np.uint8), "shift"],
            r"'image': dtype: got uint8, expected int8; .* cast with .astype\(np.int8\)",
        ),
        (
            [np.zeros((1, 6, 6, 4), np.float32), "shift"],
            r"expected int8; quantize with np.clip\(np.round\(x / 0.5\) \+ 3, -128, 127\).astype\(np.int8\)",
        ),
        (
            [np.zeros((6, 6, 4), np.int8), "shift"],
            r"shape: got \[6, 6, 4\], expected \[1, 6, 6, 4\]; .* use .reshape\(\[1, 6, 6, 4\]\)",
        ),
        (
            [np.zeros((1, 9, 9, 4), np.int8), "shift"],
            r"for another size, load the model with shapes=\{'image': \[1, 9, 9, 4\]\}",
        ),
        ([np.zeros((1, 6, 6, 4), ">i2"), "shift"], "dtype: got >i2, expected int8"),
        ([None, "shift"], "dtype: got object, expected int8"),
        ([[[1, 2], [3]], "shift"], "input 'image': got list, which is not an array"),
    ],
)
def test_wrong_inputs(executable: zp.Executable, arguments: list[Any], message: str) -> None:
    named = dict(zip(("image", "shift"), random_inputs(), strict=True))

    def resolve(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: resolve(v) for key, v in value.items()}
        return named[value] if isinstance(value, str) else value

    for call in (executable.run, executable.bind):
        with pytest.raises(zp.InputError, match=message):
            call(*[resolve(a) for a in arguments])


def test_bound_step_follows_its_input(executable: zp.Executable) -> None:
    image, shift = random_inputs(0)
    step = executable.bind(image, shift)
    first = step()
    assert_same(first, executable.run(image, shift))
    image[...] = random_inputs(1)[0]
    second = step()
    assert second is first, "the same arrays, rewritten"
    assert_same(second, executable.run(image, shift))


def test_bound_step_outlives_its_executable() -> None:
    inputs = random_inputs()
    executable = zp.compile(load(), cache=False)
    expected = executable.run(*inputs)
    step = executable.bind(*inputs)
    del executable
    gc.collect()
    assert_same(step(), expected)


def test_bound_input_must_be_usable_in_place(executable: zp.Executable) -> None:
    image, shift = random_inputs()
    with pytest.raises(
        zp.InputError, match=r"'image': a bound array must be C-contiguous .* np.ascontiguousarray"
    ):
        executable.bind(np.asfortranarray(image), shift)


def test_intermediates_by_name(model: zp.Model) -> None:
    executable = zp.compile(model, keep_intermediates=True, cache=False)
    with pytest.raises(zp.ZeropointError, match="call run first"):
        executable.intermediates()
    inputs = random_inputs()
    results = executable.run(*inputs)
    assert len(results) == 2
    kept = executable.intermediates()
    expected: dict[str, Array] = {}

    def keep(operation: Any, values: list[Array]) -> None:
        if operation.name != "qnn.constant":
            expected[operation.location.name_str] = values[0]

    evaluate_module(model.module, inputs, keep=keep)
    assert set(kept) == set(expected) == {"conv", "sum", "pooled"}
    for name, value in expected.items():
        np.testing.assert_array_equal(kept[name], value)


def test_intermediates_must_be_asked_for(executable: zp.Executable) -> None:
    executable.run(*random_inputs())
    with pytest.raises(zp.ZeropointError, match="compile with keep_intermediates=True"):
        executable.intermediates()


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_change_no_bit(model: zp.Model, executable: zp.Executable, threads: int) -> None:
    team = zp.compile(model, threads=threads)
    step = team.bind(*random_inputs(3))
    for seed in range(50):
        inputs = random_inputs(seed)
        assert_same(team.run(*inputs), executable.run(*inputs))
        assert_same(step(), executable.run(*random_inputs(3)))


def test_unaligned_arrays_are_read_in_place(executable: zp.Executable) -> None:
    """Buffers of a caller start anywhere."""
    inputs = random_inputs()
    for shift in (1, 3, 17):
        moved = []
        for array in inputs:
            raw = np.zeros(array.size + 64, np.int8)
            moved.append(raw[shift : shift + array.size].reshape(array.shape))
            moved[-1][...] = array
        assert_same(executable.run(*moved), executable.run(*inputs))
        step = executable.bind(*moved)
        moved[0][...] = random_inputs(1)[0]
        assert_same(step(), executable.run(random_inputs(1)[0], inputs[1]))


@pytest.mark.parametrize("threads", [1, 3])
def test_many_threads_run_at_once(model: zp.Model, threads: int) -> None:
    executable = zp.compile(model, threads=threads)
    expected = [executable.run(*random_inputs(seed)) for seed in range(8)]
    barrier = threading.Barrier(8)

    def work(seed: int) -> None:
        inputs = random_inputs(seed)
        barrier.wait()
        for _ in range(100):
            assert_same(executable.run(*inputs), expected[seed])

    with ThreadPoolExecutor(8) as pool:
        for result in [pool.submit(work, seed) for seed in range(8)]:
            result.result()


def test_many_threads_compile_at_once() -> None:
    model = load()
    inputs = random_inputs()
    expected = evaluate_module(model.module, inputs)

    def work(own: bool) -> None:
        executable = zp.compile(load() if own else model, cache=False)
        assert_same(executable.run(*inputs), expected)

    with ThreadPoolExecutor(4) as pool:
        for result in [pool.submit(work, i % 2 == 0) for i in range(8)]:
            result.result()


def resident_bytes() -> int:
    statm = Path("/proc/self/statm")
    if not statm.exists():
        pytest.skip("no /proc/self/statm to read the memory in use from")
    return int(statm.read_text().split()[1]) * 4096


def test_ten_thousand_runs_do_not_leak(executable: zp.Executable) -> None:
    inputs = random_inputs()
    executable.run(*inputs)
    gc.collect()
    before = resident_bytes()
    for _ in range(10_000):
        executable.run(*inputs)
    step = executable.bind(*inputs)
    for _ in range(10_000):
        step()
    gc.collect()
    assert resident_bytes() - before < 2 << 20


def test_dropped_executables_free_their_memory() -> None:
    """LLVM's pass manager loses about 90 KB per compilation (in llvmlite); arenas and code must go."""
    text = """
    func.func @main(%x: !t) -> !t {
      %0 = "qnn.add"(%x, %x) {clamp = array<f32>} : (!t, !t) -> !t
      %1 = "qnn.transpose"(%0) {permutation = array<i64: 1, 0>} : (!t) -> !t
      return %1 : !t
    }"""
    model = load(text.replace("!t", "tensor<1024x1024x!quant.uniform<i8:f32, 5.0e-01:3>>"))
    x = np.zeros((1024, 1024), np.int8)
    zp.compile(model, cache=False).run(x)
    gc.collect()
    before = resident_bytes()
    for _ in range(20):
        zp.compile(model, cache=False).run(x)
    gc.collect()
    assert resident_bytes() - before < 8 << 20, "20 arenas of 1 MiB and more would be left"


def test_values_that_are_returned_more_than_once() -> None:
    text = """
    !q = !quant.uniform<i8:f32, 5.0e-01:3>
    func.func @main(%x: tensor<4x!q>)
        -> (tensor<4x!q>, tensor<2x2x!q>, tensor<4x!q>, tensor<4x!q>, tensor<2x!q>) {
      %0 = "qnn.add"(%x, %x) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q>
      %1 = "qnn.reshape"(%0) : (tensor<4x!q>) -> tensor<2x2x!q>
      %2 = "qnn.constant"() {value = dense<[1, 2]> : tensor<2xi8>} : () -> tensor<2x!q>
      return %0, %1, %0, %x, %2 : tensor<4x!q>, tensor<2x2x!q>, tensor<4x!q>, tensor<4x!q>, tensor<2x!q>
    }"""
    model = load(text)
    x = np.array([1, -2, 30, 127], np.int8)
    assert_same(zp.compile(model, cache=False).run(x), evaluate_module(model.module, [x]))


@pytest.mark.parametrize("shape", ["", "0x4x", "1x"])
def test_scalars_and_empty_tensors(shape: str) -> None:
    type_ = f"tensor<{shape}!quant.uniform<i8:f32, 5.0e-01:3>>"
    model = load(
        f'func.func @main(%x: {type_}) -> {type_} {{\n%0 = "qnn.add"(%x, %x) {{clamp = array<f32>}} '
        f": ({type_}, {type_}) -> {type_}\nreturn %0 : {type_}\n}}"
    )
    x = np.ones(model.inputs[0].shape, np.int8)
    assert_same(zp.compile(model, cache=False).run(x), evaluate_module(model.module, [x]))


def test_network_without_inputs() -> None:
    model = load(
        'func.func @main() -> tensor<2xi32> {\n%0 = "qnn.constant"() {value = dense<[1, 2]> : tensor<2xi32>} '
        ": () -> tensor<2xi32>\nreturn %0 : tensor<2xi32>\n}"
    )
    assert_same(zp.compile(model, cache=False).run(), [np.array([1, 2], np.int32)])
