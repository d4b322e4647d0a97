"""Small TFLite models for tests, and LiteRT to run them.

model = Builder()
x = model.tensor("x", (1, 4), np.int8, scales=0.5, zero_points=3)
y = model.tensor("y", (1, 4), np.int8, scales=0.25)
model.op("RELU", [x], [y])
(result,) = run_litert(model.build([x], [y]), [array])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import flatbuffers
import numpy as np
import numpy.typing as npt
import pytest
import tflite
from flatbuffers import flexbuffers

Array: TypeAlias = npt.NDArray[Any]

TENSOR_TYPES: dict[str, int] = {
    "float32": tflite.TensorType.FLOAT32,
    "float16": tflite.TensorType.FLOAT16,
    "int32": tflite.TensorType.INT32,
    "uint8": tflite.TensorType.UINT8,
    "int64": tflite.TensorType.INT64,
    "bool": tflite.TensorType.BOOL,
    "int16": tflite.TensorType.INT16,
    "int8": tflite.TensorType.INT8,
    "int4": tflite.TensorType.INT4,
    "int2": 19,  # newer than the schema package
    "float64": tflite.TensorType.FLOAT64,
    "uint32": tflite.TensorType.UINT32,
    "uint16": tflite.TensorType.UINT16,
    "resource": tflite.TensorType.RESOURCE,
}
"""The schema's codes by numpy's names."""

# The options table of each operator whose name does not say it (CONV_2D -> Conv2DOptions is listed, ADD ->
# AddOptions is not).
_OPTIONS: dict[str, str] = {
    "ARG_MAX": "ArgMaxOptions",
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "BATCH_MATMUL": "BatchMatMulOptions",
    "BIDIRECTIONAL_SEQUENCE_LSTM": "BidirectionalSequenceLSTMOptions",
    "BIDIRECTIONAL_SEQUENCE_RNN": "BidirectionalSequenceRNNOptions",
    "CONV_2D": "Conv2DOptions",
    "CONV_3D": "Conv3DOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    **dict.fromkeys(
        ("MEAN", "SUM", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"),
        "ReducerOptions",
    ),
    "L2_NORMALIZATION": "L2NormOptions",
    "LSTM": "LSTMOptions",
    "RESIZE_BILINEAR": "ResizeBilinearOptions",
    "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions",
    "RNN": "RNNOptions",
    "STRIDED_SLICE": "StridedSliceOptions",
    "SVDF": "SVDFOptions",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTMOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
}

ACTIVATIONS: dict[str, tuple[float, ...]] = {
    "NONE": (),
    "RELU": (0.0, np.inf),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU6": (0.0, 6.0),
}
"""Fused activations by the schema's names, with the bounds they mean."""


@dataclass
class Level:
    """One level of a sparse tensor: dense, or (CSR) with its segments and indices of ``bits`` bits."""

    size: int
    segments: Sequence[int] | None = None
    indices: Sequence[int] = ()
    bits: int = 32


@dataclass
class Sparse:
    """How the ``values`` of a constant lie: see the schema's SparsityParameters."""

    traversal_order: Sequence[int]
    block_map: Sequence[int]
    levels: Sequence[Level]
    values: Array


@dataclass
class _Tensor:
    name: str
    shape: tuple[int, ...]
    type: int
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int
    data: bytes | None
    signature: tuple[int, ...]
    sparse: Sparse | None = None
    blockwise: tuple[int, int] | None = None
    """The tensor of scales, and how many neighbours share one."""
    variable: bool = False


@dataclass
class _Operator:
    name: str
    inputs: list[int]
    outputs: list[int]
    options: Mapping[str, Any]
    intermediates: Sequence[int] = ()


@dataclass
class Builder:
    """A model. Tensors are numbered in the order they are added; operators run in theirs. It has one subgraph
    unless :meth:`subgraph` adds others.
    """

    tensors: list[_Tensor] = field(default_factory=list)
    operators: list[_Operator] = field(default_factory=list)
    subgraphs: list[tuple[Builder, Sequence[int], Sequence[int]]] = field(default_factory=list)

    def subgraph(self, graph: Builder, inputs: Sequence[int], outputs: Sequence[int]) -> int:
        """Add a subgraph, of these inputs and outputs, to the model and return its number."""
        self.subgraphs.append((graph, inputs, outputs))
        return len(self.subgraphs)

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        dtype: npt.DTypeLike | str,
        scales: float | Sequence[float] = (),
        zero_points: int | Sequence[int] = 0,
        axis: int = 0,
        data: Array | bytes | None = None,
        signature: Sequence[int] = (),
        variable: bool = False,
    ) -> int:
        """Add a tensor and return its number. A ``variable`` is a state tensor.

        One scale: per-tensor; several: per-channel along ``axis`` (one zero point serves all). ``data`` makes
        it a constant. ``signature`` is the shape with -1 where an extent may change.
        """
        scale_list = tuple(np.atleast_1d(np.asarray(scales, np.float32)).tolist()) if np.size(scales) else ()
        points = (
            tuple(np.broadcast_to(np.asarray(zero_points), (len(scale_list),)).tolist()) if scale_list else ()
        )
        kind = dtype if isinstance(dtype, str) else np.dtype(dtype).name
        raw = data if isinstance(data, bytes) or data is None else np.ascontiguousarray(data).tobytes()
        type_ = TENSOR_TYPES[kind]
        self.tensors.append(
            _Tensor(name, tuple(shape), type_, scale_list, points, axis, raw, tuple(signature))
        )
        self.tensors[-1].variable = variable
        return len(self.tensors) - 1

    def sparse(self, name: str, shape: Sequence[int], sparse: Sparse, **quantization: Any) -> int:
        """Add a sparse constant of this dense ``shape``."""
        index = self.tensor(name, shape, sparse.values.dtype, data=sparse.values, **quantization)
        self.tensors[index].sparse = sparse
        return index

    def constant(self, name: str, data: Array, **quantization: Any) -> int:
        """Add a constant tensor with the shape and dtype of ``data``."""
        return self.tensor(name, data.shape, data.dtype, data=data, **quantization)

    def op(
        self,
        name: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        intermediates: Sequence[int] = (),
        **options: Any,
    ) -> None:
        """Add an operator, e.g. ``op("CONV_2D", [x, w, b], [y], Padding="SAME", StrideH=1, StrideW=1)``.

        Options are the schema's fields in CamelCase; enums may be given by name; -1 is an absent optional
        input. A name that the schema does not know is a custom operator's, whose options are a flexbuffer.
        """
        self.operators.append(_Operator(name, list(inputs), list(outputs), options, intermediates))

    def build(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        signatures: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]] | None = None,
    ) -> bytes:
        """The model file. ``signatures``: key -> (input name -> tensor, output name -> tensor)."""
        builder = flatbuffers.Builder(1024)
        graphs = [(self, inputs, outputs), *self.subgraphs]
        constants = [t.data for graph, _, _ in graphs for t in graph.tensors if t.data is not None]
        buffer_offsets = [_buffer(builder, data) for data in [b"", *constants]]
        codes = list(dict.fromkeys(o.name for graph, _, _ in graphs for o in graph.operators))
        code_offsets = [_operator_code(builder, name) for name in codes]
        subgraphs, first = [], 0
        for number, (graph, ins, outs) in enumerate(graphs):
            tensor_offsets = graph._tensor_offsets(builder, first)
            first += sum(tensor.data is not None for tensor in graph.tensors)
            operator_offsets = [_operator(builder, o, codes.index(o.name)) for o in graph.operators]
            subgraph = _table(
                builder,
                "SubGraph",
                Name=builder.CreateString(f"graph{number}" if number else "main"),
                Tensors=_offset_vector(builder, tensor_offsets),
                Inputs=_vector(builder, ins, np.int32),
                Outputs=_vector(builder, outs, np.int32),
                Operators=_offset_vector(builder, operator_offsets),
            )
            subgraphs.append(subgraph)
        signature_offsets = [
            _table(
                builder,
                "SignatureDef",
                Inputs=_tensor_maps(builder, names[0]),
                Outputs=_tensor_maps(builder, names[1]),
                SignatureKey=builder.CreateString(key),
            )
            for key, names in (signatures or {}).items()
        ]
        model = _table(
            builder,
            "Model",
            Version=3,
            OperatorCodes=_offset_vector(builder, code_offsets),
            Subgraphs=_offset_vector(builder, subgraphs),
            Buffers=_offset_vector(builder, buffer_offsets),
            SignatureDefs=_offset_vector(builder, signature_offsets),
        )
        builder.Finish(model, b"TFL3")
        return bytes(builder.Output())

    def _tensor_offsets(self, builder: flatbuffers.Builder, constants: int) -> list[int]:
        """``constants``: how many buffers other subgraphs use already."""
        offsets = []
        for tensor in self.tensors:
            constants += tensor.data is not None
            fields: dict[str, Any] = {
                "Name": builder.CreateString(tensor.name),
                "Shape": _vector(builder, tensor.shape, np.int32),
                "Type": tensor.type,
                "Buffer": constants if tensor.data is not None else 0,
            }
            if tensor.variable:
                fields["IsVariable"] = True
            if tensor.signature:
                fields["ShapeSignature"] = _vector(builder, tensor.signature, np.int32)
            if tensor.scales:
                fields["Quantization"] = _table(
                    builder,
                    "QuantizationParameters",
                    Scale=_vector(builder, tensor.scales, np.float32),
                    ZeroPoint=_vector(builder, tensor.zero_points, np.int64),
                    QuantizedDimension=tensor.axis,
                )
            if tensor.blockwise is not None:
                fields["Quantization"] = _blockwise(builder, *tensor.blockwise)
            if tensor.sparse is not None:
                fields["Sparsity"] = _sparsity(builder, tensor.sparse)
            offsets.append(_table(builder, "Tensor", **fields))
        return offsets


def _blockwise(builder: flatbuffers.Builder, scales: int, block_size: int) -> int:
    """Quantization by blocks: newer than the schema package, so slot by slot."""
    builder.StartObject(3)
    builder.PrependInt32Slot(0, scales, 0)
    builder.PrependInt32Slot(2, block_size, 0)
    details = builder.EndObject()
    builder.StartObject(7)
    builder.PrependUint8Slot(4, 2, 0)
    builder.PrependUOffsetTRelativeSlot(5, details, 0)
    return int(builder.EndObject())


_INDEX_VECTORS = {
    32: (1, "Int32Vector", np.int32),
    16: (2, "Uint16Vector", np.uint16),
    8: (3, "Uint8Vector", np.uint8),
}


def _sparsity(builder: flatbuffers.Builder, sparse: Sparse) -> int:
    levels = []
    for level in sparse.levels:
        if level.segments is None:
            levels.append(_table(builder, "DimensionMetadata", Format=0, DenseSize=level.size))
            continue
        tag, name, dtype = _INDEX_VECTORS[level.bits]
        vectors = [
            _table(builder, name, Values=_vector(builder, values, dtype))
            for values in (level.segments, level.indices)
        ]
        fields = {"ArraySegmentsType": tag, "ArraySegments": vectors[0]}
        fields |= {"ArrayIndicesType": tag, "ArrayIndices": vectors[1]}
        levels.append(_table(builder, "DimensionMetadata", Format=1, **fields))
    fields = {"TraversalOrder": _vector(builder, sparse.traversal_order, np.int32)}
    if sparse.block_map:
        fields["BlockMap"] = _vector(builder, sparse.block_map, np.int32)
    return _table(builder, "SparsityParameters", DimMetadata=_offset_vector(builder, levels), **fields)


def _tensor_maps(builder: flatbuffers.Builder, names: Mapping[str, int]) -> int:
    """A signature's vector of (name, tensor)."""
    strings = {name: builder.CreateString(name) for name in names}
    offsets = [_table(builder, "TensorMap", Name=strings[name], TensorIndex=i) for name, i in names.items()]
    return _offset_vector(builder, offsets)


def _operator(builder: flatbuffers.Builder, operator: _Operator, code: int) -> int:
    fields: dict[str, Any] = {
        "OpcodeIndex": code,
        "Inputs": _vector(builder, operator.inputs, np.int32),
        "Outputs": _vector(builder, operator.outputs, np.int32),
    }
    if operator.intermediates:
        fields["Intermediates"] = _vector(builder, operator.intermediates, np.int32)
    if not hasattr(tflite.BuiltinOperator, operator.name):
        if operator.options:
            packed_options = bytes(flexbuffers.Dumps(dict(operator.options)))
            fields["CustomOptions"] = builder.CreateByteVector(packed_options)
        return _table(builder, "Operator", **fields)
    table = _OPTIONS.get(
        operator.name, "".join(part.capitalize() for part in operator.name.split("_")) + "Options"
    )
    if hasattr(tflite.BuiltinOptions, table):
        values = {key: _option(builder, key, value) for key, value in operator.options.items()}
        fields["BuiltinOptionsType"] = getattr(tflite.BuiltinOptions, table)
        fields["BuiltinOptions"] = _table(builder, table, **values)
    return _table(builder, "Operator", **fields)


_ENUMS = {"Padding": tflite.Padding, "FusedActivationFunction": tflite.ActivationFunctionType}


def _option(builder: flatbuffers.Builder, key: str, value: Any) -> Any:
    if isinstance(value, str):
        return getattr(_ENUMS[key], value) if key in _ENUMS else builder.CreateString(value)
    return _vector(builder, value, np.int32) if isinstance(value, (list, tuple)) else value


def _operator_code(builder: flatbuffers.Builder, name: str) -> int:
    code = getattr(tflite.BuiltinOperator, name, tflite.BuiltinOperator.CUSTOM)
    custom = {"CustomCode": builder.CreateString(name)} if code == tflite.BuiltinOperator.CUSTOM else {}
    # the version says which type combinations may occur; one that LiteRT registers for all types used in
    # tests
    return _table(
        builder,
        "OperatorCode",
        BuiltinCode=code,
        DeprecatedBuiltinCode=min(code, 127),
        Version=_VERSIONS.get(name, 1),
        **custom,
    )


_VERSIONS = {
    "BATCH_MATMUL": 4,
    "CONV_2D": 5,
    "DEQUANTIZE": 5,
    "DEPTHWISE_CONV_2D": 6,
    "FULLY_CONNECTED": 4,
    "ADD": 3,
    "BROADCAST_TO": 3,
    "SUB": 3,
    "MUL": 5,
    "QUANTIZE": 2,
    "SOFTMAX": 3,
    "SVDF": 3,
    "TRANSPOSE_CONV": 4,
}


def _buffer(builder: flatbuffers.Builder, data: bytes) -> int:
    if not data:
        return _table(builder, "Buffer")
    builder.StartVector(1, len(data), 16)
    builder.head = builder.head - len(data)
    builder.Bytes[builder.head : builder.head + len(data)] = data
    return _table(builder, "Buffer", Data=builder.EndVector())


def _table(builder: flatbuffers.Builder, name: str, **fields: Any) -> int:
    getattr(tflite, f"{name}Start")(builder)
    for key, value in fields.items():
        getattr(tflite, f"{name}Add{key}")(builder, value)
    return int(getattr(tflite, f"{name}End")(builder))


def _vector(builder: flatbuffers.Builder, values: Sequence[Any], dtype: npt.DTypeLike) -> int:
    return int(builder.CreateNumpyVector(np.asarray(values, dtype)))


def _offset_vector(builder: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def start_litert(model: bytes, reference: bool = True, threads: int = 1, delegates: bool = True) -> Any:
    """An interpreter as :func:`run_litert` uses it, its tensors allocated."""
    interpreter = pytest.importorskip(
        "ai_edge_litert.interpreter", reason="LiteRT, the outside judge, is not installed"
    )
    kinds = interpreter.OpResolverType
    default = kinds.AUTO if delegates else kinds.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    runner = interpreter.Interpreter(
        model_content=model,
        experimental_op_resolver_type=kinds.BUILTIN_REF if reference else default,
        num_threads=threads,
    )
    runner.allocate_tensors()
    return runner


def invoke_litert(runner: Any, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of one more run."""
    for detail, value in zip(runner.get_input_details(), inputs, strict=True):
        runner.set_tensor(detail["index"], value)
    runner.invoke()
    return [runner.get_tensor(detail["index"]).copy() for detail in runner.get_output_details()]


def packed(values: Array, bits: int = 4) -> bytes:
    """Signed values of 4 or 2 bits as a buffer holds them: several per byte, the first one lowest."""
    per_byte = 8 // bits
    fields = values.reshape(-1).astype(np.int8).view(np.uint8) & ((1 << bits) - 1)
    rows = np.append(fields, np.zeros(-fields.size % per_byte, np.uint8)).reshape(-1, per_byte)
    shifted = rows << np.arange(0, 8, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(shifted, axis=1).astype(np.uint8).tobytes()


def run_litert(
    model: bytes, inputs: Sequence[Array], reference: bool = True, threads: int = 1, delegates: bool = True
) -> list[Array]:
    """The outputs of LiteRT's reference kernels (``reference``) or of its default interpreter, which uses
    XNNPACK (if ``delegates``).

    Skips the calling test if LiteRT is not installed; raises ``RuntimeError`` or ``ValueError`` for a model
    it refuses.
    """
    return invoke_litert(start_litert(model, reference, threads, delegates), inputs)
