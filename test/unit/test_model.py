"""Models: what an entry function says about inputs and outputs."""

from __future__ import annotations

import numpy as np
import pytest

from zeropoint.dialect.context import parse_module
from zeropoint.dialect.model import Model
from zeropoint.errors import ImportModelError

TEXT = """
!q = !quant.uniform<u8:f32, 0.5:3>
module attributes {qnn.numerics = "xnnpack"} {
  func.func private @helper()
  func.func @main(%x: tensor<?x4x!q> {qnn.name = "image/input:0"}, %f: tensor<2xf32>)
      -> (tensor<?x4x!q>, tensor<2xf32> {qnn.name = "scores"}) {
    return %x, %f : tensor<?x4x!q>, tensor<2xf32>
  }
}"""


def test_inputs_and_outputs() -> None:
    model = Model.from_module(parse_module(TEXT), "net.mlir")
    image, plain = model.inputs
    assert (image.name, image.shape, image.dtype) == ("image/input:0", (-1, 4), np.uint8)
    assert (image.scale, image.zero_point, image.axis) == (0.5, 3, None)
    assert (plain.name, plain.shape, plain.dtype) == ("input_1", (2,), np.float32)
    assert (plain.scale, plain.zero_point, plain.axis) == (None, None, None)
    assert [output.name for output in model.outputs] == ["output_0", "scores"]
    assert (model.name, model.numerics) == ("net.mlir", "xnnpack")
    assert model.context is model.module.context
    assert model.main.name.value == "main"


def test_per_axis_output() -> None:
    type_ = "tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25:1}>>"
    text = f"func.func @main(%x: {type_}) -> {type_} {{ return %x : {type_} }}"
    (output,) = Model.from_module(parse_module(text)).outputs
    assert (output.scale, output.zero_point, output.axis) == ((0.5, 0.25), (0, 1), 0)


def test_text() -> None:
    model = Model.from_module(parse_module(TEXT))
    assert str(parse_module(model.text())) == model.text()
    assert "loc(" in model.text(locations=True)


def test_text_without_large_constants() -> None:
    value = ", ".join(map(str, range(32)))
    text = f"""func.func @main() -> tensor<32xi32> {{
        %0 = "qnn.constant"() {{value = dense<[{value}]> : tensor<32xi32>}} : () -> tensor<32xi32>
        return %0 : tensor<32xi32>
    }}"""
    model = Model.from_module(parse_module(text))
    assert "__elided__" in model.text(elide_larger_than=8)
    assert "__elided__" not in model.text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module {}", "no function @main"),
        ("func.func @other() { return }", "no function @main"),
        ("func.func private @main()", "function @main has no body"),
        ("func.func @main(%x: f32) { return }", r"input 0 \('input_0'\) of @main: not a ranked tensor"),
        ("func.func @main(%x: tensor<*xf32>) { return }", "not a ranked tensor"),
        (
            'func.func @main(%x: tensor<4xbf16> {qnn.name = "x"}) { return }',
            r"\('x'\).*bf16 is not supported",
        ),
        (
            'func.func @main(%x: tensor<f32> {qnn.name = "x"}, %y: tensor<f32> {qnn.name = "x"}) { return }',
            "two inputs of @main are named 'x'",
        ),
        (
            'module attributes {qnn.numerics = "none"} { func.func @main() { return } }',
            "qnn.numerics: got 'none', expected one of",
        ),
    ],
)
def test_modules_that_are_no_models(text: str, message: str) -> None:
    with pytest.raises(ImportModelError, match=message) as info:
        Model.from_module(parse_module(text), "bad.mlir")
    assert str(info.value).startswith("bad.mlir: error: ")
