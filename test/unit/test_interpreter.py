"""The interpreter's calls behave as LiteRT's do: details, values, signatures, resizing, errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from tflite_builder import Builder

litert = pytest.importorskip("ai_edge_litert.interpreter", reason="LiteRT says what the calls should return")

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"


def build() -> bytes:
    """conv (per-channel) -> add with a second input -> relu; batch may change; one signature."""
    model = Builder()
    x = model.tensor("x", (1, 4, 4, 2), np.int8, scales=0.5, zero_points=3, signature=(-1, 4, 4, 2))
    other = model.tensor("other", (1, 4, 4, 3), np.int8, scales=0.25, zero_points=-1, signature=(-1, 4, 4, 3))
    rng = np.random.default_rng(0)
    w = model.constant(
        "w", rng.integers(-127, 128, (3, 3, 3, 2)).astype(np.int8), scales=[0.1, 0.2, 0.05], axis=0
    )
    b = model.constant("b", np.array([5, -7, 9], np.int32), scales=[0.05, 0.1, 0.025], axis=0)
    conv = model.tensor("conv", (1, 4, 4, 3), np.int8, scales=2.0, zero_points=4, signature=(-1, 4, 4, 3))
    total = model.tensor("sum", (1, 4, 4, 3), np.int8, scales=2.5, zero_points=-5, signature=(-1, 4, 4, 3))
    y = model.tensor("y", (1, 4, 4, 3), np.int8, scales=1.5, zero_points=-128, signature=(-1, 4, 4, 3))
    model.op("CONV_2D", [x, w, b], [conv], Padding="SAME", StrideH=1, StrideW=1)
    model.op("ADD", [conv, other], [total])
    model.op("RELU", [total], [y])
    signature = ({"image": x, "shift": other}, {"activation": y, "total": total})
    return model.build([x, other], [y, total], {"serving_default": signature})


CONTENT = build()


def ours(**options: Any) -> zp.Interpreter:
    return zp.Interpreter(model_content=CONTENT, **options)


def theirs(**options: Any) -> Any:
    return litert.Interpreter(
        model_content=CONTENT,
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF,
        **options,
    )


def random_inputs(batch: int = 1) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(1)
    return [rng.integers(-128, 128, (batch, 4, 4, c)).astype(np.int8) for c in (2, 3)]


def assert_same(left: Any, right: Any, where: str = "") -> None:
    """Equal nested dicts, lists and arrays, with equal dtypes."""
    assert type(left) is type(right), where
    if isinstance(left, dict):
        assert left.keys() == right.keys(), where
        for key in left:
            assert_same(left[key], right[key], f"{where}/{key}")
    elif isinstance(left, list | tuple):
        assert len(left) == len(right), where
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            assert_same(a, b, f"{where}/{i}")
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype, where
        np.testing.assert_array_equal(left, right, err_msg=where)
    else:
        assert left == right, where


def test_details() -> None:
    mine, judge = ours(), theirs()
    assert_same(mine.get_input_details(), judge.get_input_details())
    assert_same(mine.get_output_details(), judge.get_output_details())
    assert_same(mine.get_tensor_details(), judge.get_tensor_details())
    assert_same(mine.get_signature_list(), judge.get_signature_list())


def run_both(batch: int = 1, **options: Any) -> tuple[zp.Interpreter, Any]:
    both = ours(**options), theirs(**options)
    for interpreter in both:
        if batch != 1:
            for index, channels in ((0, 2), (1, 3)):
                interpreter.resize_tensor_input(index, [batch, 4, 4, channels], strict=True)
        interpreter.allocate_tensors()
        for details, value in zip(interpreter.get_input_details(), random_inputs(batch), strict=True):
            interpreter.set_tensor(details["index"], value)
        interpreter.invoke()
    return both


@pytest.mark.parametrize("batch", [1, 3])
def test_values(batch: int) -> None:
    mine, judge = run_both(batch)
    assert_same(mine.get_input_details(), judge.get_input_details())
    assert_same(mine.get_output_details(), judge.get_output_details())
    for details in judge.get_output_details():
        assert_same(mine.get_tensor(details["index"]), judge.get_tensor(details["index"]))
        assert details["shape"][0] == batch


def test_every_tensor_can_be_preserved() -> None:
    mine, judge = run_both(experimental_preserve_all_tensors=True)
    for details in judge.get_tensor_details():
        assert_same(mine.get_tensor(details["index"]), judge.get_tensor(details["index"]), details["name"])


def test_constants_and_inputs_can_be_read() -> None:
    mine, judge = run_both()
    for index in (0, 1, 2, 3):
        assert_same(mine.get_tensor(index), judge.get_tensor(index))


def test_intermediate_values_are_not_kept_by_default() -> None:
    mine, _ = run_both()
    with pytest.raises(
        ValueError, match=r"'conv' is an intermediate .* experimental_preserve_all_tensors=True"
    ):
        mine.get_tensor(4)


def test_results_are_copies_and_tensor_is_not() -> None:
    mine, _ = run_both()
    copy, view = mine.get_tensor(6), mine.tensor(6)
    view()[...] = 0
    assert copy.any()
    assert not mine.get_tensor(6).any()


def test_input_buffer_can_be_filled_in_place() -> None:
    mine, judge = run_both()
    mine.tensor(0)()[...] = 0
    judge.set_tensor(0, np.zeros((1, 4, 4, 2), np.int8))
    mine.invoke()
    judge.invoke()
    assert_same(mine.get_tensor(6), judge.get_tensor(6))


def test_numerics_of_litert_by_default() -> None:
    judge = litert.Interpreter(model_content=CONTENT)
    mine = ours(numerics="xnnpack", num_threads=2)
    for interpreter in (mine, judge):
        interpreter.allocate_tensors()
        for index, value in enumerate(random_inputs()):
            interpreter.set_tensor(index, value)
        interpreter.invoke()
    assert_same(mine.get_tensor(6), judge.get_tensor(6))


@pytest.mark.parametrize("name", ["AUTO", "BUILTIN", "BUILTIN_REF"])
def test_op_resolvers_of_litert_are_taken(name: str) -> None:
    mine, default = ours(experimental_op_resolver_type=litert.OpResolverType[name]), ours()
    for interpreter in (mine, default):
        interpreter.allocate_tensors()
        for index, value in enumerate(random_inputs()):
            interpreter.set_tensor(index, value)
        interpreter.invoke()
    index = mine.get_output_details()[0]["index"]
    np.testing.assert_array_equal(mine.get_tensor(index), default.get_tensor(index))


@pytest.mark.parametrize("batch", [1, 2])
def test_signature_runner(batch: int) -> None:
    image, shift = random_inputs(batch)
    runner, judge = ours().get_signature_runner(), theirs().get_signature_runner("serving_default")
    assert_same(runner.get_input_details(), judge.get_input_details())
    assert_same(runner.get_output_details(), judge.get_output_details())
    results, expected = runner(image=image, shift=shift), judge(image=image, shift=shift)
    assert results.keys() == expected.keys()
    for name in expected:
        assert_same(results[name], expected[name], name)


def test_model_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(CONTENT)
    assert_same(zp.Interpreter(path).get_input_details(), theirs().get_input_details())
    assert_same(zp.Interpreter(str(path)).get_input_details(), theirs().get_input_details())


def test_reset_all_variables_has_nothing_to_do() -> None:
    mine, _ = run_both()
    mine.reset_all_variables()


def allocated() -> zp.Interpreter:
    interpreter = ours()
    interpreter.allocate_tensors()
    return interpreter


X = np.zeros((1, 4, 4, 2), np.int8)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ours().invoke(), RuntimeError, r"call allocate_tensors\(\) first"),
        (
            lambda: ours().set_tensor(0, X),
            ValueError,
            r"'x' has no value yet; call allocate_tensors\(\) first",
        ),
        (lambda: ours().get_tensor(6), ValueError, r"'y' has no value yet; call allocate_tensors\(\) first"),
        (
            lambda: allocated().set_tensor(0, X[0]),
            ValueError,
            r"shape: got \[4, 4, 2\], expected \[1, 4, 4, 2\]",
        ),
        (lambda: allocated().set_tensor(0, X.astype(np.float32)), ValueError, "got float32, expected int8"),
        (lambda: allocated().set_tensor(2, X), ValueError, r"tensor 2 \('w'\) is not an input"),
        (
            lambda: allocated().set_tensor(99, X),
            ValueError,
            "index 99 is out of range: the model has 7 tensors",
        ),
        (lambda: allocated().get_tensor(-1), ValueError, "index -1 is out of range"),
        (lambda: ours().resize_tensor_input(2, [1]), ValueError, r"tensor 2 \('w'\) is not an input"),
        (
            lambda: ours().resize_tensor_input(0, [1, 5, 4, 2], strict=True),
            ValueError,
            r"got shape \[1, 5, 4, 2\], but only extents .* its signature \[-1, 4, 4, 2\] may change",
        ),
        (lambda: ours().get_signature_runner("serving"), ValueError, "no signature 'serving'; did you mean"),
        (lambda: ours().get_signature_runner()(image=X), ValueError, "input 'shift' is missing"),
        (
            lambda: ours().get_signature_runner()(imag=X),
            ValueError,
            "has no input 'imag'; did you mean 'image'",
        ),
        (lambda: zp.Interpreter(), ValueError, "model_path or model_content must be given"),
        (lambda: zp.Interpreter("a", b"b"), ValueError, "only one of them"),
        (lambda: zp.Interpreter("nowhere.tflite"), ValueError, "nowhere.tflite: error: cannot be read"),
        (lambda: zp.Interpreter(model_content=b"xx"), ValueError, "<model_content>: error: "),
        (lambda: ours(num_threads=0), ValueError, "num_threads: got 0"),
        (lambda: ours(experimental_delegates=[1]), ValueError, "there are no delegates"),
        (
            lambda: ours(experimental_op_resolver_type="BUILTIN_WITHOUT_DEFAULT_DELEGATES"),
            ValueError,
            "expected AUTO, BUILTIN or BUILTIN_REF",
        ),
        (
            lambda: ours(experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF, numerics="xnnpack"),
            ValueError,
            "BUILTIN_REF contradicts numerics='xnnpack'",
        ),
    ],
)
def test_errors(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        call()
    assert isinstance(caught.value, zp.ZeropointError)


def test_resizing_needs_a_new_allocation() -> None:
    mine = allocated()
    mine.resize_tensor_input(0, [2, 4, 4, 2])
    with pytest.raises(RuntimeError, match="not allocated"):
        mine.invoke()
    mine.resize_tensor_input(0, [1, 4, 4, 2])
    mine.allocate_tensors()
    mine.invoke()


def test_wrong_size_is_refused_on_allocation() -> None:
    mine = ours()
    mine.resize_tensor_input(0, [1, 4, 4, 7])
    with pytest.raises(zp.ZeropointError):
        mine.allocate_tensors()


@pytest.mark.skipif(not MODELS.is_dir(), reason="the shared models folder is not beside the project")
@pytest.mark.parametrize(
    "name",
    [
        "mlperftiny_ad01_int8",
        "mlperftiny_kws_int8",
        "mobilenet_v1_0.25_128_quant",
        "tf2_mobilenet_v2_1.0_224_ptq",
        "tinyengine_person_detection",
        "keras_lstm_mnist_ptq",
    ],
)
def test_details_of_real_networks(name: str) -> None:
    path = str(MODELS / f"{name}.tflite")
    mine, judge = zp.Interpreter(path), litert.Interpreter(path)
    assert_same(mine.get_input_details(), judge.get_input_details())
    assert_same(mine.get_output_details(), judge.get_output_details())
    assert_same(mine.get_tensor_details(), judge.get_tensor_details()[: len(mine.get_tensor_details())])
    assert_same(mine.get_signature_list(), judge.get_signature_list())


def model_of_two_results(
    signature: tuple[dict[str, int], dict[str, int]] | None = None, repeated: bool = False
) -> bytes:
    """``y`` = |x|, ``z`` = -x: tensors 1 and 2."""
    model = Builder()
    x, y, z = (model.tensor(name, (4,), np.float32) for name in "xyz")
    model.op("ABS", [x], [y])
    model.op("NEG", [x], [z])
    outputs = [y, y, z] if repeated else [y, z]
    return model.build([x], outputs, {"serve": signature} if signature else None)


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize(
    "outputs",
    [
        {"a": 1, "b": 1, "c": 2},  # one tensor under two names
        {"b": 2},  # an output that has no name
        {"y": 2, "z": 1},  # names that are those of other tensors
        {"y": 2},
    ],
)
def test_signatures_name_tensors_as_they_like(outputs: dict[str, int], repeated: bool) -> None:
    data = model_of_two_results(({"x": 0}, outputs), repeated)
    x = np.array([1, -2, 0, 3.5], np.float32)
    mine = zp.Interpreter(model_content=data)
    judge = litert.Interpreter(model_content=data)
    assert_same(mine.get_signature_list(), judge.get_signature_list())
    assert_same(
        mine.get_signature_runner().get_output_details(), judge.get_signature_runner().get_output_details()
    )
    results, expected = mine.get_signature_runner()(x=x), judge.get_signature_runner()(x=x)
    assert results.keys() == expected.keys()
    for name in expected:
        assert_same(results[name], expected[name], name)


def test_two_outputs_of_a_signature_have_one_name() -> None:
    data = model_of_two_results(({"x": 0}, {"one": 1, "two": 2}))
    with pytest.raises(ValueError, match="signature 'serve': two outputs are named 'one'"):
        zp.Interpreter(model_content=data.replace(b"two", b"one"))
