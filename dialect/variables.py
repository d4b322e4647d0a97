"""Variables of a module: upstream's ``ml_program.global`` and the ops that load and store them.

A variable keeps its value from one run of ``@main`` to the next. Its global is private and mutable, of the
variable's tensor type, with the first value (stored integers, signless) as its attribute ``value``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .constants import elements_array, elements_attribute
from .ir_types import to_ir_type, to_tensor_type
from .mlir import ir
from .model import find_main
from .types import TensorType

GLOBAL, LOAD, STORE = "ml_program.global", "ml_program.global_load", "ml_program.global_store"
VARIABLE, INITIAL = "qnn.variable", "qnn.initial"
"""Attributes of ``@main``'s arguments and results that ``globals-to-arguments`` makes: the name of a
variable, and (of an argument) what it holds before the first run.
"""
_PREFIX = "variable/"
"""Of a global's symbol: keeps it apart from functions."""


def declare(module: Any, name: str, type_: TensorType, value: npt.NDArray[np.generic], location: Any) -> None:
    """Add the global of a variable at the start of a module, in the module's context."""
    attributes = {
        "sym_name": ir.StringAttr.get(_PREFIX + name),
        "sym_visibility": ir.StringAttr.get("private"),
        "is_mutable": ir.UnitAttr.get(),
        "type": ir.TypeAttr.get(to_ir_type(type_)),
        "value": elements_attribute(np.ascontiguousarray(value), name),
    }
    point = ir.InsertionPoint.at_block_begin(module.body)
    ir.Operation.create(GLOBAL, attributes=attributes, loc=location, ip=point)


def load(name: str, type_: TensorType, location: Any, point: Any) -> Any:
    """The value of a variable."""
    attributes = {"global": ir.FlatSymbolRefAttr.get(_PREFIX + name)}
    op = ir.Operation.create(LOAD, results=[to_ir_type(type_)], attributes=attributes, loc=location, ip=point)
    return op.results[0]


def store(name: str, value: Any, location: Any, point: Any) -> None:
    """Make ``value`` that of the variable."""
    attributes = {"global": ir.FlatSymbolRefAttr.get(_PREFIX + name)}
    ir.Operation.create(STORE, operands=[value], attributes=attributes, loc=location, ip=point)


def global_name(op: Any) -> str:
    """The symbol that a load or store names."""
    return str(ir.FlatSymbolRefAttr(op.attributes["global"]).value)


def variable_name(symbol: str) -> str:
    """The variable's own name."""
    return symbol.removeprefix(_PREFIX)


def globals_of(module: Any) -> dict[str, Any]:
    """The globals of a module by symbol."""
    operations = [op.operation for op in module.operation.regions[0].blocks[0].operations]
    return {ir.StringAttr(op.attributes["sym_name"]).value: op for op in operations if op.name == GLOBAL}


def initial_value(op: Any) -> Any:
    """What a global holds before the first run: an attribute of stored integers or floats."""
    if "value" in op.attributes:
        return op.attributes["value"]
    type_ = to_tensor_type(ir.TypeAttr(op.attributes["type"]).value)
    return elements_attribute(np.zeros(type_.shape, type_.dtype))


def of_arguments(main: Any) -> list[str]:
    """The symbol of the variable that each argument of ``@main`` is, empty for inputs."""
    return _symbols(main, "arg_attrs", len(main.type.inputs))


def of_results(main: Any) -> list[str]:
    """The symbol of the variable that each result of ``@main`` becomes, empty for outputs."""
    return _symbols(main, "res_attrs", len(main.type.results))


def _symbols(main: Any, name: str, count: int) -> list[str]:
    attributes = main.operation.attributes
    named = list(attributes[name]) if name in attributes else [{}] * count
    return [_PREFIX + ir.StringAttr(a[VARIABLE]).value if VARIABLE in a else "" for a in named]


def initial_values(module: Any) -> dict[str, npt.NDArray[np.generic]]:
    """What every variable of a module holds before the first run, by its symbol: of globals, or of arguments
    that they have become.
    """
    values = {}
    for symbol, op in globals_of(module).items():
        type_ = to_tensor_type(ir.TypeAttr(op.attributes["type"]).value)
        values[symbol] = _stored(initial_value(op), type_)
    main = find_main(module)
    for index, symbol in enumerate(of_arguments(main)):
        if symbol:
            attribute = ir.DictAttr(main.operation.attributes["arg_attrs"][index])[INITIAL]
            values[symbol] = _stored(attribute, to_tensor_type(main.type.inputs[index]))
    return values


def _stored(attribute: Any, type_: TensorType) -> npt.NDArray[np.generic]:
    array = elements_array(attribute)
    stored: npt.NDArray[np.generic] = array if array.dtype == type_.dtype else array.view(type_.dtype)
    copied: npt.NDArray[np.generic] = stored.copy()
    return copied
