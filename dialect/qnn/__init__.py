"""The qnn dialect: op classes by family, and ``create`` to build them from plain values."""

from .activation import ClampOp, LogisticOp, SoftmaxOp, TanhOp
from .contraction import Conv2dOp, FullyConnectedOp
from .conversion import ConstantOp, DequantizeOp, QuantizeOp, RequantizeOp
from .core import QNN, QnnOp, create
from .elementwise import AddOp, MulOp, SubOp
from .movement import ConcatOp, PadOp, ReshapeOp, SliceOp, TransposeOp
from .pool import AvgPool2dOp, MaxPool2dOp
from .reduction import ArgMaxOp, MeanOp
from .resize import ResizeBilinearOp, ResizeNearestOp

OPS: dict[str, type[QnnOp]] = {cls._op_name: cls for cls in QNN.operations}
"""Op name without the ``qnn.`` prefix -> class."""

__all__ = [
    "OPS",
    "QNN",
    "AddOp",
    "ArgMaxOp",
    "AvgPool2dOp",
    "ClampOp",
    "ConcatOp",
    "ConstantOp",
    "Conv2dOp",
    "DequantizeOp",
    "FullyConnectedOp",
    "LogisticOp",
    "MaxPool2dOp",
    "MeanOp",
    "MulOp",
    "PadOp",
    "QnnOp",
    "QuantizeOp",
    "RequantizeOp",
    "ReshapeOp",
    "ResizeBilinearOp",
    "ResizeNearestOp",
    "SliceOp",
    "SoftmaxOp",
    "SubOp",
    "TanhOp",
    "TransposeOp",
    "create",
]
