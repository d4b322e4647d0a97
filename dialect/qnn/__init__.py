"""The qnn dialect: op classes by family, and ``create`` to build them from plain values."""

from .contraction import Conv2dOp
from .core import QNN, QnnOp, create

OPS: dict[str, type[QnnOp]] = {cls._op_name: cls for cls in QNN.operations}
"""Op name without the ``qnn.`` prefix -> class."""

__all__ = ["OPS", "QNN", "Conv2dOp", "QnnOp", "create"]
