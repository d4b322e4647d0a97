"""The qnn dialect: op classes by family, and ``create`` to build them from plain values."""

from .activation import ClampOp, LogisticOp, SoftmaxOp, TanhOp
from .binary import BinaryOp, CompareOp, MaximumOp, MinimumOp, PreluOp
from .contraction import Conv2dOp, FullyConnectedOp
from .conversion import ConstantOp, DequantizeOp, QuantizeOp, RequantizeOp
from .core import QNN, QnnOp, create
from .detection import DecodeBoxesOp, NonMaxSuppressionOp
from .dynamic_range import DynamicConv2dOp, DynamicFullyConnectedOp
from .elementwise import AddOp, MulOp, SubOp
from .indexing import DynamicSliceOp, DynamicUpdateSliceOp, GatherOp, OneHotOp, ScatterNdOp
from .matmul import BatchMatmulOp
from .movement import ConcatOp, PadOp, ReshapeOp, SliceOp, TransposeOp
from .normalization import L2NormalizationOp, LocalResponseNormalizationOp, LogSoftmaxOp
from .ordering import ArgMinOp, NonzeroOp, TopKOp
from .pool import AvgPool2dOp, MaxPool2dOp
from .rearrangement import BroadcastOp, CastOp, ReverseOp, ReverseSequenceOp, SelectOp
from .recurrent import LstmCellOp, LstmHiddenOp
from .reduce import CumsumOp, ReduceMaxOp, ReduceMinOp, ReduceOp
from .reduction import ArgMaxOp, MeanOp
from .resize import ResizeBilinearOp, ResizeNearestOp
from .unary import LeakyReluOp, UnaryOp

OPS: dict[str, type[QnnOp]] = {cls._op_name: cls for cls in QNN.operations}
"""Op name without the ``qnn.`` prefix -> class."""

__all__ = [
    "OPS",
    "QNN",
    "AddOp",
    "ArgMaxOp",
    "ArgMinOp",
    "AvgPool2dOp",
    "BatchMatmulOp",
    "BinaryOp",
    "BroadcastOp",
    "CastOp",
    "ClampOp",
    "CompareOp",
    "ConcatOp",
    "ConstantOp",
    "Conv2dOp",
    "CumsumOp",
    "DecodeBoxesOp",
    "DequantizeOp",
    "DynamicConv2dOp",
    "DynamicFullyConnectedOp",
    "DynamicSliceOp",
    "DynamicUpdateSliceOp",
    "FullyConnectedOp",
    "GatherOp",
    "L2NormalizationOp",
    "LeakyReluOp",
    "LocalResponseNormalizationOp",
    "LogSoftmaxOp",
    "LogisticOp",
    "LstmCellOp",
    "LstmHiddenOp",
    "MaxPool2dOp",
    "MaximumOp",
    "MeanOp",
    "MinimumOp",
    "MulOp",
    "NonMaxSuppressionOp",
    "NonzeroOp",
    "OneHotOp",
    "PadOp",
    "PreluOp",
    "QnnOp",
    "QuantizeOp",
    "ReduceMaxOp",
    "ReduceMinOp",
    "ReduceOp",
    "RequantizeOp",
    "ReshapeOp",
    "ResizeBilinearOp",
    "ResizeNearestOp",
    "ReverseOp",
    "ReverseSequenceOp",
    "ScatterNdOp",
    "SelectOp",
    "SliceOp",
    "SoftmaxOp",
    "SubOp",
    "TanhOp",
    "TopKOp",
    "TransposeOp",
    "UnaryOp",
    "create",
]
