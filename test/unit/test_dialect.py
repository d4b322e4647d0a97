"""The qnn dialect as a whole: every op is documented, tested, and can be built; shapes are inferred right."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeropoint.dialect import qnn
from zeropoint.dialect.context import new_context, parse_file, parse_module
from zeropoint.dialect.ir_types import to_tensor_type
from zeropoint.dialect.mlir import ir
from zeropoint.dialect.qnn import shapes
from zeropoint.dialect.qnn.core import attribute_names
from zeropoint.dialect.qnn.page import ALIASES, example, page
from zeropoint.dialect.types import DYNAMIC, QuantParams, Storage, TensorType
from zeropoint.errors import PipelineError

ROOT = Path(__file__).parents[2]
OPS = sorted(qnn.OPS)


def _example_module(name: str) -> Any:
    """The example of an op's documentation in a function of its own."""
    text = " ".join(example(qnn.OPS[name]).split())
    found = re.match(r'"qnn\.\w+"\((.*?)\).* : \((.*)\) -> ', text)
    assert found is not None, text
    pairs = zip(found[1].split(", "), found[2].split(", "), strict=True)
    arguments = ", ".join(f"{value}: {type_}" for value, type_ in pairs if value)
    aliases = "\n".join(f"!{alias} = {type_}" for alias, type_ in ALIASES.items())
    return parse_module(f"{aliases}\nfunc.func @main({arguments}) {{\n%result = {text}\nreturn\n}}")


@pytest.mark.parametrize("name", OPS)
def test_examples_verify(name: str) -> None:
    assert f"qnn.{name}" in str(_example_module(name))


@pytest.mark.parametrize("name", OPS)
def test_create_builds_what_the_text_says(name: str) -> None:
    """An op taken apart into plain values and created from them is the same op."""
    module = _example_module(name)
    (function,) = module.body.operations
    view = function.regions[0].blocks[0].operations[0]
    attributes = {attribute: view.plain(attribute) for attribute in attribute_names(qnn.OPS[name])}
    with module.context, ir.Location.unknown(), ir.InsertionPoint(view):
        qnn.create(name, list(view.operation.operands), [view.result_type], attributes)
    module.operation.verify()
    created = function.regions[0].blocks[0].operations[0]
    assert str(created).partition(" = ")[2] == str(view).partition(" = ")[2]


@pytest.mark.parametrize("name", OPS)
def test_every_constraint_has_an_invalid_test(name: str) -> None:
    tested = (ROOT / "test" / "dialect" / f"{name}-invalid.mlir").read_text(encoding="utf-8")
    for number in re.findall(r"\(C(\d+)\)", qnn.OPS[name].check.__doc__ or ""):
        assert f"@{name}_c{number}_" in tested
        assert f"op (C{number}) " in tested


def test_numbers_in_the_invalid_tests_agree() -> None:
    for path in (ROOT / "test" / "dialect").glob("*-invalid.mlir"):
        text = path.read_text(encoding="utf-8")
        names, messages = re.findall(r"@\w+?_c(\d+)_", text), re.findall(r"op \(C(\d+)\)", text)
        assert names == messages, path.name


def test_the_page_is_up_to_date() -> None:
    committed = (ROOT / "docs" / "dialect.md").read_text(encoding="utf-8")
    assert committed == page(), "run: python -m zeropoint.dialect.qnn.page > docs/dialect.md"


def _values(types: list[TensorType]) -> tuple[Any, list[Any]]:
    """A module, and values of ``types`` (arguments of a function in it)."""
    from zeropoint.dialect.ir_types import to_ir_type
    from zeropoint.dialect.mlir import func

    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        function = func.FuncOp("main", ir.FunctionType.get([to_ir_type(t) for t in types], []))
        block = function.add_entry_block()
    with ir.InsertionPoint(block):
        func.ReturnOp([])
    return module, list(block.arguments)


@pytest.mark.parametrize("count", [1, 16, 17, 40, 300])
def test_concat_nests_beyond_its_operands(count: int) -> None:
    types = [TensorType((2, i + 1), QuantParams(Storage.of("i8"), (0.5 + i,), (0,))) for i in range(count)]
    result = TensorType((2, count * (count + 1) // 2), types[0].element)
    with new_context(), ir.Location.unknown():
        module, values = _values(types)
        block = module.body.operations[0].regions[0].blocks[0]
        with ir.InsertionPoint.at_block_terminator(block):
            (value,) = qnn.create("concat", values, [result], {"axis": 1})
        module.operation.verify()
        assert to_tensor_type(value.type) == result
        assert _leaves(value) == values


def _leaves(value: Any) -> list[Any]:
    """The arguments below a tree of concats, in order."""
    if isinstance(value, ir.BlockArgument):
        return [value]
    return [leaf for operand in value.owner.operands for leaf in _leaves(operand)]


@pytest.mark.parametrize(
    ("name", "count", "attributes", "message"),
    [
        ("relu", 1, {}, "unknown op 'qnn.relu'"),
        ("clamp", 1, {}, r"qnn.clamp: got attributes \[\], expected \['clamp'\]"),
        ("clamp", 2, {"clamp": []}, "qnn.clamp: got 2 operands"),
        ("add", 1, {"clamp": []}, "qnn.add: got 1 operands"),
        ("arg_max", 1, {"axis": 0.5}, "attribute 'axis': got 0.5, expected i64"),
    ],
)
def test_create_refuses(name: str, count: int, attributes: dict[str, Any], message: str) -> None:
    type_ = TensorType((2,), "f32")
    with new_context(), ir.Location.unknown():
        _, values = _values([type_] * count)
        with pytest.raises(TypeError, match=message):
            qnn.create(name, values, [type_], attributes)


def test_parse_errors_have_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text("module {\n  func.func @main() {\n  }\n}\n", encoding="utf-8")
    with pytest.raises(PipelineError, match=r"bad\.mlir:2:21: error: ") as info:
        parse_file(path)
    assert str(info.value).startswith(str(path))
    with pytest.raises(PipelineError, match=r"^<text>:1:1: error: "):
        parse_module("nonsense")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PipelineError, match="not a text file in UTF-8"):
        parse_file(path)


@given(st.integers(1, 50), st.integers(1, 9), st.integers(1, 5), st.integers(1, 4))
def test_same_padding_gives_ceil_of_extent_by_stride(
    extent: int, kernel: int, stride: int, dilation: int
) -> None:
    before, after = shapes.same_padding(extent, kernel, stride, dilation)
    assert 0 <= after - before <= 1
    assert shapes.conv_output_extent(extent, kernel, stride, dilation, (before, after)) == -(
        -extent // stride
    )


def test_shapes() -> None:
    assert shapes.conv2d_shape((1, 8, 9, 3), (4, 3, 3, 3), (2, 2), (1, 1), (0, 1, 1, 1)) == (1, 4, 5, 4)
    assert shapes.conv2d_shape((DYNAMIC, 8, DYNAMIC, 3), (4, 3, 3, 3), (1, 1), (1, 1), (0,) * 4) == (
        -1,
        6,
        -1,
        4,
    )
    assert shapes.pool2d_shape((1, 7, 7, 3), (7, 7), (1, 1), (0,) * 4) == (1, 1, 1, 3)
    assert shapes.fully_connected_shape((2, 3, 8), (4, 8)) == (2, 3, 4)
    assert shapes.broadcast_shape((2, 1, 4), (3, 1)) == (2, 3, 4)
    assert shapes.broadcast_shape((DYNAMIC, 1), (3, DYNAMIC)) == (3, DYNAMIC)
    assert shapes.broadcast_shape((0, 1), (1, 5)) == (0, 5)
    assert shapes.concat_shape([(2, 3), (2, 4)], 1) == (2, 7)
    assert shapes.concat_shape([(DYNAMIC, 3), (2, DYNAMIC)], 1) == (2, DYNAMIC)
    assert shapes.pad_shape((2, DYNAMIC), (1, 0), (0, 3)) == (3, DYNAMIC)
    assert shapes.transpose_shape((2, 3, 4), (2, 0, 1)) == (4, 2, 3)
    assert shapes.reduce_shape((2, 3, 4), [0, 2], keep_dims=True) == (1, 3, 1)
    assert shapes.reduce_shape((2, 3, 4), [0, 2], keep_dims=False) == (3,)
    assert shapes.same_padding_2d((8, 9), (3, 3), (2, 2)) == (0, 1, 1, 1)


def test_shapes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="does not fit into the padded input"):
        shapes.conv2d_shape((1, 2, 2, 3), (4, 3, 3, 3), (1, 1), (1, 1), (0, 0, 0, 0))
    with pytest.raises(ValueError, match="do not broadcast: 4 against 3"):
        shapes.broadcast_shape((2, 4), (3,))
    with pytest.raises(ValueError, match="differ in dimension 0"):
        shapes.concat_shape([(2, 3), (3, 3)], 1)
    with pytest.raises(ValueError, match="input has 8 features, the filter 7"):
        shapes.fully_connected_shape((2, 8), (4, 7))
