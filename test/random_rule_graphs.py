"""Random graphs of small qnn ops and random rule tables, for the tests of parameter legalization."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from zeropoint.dialect import qnn
from zeropoint.dialect.context import new_context
from zeropoint.dialect.ir_types import to_ir_type, to_tensor_type
from zeropoint.dialect.mlir import func, ir
from zeropoint.dialect.types import QuantParams, Storage, TensorType

STORAGES = ("i8", "u8", "i16")
MOVING = ("broadcast", "gather", "pad", "reshape", "resize_nearest", "reverse", "slice", "transpose")
POOLING = ("avg_pool2d", "max_pool2d", "resize_bilinear")
COMPUTING = (
    *(
        "add",
        "clamp",
        "concat",
        "dynamic_update_slice",
        "select",
        "conv2d",
        "fully_connected",
        "logistic",
        "mean",
        "mul",
        "softmax",
        "sub",
        "tanh",
    ),
)


def params_pool(rng: random.Random, storages: Sequence[str] = STORAGES) -> list[QuantParams]:
    """A few parameters to draw from, so that equal ones meet: powers of two (ties) and others."""
    pool = []
    for _ in range(rng.randint(2, 4)):
        storage = Storage.of(rng.choice([storages[0], rng.choice(storages)]))
        scale = float(np.float32(2.0 ** rng.choice([-5, -4, -3, rng.uniform(-6, -2)])))
        middle = (storage.minimum + storage.maximum + 1) // 2
        zero_point = middle + rng.choice([0, rng.randint(-20, 20)]) if storage.bits == 8 else 0
        pool.append(QuantParams(storage, (scale,), (zero_point,)))
    return pool


@dataclass
class GraphBuilder:
    """Grows a function; every op has the location ``loc("tensor<number>")``."""

    rng: random.Random
    pool: list[QuantParams]
    values: list[Any]
    clamps: bool = True
    count: int = 0

    def params(self, storage: str | None = None) -> QuantParams:
        fitting = [p for p in self.pool if storage is None or p.storage.bits == Storage.of(storage).bits]
        return self.rng.choice(fitting)

    def create(self, name: str, operands: Sequence[Any], type_: TensorType, **attributes: Any) -> None:
        location = ir.Location.name(f"tensor{self.count}")
        self.count += 1
        self.values += qnn.create(name, operands, [type_], attributes, loc=location)

    def grow(self, names: Sequence[str]) -> None:
        name = self.rng.choice(list(names))
        value = self.rng.choice(self.values[-5:])
        getattr(self, f"add_{name}", lambda v: self.add_unary(name, v))(value)

    def result(self, value: Any, shape: Sequence[int] | None = None, same_width: bool = False) -> TensorType:
        """A result type: often the input's own parameters."""
        source = to_tensor_type(value.type)
        own = source.params
        other = self.params(own.storage.name if same_width else None)
        return TensorType(tuple(shape or source.shape), own if self.rng.random() < 0.4 else other)

    def add_unary(self, name: str, value: Any) -> None:
        attributes: dict[str, Any] = {}
        if name == "softmax":
            attributes = {"beta": 1.0, "axis": 3}
        if name == "clamp":
            attributes = {"clamp": self.rng.choice([[0.0, 6.0], [0.0, float("inf")], [-1.0, 1.0]])}
        self.create(name, [value], self.result(value, same_width=name == "softmax"), **attributes)

    def add_requantize(self, value: Any) -> None:
        source = to_tensor_type(value.type)
        self.create("requantize", [value], replace(source, element=self.params()))

    def add_reshape(self, value: Any) -> None:
        n, h, w, c = to_tensor_type(value.type).shape
        self.create("reshape", [value], self.result(value, self.rng.choice([(n, h * w, 1, c), (n, w, h, c)])))

    def add_transpose(self, value: Any) -> None:
        n, h, w, c = to_tensor_type(value.type).shape
        self.create("transpose", [value], self.result(value, (n, w, h, c)), permutation=[0, 2, 1, 3])

    def add_slice(self, value: Any) -> None:
        n, h, w, c = to_tensor_type(value.type).shape
        size = [n, self.rng.randint(1, h), w, c]
        self.create("slice", [value], self.result(value, size), offsets=[0, h - size[1], 0, 0], sizes=size,
                    strides=[1, 1, 1, 1])  # fmt: skip

    def add_pad(self, value: Any) -> None:
        n, h, w, c = to_tensor_type(value.type).shape
        real = self.rng.choice([0.0, 0.0, 0.3])
        self.create("pad", [value], self.result(value, (n, h + 1, w, c)), low=[0, 0, 0, 0], high=[0, 1, 0, 0],
                    value=real)  # fmt: skip

    def add_broadcast(self, value: Any) -> None:
        n, h, w, c = to_tensor_type(value.type).shape
        self.create("broadcast", [value], self.result(value, (n, 3 if h == 1 else h, w, c)))

    def add_reverse(self, value: Any) -> None:
        self.create("reverse", [value], self.result(value), axes=[1])

    def _plain(self, array: Any, element: str) -> Any:
        """A constant that is not quantized: indices, a condition."""
        type_ = TensorType(array.shape, element)
        return qnn.create("constant", [], [type_], {"value": array}, loc=ir.Location.unknown())[0]

    def add_gather(self, value: Any) -> None:
        n, h, w, c = to_tensor_type(value.type).shape
        places = self._plain(np.asarray([[h - 1], [0]], np.int32), "i32")
        self.create("gather", [value, places], self.result(value, (n, 2, w, c)), axis=1, batch_dims=0)

    def _partner(self, value: Any) -> Any:
        """Another value of the same shape, perhaps in other parameters."""
        shape = to_tensor_type(value.type).shape
        return self.rng.choice([v for v in self.values if to_tensor_type(v.type).shape == shape])

    def add_select(self, value: Any) -> None:
        w = to_tensor_type(value.type).shape[2]
        condition = self._plain(np.arange(w).reshape(w, 1) % 2 == 0, "i1")
        self.create("select", [value, self._partner(value), condition], self.result(value))

    def add_dynamic_update_slice(self, value: Any) -> None:
        begin = self._plain(np.zeros(4, np.int64), "i64")
        self.create("dynamic_update_slice", [value, self._partner(value), begin], self.result(value))

    def _resize(self, name: str, value: Any) -> None:
        n, h, w, c = to_tensor_type(value.type).shape
        shape = (n, min(2 * h, 8), w, c)
        self.create(name, [value], self.result(value, shape), align_corners=False, half_pixel_centers=False)

    def add_resize_nearest(self, value: Any) -> None:
        self._resize("resize_nearest", value)

    def add_resize_bilinear(self, value: Any) -> None:
        self._resize("resize_bilinear", value)

    def _pool(self, name: str, value: Any) -> None:
        n, h, w, c = to_tensor_type(value.type).shape
        clamp = self.rng.choice([[], [], [0.0, 1.5]]) if self.clamps else []
        self.create(name, [value], self.result(value, (n, (h + 1) // 2, w, c)), window=[2, 1], strides=[2, 1],
                    padding=[0, h % 2, 0, 0], clamp=clamp)  # fmt: skip

    def add_max_pool2d(self, value: Any) -> None:
        self._pool("max_pool2d", value)

    def add_avg_pool2d(self, value: Any) -> None:
        self._pool("avg_pool2d", value)

    def add_mean(self, value: Any) -> None:
        n, _, w, c = to_tensor_type(value.type).shape
        self.create("mean", [value], self.result(value, (n, 1, w, c)), axes=[1], keep_dims=True)

    def add_concat(self, value: Any) -> None:
        n, _, w, c = to_tensor_type(value.type).shape
        others = [v for v in self.values if to_tensor_type(v.type).shape[2:] == (w, c)]
        inputs = [value, *self.rng.sample(others, min(len(others), self.rng.randint(1, 2)))]
        height = sum(to_tensor_type(v.type).shape[1] for v in inputs)
        if height <= 16:
            self.create("concat", inputs, self.result(value, (n, height, w, c)), axis=1)

    def _binary(self, name: str, value: Any) -> None:
        source = to_tensor_type(value.type)
        fitting = [
            v
            for v in self.values
            if to_tensor_type(v.type).shape == source.shape
            and to_tensor_type(v.type).params.storage.bits == source.params.storage.bits
        ]
        result = self.result(value, same_width=True)
        self.create(name, [value, self.rng.choice(fitting)], result, clamp=self.rng.choice([[], [0.0, 2.0]]))

    def add_add(self, value: Any) -> None:
        self._binary("add", value)

    def add_sub(self, value: Any) -> None:
        self._binary("sub", value)

    def add_mul(self, value: Any) -> None:
        self._binary("mul", value)

    def _contract(self, name: str, value: Any, filter_shape: Sequence[int], **attributes: Any) -> None:
        source = to_tensor_type(value.type)
        channels, per_axis = filter_shape[0], self.rng.random() < 0.5
        scales = tuple(2.0**-k for k in range(4, 4 + (channels if per_axis else 1)))
        axis = 0 if per_axis else None
        weights = QuantParams(Storage.of("i8"), scales, (0,) * len(scales), axis)
        biases = QuantParams(
            Storage.of("i32"), tuple(source.params.scale * s for s in scales), weights.zero_points, axis
        )
        random_values = np.random.default_rng(self.rng.randint(0, 2**32 - 1))
        operands = [value]
        for shape, params, bound in ((filter_shape, weights, 127), ((channels,), biases, 1000)):
            array = random_values.integers(-bound, bound, shape).astype(params.storage.dtype)
            operands += qnn.create("constant", [], [TensorType(tuple(shape), params)], {"value": array},
                                   loc=ir.Location.unknown())  # fmt: skip
        self.create(
            name, operands, self.result(value, (*source.shape[:-1], channels)), clamp=[], **attributes
        )

    def add_conv2d(self, value: Any) -> None:
        self._contract("conv2d", value, (2, 1, 1, to_tensor_type(value.type).shape[3]), strides=[1, 1],
                       dilations=[1, 1], padding=[0, 0, 0, 0], groups=1)  # fmt: skip

    def add_fully_connected(self, value: Any) -> None:
        self._contract("fully_connected", value, (2, to_tensor_type(value.type).shape[3]))


def random_module(
    rng: random.Random,
    names: Sequence[str],
    size: int,
    storages: Sequence[str] = STORAGES,
    mode: str = "reference",
    clamps: bool = True,
) -> Any:
    """A verified module of ``size`` ops drawn from ``names``; values that nothing reads are its outputs.

    ``clamps``: pools may have a fused activation.
    """
    context = new_context()
    with context, ir.Location.unknown():
        module = ir.Module.create()
        module.operation.attributes["qnn.numerics"] = ir.StringAttr.get(mode)
        pool = params_pool(rng, storages)
        inputs = [to_ir_type(TensorType((1, 4, 2, 2), rng.choice(pool))) for _ in range(rng.randint(1, 2))]
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", (inputs, []))
            block = main.add_entry_block()
        with ir.InsertionPoint(block):
            builder = GraphBuilder(rng, pool, list(block.arguments), clamps)
            for _ in range(size):
                builder.grow(names)
            read = {operand for view in block.operations for operand in view.operation.operands}
            outputs = [value for value in builder.values[len(inputs) :] if value not in read]
            func.ReturnOp(outputs)
        types = ir.FunctionType.get(inputs, [value.type for value in outputs])
        main.operation.attributes["function_type"] = ir.TypeAttr.get(types)
        assert module.operation.verify()
    return module


def random_inputs(rng: random.Random, module: Any) -> list[Any]:
    """Stored values for the arguments of ``@main``, the ends of their ranges among them."""
    numbers = np.random.default_rng(rng.randint(0, 2**32 - 1))
    arrays = []
    for argument in module.body.operations[0].operation.regions[0].blocks[0].arguments:
        type_ = to_tensor_type(argument.type)
        storage = type_.params.storage
        arrays.append(
            numbers.integers(storage.minimum, storage.maximum, type_.shape, endpoint=True).astype(type_.dtype)
        )
    return arrays


def write_target(path: Path, rules: dict[str, str | dict[str, str]], default: str = "free") -> str:
    """A target file with these rules; its path as text."""
    lines = ["[rules]", f'default = "{default}"']
    lines += [f'{op} = "{rule}"' for op, rule in rules.items() if isinstance(rule, str)]
    for op, table in rules.items():
        if isinstance(table, dict):
            lines += [f"[rules.{op}]", *(f'"{storage}" = "{rule}"' for storage, rule in table.items())]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def random_rule(rng: random.Random, kinds: Sequence[str]) -> str | dict[str, str]:
    """A rule for every storage type, or one for each."""
    kind = rng.choice(list(kinds))
    if kind == "fixed":
        return {
            storage: f"fixed(1/{rng.choice([16, 32, 128])}, {zero})"
            for storage, zero in (("i8", rng.choice([-128, 0])), ("u8", rng.choice([0, 128])), ("i16", 0))
        }
    if rng.random() < 0.2:
        return {storage: rng.choice([k for k in kinds if k != "fixed"]) for storage in (*STORAGES, "*")}
    return kind


Table = dict[str, "str | dict[str, str]"]
Draw = Callable[[random.Random], Table]


def random_table(rng: random.Random, kinds: Sequence[str], names: Sequence[str]) -> Table:
    """A rule for each op of ``names``."""
    return {name: random_rule(rng, kinds) for name in names}
