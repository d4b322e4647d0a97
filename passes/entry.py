"""The entry function of a bufferized module, and how its argument list grows.

After the passes it takes, in this order: the model's inputs, the constant block, the model's outputs,
the arena. An argument's ``qnn.role`` is ``constants``, ``arena`` or ``output``; inputs have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..dialect.mlir import ir

ROLE = "qnn.role"


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
    type_ = ir.TypeAttr(function.operation.attributes["function_type"]).value
    if "arg_attrs" in function.operation.attributes:
        return [ir.DictAttr(a) for a in ir.ArrayAttr(function.operation.attributes["arg_attrs"])]
    return [ir.DictAttr.get({}) for _ in type_.inputs]


def result_types(function: Any) -> list[Any]:
    return list(ir.TypeAttr(function.operation.attributes["function_type"]).value.results)


def update_type(function: Any, results: Sequence[Any]) -> None:
    """Make the function's type agree with its block's arguments and ``results``."""
    inputs = [a.type for a in function.regions[0].blocks[0].arguments]
    function.operation.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(inputs, list(results))
    )
