"""Reading and checking one tensor: shape, element type, quantization parameters, constant data."""

from __future__ import annotations

import math
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from ...dialect.types import QuantParams, Storage, TensorType
from .flatbuffer import FlatBuffer, Table
from .graph import Blockwise, Tensor, short
from .schema import ELEMENT_TYPES, ElementType
from .sparsity import positions, read_sparsity

SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)

_QUANTIZABLE = frozenset({"i2", "i4", "u4", "i8", "u8", "i16", "u16", "i32", "i64"})
_WIDE = frozenset({"i32", "i64"})
"""Storage of biases and accumulators: their scales follow from others, so the file's need only be sane."""

_CUSTOM_DETAILS, _BLOCKWISE_DETAILS = 1, 2


class TensorReader:
    """Reads tensors of one file. ``buffers`` are its constant data by buffer index, None where there is
    none. ``limit_bytes`` is the most that one tensor may need, ``total_bytes`` that all of them may.
    """

    def __init__(
        self, file: FlatBuffer, buffers: list[memoryview | None], limit_bytes: int, total_bytes: int
    ) -> None:
        self._file = file
        self._buffers = buffers
        self._limit_bytes = limit_bytes
        self._total_bytes = total_bytes
        self._declared_bytes = 0

    def read(self, table: Table, index: int, user: str = "") -> Tensor:
        """A checked tensor; raises ImportModelError that names it and the operator that uses it (``CONV_2D
        (op 12)``).
        """
        name = table.text(3) or f"tensor{index}"
        where = f"tensor {index} ('{short(name)}')"
        if user:
            where = f"{user}, {where}"
        one = _OneTensor(self._file, table, index, name, where, self._buffers, self._limit_bytes)
        tensor = one.read()
        self._declared_bytes += one.size
        if self._declared_bytes > self._total_bytes:
            self._file.fail(
                f"{where}: the tensors up to this one need {self._declared_bytes} bytes, "
                f"more than the limit of {self._total_bytes}"
            )
        return tensor


class _OneTensor:
    def __init__(
        self,
        file: FlatBuffer,
        table: Table,
        index: int,
        name: str,
        where: str,
        buffers: list[memoryview | None],
        limit_bytes: int,
    ) -> None:
        self.file = file
        self.table = table
        self.index = index
        self.name = name
        self.where = where
        self.buffers = buffers
        self.limit_bytes = limit_bytes
        self.size = 0

    def fail(self, what: str) -> NoReturn:
        self.file.fail(f"{self.where}: {what}")

    def read(self) -> Tensor:
        type_ = self._type()
        shape = self._shape(type_)
        params, obstacle = self._quantization(type_, shape)
        if self.table.integer(10, "u32"):
            self.fail("its data lies in an external file, which is not supported")
        blockwise = self._blockwise()
        if type_.element and type_.bits < 8 and params is None and blockwise is None:
            obstacle = obstacle or f"type {type_.name} without scales"
        return Tensor(
            index=self.index,
            name=self.name,
            type_name=type_.name,
            shape=shape,
            shape_signature=self._signature(shape),
            element=params or type_.element,
            data=self._data(type_, shape, bool(obstacle)),
            is_variable=bool(self.table.integer(5, "bool")),
            has_rank=bool(shape) or bool(self.table.integer(8, "bool")),
            obstacle=obstacle or ("" if type_.element else f"type {type_.name}"),
            blockwise=blockwise,
        )

    def _type(self) -> ElementType:
        code = self.table.integer(1, "i8")
        if not 0 <= code < len(ELEMENT_TYPES):
            self.fail(f"unknown tensor type {code}, expected 0 to {len(ELEMENT_TYPES) - 1}")
        return ELEMENT_TYPES[code]

    def _shape(self, type_: ElementType) -> tuple[int, ...]:
        shape = self.table.integers(0)
        if any(extent < 0 for extent in shape):
            self.fail(f"shape {list(shape)} has a negative extent")
        size = self.size = type_.byte_count(math.prod(shape))
        if size > self.limit_bytes:
            self.fail(f"shape {list(shape)} needs {size} bytes, more than the limit of {self.limit_bytes}")
        return shape

    def _signature(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        signature = self.table.integers(7)
        if not signature:
            return shape
        agrees = len(signature) == len(shape) and all(
            s in (-1, extent) for s, extent in zip(signature, shape, strict=True)
        )
        # Some writers leave a signature of another rank on tensors whose shape they folded: the shape
        # counts then.
        return signature if agrees else shape

    def _quantization(self, type_: ElementType, shape: tuple[int, ...]) -> tuple[QuantParams | None, str]:
        """The parameters (None: not quantized), and why they cannot be used (empty: they can)."""
        table = self.table.table(4, f"tensor {self.index} quantization")
        if table is None or type_.element not in _QUANTIZABLE:
            return None, ""
        details = table.integer(4, "u8")
        if details == _BLOCKWISE_DETAILS:
            return None, ""
        if details:
            custom = details == _CUSTOM_DETAILS
            return (
                None,
                "custom quantization details" if custom else f"quantization details of type {details}",
            )
        scales = table.array(2, "float32")
        if scales is None or not scales.size:
            return None, ""
        if type_.element in _WIDE and scales.size == 1 and scales[0] == 0:
            return None, ""  # how some writers say "not quantized" of shapes and indices
        zero_points = table.array(3, "int64")
        params = QuantParams(
            Storage.of(type_.element),
            tuple(scales.tolist()),
            self._zero_points(zero_points, scales.size),
            self._axis(table.integer(6), scales.size, shape),
        )
        self._check_scales(params)
        self._check_zero_points(params)
        return params, ""

    def _blockwise(self) -> Blockwise | None:
        """Which tensor holds the scales of this one's blocks; None if there are no blocks."""
        table = self.table.table(4, f"tensor {self.index} quantization")
        if table is None or table.integer(4, "u8") != _BLOCKWISE_DETAILS:
            return None
        details = table.table(5, f"tensor {self.index} blocks")
        if details is None:
            self.fail("its quantization by blocks has no details")
        return Blockwise(details.integer(0), details.integer(2))

    def _zero_points(self, stored: npt.NDArray[np.generic] | None, count: int) -> tuple[int, ...]:
        if stored is None or not stored.size:
            return (0,) * count
        if stored.size not in (1, count):
            self.fail(f"zero points: got {stored.size}, expected {count} (one per scale)")
        values = tuple(int(z) for z in stored.tolist())
        return values if stored.size == count else values * count

    def _axis(self, axis: int, count: int, shape: tuple[int, ...]) -> int | None:
        if count == 1:
            return None
        if len(shape) == 1:
            # A vector has one axis; biases that say otherwise exist (person_detect's claim the filter's
            # axis 3).
            axis = 0
        if not 0 <= axis < len(shape):
            self.fail(f"quantized dimension {axis} does not exist in shape {list(shape)}")
        if shape[axis] != count:
            self.fail(
                f"per-axis scales: got {count}, expected {shape[axis]} (the extent of dimension {axis})"
            )
        return axis

    def _check_scales(self, params: QuantParams) -> None:
        wide = params.storage.name in _WIDE
        for scale in params.scales:
            if not math.isfinite(scale) or scale < 0:
                self.fail(f"scale must be finite and positive, got {scale}")
            if scale == 0 and params.is_per_tensor and not wide:
                self.fail("scale must be positive, got 0")
            if 0 < scale < SMALLEST_NORMAL and not wide:
                self.fail(f"scale {scale:g} is denormal, expected at least {SMALLEST_NORMAL:g}")

    def _check_zero_points(self, params: QuantParams) -> None:
        storage = params.storage
        for zero_point in params.zero_points:
            if not storage.minimum <= zero_point <= storage.maximum:
                self.fail(
                    f"zero point {zero_point} lies outside the range of {storage.name} storage, "
                    f"[{storage.minimum}, {storage.maximum}]"
                )
            if zero_point and params.axis is not None and storage.signed:
                self.fail(f"zero points of a per-channel {storage.name} tensor must be 0, got {zero_point}")

    def _data(
        self, type_: ElementType, shape: tuple[int, ...], opaque: bool
    ) -> npt.NDArray[np.generic] | None:
        """The stored values of a constant; of an ``opaque`` one only that it has data."""
        number, elements = self.table.integer(2, "u32"), math.prod(shape)
        if number >= len(self.buffers):
            self.fail(f"buffer {number} does not exist, the file has {len(self.buffers)}")
        raw = self.buffers[number]
        sparse = self.table.table(6, f"tensor {self.index} sparsity")
        if sparse is not None and not opaque and type_.element:
            return self._densified(sparse, raw or memoryview(b""), type_, shape)
        if raw is None or (not raw and elements):
            # Some writers give activations an empty buffer. Only a tensor of no elements is a constant
            # without bytes.
            return None
        if opaque or not type_.element:
            return np.frombuffer(raw, np.uint8)
        return self._stored(raw, type_, shape)

    def _densified(
        self, sparse: Table, raw: memoryview, type_: ElementType, shape: tuple[int, ...]
    ) -> npt.NDArray[np.generic]:
        """The values of a sparse constant, zeros between them."""
        # Each node of the tree takes a value or a segment of the file; values are half a byte at least.
        most = 2 * len(self.file.data)
        places = positions(read_sparsity(sparse, self.fail), shape, most, self.fail)
        values = self._stored(raw, type_, (places.size,))
        dense = np.zeros(math.prod(shape), values.dtype)
        dense[places] = values
        return dense.reshape(shape)

    def _stored(self, raw: memoryview, type_: ElementType, shape: tuple[int, ...]) -> npt.NDArray[np.generic]:
        expected = type_.byte_count(math.prod(shape))
        if len(raw) != expected:
            number = self.table.integer(2, "u32")
            self.fail(
                f"buffer {number} holds {len(raw)} bytes, expected {expected} for {type_.name} {list(shape)}"
            )
        if type_.bits < 8:
            return unpacked(raw, type_, shape)
        # A copy is made only if the file does not keep the values aligned.
        values = np.frombuffer(raw, TensorType(shape, type_.element).dtype)
        return np.require(values.reshape(shape), requirements=["A"])


def unpacked(raw: memoryview, type_: ElementType, shape: tuple[int, ...]) -> npt.NDArray[np.generic]:
    """One value per byte from two or four per byte, the lowest bits first; rows are not padded, the last byte
    is.
    """
    packed, bits = np.frombuffer(raw, np.uint8), type_.bits
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    fields = (packed[:, None] >> shifts & np.uint8((1 << bits) - 1)).reshape(-1)[: math.prod(shape)]
    sign = 1 << (bits - 1)
    signed = type_.element[0] == "i"
    values: npt.NDArray[np.generic] = (fields ^ sign).astype(np.int8) - np.int8(sign) if signed else fields
    return values.reshape(shape)
