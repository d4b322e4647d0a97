"""The qnn dialect, and what all its ops share: verification on plain types, and creation from plain values."""

# No `from __future__ import annotations` in dialect files: the bindings read the annotations as objects.

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..attributes import from_attribute, to_attribute
from ..ir_types import to_tensor_type
from ..mlir import ext, ir
from ..types import DYNAMIC, QuantParams, TensorType


class QNN(ext.Dialect, name="qnn"):
    """Neural network ops on quantized and float tensors; scale and zero point live in the element types."""


class QnnOp(QNN.Operation):
    """Base of every op.

    A subclass yields its violated constraints from ``check``; common constraints are checked first:
    (C0) every operand and result is a ranked tensor whose quantization parameters are well formed.
    """

    def verify_invariants(self) -> bool:
        for message in self._violations():
            self.location.emit_error(f"'{self.operation.name}' op {message}")
            return False
        return True

    def _violations(self) -> Iterator[str]:
        for label, value in self._labelled_values():
            if not isinstance(value.type, ir.RankedTensorType):
                yield f"(C0) {label} must be a ranked tensor, got {value.type}"
                return
            yield from params_violations(label, to_tensor_type(value.type))
        yield from self.check()

    def _labelled_values(self) -> Iterator[tuple[str, Any]]:
        for i, operand in enumerate(self.operation.operands):
            yield f"operand {i}", operand
        for i, result in enumerate(self.operation.results):
            yield f"result {i}", result

    def check(self) -> Iterator[str]:
        """Yield a message for every violated constraint, numbered ``(C1)``, ``(C2)`` ..."""
        yield from ()

    @property
    def input_types(self) -> list[TensorType]:
        """Plain types of the operands that are present."""
        return [to_tensor_type(v.type) for v in self.operation.operands]

    @property
    def result_type(self) -> TensorType:
        return to_tensor_type(self.operation.results[0].type)

    def plain(self, name: str) -> Any:
        """An attribute as a plain value."""
        return from_attribute(self.operation.attributes[name])


def params_violations(label: str, type_: TensorType) -> Iterator[str]:
    """(C0) scales finite and positive; zero points inside the storage range; one scale per index of an axis that exists."""
    params = type_.element
    if not isinstance(params, QuantParams):
        return
    for scale in params.scales:
        if not 0.0 < scale < float("inf"):
            yield f"(C0) {label}: scale must be finite and positive, got {scale}"
            return
    storage = params.storage
    for zero_point in params.zero_points:
        if not storage.minimum <= zero_point <= storage.maximum:
            yield f"(C0) {label}: zero point {zero_point} lies outside the storage range [{storage.minimum}, {storage.maximum}]"
            return
    if params.axis is None:
        return
    if not 0 <= params.axis < len(type_.shape):
        yield f"(C0) {label}: per-axis dimension {params.axis} does not exist in a tensor of rank {len(type_.shape)}"
    elif type_.shape[params.axis] not in (DYNAMIC, len(params.scales)):
        yield (
            f"(C0) {label}: per-axis scales: got {len(params.scales)}, "
            f"expected {type_.shape[params.axis]} (the extent of dimension {params.axis})"
        )


def same_shape(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether two shapes agree, a dynamic dimension agreeing with any."""
    return len(left) == len(right) and all(a == b or DYNAMIC in (a, b) for a, b in zip(left, right, strict=True))


def create(
    name: str,
    operands: Sequence[Any],
    result_types: Sequence[TensorType],
    attributes: Mapping[str, Any] | None = None,
    *,
    loc: Any = None,
    ip: Any = None,
) -> list[Any]:
    """Build ``qnn.<name>`` from plain types and attribute values; returns its results.

    An absent optional operand is simply left off the end of ``operands``.

    Raises:
        TypeError: an operand, attribute or op name does not fit the dialect.
    """
    from . import OPS  # the table is made of the classes that import this module

    cls = OPS.get(name)
    if cls is None:
        raise TypeError(f"unknown op 'qnn.{name}'")
    plain = dict(attributes or {})
    expected = {f.name for f in cls._fields if isinstance(f, ext.AttributeDef)}
    if set(plain) != expected:
        raise TypeError(f"qnn.{name}: attributes {sorted(plain)}, expected {sorted(expected)}")
    from ..ir_types import to_ir_type

    ir_attributes = {key: to_attribute(key, value) for key, value in plain.items()}
    sizes = _segment_sizes(cls, len(operands))
    if sizes is not None:
        ir_attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(sizes)
    operation = ir.Operation.create(
        f"qnn.{name}",
        results=[to_ir_type(t) for t in result_types],
        operands=list(operands),
        attributes=ir_attributes,
        loc=loc,
        ip=ip,
    )
    return list(operation.results)


def _segment_sizes(cls: Any, count: int) -> list[int] | None:
    """How many operands each group has: single ones first, then one optional or variadic group takes the rest."""
    groups = [f for f in cls._fields if isinstance(f, ext.OperandDef)]
    if not any(cls._ODS_OPERAND_SEGMENTS or ()):
        return None
    sizes = []
    left = count
    for group in groups:
        size = 1 if group.variadicity.name == "single" else left
        sizes.append(size)
        left -= size
    return sizes
