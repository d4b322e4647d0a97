"""The kernel families: who writes vector code for which kernels, by instruction set."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import avx512vnni
from .spec import ConvSpec


class Family(Protocol):
    """A module, or any object, that writes the kernels of one kind for one instruction set."""

    def supports(self, spec: ConvSpec, /) -> str | None:
        """None if the family has a kernel for ``spec``, else the reason why not."""

    def pack(
        self, spec: ConvSpec, filter: npt.NDArray[Any], bias: npt.NDArray[np.int32], /
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
        """The kernel's constants, as bytes: the filter in its order, and the parameters.

        ``filter`` is int8 or uint8 (as ``filter_signed`` says): ``[out_channels, kernel_height, kernel_width,
        in_channels]``, of a depthwise convolution ``[kernel_height, kernel_width, out_channels]``. ``bias``
        is ``[out_channels]``. Both results are one-dimensional, not empty, and start on a 64-byte boundary at
        run time.
        """

    def emit(self, name: str, spec: ConvSpec, /) -> str:
        """The kernel as MLIR text, in ops of ``arith``, ``scf``, ``vector`` and ``llvm``::

            func.func private @name(%x: !llvm.ptr, %w: !llvm.ptr, %p: !llvm.ptr, %out: !llvm.ptr)

        The pointers: the input, the two arrays of :meth:`pack`, the result. Input and result are 64-byte
        aligned unless they are the model's own inputs and outputs. The four do not overlap. The text may
        declare other functions (intrinsics) but define only this one. Where two descriptions give the same
        text, one function serves both: numbers that are packed had better not be in it.
        """


FAMILIES: dict[str, list[Family]] = {"avx512vnni": [*avx512vnni.FAMILIES]}
"""Instruction set -> its families; the first that supports a kernel writes it."""
