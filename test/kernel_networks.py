"""Random small networks of what kernels stand beside: convolutions of all kinds, residual adds, concats,
pools, pads, reshapes between them, float and int16 islands; outputs that others read, results nobody reads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from random_tensors import quantized, same_padding
from zeropoint.dialect import qnn
from zeropoint.dialect.context import new_context
from zeropoint.dialect.ir_types import to_ir_type, to_tensor_type
from zeropoint.dialect.mlir import func, ir
from zeropoint.dialect.model import Model
from zeropoint.dialect.types import TensorType
from zeropoint.runtime.executable import Executable

Array: TypeAlias = npt.NDArray[Any]
MOST_ELEMENTS = 6000
"""Of a value, so that the numpy meaning stays fast."""
_LIMITS = {"i8": (-128, 127), "u8": (0, 255)}
_CHANNELS = (1, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 20, 31, 32, 33, 48, 64, 65, 70)


@dataclass
class Network:
    """A module under construction."""

    rng: np.random.Generator
    storages: Sequence[str]
    batch: int
    point: Any = None
    values: list[Any] = field(default_factory=list)
    """8-bit ones, of rank 4."""
    others: list[Any] = field(default_factory=list)
    """What may be returned too: of other types and ranks."""

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def choice(self, items: Sequence[Any]) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def type(self, shape: Sequence[int], storage: str = "", scale: float = 0.0) -> TensorType:
        name = storage or self.choice(self.storages)
        low, high = _LIMITS[name]
        middle = (low + high + 1) // 2
        zero_point = self.choice([low, high, middle, *self.rng.integers(low, high + 1, 5).tolist()])
        type_ = quantized(shape, name, scale or float(self.rng.uniform(0.02, 0.3)), int(zero_point))
        return _without_lowest(type_) if self.chance(0.05) and zero_point != low else type_

    def pick(self) -> Any:
        """Later values more often, so that networks are deep; older ones too, so that they have branches."""
        return self.values[max(0, len(self.values) - int(self.rng.geometric(0.5)))]

    def alike(self, value: Any) -> list[Any]:
        """The values of one's shape, itself among them."""
        return [v for v in self.values if list(v.type.shape) == list(value.type.shape)]

    def create(self, op: str, operands: Sequence[Any], type_: TensorType, **attributes: Any) -> Any:
        (result,) = qnn.create(op, operands, [type_], attributes, ip=self.point)
        return result

    def constant(self, type_: TensorType, low: int | None = None, high: int | None = None) -> Any:
        storage = type_.params.storage
        first, last = storage.minimum if low is None else low, storage.maximum if high is None else high
        array = self.rng.integers(first, last, type_.shape, endpoint=True).astype(type_.dtype)
        return self.create("constant", [], type_, value=array)

    def clamp(self) -> tuple[float, ...]:
        return tuple(self.choice([(), (), (), (0.0, math.inf), (0.0, 6.0), (-1.0, 1.0), (-math.inf, 0.5)]))

    def keep(self, value: Any) -> Any:
        """Let others read a value, if it is small enough."""
        type_ = to_tensor_type(value.type)
        if math.prod(type_.shape) <= MOST_ELEMENTS:
            is_image = len(type_.shape) == 4 and type_.is_quantized and type_.params.storage.bits == 8
            (self.values if is_image else self.others).append(value)
        return value


def _without_lowest(type_: TensorType) -> TensorType:
    """The type with a storage that lacks its lowest number, as weights often have."""
    storage = type_.params.storage
    return replace(
        type_, element=replace(type_.params, storage=replace(storage, minimum=storage.minimum + 1))
    )


def contraction_operands(net: Network, x: Any, shape: tuple[int, ...]) -> list[Any]:
    """Input, filter of ``shape`` and a bias (or none)."""
    outputs = shape[0]
    params = to_tensor_type(x.type).params
    signed = params.storage.signed or net.chance(0.5)
    per_axis = signed and net.chance(0.6)
    scales = 2.0 ** net.rng.uniform(-10, -5, outputs if per_axis else 1)
    point = 0 if signed else int(net.rng.integers(0, 256))
    filter_type = quantized(shape, "i8" if signed else "u8", list(scales), point, 0 if per_axis else None)
    if signed and net.chance(0.1):
        filter_type = quantized(shape, "i4", list(scales), 0, 0 if per_axis else None)
    operands = [x, net.constant(filter_type)]
    if net.chance(0.8):
        bias_scales = [float(np.float32(params.scale) * np.float32(s)) for s in filter_type.params.scales]
        bias = quantized((outputs,), "i32", bias_scales, 0, 0 if per_axis else None)
        reach = 20000 if net.chance(0.9) else 2**31 - 1
        operands.append(net.constant(bias, -reach, reach))
    return operands


def result_scale(x: Any, operands: Sequence[Any], taps: int) -> float:
    """Such that most results are inside the range."""
    filter_params = to_tensor_type(operands[1].type).params
    step = to_tensor_type(x.type).params.scale * max(filter_params.scales)
    return float(step * 60 * math.sqrt(taps) + 1e-6)


def conv(net: Network, x: Any = None, same: bool = False, outputs: int = 0, deep: float = 0.4) -> Any:
    """A convolution; ``same``: of the input's height and width. ``deep``: how likely it is depthwise."""
    x = net.pick() if x is None else x
    batch, height, width, channels = x.type.shape
    depthwise = net.chance(deep) and (not outputs or outputs % channels == 0)
    if depthwise:
        count = outputs or channels * net.choice([1, 1, 1, 2, 3])
    else:
        count = outputs or net.choice(_CHANNELS)
    groups = channels if depthwise else 1
    if not depthwise and net.chance(0.05) and channels % 2 == 0 and count % 2 == 0:
        groups = 2
    window, stride, dilation, pads = [], [], [], []
    extents = []
    for size in (height, width):
        k = net.choice([1, 1, 2, 3, 3, 5])
        s = 1 if same else net.choice([1, 1, 2, 3])
        d = net.choice([1, 1, 1, 2])
        kind = "SAME" if same or net.chance(0.7) else "VALID"
        if kind == "VALID" and (k - 1) * d + 1 > size:
            k = 1
        extent, before, after = same_padding(size, k, s, d, kind)
        if not same and net.chance(0.15):  # paddings of no scheme
            before, after = before + net.choice([0, 1, 2]), after + net.choice([0, 1, 3])
            extent = (size + before + after - (k - 1) * d - 1) // s + 1
        window.append(k)
        stride.append(s)
        dilation.append(d)
        pads += [before, after]
        extents.append(extent)
    operands = contraction_operands(net, x, (count, *window, channels // groups))
    storage = to_tensor_type(x.type).params.storage.name if net.chance(0.9) else ""
    type_ = net.type((batch, *extents, count), storage)
    scale = result_scale(x, operands, math.prod(window) * channels // groups)
    type_ = quantized(type_.shape, type_.params.storage.name, scale, type_.params.zero_point)
    return net.create(
        "conv2d",
        operands,
        type_,
        strides=tuple(stride),
        dilations=tuple(dilation),
        padding=tuple(pads),
        groups=groups,
        clamp=net.clamp(),
    )


def residual(net: Network, x: Any = None) -> Any:
    """A convolution (or two) and an add; others may read the convolution too, or it is both operands."""
    x = net.pick() if x is None else x
    inner = conv(net, x, same=True, outputs=x.type.shape[3], deep=0.1)
    if net.chance(0.2):
        net.keep(inner)
    other = net.choice([x, net.choice(net.alike(x)), inner, conv(net, x, same=True, outputs=x.type.shape[3])])
    operands = [inner, other] if net.chance(0.5) else [other, inner]
    return _binary(net, net.choice(["add", "add", "add", "sub", "mul"]), operands)


def _binary(net: Network, op: str, operands: list[Any]) -> Any:
    storages = {to_tensor_type(v.type).params.storage.name for v in operands}
    type_ = net.type(operands[0].type.shape, net.choice(sorted(storages)), float(net.rng.uniform(0.05, 0.5)))
    return net.create(op, operands, type_, clamp=net.clamp())


def binary(net: Network) -> Any:
    """Of two values, the same twice, a value and a constant (also one that is repeated)."""
    x = net.pick()
    operands = [x, net.choice(net.alike(x))]
    if net.chance(0.1):
        return repeated(net, x)
    if net.chance(0.4):
        shape = list(x.type.shape)
        kind = net.choice(["whole", "channels", "one", "row", "vector", "scalar"])
        shapes = {
            "whole": shape,
            "channels": [1, 1, 1, shape[3]],
            "one": [1, 1, 1, 1],
            "row": [1, 1, shape[2], shape[3]],
            "vector": [shape[3]],
            "scalar": [],
        }
        operands[1] = net.constant(net.type(shapes[kind], to_tensor_type(x.type).params.storage.name))
    if net.chance(0.5):
        operands.reverse()
    op = net.choice(
        ["add", "sub", "mul", "add", "sub", "mul", "maximum", "minimum", "prelu", "binary", "compare"]
    )
    type_ = net.type(x.type.shape, "", float(net.rng.uniform(0.05, 0.5)))
    if op == "compare":
        shape = TensorType(type_.shape, "i1")
        made = net.create(op, operands, shape, predicate=net.choice(["less", "greater_equal", "equal"]))
        net.others.append(made)
        return x
    attributes: dict[str, Any] = {"binary": {"function": net.choice(["div", "squared_difference"])}}
    attributes |= {"maximum": {}, "minimum": {}, "prelu": {}}
    return net.create(op, operands, type_, **attributes.get(op, {"clamp": net.clamp()}))


def repeated(net: Network, x: Any) -> Any:
    """Columns and rows, each repeated along the other."""
    batch, height, width, channels = x.type.shape
    type_ = to_tensor_type(x.type)
    parts = []
    for window, extents in (((1, width), (height, 1)), ((height, 1), (1, width))):
        result = replace(type_, shape=(batch, *extents, channels))
        options = {"window": window, "strides": (1, 1), "padding": (0, 0, 0, 0), "clamp": ()}
        parts.append(net.create("max_pool2d", [x], result, **options))
    result = net.type((batch, height, width, channels), type_.params.storage.name)
    return net.create(net.choice(["add", "sub", "mul"]), parts, result, clamp=())


def gate(net: Network) -> Any:
    """A value times what its mean makes of it, as squeeze-and-excitation does."""
    x = net.pick()
    batch, _, _, channels = x.type.shape
    storage = to_tensor_type(x.type).params.storage.name
    type_ = net.type((batch, 1, 1, channels), storage)
    squeezed = net.create("mean", [x], type_, axes=(1, 2), keep_dims=True)
    excited = conv(net, squeezed, same=True, outputs=channels)
    return net.create("mul", [excited, x], net.type(x.type.shape, storage), clamp=())


def unary(net: Network) -> Any:
    x = net.pick()
    op = net.choice(["requantize", "requantize", "logistic", "tanh", "softmax", "clamp"])
    attributes: dict[str, Any] = {"softmax": {"beta": 1.0, "axis": 3}, "clamp": {"clamp": (0.0, 6.0)}}
    type_ = net.type(x.type.shape)
    natural = {"logistic": (1 / 256, 0), "softmax": (1 / 256, 0), "tanh": (1 / 128, 128)}.get(op)
    if natural is not None and net.chance(0.8):
        storage = to_tensor_type(x.type).params.storage.name
        scale, zero_point = natural
        type_ = quantized(type_.shape, storage, scale, zero_point - (128 if storage == "i8" else 0))
    return net.create(op, [x], type_, **attributes.get(op, {}))


def pool(net: Network) -> Any:
    x = net.pick()
    batch, height, width, channels = x.type.shape
    window, strides, padding, extents = [], [], [], []
    for size in (height, width):
        k, s = net.choice([1, 2, 2, 3]), net.choice([1, 1, 2])
        kind = net.choice(["SAME", "VALID"]) if k <= size else "SAME"
        extent, before, after = same_padding(size, k, s, 1, kind)
        window.append(k)
        strides.append(s)
        padding += [before, after]
        extents.append(extent)
    type_ = replace(to_tensor_type(x.type), shape=(batch, *extents, channels))
    if net.chance(0.1):
        type_ = net.type(type_.shape, type_.params.storage.name)
    return net.create(
        net.choice(["max_pool2d", "avg_pool2d"]),
        [x],
        type_,
        window=tuple(window),
        strides=tuple(strides),
        padding=tuple(padding),
        clamp=net.clamp(),
    )


def concat(net: Network) -> Any:
    """Of values with one height and width: also twice the same, and of what was made just for it."""
    x = net.pick()
    extents = list(x.type.shape[:3])
    fitting = [v for v in net.values if list(v.type.shape[:3]) == extents]
    count = net.choice([1, 2, 2, 3, 4])
    type_ = net.type((1, 1, 1, 1)) if net.chance(0.5) else to_tensor_type(x.type)
    operands = []
    for _ in range(count):
        made = net.choice(_PRODUCERS)
        operands.append(net.choice(fitting) if made is None else made(net, x, type_))
        if net.chance(0.2):
            net.keep(operands[-1])
    axis = 3 if net.chance(0.85) else net.choice([1, 2])
    if axis != 3:
        operands = [v for v in operands if v.type.shape[3] == operands[0].type.shape[3]]
    shape = list(operands[0].type.shape)
    shape[axis] = sum(v.type.shape[axis] for v in operands)
    return net.create("concat", operands, replace(type_, shape=tuple(shape)), axis=axis)


def _like(net: Network, value: Any, like: TensorType) -> Any:
    """A value, mostly as if its op gave it in the parameters of ``like``."""
    if net.chance(0.7):
        value.set_type(to_ir_type(replace(like, shape=tuple(value.type.shape))))
    return value


def _made_by(op: str, **attributes: Any) -> Callable[[Network, Any, TensorType], Any]:
    """An op that keeps the shape, and the parameters unless it may change them."""

    def make(net: Network, x: Any, like: TensorType) -> Any:
        own = to_tensor_type(x.type)
        if op in ("requantize", "tanh"):
            own = replace(like, shape=own.shape)
        return net.create(op, [x], own, **attributes)

    return make


def _through_float(net: Network, x: Any, like: TensorType) -> Any:
    real = net.create("dequantize", [x], TensorType(tuple(x.type.shape), "f32"))
    return net.create("quantize", [real], replace(like, shape=tuple(x.type.shape)))


_WINDOW = {"window": (3, 3), "strides": (1, 1), "padding": (1, 1, 1, 1), "clamp": ()}
_NOTHING = {"low": (0, 0, 0, 0), "high": (0, 0, 0, 0), "value": 0.0}
_SIZES = {"align_corners": False, "half_pixel_centers": False}
_PRODUCERS: Sequence[Callable[[Network, Any, TensorType], Any] | None] = (
    *(None, None, None),  # what is there already
    lambda net, x, like: _like(net, conv(net, x, same=True), like),
    lambda net, x, like: _like(net, conv(net, x, same=True), like),
    lambda net, x, like: _like(net, residual(net, x), like),
    lambda net, x, like: _like(net, _binary(net, "add", [x, net.choice(net.alike(x))]), like),
    lambda net, x, like: _like(net, _binary(net, "mul", [x, net.choice(net.alike(x))]), like),
    lambda net, x, like: _like(net, dense(net, x, matrix=False), like),
    _through_float,
    _made_by("requantize"),
    _made_by("tanh"),
    _made_by("max_pool2d", **_WINDOW),
    _made_by("avg_pool2d", **_WINDOW),
    _made_by("pad", **_NOTHING),
    _made_by("resize_bilinear", **_SIZES),
    _made_by("transpose", permutation=(0, 1, 2, 3)),
)
"""What may be made just for a concat, of a value of its height and width; None: nothing."""


def nested_concat(net: Network) -> Any:
    """A concat of a concat: slices of slices."""
    inner = concat(net)
    if net.chance(0.2):
        net.keep(inner)
    type_ = to_tensor_type(inner.type)
    fitting = [v for v in net.values if list(v.type.shape[:3]) == list(inner.type.shape[:3])]
    operands = [inner, *[net.choice(fitting) for _ in range(net.choice([0, 1, 2])) if fitting]]
    net.rng.shuffle(operands)  # type: ignore[arg-type]
    channels = sum(v.type.shape[3] for v in operands)
    return net.create("concat", operands, replace(type_, shape=(*type_.shape[:3], channels)), axis=3)


def movement(net: Network) -> Any:
    x = net.pick()
    type_ = to_tensor_type(x.type)
    batch, height, width, channels = type_.shape
    kind = net.choice(["pad", "slice", "transpose", "shuffle", "reshape", "reshape", "resize", "resize"])
    if kind == "shuffle":
        return shuffle(net, x)
    if kind == "pad":
        low = (0, *net.rng.integers(0, 3, 2).tolist(), net.choice([0, 0, 0, 1]))
        high = (0, *net.rng.integers(0, 3, 2).tolist(), 0)
        shape = tuple(a + b + c for a, b, c in zip(type_.shape, low, high, strict=True))
        value = net.choice([0.0, 0.0, 0.0, 1.0, -math.inf])
        return net.create("pad", [x], replace(type_, shape=shape), low=low, high=high, value=value)
    if kind == "slice":
        offset, size = net.choice([0, channels // 2]), max(1, channels // 2)
        sizes = (batch, (height + 1) // 2, width, size)
        offsets = (0, 0, 0, min(offset, channels - size))
        return net.create(
            "slice", [x], replace(type_, shape=sizes), offsets=offsets, sizes=sizes, strides=(1, 2, 1, 1)
        )
    if kind == "transpose":
        order = net.choice([(0, 2, 1, 3), (0, 3, 1, 2), (0, 1, 3, 2), (0, 2, 3, 1)])
        shape = tuple(type_.shape[i] for i in order)
        return net.create("transpose", [x], replace(type_, shape=shape), permutation=order)
    if kind == "reshape":
        return reshape(net, x)
    options = net.choice([(False, False), (True, False), (False, True)])
    extents = net.choice([1, height, 2 * height, height + 3]), net.choice([width, 2 * width, 5])
    shape = (batch, *extents, channels)
    result = replace(type_, shape=shape) if net.chance(0.9) else net.type(shape, type_.params.storage.name)
    op = net.choice(["resize_bilinear", "resize_nearest"])
    return net.create(op, [x], result, align_corners=options[0], half_pixel_centers=options[1])


def shuffle(net: Network, x: Any) -> Any:
    """Channels in another order, or into space, by way of five or six dimensions."""
    type_ = to_tensor_type(x.type)
    batch, height, width, channels = type_.shape
    groups = next(g for g in (4, 3, 2, 1) if channels % g == 0)
    if net.chance(0.5):
        shape, order = (batch, height, width, groups, channels // groups), (0, 1, 2, 4, 3)
        result = type_.shape
    else:
        block = 2 if channels % 4 == 0 else 1
        shape = (batch, height, width, block, block, channels // block**2)
        order = net.choice([(0, 1, 3, 2, 4, 5), (0, 3, 1, 4, 2, 5), (5, 0, 1, 2, 3, 4)])
        result = (batch, height * block, width * block, channels // block**2)
    there = net.create("reshape", [x], replace(type_, shape=shape))
    moved = replace(type_, shape=tuple(shape[i] for i in order))
    back = net.create("transpose", [there], moved, permutation=order)
    return net.create("reshape", [back], replace(type_, shape=result))


def reshape(net: Network, x: Any) -> Any:
    """Perhaps there and back, perhaps in other parameters."""
    type_ = to_tensor_type(x.type)
    batch, height, width, channels = type_.shape
    shapes = [
        (batch, width, height, channels),
        (batch, 1, height * width, channels),
        (batch, height, 1, width * channels),
        (1, batch * height, width, channels),
        (batch, 1, 1, height * width * channels),
    ]
    changed = net.type(type_.shape, type_.params.storage.name) if net.chance(0.1) else type_
    made = net.create("reshape", [x], replace(changed, shape=net.choice(shapes)))
    if net.chance(0.3):
        net.keep(made)
        made = net.create("reshape", [made], type_)
    return made


def dense(net: Network, x: Any = None, matrix: bool = True) -> Any:
    """A matrix product of a matrix or of an image's pixels."""
    x = net.pick() if x is None else x
    type_ = to_tensor_type(x.type)
    if matrix and net.chance(0.5):
        shape = net.choice([(type_.shape[0], math.prod(type_.shape[1:])), (-1, type_.shape[3])])
        rows = math.prod(type_.shape) // shape[1]
        x = net.create("reshape", [x], replace(type_, shape=(rows, shape[1])))
    lead, depth = tuple(x.type.shape[:-1]), x.type.shape[-1]
    outputs = net.choice(_CHANNELS)
    if net.chance(0.2):
        return batch_matmul(net, x, outputs)
    operands = contraction_operands(net, x, (outputs, depth))
    scale = result_scale(x, operands, depth)
    point = net.type((1,), type_.params.storage.name).params.zero_point
    result = quantized((*lead, outputs), type_.params.storage.name, scale, point)
    made = net.create("fully_connected", operands, result, clamp=net.clamp())
    if len(lead) == 3:
        return made
    if net.chance(0.3):
        net.keep(made)
    return net.create("reshape", [made], replace(result, shape=(1, 1, *result.shape)))


def batch_matmul(net: Network, x: Any, outputs: int) -> Any:
    """A product of every matrix of an image (or of a row) with a constant one."""
    type_ = to_tensor_type(x.type)
    lead, depth = type_.shape[:-1], type_.shape[-1]
    turned = net.chance(0.5)
    storage = type_.params.storage.name
    shape = (outputs, depth) if turned else (depth, outputs)
    if net.chance(0.3):
        shape = (1, *shape)
    factor = net.constant(net.type(shape, storage, 0.01))
    result = net.type((*lead, outputs), storage, type_.params.scale * math.sqrt(depth))
    if len(lead) == 0 or len(shape) > len(type_.shape):
        return x
    made = net.create("batch_matmul", [x, factor], result, transpose_lhs=False, transpose_rhs=turned)
    if len(lead) == 3:
        return made
    return net.create("reshape", [made], replace(result, shape=(*(1,) * (3 - len(lead)), *result.shape)))


def matrices(net: Network) -> Any:
    """Matrices side by side, each made in its own way."""
    x = net.pick()
    image = to_tensor_type(x.type)
    lead = (image.shape[0],) if net.chance(0.5) else (image.shape[0], image.shape[1])
    depth = math.prod(image.shape) // math.prod(lead)
    type_ = replace(image, shape=(*lead, depth))
    flat = net.create("reshape", [x], type_)
    swapped = (*range(len(lead) - 1), len(lead), len(lead) - 1)
    parts = []
    for _ in range(net.choice([1, 2, 3])):
        kind = net.choice(["itself", "dense", "transpose", "mean", "requantize", "softmax", "slice", "add"])
        if kind == "dense":
            outputs = net.choice(_CHANNELS)
            operands = contraction_operands(net, flat, (outputs, depth))
            part = net.create("fully_connected", operands, replace(type_, shape=(*lead, outputs)), clamp=())
        elif kind == "transpose":
            there = replace(type_, shape=tuple(type_.shape[i] for i in swapped))
            back = net.create("transpose", [flat], there, permutation=swapped)
            part = net.create("transpose", [back], type_, permutation=swapped)
        elif kind == "mean" and len(lead) == 1:
            result = replace(type_, shape=(*lead, image.shape[3]))
            part = net.create("mean", [x], result, axes=(1, 2), keep_dims=False)
        elif kind == "softmax":
            part = net.create("softmax", [flat], type_, beta=1.0, axis=len(lead))
        elif kind == "slice":
            sizes = (*lead, (depth + 1) // 2)
            zeros, ones = (0,) * len(sizes), (1,) * len(sizes)
            result = replace(type_, shape=sizes)
            part = net.create("slice", [flat], result, offsets=zeros, sizes=sizes, strides=ones)
        elif kind == "add":
            part = net.create("add", [flat, flat], type_, clamp=())
        else:
            part = flat if kind == "itself" else net.create("requantize", [flat], type_)
        parts.append(part)
    width = sum(part.type.shape[-1] for part in parts)
    whole = net.create("concat", parts, replace(type_, shape=(*lead, width)), axis=len(lead))
    net.keep(whole)
    return net.create(
        "reshape", [whole], replace(type_, shape=(1, *(1,) * (2 - len(lead)), *whole.type.shape))
    )


def island(net: Network) -> Any:
    """Some steps in float or in int16."""
    x = net.pick()
    type_ = to_tensor_type(x.type)
    if net.chance(0.5):
        real = net.create("dequantize", [x], TensorType(type_.shape, "f32"))
        if net.chance(0.4):
            net.keep(real)
        if net.chance(0.6):
            real = net.create("clamp", [real], TensorType(type_.shape, "f32"), clamp=(-2.0, 3.0))
        return net.create("quantize", [real], net.type(type_.shape))
    wide = quantized(type_.shape, "i16", 0.001, 0)
    value = net.create("requantize", [x], wide)
    if net.chance(0.5):
        value = net.create("add", [value, value], quantized(type_.shape, "i16", 0.002, 0), clamp=())
    if net.chance(0.4):
        net.keep(value)
    return net.create("requantize", [value], net.type(type_.shape))


def end(net: Network) -> Any:
    """What stands at the end of networks; nothing reads it."""
    x = net.pick()
    type_ = to_tensor_type(x.type)
    batch, _, _, channels = type_.shape
    kind = net.choice(["mean", "mean_kept", "arg_max", "softmax", "dequantize"])
    if kind == "arg_max":
        result = TensorType(type_.shape[:3], net.choice(["i32", "i64"]))
        return net.create("arg_max", [x], result, axis=3)
    if kind == "dequantize":
        return net.create("dequantize", [x], TensorType(type_.shape, "f32"))
    storage = type_.params.storage.name
    kept = kind == "mean_kept"
    shape = (batch, 1, 1, channels) if kept else (batch, channels)
    pooled = net.create("mean", [x], net.type(shape, storage), axes=(1, 2), keep_dims=kept)
    if kind != "softmax":
        return pooled
    result = quantized(shape, storage, 1 / 256, -128 if storage == "i8" else 0)
    return net.create("softmax", [pooled], result, beta=1.0, axis=1)


Step: TypeAlias = Callable[[Network], Any]
STEPS: Sequence[Step] = (
    *(conv, conv, conv, residual, residual, binary, gate, unary, pool),
    *(concat, concat, nested_concat, movement, movement, dense, matrices, island, end),
)


def build(seed: int, mode: str, steps: Sequence[Step] = STEPS) -> Model:
    """A network of up to 12 steps, with one to three inputs, and some of its values as outputs."""
    rng = np.random.default_rng(seed)
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        module.operation.attributes["qnn.numerics"] = ir.StringAttr.get(mode)
        storages = [("i8",), ("i8",), ("u8",), ("i8", "u8")][int(rng.integers(4))]
        net = Network(rng, storages, int(rng.choice([1, 1, 1, 2, 3])))
        sizes = [1, 1, *range(2, 10)] if rng.random() < 0.8 else [14, 19]
        shape = (net.batch, net.choice(sizes), net.choice(sizes), net.choice(_CHANNELS))
        inputs = [to_ir_type(net.type(shape)) for _ in range(int(rng.integers(1, 4)))]
        main = func.FuncOp("main", (inputs, []), ip=ir.InsertionPoint(module.body))
        block = main.add_entry_block()
        net.point = ir.InsertionPoint(block)
        net.values = list(block.arguments)
        # A few kinds a network: what is rare alone is often side by side in some.
        kinds = [net.choice(steps) for _ in range(5)]
        for _ in range(int(rng.integers(1, 13))):
            net.keep(net.choice(kinds)(net))
        func.ReturnOp(_outputs(net), ip=net.point)
        _name_values(block)
        outputs = list(block.operations)[-1].operands
        function_type = ir.FunctionType.get(inputs, [v.type for v in outputs])
        main.operation.attributes["function_type"] = ir.TypeAttr.get(function_type)
        assert module.operation.verify()
        return Model.from_module(module, f"random{seed}")


def _outputs(net: Network) -> list[Any]:
    """The last value, everything of another kind that nobody reads, and a few others, perhaps twice."""
    unread = [v for v in net.others if not any(True for _ in v.uses)]
    more = [net.choice([*net.values, *net.others]) for _ in range(net.choice([0, 0, 1, 2, 3]))]
    return [net.values[-1], *unread, *more]


def _name_values(block: Any) -> None:
    """Locations as a frontend gives them."""
    for number, op in enumerate(block.operations):
        if op.operation.name.startswith("qnn."):
            op.operation.location = ir.Location.name(f"value{number}")


def random_inputs(model: Model | Executable, rng: np.random.Generator) -> list[Array]:
    """Values of the whole range, with the ends and the zero point among them."""
    arrays = []
    for info in model.inputs:
        storage = info.type.params.storage
        array = rng.integers(storage.minimum, storage.maximum, info.shape, endpoint=True)
        special = rng.choice([storage.minimum, storage.maximum, info.zero_point], info.shape)
        arrays.append(np.where(rng.random(info.shape) < 0.2, special, array).astype(info.dtype))
    return arrays
