"""globals-to-arguments: variables become arguments that @main reads and results that it leaves in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import func, ir
from ..dialect.variables import LOAD, STORE, global_name, globals_of, initial_value, variable_name
from .entry import (
    INITIAL,
    ROLE,
    STATE,
    VARIABLE,
    argument_attributes,
    entry_function,
    result_attributes,
    update_type,
)
from .registry import ModulePass, register


@register
@dataclass(frozen=True)
class GlobalsToArgumentsPass(ModulePass):
    """Make every ``ml_program.global`` an argument of ``@main``, and what is stored into it a result.

    Loads and stores stand in the body of ``@main`` itself, so a load gives the argument or what was stored
    last. An argument has the role ``state``, the variable's name (``qnn.variable``) and its first value
    (``qnn.initial``); a result has the name. ``plan-memory`` makes that result write the argument's memory;
    what lies between knows nothing of variables.
    """

    name: ClassVar[str] = "globals-to-arguments"

    def run(self, module: Any) -> None:
        entry, globals_ = entry_function(module), globals_of(module)
        if entry is None or not globals_:
            return
        block = entry.regions[0].blocks[0]
        before, results = argument_attributes(entry), result_attributes(entry)
        current = {name: block.add_argument(_type(op), op.location) for name, op in globals_.items()}
        stored = _forward(block, current)
        described = [
            ir.DictAttr.get(
                {
                    ROLE: ir.StringAttr.get(STATE),
                    VARIABLE: ir.StringAttr.get(variable_name(name)),
                    INITIAL: initial_value(op),
                }
            )
            for name, op in globals_.items()
        ]
        names = [ir.DictAttr.get({VARIABLE: ir.StringAttr.get(variable_name(name))}) for name in stored]
        _return_too(block, [current[name] for name in stored])
        return_op = block.operations[len(block.operations) - 1].operation
        update_type(entry, [value.type for value in return_op.operands])
        entry.operation.attributes["arg_attrs"] = ir.ArrayAttr.get([*before, *described])
        entry.operation.attributes["res_attrs"] = ir.ArrayAttr.get([*results, *names])
        for op in globals_.values():
            op.erase()


def _type(op: Any) -> Any:
    return ir.TypeAttr(op.attributes["type"]).value


def _forward(block: Any, current: dict[str, Any]) -> list[str]:
    """Replace loads and stores; ``current`` becomes what the variables hold at the end. Returns which of them
    were stored into.
    """
    stored: dict[str, None] = {}
    for op in [op.operation for op in block.operations]:
        if op.name == LOAD:
            op.results[0].replace_all_uses_with(current[global_name(op)])
        elif op.name == STORE:
            current[global_name(op)] = op.operands[0]
            stored[global_name(op)] = None
        else:
            continue
        op.erase()
    return list(stored)


def _return_too(block: Any, values: list[Any]) -> None:
    return_op = block.operations[len(block.operations) - 1].operation
    with ir.InsertionPoint(return_op), return_op.location:
        func.ReturnOp([*return_op.operands, *values])
    return_op.erase()
