"""The qnn dialect, and what its ops share: verification on plain types, creation from plain values."""

# No `from __future__ import annotations` in dialect files: the bindings read the annotations as objects.

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..attributes import KINDS, from_attribute, has_kind, to_attribute
from ..ir_types import to_ir_type, to_tensor_type
from ..mlir import ext, ir
from ..types import TensorType
from .parameters import parameter_violations


class QNN(ext.Dialect, name="qnn"):
    """Neural network ops on quantized and float tensors; scale and zero point live in the element types."""


class QnnOp(QNN.Operation):
    """Base of every op.

    A subclass yields the constraints it violates from ``check``. Verification stops at the first one, so that
    later constraints may rely on earlier ones.
    """

    kinds = KINDS
    """Attribute name -> kind."""

    def verify_invariants(self) -> bool:
        """Called by MLIR: report the first violated constraint, if there is one."""
        for message in self._violations():
            self.location.emit_error(f"'{self.operation.name}' op {message}")
            return False
        return True

    def _violations(self) -> Iterator[str]:
        yield from self.check_form()
        yield from self.check()

    def check_form(self) -> Iterator[str]:
        """(C0) operands, results and attributes are those of the op; each value is a ranked tensor; scales
        are finite and positive, zero points lie inside the storage range, and there is one scale per
        index of an axis that exists (sub-channel: per block).
        """
        yield from self._wrong_counts()
        for name in attribute_names(type(self)):
            if name not in self.operation.attributes:
                yield f"(C0) attribute '{name}' is missing"
            attribute, kind = self.operation.attributes[name], self.kinds[name]
            if not has_kind(attribute, kind):
                yield f"(C0) attribute '{name}': got {str(attribute)[:60]}, expected {kind.value}"
        labelled = [("operand", self.operation.operands), ("result", self.operation.results)]
        for label, values in labelled:
            for index, value in enumerate(values):
                yield from _value_violations(f"{label} {index}", value.type)

    def _wrong_counts(self) -> Iterator[str]:
        # These are also the bindings' business, but they only look after this verifier has run.
        count, results = len(self.operation.operands), len(self.operation.results)
        expected = _segment_sizes(type(self), count)
        if min(expected, default=0) < 0 or sum(expected) != count:
            groups = operand_groups(type(self))
            needed = sum(group.variadicity.name == "single" for group in groups)
            most = "" if needed == len(groups) else f" to {len(groups)}"
            yield f"(C0) got {count} operands, expected {needed}{most}"
        if results != 1:
            yield f"(C0) got {results} results, expected 1"
        if not _has_segments(type(self)):
            return
        name, text = "operandSegmentSizes", f"array<i32: {', '.join(map(str, expected))}>"
        if name not in self.operation.attributes:
            yield f"(C0) attribute '{name}' is missing, expected {text}"
        sizes = self.operation.attributes[name]
        if not isinstance(sizes, ir.DenseI32ArrayAttr) or list(sizes) != expected:
            yield f"(C0) attribute '{name}': got {sizes}, expected {text}"

    def check(self) -> Iterator[str]:
        """Yield a message for every violated constraint, numbered ``(C1)``, ``(C2)`` ..."""
        yield from ()

    @classmethod
    def operands_to_build(
        cls,
        operands: Sequence[Any],
        result_types: Sequence[TensorType],
        attributes: Mapping[str, Any],
        place: Mapping[str, Any],
    ) -> list[Any]:
        """The operands that :func:`create` gives the op; an op with a limited number may build others first.

        ``place`` holds the ``loc`` and ``ip`` to build at.
        """
        return list(operands)

    @property
    def input_types(self) -> list[TensorType]:
        """Plain types of the operands that are present."""
        return [to_tensor_type(v.type) for v in self.operation.operands]

    @property
    def result_type(self) -> TensorType:
        """The plain type of the only result."""
        return to_tensor_type(self.operation.results[0].type)

    def plain(self, name: str) -> Any:
        """An attribute as a plain value."""
        return from_attribute(self.operation.attributes[name])


def _value_violations(label: str, type_: Any) -> Iterator[str]:
    if not isinstance(type_, ir.RankedTensorType):
        yield f"(C0) {label} must be a ranked tensor, got {type_}"
    try:
        plain = to_tensor_type(type_)
    except TypeError as error:
        yield f"(C0) {label}: {error}"
        return
    yield from parameter_violations(label, plain)


def attribute_names(cls: type[QnnOp]) -> list[str]:
    """Names of an op's attributes, in the order of its definition."""
    return [f.name for f in cls._fields if isinstance(f, ext.AttributeDef)]


def operand_groups(cls: type[QnnOp]) -> list[Any]:
    """Definitions of an op's operands: ``name`` and ``variadicity.name`` (single or optional)."""
    return [f for f in cls._fields if isinstance(f, ext.OperandDef)]


def _has_segments(cls: type[QnnOp]) -> bool:
    return any(group.variadicity.name != "single" for group in operand_groups(cls))


def _segment_sizes(cls: type[QnnOp], count: int) -> list[int]:
    """How many of ``count`` operands each group has: one, or none for optional ones when none are left."""
    sizes: list[int] = []
    for group in operand_groups(cls):
        left = count - sum(sizes)
        sizes.append(1 if group.variadicity.name == "single" else min(left, 1))
    return sizes


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

    An absent optional operand is simply left off the end of ``operands``. The op is not verified (the module
    is).

    Raises:
        TypeError: an operand, attribute or op name does not fit the dialect.
    """
    from . import OPS  # the table is made of the classes that import this module

    cls = OPS.get(name)
    if cls is None:
        raise TypeError(f"unknown op 'qnn.{name}'")
    plain = dict(attributes or {})
    expected = attribute_names(cls)
    if set(plain) != set(expected):
        raise TypeError(f"qnn.{name}: got attributes {sorted(plain)}, expected {sorted(expected)}")
    operands = cls.operands_to_build(operands, result_types, plain, {"loc": loc, "ip": ip})
    sizes = _segment_sizes(cls, len(operands))
    if sum(sizes) != len(operands) or min(sizes, default=0) < 0:
        raise TypeError(f"qnn.{name}: got {len(operands)} operands, which do not fit the op")
    key = loc.name_str if isinstance(loc, ir.NameLoc) else "constant"
    built = {attribute: to_attribute(attribute, value, key) for attribute, value in plain.items()}
    if _has_segments(cls):
        built["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(sizes)
    operation = ir.Operation.create(
        f"qnn.{name}",
        results=[to_ir_type(t) for t in result_types],
        operands=list(operands),
        attributes=built,
        loc=loc,
        ip=ip,
    )
    return list(operation.results)
