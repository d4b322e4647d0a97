"""The entry function of a bufferized module, and how its argument list grows.

After the passes it takes, in this order: the model's inputs, its variables, the constant block, the model's
outputs, the arena. An argument's ``qnn.role`` is ``state``, ``constants``, ``output`` or ``arena``; inputs
have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..dialect.buffers import ALIGNMENT as ALIGNMENT
from ..dialect.mlir import ir
from ..dialect.variables import INITIAL as INITIAL
from ..dialect.variables import VARIABLE as VARIABLE

ROLE = "qnn.role"
STATE = "state"
"""The role of a variable's memory."""
INITIAL_OFFSET = "qnn.initial_offset"
"""Where these lie in the constant block, in bytes."""


def aligned(size: int) -> int:
    """``size`` rounded up to a multiple of :data:`ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def entry_function(module: Any) -> Any | None:
    """``@main``: the one public function that has a body, or None."""
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "func.func" and op.regions[0].blocks and not is_private(op):
            return op
    return None


def functions(module: Any) -> list[Any]:
    """Every ``func.func`` with a body."""
    return [
        op
        for op in module.regions[0].blocks[0].operations
        if op.operation.name == "func.func" and op.regions[0].blocks
    ]


def is_private(function: Any) -> bool:
    attributes = function.operation.attributes
    return "sym_visibility" in attributes and ir.StringAttr(attributes["sym_visibility"]).value == "private"


def symbol(function: Any) -> str:
    return str(ir.StringAttr(function.operation.attributes["sym_name"]).value)


def append_arguments(function: Any, arguments: Sequence[tuple[Any, Mapping[str, str]]]) -> list[Any]:
    """Add arguments of the given types and (string) attributes at the end; returns the block arguments."""
    block = function.regions[0].blocks[0]
    added = [block.add_argument(type_, function.location) for type_, _ in arguments]
    old = argument_attributes(function)
    new = [
        ir.DictAttr.get({k: ir.StringAttr.get(v) for k, v in attributes.items()})
        for _, attributes in arguments
    ]
    function.operation.attributes["arg_attrs"] = ir.ArrayAttr.get([*old, *new])
    update_type(function, result_types(function))
    return added


def argument_attributes(function: Any) -> list[Any]:
    """One dictionary attribute per argument."""
    return _attributes(function, "arg_attrs", len(function_type(function).inputs))


def result_attributes(function: Any) -> list[Any]:
    """One dictionary attribute per result."""
    return _attributes(function, "res_attrs", len(function_type(function).results))


def _attributes(function: Any, name: str, count: int) -> list[Any]:
    if name in function.operation.attributes:
        return [ir.DictAttr(a) for a in ir.ArrayAttr(function.operation.attributes[name])]
    return [ir.DictAttr.get({}) for _ in range(count)]


def function_type(function: Any) -> Any:
    return ir.TypeAttr(function.operation.attributes["function_type"]).value


def result_types(function: Any) -> list[Any]:
    return list(function_type(function).results)


def update_type(function: Any, results: Sequence[Any]) -> None:
    """Make the function's type agree with its block's arguments and ``results``."""
    inputs = [a.type for a in function.regions[0].blocks[0].arguments]
    function.operation.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(inputs, list(results))
    )
