"""Random small networks, compiled and run, against the numpy meaning of their ops.

What tests of single ops miss: fusion across ops, buffers that share memory, values with several readers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import zeropoint as zp
from random_tensors import quantized
from zeropoint.dialect import qnn
from zeropoint.dialect.context import new_context
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.ir_types import to_ir_type, to_tensor_type
from zeropoint.dialect.mlir import func, ir
from zeropoint.dialect.types import TensorType

Array: TypeAlias = npt.NDArray[Any]


@dataclass
class Network:
    """A module under construction; every value is [1, H, W, C] and 8-bit."""

    rng: np.random.Generator
    storage: str
    point: Any
    values: list[Any] = field(default_factory=list)

    def type(self, shape: tuple[int, ...], scale: float | None = None) -> TensorType:
        zero_point = int(self.rng.integers(-100, 100)) + (128 if self.storage == "u8" else 0)
        return quantized(shape, self.storage, scale or float(self.rng.uniform(0.02, 0.2)), zero_point)

    def pick(self) -> Any:
        """Later values more often, so that networks are deep; older ones too, so that they have branches."""
        count = len(self.values)
        return self.values[max(0, count - 1 - int(self.rng.geometric(0.6)) + 1)]

    def same_shape(self, value: Any) -> Any:
        others = [v for v in self.values if list(v.type.shape) == list(value.type.shape)]
        return others[int(self.rng.integers(len(others)))]

    def create(self, op: str, operands: list[Any], type_: TensorType, **attributes: Any) -> Any:
        (result,) = qnn.create(op, operands, [type_], attributes, ip=self.point)
        return result

    def constant(self, array: Array, type_: TensorType) -> Any:
        return self.create("constant", [], type_, value=array)

    def clamp(self) -> tuple[float, ...]:
        choices: list[tuple[float, ...]] = [(), (), (0.0, float("inf")), (0.0, 6.0), (-1.0, 1.0)]
        return choices[int(self.rng.integers(len(choices)))]


def shape_of(value: Any) -> tuple[int, int, int, int]:
    _, height, width, channels = value.type.shape
    return 1, height, width, channels


def conv(net: Network) -> Any:
    x = net.pick()
    _, height, width, channels = shape_of(x)
    depthwise = bool(net.rng.integers(2))
    outputs = channels if depthwise else int(net.rng.integers(1, 20))
    kernel, stride = int(net.rng.choice([1, 3])), int(net.rng.integers(1, 3))
    low = kernel // 2
    scales = net.rng.uniform(0.001, 0.02, outputs)
    depth = 1 if depthwise else channels
    filter_type = quantized((outputs, kernel, kernel, depth), "i8", list(scales), 0, 0)
    w = net.constant(net.rng.integers(-127, 128, filter_type.shape).astype(np.int8), filter_type)
    params = to_tensor_type(x.type).params
    bias_scales = [float(np.float32(params.scale)) * s for s in filter_type.params.scales]
    bias_type = quantized((outputs,), "i32", bias_scales, 0, 0 if outputs > 1 else None)
    if outputs == 1:
        bias_type = replace(bias_type, element=replace(bias_type.params, axis=0))
    b = net.constant(net.rng.integers(-500, 500, outputs).astype(np.int32), bias_type)
    extent = [(n + 2 * low - kernel) // stride + 1 for n in (height, width)]
    return net.create(
        "conv2d",
        [x, w, b],
        net.type((1, *extent, outputs)),
        strides=(stride, stride),
        dilations=(1, 1),
        padding=(low, low, low, low),
        groups=channels if depthwise else 1,
        clamp=net.clamp(),
    )


def binary(net: Network) -> Any:
    x = net.pick()
    op = str(net.rng.choice(["add", "sub", "mul"]))
    return net.create(op, [x, net.same_shape(x)], net.type(shape_of(x)), clamp=net.clamp())


def unary(net: Network) -> Any:
    x = net.pick()
    op = str(net.rng.choice(["requantize", "logistic", "tanh", "softmax", "clamp"]))
    attributes: dict[str, Any] = {"softmax": {"beta": 1.0, "axis": 3}, "clamp": {"clamp": (0.0, 6.0)}}.get(
        op, {}
    )
    fixed = {"logistic": (1 / 256, 0), "softmax": (1 / 256, 0), "tanh": (1 / 128, 128)}.get(op)
    type_ = net.type(shape_of(x))
    if fixed is not None:
        scale, zero_point = fixed
        type_ = quantized(type_.shape, net.storage, scale, zero_point - (128 if net.storage == "i8" else 0))
    return net.create(op, [x], type_, **attributes)


def pool(net: Network) -> Any:
    x = net.pick()
    _, height, width, channels = shape_of(x)
    window = (min(2, height), min(2, width))
    op = str(net.rng.choice(["max_pool2d", "avg_pool2d"]))
    return net.create(
        op,
        [x],
        replace(to_tensor_type(x.type), shape=(1, height - window[0] + 1, width - window[1] + 1, channels)),
        window=window,
        strides=(1, 1),
        padding=(0, 0, 0, 0),
        clamp=net.clamp(),
    )


def movement(net: Network) -> Any:
    x = net.pick()
    _, height, width, channels = shape_of(x)
    kind = int(net.rng.integers(5))
    if kind == 0:
        other = net.same_shape(x)
        return net.create("concat", [x, other], net.type((1, height, width, 2 * channels)), axis=3)
    if kind == 1:
        shape = (1, height + 1, width + 2, channels)
        low, high = (0, 1, 0, 0), (0, 0, 2, 0)
        return net.create(
            "pad", [x], replace(to_tensor_type(x.type), shape=shape), low=low, high=high, value=0.0
        )
    if kind == 2:
        sizes = (1, (height + 1) // 2, width, channels)
        type_ = replace(to_tensor_type(x.type), shape=sizes)
        zeros = (0, 0, 0, 0)
        return net.create("slice", [x], type_, offsets=zeros, sizes=sizes, strides=(1, 2, 1, 1))
    if kind == 3:
        type_ = replace(to_tensor_type(x.type), shape=(1, width, height, channels))
        return net.create("transpose", [x], type_, permutation=(0, 2, 1, 3))
    return net.create("reshape", [x], net.type((1, width, height, channels)))


STEPS: list[Callable[[Network], Any]] = [conv, conv, binary, binary, unary, pool, movement]
MOST_ELEMENTS = 4000


def build(seed: int, storage: str, length: int, mode: str) -> Any:
    """A module with one or two inputs, ``length`` ops, and some of their results as outputs."""
    rng = np.random.default_rng(seed)
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        module.operation.attributes["qnn.numerics"] = ir.StringAttr.get(mode)
        net = Network(rng, storage, None)
        shape = (1, int(rng.integers(2, 8)), int(rng.integers(2, 8)), int(rng.integers(1, 20)))
        inputs = [to_ir_type(net.type(shape)) for _ in range(int(rng.integers(1, 3)))]
        main = func.FuncOp("main", (inputs, []), ip=ir.InsertionPoint(module.body))
        block = main.add_entry_block()
        net.point = ir.InsertionPoint(block)
        net.values = list(block.arguments)
        for _ in range(length):
            value = STEPS[int(rng.integers(len(STEPS)))](net)
            if np.prod(value.type.shape) <= MOST_ELEMENTS:
                net.values.append(value)
        outputs = [net.values[-1], *rng.choice(np.array(net.values, object), int(rng.integers(0, 3)))]
        func.ReturnOp(outputs, ip=net.point)
        function_type = ir.FunctionType.get(inputs, [v.type for v in outputs])
        main.operation.attributes["function_type"] = ir.TypeAttr.get(function_type)
        assert module.operation.verify()
    return module


@pytest.mark.parametrize("mode", ["reference", "xnnpack"])
@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    storage=st.sampled_from(["i8", "u8"]),
    length=st.integers(1, 12),
    keep=st.booleans(),
)
def test_compiled_network_equals_its_meaning(
    mode: str, seed: int, storage: str, length: int, keep: bool
) -> None:
    model = zp.Model.from_module(build(seed, storage, length, mode), "random")
    executable = zp.compile(model, keep_intermediates=keep, cache=False)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        inputs = [
            rng.integers(*((-128, 128) if storage == "i8" else (0, 256)), info.shape).astype(info.dtype)
            for info in model.inputs
        ]
        expected = evaluate_module(model.module, inputs)
        for actual, right in zip(executable.run(*inputs), expected, strict=True):
            np.testing.assert_array_equal(actual, right, err_msg=model.text())
