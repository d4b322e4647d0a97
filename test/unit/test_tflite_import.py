"""Importing TFLite models: what becomes of them, what is refused and how, and LiteRT's numbers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tflite_builder import Builder, run_litert
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.model import Model
from zeropoint.errors import ImportModelError, InputError, UnsupportedOpError
from zeropoint.frontends import load, load_bytes
from zeropoint.frontends.tflite.reader import read_model
from zeropoint.frontends.tflite.registry import IMPORTERS
from zeropoint.runtime.inputs import arrange

DATA = Path(__file__).parent.parent / "data"
sys.path.insert(0, str(DATA))

from make_models import MODELS  # noqa: E402 - found through the line above

CONV = {"StrideH": 1, "StrideW": 1, "DilationHFactor": 1, "DilationWFactor": 1}


def imported(b: Builder, inputs: list[int], outputs: list[int], **options: Any) -> Model:
    return load_bytes(b.build(inputs, outputs), name="m.tflite", **options)


def refused(b: Builder, inputs: list[int], outputs: list[int]) -> str:
    with pytest.raises(ImportModelError) as caught:
        imported(b, inputs, outputs)
    assert not isinstance(caught.value, UnsupportedOpError)
    return str(caught.value)


def unsupported(b: Builder, inputs: list[int], outputs: list[int]) -> list[str]:
    with pytest.raises(UnsupportedOpError) as caught:
        imported(b, inputs, outputs)
    return caught.value.faults


def convolution(stride: int = 1, padding: str = "VALID", dilation: int = 1, **output: Any) -> Builder:
    """CONV_2D: image [1, 4, 4, 2], filter [3, 3, 3, 2] per channel, bias."""
    b = Builder()
    b.tensor("image", (1, 4, 4, 2), np.int8, scales=0.5, zero_points=3)
    b.constant("filter", np.ones((3, 3, 3, 2), np.int8), scales=(0.25, 0.5, 1.0))
    b.constant("bias", np.asarray([1, 2, 3], np.int32), scales=(0.125, 0.25, 0.5))
    b.tensor("conv", output.get("shape", (1, 2, 2, 3)), np.int8, scales=1.0)
    options = {"StrideH": stride, "StrideW": stride, "DilationHFactor": dilation, "DilationWFactor": 1}
    b.op("CONV_2D", [0, 1, 2], [3], Padding=padding, **options)
    return b


def random_inputs(model: Model, seed: int = 0) -> list[npt.NDArray[Any]]:
    rng = np.random.default_rng(seed)
    arrays = []
    for info in model.inputs:
        if info.dtype.kind == "f":
            arrays.append(rng.normal(0, 20, info.shape).astype(info.dtype))
        else:
            limits = np.iinfo(info.dtype)
            arrays.append(rng.integers(limits.min, limits.max + 1, info.shape).astype(info.dtype))
    return arrays


@pytest.mark.parametrize("name", MODELS)
def test_committed_models_are_what_the_script_makes(name: str) -> None:
    data = (DATA / f"{name}.tflite").read_bytes()
    assert data == MODELS[name](), "run python test/data/make_models.py"
    assert len(data) < 3000


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"unsupported", "damaged", "movement", "conv"}))
def test_numbers_are_litert_s(name: str) -> None:
    """(LiteRT refuses ``movement``, for unequal parameters, and ``conv``, for a missing bias.)"""
    data = MODELS[name]()
    model = load_bytes(data, name=f"{name}.tflite")
    for seed in range(5):
        inputs = random_inputs(model, seed)
        expected = run_litert(data, inputs)
        for ours, theirs in zip(evaluate_module(model.module, inputs), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_every_importer_is_tested() -> None:
    """A committed model holds the operator, or a test builds one that does."""
    names = set()
    for name, make in MODELS.items():
        if name != "damaged":
            names |= {operator.name for operator in read_model(make(), name).graphs[0].operators}
    sources = "".join(path.read_text(encoding="utf-8") for path in DATA.parent.rglob("*.py"))
    assert not sorted(name for name in set(IMPORTERS) - names if f'"{name}"' not in sources)


def test_model_describes_its_ends() -> None:
    model = load(DATA / "quantize.tflite")
    assert model.name == "quantize.tflite"
    assert model.numerics == "reference"
    assert [(i.name, i.shape, i.dtype, i.scale) for i in model.inputs] == [("real", (3,), np.float32, None)]
    model = load(DATA / "conv.tflite", numerics="xnnpack")
    assert model.numerics == "xnnpack"
    assert [(o.name, o.scale, o.zero_point) for o in model.outputs] == [
        ("conv", 0.0625, -128),
        ("grouped_conv", 1.0, 0),
    ]


@pytest.mark.parametrize(
    ("b", "message"),
    [
        (convolution(stride=0), "CONV_2D (op 0, output 'conv'): stride h must be positive, got 0"),
        (convolution(dilation=0), "dilation h must be positive, got 0"),
        (convolution(dilation=2), "a window of [3, 3] does not fit into the padded input of [4, 4]"),
        (convolution(dilation=2**31 - 1, padding="SAME"), "more than the limit of 1073741824"),
        (
            convolution(shape=(1, 9, 9, 3)),
            "declares output shape [1, 9, 9, 3], but its inputs and options give [1, 2, 2, 3]",
        ),
    ],
)
def test_bad_convolutions(b: Builder, message: str) -> None:
    assert message in refused(b, [0], [3])


def test_channels_and_bias_must_fit() -> None:
    b = convolution()
    b.tensors[0].shape = (1, 4, 4, 3)
    assert "3 input channels and 3 output channels do not fit filter shape" in refused(b, [0], [3])
    b = convolution()
    b.constant("short", np.zeros(2, np.int32), scales=0.5)
    b.operators[0].inputs = [0, 1, 4]
    assert "bias of shape [2], expected 3 values (one per output channel)" in refused(b, [0], [3])
    b = convolution()
    b.tensors[2].zero_points = (0, 0, 0)
    b.tensors[1].scales, b.tensors[1].zero_points = (0.5,), (4,)
    b.tensors[2].scales, b.tensors[2].zero_points = (0.25,), (0,)
    assert "int8 weights need zero point 0, got 4" in refused(b, [0], [3])


def test_required_inputs() -> None:
    b = convolution()
    b.operators[0].inputs = [0, -1, 2]
    assert "input 1 is missing" in refused(b, [0], [3])
    b.operators[0].inputs = [0]
    assert "got 1 inputs, expected 2 or 3" in refused(b, [0], [3])


@pytest.mark.parametrize(
    ("name", "constants", "options", "shape", "message"),
    [
        ("RESHAPE", [[4, 4]], {}, (4, 4), "6 elements of shape [2, 3] do not fit new shape [4, 4]"),
        ("RESHAPE", [[-1, -1]], {}, (2, 3), "more than one -1"),
        ("TRANSPOSE", [[0, 5]], {}, (3, 2), "permutation [0, 5] does not fit shape [2, 3]"),
        ("CONCATENATION", [], {"Axis": 5}, (2, 3), "axis 5 does not exist in a tensor of rank 2"),
        ("MEAN", [[2]], {}, (2,), "axis 2 does not exist in a tensor of rank 2"),
        ("SLICE", [[0, 1], [2, 3]], {}, (2, 3), "reach outside shape [2, 3]"),
        ("SQUEEZE", [], {"SqueezeDims": [1]}, (2,), "dimension 1 of shape [2, 3] cannot be squeezed"),
        ("PAD", [[1, 1]], {}, (2, 3), "paddings have shape [2], expected [2, 2]"),
        ("STRIDED_SLICE", [[0, 0], [2, 3], [1, 0]], {}, (2, 3), "stride 0"),
        ("SOFTMAX", [], {"Beta": 1.0}, (2, 3), "expected 0.00390625 and -128"),
    ],
)
def test_bad_operators(
    name: str, constants: list[list[int]], options: dict[str, Any], shape: tuple[int, ...], message: str
) -> None:
    b = Builder()
    x = b.tensor("x", (2, 3), np.int8, scales=0.5)
    operands = [b.constant(f"c{i}", np.asarray(c, np.int32)) for i, c in enumerate(constants)]
    y = b.tensor("y", shape, np.int8, scales=0.5)
    b.op(name, [x, *operands], [y], **options)
    assert message in refused(b, [x], [y])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_bias_scale_must_be_the_product(dtype: npt.DTypeLike) -> None:
    """LiteRT's rule for a per-tensor FULLY_CONNECTED: off by no more than 0.02 of the output's scale."""
    b = Builder()
    x = b.tensor("x", (1, 2), dtype, scales=0.5)
    w = b.constant("w", np.ones((1, 2), dtype), scales=0.5)
    bias = b.constant("bias", np.ones(1, np.int32), scales=1.0)
    y = b.tensor("y", (1, 1), dtype, scales=1.0)
    b.op("FULLY_CONNECTED", [x, w, bias], [y])
    assert "bias scale 1 differs from input scale x weight scale, 0.25" in refused(b, [x], [y])
    b.tensors[bias].scales = (0.26,)
    imported(b, [x], [y])


def test_unsupported_kinds_say_what_they_are() -> None:
    b = Builder()
    x = b.tensor("x", (1, 2), np.int16, scales=0.5)
    w = b.constant("w", np.ones((3, 2), np.int16), scales=0.5)
    y = b.tensor("y", (1, 3), np.int16, scales=1.0)
    b.op("FULLY_CONNECTED", [x, w, -1], [y])
    faults = unsupported(b, [x], [y])
    expected = "quantized i16 input with quantized i16 weights"
    assert faults == [f"FULLY_CONNECTED (op 0, output 'y'): {expected}"]
    b = convolution()
    b.operators[0].options = {**b.operators[0].options, "FusedActivationFunction": "TANH"}
    assert "a fused TANH activation" in unsupported(b, [0], [3])[0]
    b = Builder()
    x, w = b.tensor("x", (1, 2, 2, 2), np.int8, scales=0.5), b.tensor("w", (3, 2, 2, 2), np.int8, scales=0.5)
    shape, y = (
        b.constant("s", np.asarray([1, 2, 2, 3], np.int32)),
        b.tensor("y", (1, 2, 2, 3), np.int8, scales=1.0),
    )
    b.op("TRANSPOSE_CONV", [shape, w, x], [y], Padding="SAME", StrideH=1, StrideW=1)
    assert "weights that are computed at run time" in unsupported(b, [x, w], [y])[0]


def test_shapes_are_inferred_anew() -> None:
    """Other input shapes change all that follow, and the numbers are those of the resized model."""
    b = Builder()
    b.tensor("image", (1, 4, 4, 2), np.int8, scales=0.5, zero_points=3, signature=(-1, -1, -1, 2))
    b.constant("filter", np.ones((3, 3, 3, 2), np.int8), scales=(0.25, 0.5, 1.0))
    b.tensor("conv", (1, 2, 2, 3), np.int8, scales=1.0, signature=(-1, -1, -1, 3))
    b.op("CONV_2D", [0, 1, -1], [2], Padding="VALID", **CONV)
    b.constant("axes", np.asarray([1, 2], np.int32))
    b.tensor("mean", (1, 3), np.int8, scales=1.0, signature=(-1, 3))
    b.op("MEAN", [2, 3], [4])
    assert imported(b, [0], [4]).outputs[0].shape == (1, 3)
    for shapes in ([(2, 6, 5, 2)], {"image": (2, 6, 5, 2)}):
        model = imported(b, [0], [2, 4], shapes=shapes)
        assert model.inputs[0].shape == (2, 6, 5, 2)
        assert [o.shape for o in model.outputs] == [(2, 4, 3, 3), (2, 3)]


@pytest.mark.parametrize("batch", [1, 3])
def test_computed_shapes_are_folded(batch: int) -> None:
    """SHAPE, STRIDED_SLICE and PACK of the batch become the constant shape of the RESHAPE."""
    model = load_bytes(MODELS["dynamic_batch"](), name="m.tflite", shapes={"image": (batch, 2, 3)})
    assert model.outputs[0].shape == (batch, 6)
    text = model.text()
    assert text.count("qnn.reshape") == 2
    assert "qnn.slice" not in text


def test_gather_and_product_of_shapes() -> None:
    """As converters write a Dense layer on more than two dimensions."""
    b = Builder()
    x = b.tensor("x", (2, 3, 4), np.float32, signature=(-1, 3, 4))
    shape, first = b.tensor("shape", (3,), np.int32), b.tensor("first", (2,), np.int32)
    b.op("SHAPE", [x], [shape], OutType=2)
    indices = b.constant("indices", np.asarray([0, 1], np.int32))
    b.op("GATHER", [shape, indices], [first])
    rows = b.tensor("rows", (), np.int32)
    b.op("REDUCE_PROD", [first, b.constant("axes", np.asarray([0], np.int32))], [rows])
    new_shape = b.tensor("new_shape", (2,), np.int32)
    b.op("PACK", [rows, b.constant("k", np.asarray(4, np.int32))], [new_shape], ValuesCount=2)
    y = b.tensor("y", (6, 4), np.float32, signature=(-1, 4))
    b.op("RESHAPE", [x, new_shape], [y])
    assert imported(b, [x], [y]).outputs[0].shape == (6, 4)
    assert imported(b, [x], [y], shapes=[(5, 3, 4)]).outputs[0].shape == (15, 4)
    b.tensors[indices].data = np.asarray([0, 3], np.int32).tobytes()
    assert "index 3 lies outside an extent of 3" in refused(b, [x], [y])


def test_half_precision_and_dequantized_weights_are_constants() -> None:
    b = Builder()
    x = b.tensor("x", (1, 2), np.float32)
    half = b.constant("half", np.asarray([[1.5, -2], [3, 0.25]], np.float16))
    w, y = b.tensor("w", (2, 2), np.float32), b.tensor("y", (1, 2), np.float32)
    b.op("DEQUANTIZE", [half], [w])
    b.op("FULLY_CONNECTED", [x, w, -1], [y])
    q = b.constant("q", np.asarray([[1, -2], [3, 4]], np.int8), scales=(0.5, 0.25))
    v, z = b.tensor("v", (2, 2), np.float32), b.tensor("z", (1, 2), np.float32)
    b.op("DEQUANTIZE", [q], [v])
    b.op("FULLY_CONNECTED", [y, v, -1], [z])
    model = imported(b, [x], [z])
    assert "qnn.dequantize" not in model.text()
    (result,) = evaluate_module(model.module, [np.asarray([[2, 4]], np.float32)])
    assert result.tolist() == [[-5 * 0.5 - 7 * 1.0, -5 * 0.75 + 7 * 1.0]]


def test_what_looks_wrong_behind_an_unsupported_operator_is_not_reported() -> None:
    """Shapes behind it are only the declared ones, and those may be stale."""
    b = Builder()
    x, f = b.tensor("x", (1, 4), np.float32), b.tensor("hash", (1, 1), np.float32)
    b.op("LSH_PROJECTION", [x], [f])
    w, y = b.constant("w", np.zeros((2, 4), np.float32)), b.tensor("y", (1, 2), np.float32)
    b.op("FULLY_CONNECTED", [f, w, -1], [y])
    assert unsupported(b, [x], [y]) == ["LSH_PROJECTION (op 0, output 'hash')"]


def test_shapes_that_do_not_fit() -> None:
    b = convolution()
    data = b.build([0], [3])
    with pytest.raises(ImportModelError, match=r"a window of \[3, 3\] does not fit"):
        load_bytes(data, name="m.tflite", shapes=[(1, 2, 2, 2)])
    for shapes, message in (
        ([], r"got 0, expected 1 \(one per input\)"),
        ({"picture": (1, 4, 4, 2)}, "no input 'picture', the model has"),
        ([(1, 0, 4, 2)], r"extents must be positive, got \[1, 0, 4, 2\]"),
        ([("a",)], "expected whole numbers"),
    ):
        with pytest.raises(InputError, match=message):
            load_bytes(data, name="m.tflite", shapes=shapes)


def test_signatures() -> None:
    b = convolution()
    signatures = {"serve": ({"pixels": 0}, {"features": 3})}
    data = b.build([0], [3], signatures)
    assert load_bytes(data, name="m.tflite").inputs[0].name == "image"
    model = load_bytes(data, name="m.tflite", signature="serve", shapes={"pixels": (1, 5, 5, 2)})
    assert [i.name for i in model.inputs] == ["pixels"]
    assert [o.name for o in model.outputs] == ["features"]
    with pytest.raises(InputError, match="no signature 'train', the model has 'serve'"):
        load_bytes(data, name="m.tflite", signature="train")
    with pytest.raises(ImportModelError, match="signature 'serve': input 'pixels' is tensor 1, not one of"):
        load_bytes(b.build([0], [3], {"serve": ({"pixels": 1}, {})}), name="m.tflite")


def test_ends_of_one_name_are_told_apart() -> None:
    b = convolution()
    b.tensors[3].name = "image"
    model = imported(b, [0], [3, 3])
    assert [o.name for o in model.outputs] == ["image", "image:1"]


def test_shared_weights_keep_their_layouts() -> None:
    """One constant as a depthwise filter and as an operand of ADD: the layout does not leak."""
    b = Builder()
    x = b.tensor("x", (1, 2, 2, 2), np.int8, scales=0.5)
    w = b.constant("w", np.arange(8, dtype=np.int8).reshape(1, 2, 2, 2), scales=0.25)
    y = b.tensor("y", (1, 1, 1, 2), np.int8, scales=1.0)
    z = b.tensor("z", (1, 2, 2, 2), np.int8, scales=1.0)
    bias = b.constant("bias", np.zeros(2, np.int32), scales=0.125)
    b.op("DEPTHWISE_CONV_2D", [x, w, bias], [y], Padding="VALID", DepthMultiplier=1, **CONV)
    b.op("ADD", [x, w], [z])
    model = imported(b, [x], [y, z])
    inputs = random_inputs(model)
    expected = run_litert(b.build([x], [y, z]), inputs)
    for ours, theirs in zip(evaluate_module(model.module, inputs), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_unread_inputs_may_be_left_out() -> None:
    b = Builder()
    x, unread = b.tensor("x", (2,), np.int8, scales=0.5), b.tensor("unread", (3,), np.int8, scales=0.5)
    y = b.tensor("y", (2,), np.int8, scales=0.5)
    b.op("ADD", [x, x], [y])
    model = imported(b, [unread, x], [y])
    assert [(i.name, i.is_read) for i in model.inputs] == [("unread", False), ("x", True)]
    one, two = np.asarray([1, 2], np.int8), np.zeros(3, np.int8)
    for given in ([one], [two, one], [{"x": one}], [{"x": one, "unread": two}]):
        *_, taken = arrange(model.inputs, given)
        assert taken.tolist() == [1, 2]
    with pytest.raises(InputError, match="input 'x' is missing"):
        arrange(model.inputs, [{"unread": two}])


def test_import_is_linear() -> None:
    """A chain of 2000 operators: no recursion, a second or so."""
    b = Builder()
    value = x = b.tensor("x", (4,), np.int8, scales=0.5)
    for i in range(2000):
        value, before = b.tensor(f"t{i}", (4,), np.int8, scales=0.5), value
        b.op("ADD", [before, before], [value])
    model = imported(b, [x], [value])
    assert len(model.main.operation.regions[0].blocks[0].operations) == 2001


def test_files_of_other_formats(tmp_path: Path) -> None:
    with pytest.raises(ImportModelError, match=r"cannot be read: No such file"):
        load(tmp_path / "none.tflite")
    path = tmp_path / "model.xyz"
    path.write_bytes(b"\x00" * 100)
    with pytest.raises(
        ImportModelError, match=r"unknown model format; known are TFLite \(.tflite\) and MLIR"
    ):
        load(path)
    path = tmp_path / "model.mlir"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ImportModelError, match="not text"):
        load(path)
    path.write_text("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")
    model = load(path, numerics="xnnpack")
    assert model.numerics == "xnnpack"
    with pytest.raises(InputError, match="signature and shapes are for model files"):
        load(path, shapes=[(3,)])
    with pytest.raises(InputError, match="unknown numerics mode 'fast'"):
        load(path, numerics="fast")


def test_a_model_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "network.bin"
    path.write_bytes(MODELS["quantize"]())
    assert load(path).inputs[0].name == "real"


def test_text_of_a_model_parses_back() -> None:
    model = load(DATA / "conv.tflite")
    again = load_bytes(model.text(locations=True).encode(), name="conv.mlir")
    assert again.text() == model.text()


@pytest.mark.parametrize("operator", ["ADD", "SUB"])
@pytest.mark.parametrize("scales", [(0.5, 1.0), (1.0, 0.125), (1.0, 1.0)])
@pytest.mark.parametrize("power_of_two_option", [True, False])
def test_int16_sums_by_shifts_are_litert_s(
    operator: str, scales: tuple[float, float], power_of_two_option: bool
) -> None:
    """Ties are where shifts and multipliers differ: half steps of both signs."""
    b = Builder()
    a, c = (b.tensor(f"x{i}", (64,), np.int16, scales=scale) for i, scale in enumerate(scales))
    b.tensor("y", (64,), np.int16, scales=1.0)
    b.op(operator, [a, c], [2], PotScaleInt16=power_of_two_option)
    rng = np.random.default_rng(3)
    inputs = [rng.integers(-100, 100, 64, np.int16), rng.integers(-100, 100, 64, np.int16)]
    inputs[0][:2], inputs[1][:2] = [32767, -32768], [32767, -32768]
    (ours,) = evaluate_module(imported(b, [a, c], [2]).module, inputs)
    np.testing.assert_array_equal(ours, run_litert(b.build([a, c], [2]), inputs)[0])


def test_int16_sums_by_shifts_need_one_scale_of_the_result() -> None:
    b = Builder()
    b.tensor("x", (4,), np.int16, scales=0.5)
    b.tensor("y", (4,), np.int16, scales=1.0)
    b.op("ADD", [0, 0], [1])
    message = "int16 tensors with power-of-two scales: got [0.5, 0.5], expected 1 and at most that"
    assert message in refused(b, [0], [1])
