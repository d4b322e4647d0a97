"""merge-kernels: equal kernels become one, so that a deep network does not take long to compile."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import arith, ir
from .entry import entry_function, functions, is_private, result_types, symbol, update_type
from .kernel_builder import CONTRACTION
from .registry import ModulePass, register

_SYMBOL = re.compile(r'sym_name = "[^"]*"')
_CONSTANT = re.compile(r'"arith\.constant"\(\) <\{value = ([^}]*)\}> : \(\) -> (?:[if]\d+|index)\b')
# Division by a number that is known is much cheaper: it stays known.
_NEEDS_CONSTANT = frozenset(
    f"arith.{name}" for name in ("ceildivsi", "ceildivui", "divsi", "divui", "floordivsi", "remsi", "remui")
)
_INT32 = range(-(1 << 31), 1 << 31)


@dataclass
class _Kernel:
    """A kernel, the values (as text) of its scalars that may become arguments, and the calls of it."""

    function: Any
    values: tuple[str, ...]
    calls: list[Any]


@register
@dataclass(frozen=True)
class MergeKernelsPass(ModulePass):
    """Make one function of kernels that are equal, and of more than ``variants`` ones that differ in scalars.

    Up to that many, a kernel of its own for each set of multipliers, shifts and bounds is faster; beyond,
    the numbers become arguments. Those of a contraction never do: knowing the zero point lets LLVM multiply
    narrow integers.
    """

    name: ClassVar[str] = "merge-kernels"
    variants: int = 8

    def run(self, module: Any) -> None:
        entry = entry_function(module)
        if entry is None:
            return
        calls: defaultdict[str, list[Any]] = defaultdict(list)
        for op in entry.regions[0].blocks[0].operations:
            if op.operation.name == "func.call":
                calls[ir.FlatSymbolRefAttr(op.operation.attributes["callee"]).value].append(op)
        groups: defaultdict[str, list[_Kernel]] = defaultdict(list)
        for function in functions(module):
            if is_private(function):
                shape, kernel = _describe(function, calls[symbol(function)])
                groups[shape].append(kernel)
        for kernels in groups.values():
            distinct = _merge_equal(kernels)
            if len(distinct) > self.variants:
                _share(distinct)


def _describe(function: Any, calls: list[Any]) -> tuple[str, _Kernel]:
    """What must agree for two kernels to be the same but for scalars (a text), and the kernel."""
    operation = function.operation
    text = _SYMBOL.sub("", operation.get_asm(print_generic_op_form=True, use_local_scope=True))
    varying = [not _stays(constant) for constant in _scalars(function)]
    values = _CONSTANT.findall(text)
    assert len(values) == len(varying), "every scalar constant is printed in one form"
    order = iter(varying)
    shape = _CONSTANT.sub(lambda found: "constant" if next(order) else found[0], text)
    kept = tuple(value for value, may_vary in zip(values, varying, strict=True) if may_vary)
    return shape, _Kernel(function, kept, calls)


def _scalars(function: Any) -> list[Any]:
    """The scalar constants of a kernel, in the order they are printed."""
    found: list[Any] = []
    function.operation.walk(lambda op: _collect(op, found))
    return found


def _stays(constant: Any) -> bool:
    """Whether a scalar has to remain a constant: a divisor, or a number that a contraction computes with."""
    users = [use.owner.operation for use in constant.results[0].uses]
    return any(user.name in _NEEDS_CONSTANT or CONTRACTION in user.parent.attributes for user in users)


def _collect(op: Any, constants: list[Any]) -> Any:
    operation = op.operation
    if operation.name == "arith.constant" and not isinstance(operation.results[0].type, ir.ShapedType):
        constants.append(operation)
    return ir.WalkResult.ADVANCE


def _merge_equal(kernels: Sequence[_Kernel]) -> list[_Kernel]:
    """Redirect calls of kernels with equal values to the first of them; returns the kernels that are left."""
    first: dict[tuple[str, ...], _Kernel] = {}
    for kernel in kernels:
        leader = first.setdefault(kernel.values, kernel)
        if leader is not kernel:
            _redirect(kernel, leader)
    return list(first.values())


def _redirect(kernel: _Kernel, leader: _Kernel) -> None:
    for call in kernel.calls:
        call.operation.attributes["callee"] = ir.FlatSymbolRefAttr.get(symbol(leader.function))
    leader.calls.extend(kernel.calls)
    kernel.function.operation.erase()


def _share(kernels: Sequence[_Kernel]) -> None:
    """Make one kernel of them, which takes the scalars in which they differ as arguments."""
    columns = list(zip(*(kernel.values for kernel in kernels), strict=True))
    leader = kernels[0]
    with leader.function.context:
        # Constants that are equal in every kernel of the group are one argument.
        scalars = {column: _narrow(column) for column in dict.fromkeys(columns) if len(set(column)) > 1}
        arguments: dict[tuple[str, ...], Any] = {}
        constants = [constant for constant in _scalars(leader.function) if not _stays(constant)]
        for constant, column in zip(constants, columns, strict=True):
            if column not in scalars:
                continue
            if column not in arguments:
                arguments[column] = _argument(leader, constant, scalars[column][0].type)
            constant.results[0].replace_all_uses_with(arguments[column])
            constant.erase()
        update_type(leader.function, result_types(leader.function))
        for number, kernel in enumerate(kernels):
            own = [values[number] for values in scalars.values()]
            kernel.calls = [_with_scalars(call, own) for call in kernel.calls]
    for kernel in kernels[1:]:
        _redirect(kernel, leader)


def _argument(leader: _Kernel, constant: Any, passed: Any) -> Any:
    """A new argument of type ``passed`` (perhaps narrower) for the kernel, in the type of ``constant``."""
    block = leader.function.regions[0].blocks[0]
    type_ = constant.results[0].type
    argument = block.add_argument(passed, constant.location)
    if passed == type_:
        return argument
    with ir.InsertionPoint.at_block_begin(block), constant.location:
        return arith.ExtSIOp(type_, argument).result


def _narrow(column: Sequence[str]) -> list[Any]:
    """The values as attributes; 64-bit ones that fit into 32 bits as these, since that multiplies faster."""
    attributes = [ir.Attribute.parse(value) for value in column]
    i64, i32 = ir.IntegerType.get_signless(64), ir.IntegerType.get_signless(32)
    if attributes[0].type == i64 and all(a.value in _INT32 for a in attributes):
        return [ir.IntegerAttr.get(i32, a.value) for a in attributes]
    return attributes


def _with_scalars(call: Any, scalars: Sequence[Any]) -> Any:
    """The call with ``scalars`` as further operands."""
    operation = call.operation
    with ir.InsertionPoint(operation), operation.location:
        constants = [arith.ConstantOp(value.type, value).result for value in scalars]
        new = ir.Operation.create(
            "func.call",
            results=[result.type for result in operation.results],
            operands=[*operation.operands, *constants],
            attributes={"callee": operation.attributes["callee"]},
        )
    for old, result in zip(operation.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    operation.erase()
    return new
