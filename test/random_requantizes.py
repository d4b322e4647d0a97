"""Random graphs full of requantizes: what passes that move, merge and fold them have to get right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from random_tensors import Array, values
from zeropoint.dialect import qnn
from zeropoint.dialect.context import new_context
from zeropoint.dialect.ir_types import to_ir_type, to_tensor_type
from zeropoint.dialect.mlir import func, ir
from zeropoint.dialect.qnn.shapes import concat_shape
from zeropoint.dialect.types import QuantParams, Storage, TensorType

INSERTED = "qnn.inserted"


@dataclass
class RandomGraph:
    """A function under construction: the values so far, of rank 4 and 8 or 16 bits."""

    rng: np.random.Generator
    inserted: float = 0.5
    """How many of the requantizes are marked as forced."""
    is_chain: bool = False
    """Whether every op takes the newest value."""
    pool: list[QuantParams] = field(default_factory=list)
    made: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Parameters that have something to do with each other: relabelled, widened, narrowed, rescaled."""
        base = _params("i8", float(self.rng.uniform(0.01, 0.2)), int(self.rng.integers(-128, 128)))
        z, s = base.zero_point, base.scale
        self.pool = [
            base,
            _params("u8", s, z + 128),
            _params("i16", s, z),
            _params("i8", s, int(self.rng.integers(-128, 128))),
            QuantParams(Storage(8, True, -127, 127), (s,), (max(z, -127),)),
            _params("i8", 2 * s, z),
            _params("u8", float(self.rng.uniform(0.01, 0.2)), int(self.rng.integers(0, 256))),
        ]

    def choose(self, items: Any) -> Any:
        """One of ``items``, the later ones more often: graphs get deep."""
        items = list(items)
        return items[max(self.rng.integers(len(items)), self.rng.integers(len(items)))]

    def params(self, bits: int | None = None) -> QuantParams:
        fitting = [p for p in self.pool if bits is None or p.storage.bits == bits]
        return fitting[self.rng.integers(len(fitting))]

    def add(self, name: str, operands: list[Any], type_: TensorType, **attributes: Any) -> Any:
        (value,) = qnn.create(name, operands, [type_], attributes)
        self.made.append(value)
        return value

    def constant(self, type_: TensorType) -> Any:
        return self.add("constant", [], type_, value=values(self.rng, type_))

    def clamp(self, params: QuantParams) -> tuple[float, ...]:
        if self.rng.random() < 0.5:
            return ()
        steps = self.rng.uniform(-130, 130, 2)
        if self.rng.random() < 0.5:
            steps = np.floor(steps) + 0.5  # ties
        low, high = sorted(steps * params.scale)
        bounds: tuple[float, ...] = (0.0, np.inf) if self.rng.random() < 0.3 else (low, high)
        return tuple(float(np.float32(bound)) for bound in bounds)


Step: TypeAlias = Callable[[RandomGraph], None]


def _params(storage: str, scale: float, zero_point: int) -> QuantParams:
    return QuantParams(Storage.of(storage), (float(np.float32(scale)),), (zero_point,))


def random_module(
    seed: int, ops: int = 14, inserted: float = 0.5, numerics: str = "reference"
) -> tuple[Any, list[Array]]:
    """A module with ``@main`` of about ``ops`` ops, and storage arrays for its arguments."""
    graph = RandomGraph(np.random.default_rng(seed), inserted)
    steps = [STEPS[graph.rng.integers(len(STEPS))] for _ in range(ops)]
    return _build(graph, steps, numerics)


def random_chain(
    seed: int, *kinds: Sequence[Step], inserted: float = 0.0, numerics: str = "reference"
) -> tuple[Any, list[Array]]:
    """As :func:`random_module`: one op of each kind, behind each other."""
    graph = RandomGraph(np.random.default_rng(seed), inserted, is_chain=True)
    steps = [kind[graph.rng.integers(len(kind))] for kind in kinds]
    return _build(graph, steps, numerics)


def _build(graph: RandomGraph, steps: list[Step], numerics: str) -> tuple[Any, list[Array]]:
    shape = tuple(int(n) for n in graph.rng.integers(1, 4, 4))
    arguments = [TensorType(shape, graph.params()) for _ in range(2)]
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        module.operation.attributes["qnn.numerics"] = ir.StringAttr.get(numerics)
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("main", ([to_ir_type(t) for t in arguments], []))
        block = function.add_entry_block()
        graph.made += list(block.arguments)
        with ir.InsertionPoint(block):
            for step in steps:
                step(graph)
            unused = [value for value in graph.made if next(iter(value.uses), None) is None]
            results = [value for value in unused if graph.rng.random() < 0.8] or graph.made[-1:]
            func.ReturnOp(results)
        types = [value.type for value in results]
        kind = ir.FunctionType.get([to_ir_type(t) for t in arguments], types)
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
        assert module.operation.verify()
    return module, [values(graph.rng, type_) for type_ in arguments]


def _source(graph: RandomGraph) -> tuple[Any, TensorType, QuantParams]:
    value = graph.made[-1] if graph.is_chain else graph.choose(graph.made)
    type_ = to_tensor_type(value.type)
    return value, type_, type_.params


def _result(graph: RandomGraph, params: QuantParams, bits: int | None = None) -> QuantParams:
    return params if graph.rng.random() < 0.7 else graph.params(bits)


def requantize(graph: RandomGraph) -> None:
    value, type_, _ = _source(graph)
    made = graph.add("requantize", [value], TensorType(type_.shape, graph.params()))
    if graph.rng.random() < graph.inserted:
        made.owner.attributes[INSERTED] = ir.StringAttr.get("same-as-result")


def constant(graph: RandomGraph) -> None:
    _, type_, _ = _source(graph)
    graph.constant(TensorType(type_.shape, graph.params()))


def reshape(graph: RandomGraph) -> None:
    value, type_, params = _source(graph)
    shape = tuple(int(n) for n in graph.rng.permutation(type_.shape))
    graph.add("reshape", [value], TensorType(shape, _result(graph, params)))


def transpose(graph: RandomGraph) -> None:
    value, type_, params = _source(graph)
    order = tuple(int(n) for n in graph.rng.permutation(4))
    shape = tuple(type_.shape[d] for d in order)
    graph.add("transpose", [value], TensorType(shape, _result(graph, params)), permutation=order)


def cut(graph: RandomGraph) -> None:
    """The halves of a split."""
    value, type_, params = _source(graph)
    axis = int(np.argmax(type_.shape))
    half = -(-type_.shape[axis] // 2)
    for offset in range(0, type_.shape[axis], half):
        sizes, offsets = list(type_.shape), [0] * 4
        sizes[axis], offsets[axis] = min(half, type_.shape[axis] - offset), offset
        kind = TensorType(tuple(sizes), _result(graph, params))
        graph.add("slice", [value], kind, offsets=offsets, sizes=sizes, strides=[1] * 4)


def pad(graph: RandomGraph) -> None:
    value, type_, params = _source(graph)
    low, high = graph.rng.integers(0, 2, (2, 4)) * [graph.rng.random() < 0.3, 1, 1, graph.rng.random() < 0.3]
    fill = [0.0, 0.0, -1e9, float(np.float32(3 * params.scale))][graph.rng.integers(4)]
    shape = tuple(int(a + b + c) for a, b, c in zip(low, type_.shape, high, strict=True))
    kind = TensorType(shape, _result(graph, params))
    graph.add("pad", [value], kind, low=low.tolist(), high=high.tolist(), value=fill)


def max_pool(graph: RandomGraph) -> None:
    _pool(graph, "max_pool2d")


def average(graph: RandomGraph) -> None:
    _pool(graph, "avg_pool2d")


def _pool(graph: RandomGraph, name: str) -> None:
    value, type_, params = _source(graph)
    window = tuple(int(min(n, 2)) for n in type_.shape[1:3])
    padding = [int(graph.rng.integers(0, w)) for w in window for _ in (0, 1)]
    extents = [
        n + a + b - w + 1
        for n, w, a, b in zip(type_.shape[1:3], window, padding[::2], padding[1::2], strict=True)
    ]
    shape = (type_.shape[0], *extents, type_.shape[3])
    target = _result(graph, params)
    kind, clamp = TensorType(shape, target), graph.clamp(target)
    graph.add(name, [value], kind, window=window, strides=(1, 1), padding=padding, clamp=clamp)


def resize(graph: RandomGraph) -> None:
    value, type_, params = _source(graph)
    n, h, w, c = type_.shape
    kind = TensorType((n, h + 1, w, c), _result(graph, params))
    graph.add("resize_nearest", [value], kind, align_corners=False, half_pixel_centers=False)


def concat(graph: RandomGraph) -> None:
    first, type_, params = _source(graph)
    alike = [v for v in graph.made if to_tensor_type(v.type).shape == type_.shape]
    others = [alike[graph.rng.integers(len(alike))] for _ in range(graph.rng.integers(0, 3))]
    axis = int(graph.rng.integers(4))
    shape = concat_shape([type_.shape] * (1 + len(others)), axis)
    graph.add("concat", [first, *others], TensorType(tuple(shape), _result(graph, params)), axis=axis)


def clamp(graph: RandomGraph) -> None:
    value, type_, params = _source(graph)
    target = _result(graph, params)
    graph.add("clamp", [value], TensorType(type_.shape, target), clamp=graph.clamp(target))


def convolve(graph: RandomGraph) -> None:
    value, type_, _ = _source(graph)
    n, h, w, c = type_.shape
    kernel = TensorType((2, 1, 1, c), _params("i8", 0.03, 0))
    target = graph.params()
    padding = [int(p) for p in graph.rng.integers(0, 2, 4)]
    shape = (n, h + padding[0] + padding[1], w + padding[2] + padding[3], 2)
    graph.add(
        "conv2d",
        [value, graph.constant(kernel)],
        TensorType(shape, target),
        strides=(1, 1),
        dilations=(1, 1),
        padding=padding,
        groups=1,
        clamp=graph.clamp(target),
    )
    graph.made.pop(-2)  # the filter is no activation


def connect(graph: RandomGraph) -> None:
    value, type_, _ = _source(graph)
    kernel = TensorType((3, type_.shape[-1]), _params("u8", 0.02, 120))
    target = graph.params()
    kind = TensorType((*type_.shape[:-1], 3), target)
    graph.add("fully_connected", [value, graph.constant(kernel)], kind, clamp=graph.clamp(target))
    graph.made.pop(-2)


def add(graph: RandomGraph) -> None:
    _binary(graph, ["add", "sub"][graph.rng.integers(2)])


def multiply(graph: RandomGraph) -> None:
    _binary(graph, "mul")


def _binary(graph: RandomGraph, name: str) -> None:
    lhs, type_, params = _source(graph)
    bits = params.storage.bits
    rhs = graph.constant(TensorType((type_.shape[-1],), graph.params(bits)))
    graph.made.pop()
    target = graph.params(bits)
    graph.add(name, [lhs, rhs], TensorType(type_.shape, target), clamp=graph.clamp(target))


def mean(graph: RandomGraph) -> None:
    value, type_, _ = _source(graph)
    shape = (type_.shape[0], 1, 1, type_.shape[3])
    graph.add("mean", [value], TensorType(shape, graph.params()), axes=(1, 2), keep_dims=True)


def squash(graph: RandomGraph) -> None:
    value, type_, _ = _source(graph)
    graph.add(["logistic", "tanh"][graph.rng.integers(2)], [value], TensorType(type_.shape, graph.params()))


def soften(graph: RandomGraph) -> None:
    value, type_, params = _source(graph)
    target = graph.params(16 if params.storage.bits == 16 else None)
    graph.add("softmax", [value], TensorType(type_.shape, target), beta=1.0, axis=3)


def stretch(graph: RandomGraph) -> None:
    value, type_, params = _source(graph)
    n, h, w, c = type_.shape
    kind = TensorType((n, h + 1, w, c), _result(graph, params))
    graph.add("resize_bilinear", [value], kind, align_corners=False, half_pixel_centers=False)


def through_float(graph: RandomGraph) -> None:
    value, type_, _ = _source(graph)
    real = graph.add("dequantize", [value], TensorType(type_.shape, "f32"))
    graph.made.pop()
    graph.add("quantize", [real], TensorType(type_.shape, graph.params()))


MOVING = (reshape, transpose, cut, pad, resize, max_pool)
WITH_CLAMP = (clamp, average, max_pool, multiply, add, connect, convolve)
RESCALING = (*WITH_CLAMP, mean, squash, soften, stretch, through_float)
STEPS = (constant, *[requantize] * 5, reshape, transpose, cut, pad, resize, concat, *RESCALING)
