"""What the TFLite schema says, as data: operator codes, tensor types, and the option tables of the
operators we import.

Numbers are positions in LiteRT 2.3's ``schema.fbs`` (operator codes 0-209). A code beyond the tables comes
from a newer schema and is refused by name of the file, not misread.
"""

from __future__ import annotations

from dataclasses import dataclass

IDENTIFIER = "TFL3"
VERSION = 3

_BUILTINS = """
ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP
FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC
LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX
SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD
UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE
UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX
DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2 GREATER
GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL
NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT
LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE
RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2
ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND
HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY
SEGMENT_SUM BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D
IMAG REAL COMPLEX_ABS HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL
CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL
BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD
UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR
RIGHT_SHIFT STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM
STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION
STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE STABLEHLO_ABS STABLEHLO_AND STABLEHLO_COSINE
STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG STABLEHLO_MINIMUM STABLEHLO_NEGATE STABLEHLO_OR
STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH
STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT STABLEHLO_DYNAMIC_SLICE
STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL
STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_GATHER STABLEHLO_TRANSPOSE DILATE
STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT
STABLEHLO_CASE
"""
BUILTINS = tuple(_BUILTINS.split())
"""Builtin operator names; the index is the code in the file. 127 only marks codes that do not fit into a
byte.
"""

_OPTION_TABLES = """
NONE Conv2DOptions DepthwiseConv2DOptions ConcatEmbeddingsOptions LSHProjectionOptions Pool2DOptions
SVDFOptions RNNOptions FullyConnectedOptions SoftmaxOptions ConcatenationOptions AddOptions
L2NormOptions LocalResponseNormalizationOptions LSTMOptions ResizeBilinearOptions CallOptions
ReshapeOptions SkipGramOptions SpaceToDepthOptions EmbeddingLookupSparseOptions MulOptions PadOptions
GatherOptions BatchToSpaceNDOptions SpaceToBatchNDOptions TransposeOptions ReducerOptions SubOptions
DivOptions SqueezeOptions SequenceRNNOptions StridedSliceOptions ExpOptions TopKV2Options SplitOptions
LogSoftmaxOptions CastOptions DequantizeOptions MaximumMinimumOptions ArgMaxOptions LessOptions
NegOptions PadV2Options GreaterOptions GreaterEqualOptions LessEqualOptions SelectOptions SliceOptions
TransposeConvOptions SparseToDenseOptions TileOptions ExpandDimsOptions EqualOptions NotEqualOptions
ShapeOptions PowOptions ArgMinOptions FakeQuantOptions PackOptions LogicalOrOptions OneHotOptions
LogicalAndOptions LogicalNotOptions UnpackOptions FloorDivOptions SquareOptions ZerosLikeOptions
FillOptions BidirectionalSequenceLSTMOptions BidirectionalSequenceRNNOptions
UnidirectionalSequenceLSTMOptions FloorModOptions RangeOptions ResizeNearestNeighborOptions
LeakyReluOptions SquaredDifferenceOptions MirrorPadOptions AbsOptions SplitVOptions UniqueOptions
ReverseV2Options AddNOptions GatherNdOptions CosOptions WhereOptions RankOptions ReverseSequenceOptions
MatrixDiagOptions QuantizeOptions MatrixSetDiagOptions HardSwishOptions IfOptions WhileOptions
DepthToSpaceOptions NonMaxSuppressionV4Options NonMaxSuppressionV5Options ScatterNdOptions
SelectV2Options DensifyOptions SegmentSumOptions BatchMatMulOptions CumsumOptions CallOnceOptions
BroadcastToOptions Rfft2dOptions Conv3DOptions HashtableOptions HashtableFindOptions
HashtableImportOptions HashtableSizeOptions VarHandleOptions ReadVariableOptions AssignVariableOptions
RandomOptions BucketizeOptions GeluOptions DynamicUpdateSliceOptions UnsortedSegmentProdOptions
UnsortedSegmentMaxOptions UnsortedSegmentMinOptions UnsortedSegmentSumOptions ATan2Options SignOptions
BitcastOptions BitwiseXorOptions RightShiftOptions
"""
OPTION_TABLES = tuple(_OPTION_TABLES.split())
"""Option table names; the index is the union tag in the file."""


@dataclass(frozen=True)
class ElementType:
    """A tensor element type: ``element`` is our name for it (empty: not a number we compute with)."""

    name: str
    element: str
    bits: int

    def byte_count(self, elements: int) -> int:
        """Bytes that ``elements`` of them occupy in a buffer (values of 4 and 2 bits are packed)."""
        return -(-elements * self.bits // 8)


ELEMENT_TYPES = (
    ElementType("FLOAT32", "f32", 32),
    ElementType("FLOAT16", "f16", 16),
    ElementType("INT32", "i32", 32),
    ElementType("UINT8", "u8", 8),
    ElementType("INT64", "i64", 64),
    ElementType("STRING", "", 0),
    ElementType("BOOL", "i1", 8),
    ElementType("INT16", "i16", 16),
    ElementType("COMPLEX64", "", 64),
    ElementType("INT8", "i8", 8),
    ElementType("FLOAT64", "f64", 64),
    ElementType("COMPLEX128", "", 128),
    ElementType("UINT64", "u64", 64),
    ElementType("RESOURCE", "", 0),
    ElementType("VARIANT", "", 0),
    ElementType("UINT32", "u32", 32),
    ElementType("UINT16", "u16", 16),
    ElementType("INT4", "i4", 4),
    ElementType("BFLOAT16", "", 16),
    ElementType("INT2", "i2", 2),
    ElementType("UINT4", "u4", 4),
    ElementType("FLOAT8_E4M3FN", "", 8),
    ElementType("FLOAT8_E5M2", "", 8),
)
"""Index is the code in the file."""

PADDINGS = ("SAME", "VALID")
ACTIVATIONS = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT")
WEIGHT_FORMATS = ("DEFAULT", "SHUFFLED4x16INT8")

MIRRORS = ("REFLECT", "SYMMETRIC")
LSTM_KERNELS = ("FULL", "BASIC")

ENUMS = {
    "mirror": MIRRORS,
    "padding": PADDINGS,
    "activation": ACTIVATIONS,
    "weights_format": WEIGHT_FORMATS,
    "lstm_kernel": LSTM_KERNELS,
}
"""Kinds of option fields that are stored as i8 and read as a name."""


@dataclass(frozen=True)
class Field:
    """One field of an option table: slot number, kind (a scalar kind, a key of ``ENUMS``, ``[i32]`` or
    ``text``), default.
    """

    slot: int
    kind: str
    default: float | bool | str | tuple[int, ...] = 0


_STRIDES = {"padding": Field(0, "padding"), "stride_w": Field(1, "i32"), "stride_h": Field(2, "i32")}

OPTION_FIELDS: dict[str, dict[str, Field]] = {
    "Conv2DOptions": _STRIDES
    | {
        "activation": Field(3, "activation"),
        "dilation_w": Field(4, "i32", 1),
        "dilation_h": Field(5, "i32", 1),
        "bias_type": Field(6, "i8"),
    },
    "DepthwiseConv2DOptions": _STRIDES
    | {
        "depth_multiplier": Field(3, "i32"),
        "activation": Field(4, "activation"),
        "dilation_w": Field(5, "i32", 1),
        "dilation_h": Field(6, "i32", 1),
    },
    "Pool2DOptions": _STRIDES
    | {"filter_w": Field(3, "i32"), "filter_h": Field(4, "i32"), "activation": Field(5, "activation")},
    "FullyConnectedOptions": {
        "activation": Field(0, "activation"),
        "weights_format": Field(1, "weights_format"),
        "keep_num_dims": Field(2, "bool", False),
        "asymmetric_inputs": Field(3, "bool", False),
        "bias_type": Field(4, "i8"),
    },
    "TransposeConvOptions": _STRIDES | {"activation": Field(3, "activation"), "bias_type": Field(4, "i8")},
    "BatchMatMulOptions": {
        "adj_x": Field(0, "bool", False),
        "adj_y": Field(1, "bool", False),
        "asymmetric_inputs": Field(2, "bool", False),
    },
    "Conv3DOptions": {
        "padding": Field(0, "padding"),
        "stride_d": Field(1, "i32"),
        "stride_w": Field(2, "i32"),
        "stride_h": Field(3, "i32"),
        "activation": Field(4, "activation"),
        "dilation_d": Field(5, "i32", 1),
        "dilation_w": Field(6, "i32", 1),
        "dilation_h": Field(7, "i32", 1),
    },
    "AddOptions": {"activation": Field(0, "activation"), "pot_scale_int16": Field(1, "bool", True)},
    "SubOptions": {"activation": Field(0, "activation"), "pot_scale_int16": Field(1, "bool", True)},
    "MulOptions": {"activation": Field(0, "activation")},
    "GeluOptions": {"approximate": Field(0, "bool", False)},
    "LeakyReluOptions": {"alpha": Field(0, "f32", 0.0)},
    "CumsumOptions": {"exclusive": Field(0, "bool", False), "reverse": Field(1, "bool", False)},
    "DivOptions": {"activation": Field(0, "activation")},
    "L2NormOptions": {"activation": Field(0, "activation")},
    "LocalResponseNormalizationOptions": {
        "radius": Field(0, "i32"),
        "bias": Field(1, "f32", 0.0),
        "alpha": Field(2, "f32", 0.0),
        "beta": Field(3, "f32", 0.0),
    },
    "SoftmaxOptions": {"beta": Field(0, "f32", 0.0)},
    "ConcatenationOptions": {"axis": Field(0, "i32"), "activation": Field(1, "activation")},
    "ReshapeOptions": {"new_shape": Field(0, "[i32]", ())},
    "ReducerOptions": {"keep_dims": Field(0, "bool", False)},
    "SqueezeOptions": {"squeeze_dims": Field(0, "[i32]", ())},
    "StridedSliceOptions": {
        "begin_mask": Field(0, "i32"),
        "end_mask": Field(1, "i32"),
        "ellipsis_mask": Field(2, "i32"),
        "new_axis_mask": Field(3, "i32"),
        "shrink_axis_mask": Field(4, "i32"),
        "offset": Field(5, "bool", False),
    },
    "SplitOptions": {"num_splits": Field(0, "i32")},
    "SplitVOptions": {"num_splits": Field(0, "i32")},
    "OneHotOptions": {"axis": Field(0, "i32")},
    "MirrorPadOptions": {"mirror": Field(0, "mirror")},
    "ReverseSequenceOptions": {"seq_dim": Field(0, "i32"), "batch_dim": Field(1, "i32")},
    "GatherOptions": {"axis": Field(0, "i32"), "batch_dims": Field(1, "i32")},
    "SpaceToDepthOptions": {"block_size": Field(0, "i32")},
    "DepthToSpaceOptions": {"block_size": Field(0, "i32")},
    "PackOptions": {"values_count": Field(0, "i32"), "axis": Field(1, "i32")},
    "UnpackOptions": {"num": Field(0, "i32"), "axis": Field(1, "i32")},
    "CallOnceOptions": {"init_subgraph": Field(0, "i32")},
    "VarHandleOptions": {"container": Field(0, "text", ""), "shared_name": Field(1, "text", "")},
    "IfOptions": {"then_subgraph": Field(0, "i32"), "else_subgraph": Field(1, "i32")},
    "WhileOptions": {"cond_subgraph": Field(0, "i32"), "body_subgraph": Field(1, "i32")},
    "CallOptions": {"subgraph": Field(0, "u32")},
    "SVDFOptions": {
        "rank": Field(0, "i32"),
        "activation": Field(1, "activation"),
        "asymmetric_inputs": Field(2, "bool", False),
    },
    "LSTMOptions": {
        "activation": Field(0, "activation"),
        "cell_clip": Field(1, "f32", 0.0),
        "projection_clip": Field(2, "f32", 0.0),
        "kernel_type": Field(3, "lstm_kernel"),
        "asymmetric_inputs": Field(4, "bool", False),
    },
    "UnidirectionalSequenceLSTMOptions": {
        "activation": Field(0, "activation"),
        "cell_clip": Field(1, "f32", 0.0),
        "projection_clip": Field(2, "f32", 0.0),
        "time_major": Field(3, "bool", False),
        "asymmetric_inputs": Field(4, "bool", False),
    },
    "BidirectionalSequenceLSTMOptions": {
        "activation": Field(0, "activation"),
        "cell_clip": Field(1, "f32", 0.0),
        "projection_clip": Field(2, "f32", 0.0),
        "merge_outputs": Field(3, "bool", False),
        "time_major": Field(4, "bool", True),
        "asymmetric_inputs": Field(5, "bool", False),
    },
    "BidirectionalSequenceRNNOptions": {
        "time_major": Field(0, "bool", False),
        "activation": Field(1, "activation"),
        "merge_outputs": Field(2, "bool", False),
        "asymmetric_inputs": Field(3, "bool", False),
    },
    "SequenceRNNOptions": {
        "time_major": Field(0, "bool", False),
        "activation": Field(1, "activation"),
        "asymmetric_inputs": Field(2, "bool", False),
    },
    "RNNOptions": {"activation": Field(0, "activation"), "asymmetric_inputs": Field(1, "bool", False)},
    "ResizeBilinearOptions": {
        "align_corners": Field(2, "bool", False),
        "half_pixel_centers": Field(3, "bool", False),
    },
    "ResizeNearestNeighborOptions": {
        "align_corners": Field(0, "bool", False),
        "half_pixel_centers": Field(1, "bool", False),
    },
}
"""Fields by option table. A table that is not here has nothing that its operators need."""

OPTIONS_OF: dict[str, str] = {
    "CONV_2D": "Conv2DOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "TRANSPOSE_CONV": "TransposeConvOptions",
    "BATCH_MATMUL": "BatchMatMulOptions",
    "CONV_3D": "Conv3DOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions",
    "ADD": "AddOptions",
    "SUB": "SubOptions",
    "MUL": "MulOptions",
    "GELU": "GeluOptions",
    "LEAKY_RELU": "LeakyReluOptions",
    "CUMSUM": "CumsumOptions",
    "DIV": "DivOptions",
    "L2_NORMALIZATION": "L2NormOptions",
    "LOCAL_RESPONSE_NORMALIZATION": "LocalResponseNormalizationOptions",
    "SOFTMAX": "SoftmaxOptions",
    "CONCATENATION": "ConcatenationOptions",
    "RESHAPE": "ReshapeOptions",
    **dict.fromkeys(
        ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ANY", "REDUCE_ALL"), "ReducerOptions"
    ),
    "REDUCE_PROD": "ReducerOptions",
    "GATHER": "GatherOptions",
    "ONE_HOT": "OneHotOptions",
    "MIRROR_PAD": "MirrorPadOptions",
    "REVERSE_SEQUENCE": "ReverseSequenceOptions",
    "SPACE_TO_DEPTH": "SpaceToDepthOptions",
    "DEPTH_TO_SPACE": "DepthToSpaceOptions",
    "SQUEEZE": "SqueezeOptions",
    "STRIDED_SLICE": "StridedSliceOptions",
    "SPLIT": "SplitOptions",
    "SPLIT_V": "SplitVOptions",
    "PACK": "PackOptions",
    "UNPACK": "UnpackOptions",
    "CALL_ONCE": "CallOnceOptions",
    "VAR_HANDLE": "VarHandleOptions",
    "IF": "IfOptions",
    "WHILE": "WhileOptions",
    "CALL": "CallOptions",
    "LSTM": "LSTMOptions",
    "SVDF": "SVDFOptions",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTMOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
    "BIDIRECTIONAL_SEQUENCE_LSTM": "BidirectionalSequenceLSTMOptions",
    "BIDIRECTIONAL_SEQUENCE_RNN": "BidirectionalSequenceRNNOptions",
    "RNN": "RNNOptions",
    "RESIZE_BILINEAR": "ResizeBilinearOptions",
    "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions",
}
"""Builtin operator -> the option table it must carry. Others may carry what they like: it is not read."""
