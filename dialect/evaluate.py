"""Run a module of qnn ops, one by one, with their numpy meaning: slow, exact, the judge of compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError, PipelineError
from .attributes import from_attribute
from .ir_types import to_tensor_type
from .meaning import evaluate
from .model import find_main, module_numerics
from .types import DYNAMIC, TensorType

Array = npt.NDArray[Any]
Keep = Callable[[Any, list[Array]], None]


def evaluate_module(
    module: Any, inputs: Sequence[Array], mode: str | None = None, keep: Keep | None = None
) -> list[Array]:
    """The results of ``@main`` on storage arrays, one per argument.

    ``mode`` is a numerics mode, by default the module's own. ``keep`` is called with every op and its
    results, in order.

    Raises:
        InputError: an array does not fit its argument.
        PipelineError: the module holds an op that has no numpy meaning.
        ImportModelError: there is no ``@main``.
    """
    with module.context:
        main = find_main(module)
        block = main.operation.regions[0].blocks[0]
        values = _bind(block.arguments, inputs)
        for view in block.operations:
            operation = view.operation
            operands = [values[operand] for operand in operation.operands]
            if operation.name == "func.return":
                return operands
            results = evaluate_operation(operation, operands, mode or module_numerics(module))
            values.update(zip(operation.results, results, strict=True))
            if keep is not None:
                keep(operation, results)
    raise PipelineError("@main has no func.return")


def evaluate_operation(operation: Any, operands: Sequence[Array], mode: str) -> list[Array]:
    """The results of one qnn op; raises PipelineError for any other op."""
    dialect, _, name = operation.name.partition(".")
    if dialect != "qnn":
        raise PipelineError(f"{operation.location}: error: '{operation.name}' has no numpy meaning")
    attributes = {
        key: from_attribute(operation.attributes[key])
        for key in operation.attributes
        # discardable attributes (with a dot) say nothing about the meaning
        if key != "operandSegmentSizes" and "." not in key
    }
    result_types = [to_tensor_type(result.type) for result in operation.results]
    if name == "constant":
        # stored bits: the attribute's integers are signless
        attributes["value"] = attributes["value"].view(result_types[0].dtype)
    input_types = [to_tensor_type(operand.type) for operand in operation.operands]
    return evaluate(name, operands, input_types, result_types, attributes, mode)


def _bind(arguments: Any, inputs: Sequence[Array]) -> dict[Any, Array]:
    if len(inputs) != len(arguments):
        raise InputError(f"got {len(inputs)} inputs, expected {len(arguments)}")
    values = {}
    for index, (argument, array) in enumerate(zip(arguments, inputs, strict=True)):
        type_ = to_tensor_type(argument.type)
        array = np.asarray(array)
        if array.dtype != type_.dtype or not _fits(array.shape, type_):
            raise InputError(
                f"input {index}: got {array.dtype} {list(array.shape)}, "
                f"expected {type_.dtype} {list(type_.shape)}"
            )
        values[argument] = array
    return values


def _fits(shape: tuple[int, ...], type_: TensorType) -> bool:
    return len(shape) == len(type_.shape) and all(
        want in (DYNAMIC, got) for got, want in zip(shape, type_.shape, strict=True)
    )
