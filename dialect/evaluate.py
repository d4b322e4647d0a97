"""Run a module of qnn ops, one by one, with their numpy meaning: slow, exact, the judge of compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError, PipelineError
from . import variables
from .attributes import from_attribute
from .ir_types import to_tensor_type
from .meaning import evaluate
from .mlir import ir
from .model import find_main, module_numerics
from .types import DYNAMIC, TensorType
from .variables import initial_values

Array = npt.NDArray[Any]
CONTROL = "qnn.control"
"""Attribute of a declaration: its calls are branches or loops (see ``passes/outline_control_flow.py``)."""
LOOP = "qnn.loop"
"""Attribute of such a declaration that is a counted loop (see ``passes/counted_loops.py``)."""
Keep = Callable[[Any, list[Array]], None]


def evaluate_module(
    module: Any,
    inputs: Sequence[Array],
    mode: str | None = None,
    keep: Keep | None = None,
    state: dict[str, Array] | None = None,
) -> list[Array]:
    """The results of ``@main`` on storage arrays, one per argument.

    ``mode`` is a numerics mode, by default the module's own. ``keep`` is called with every op and its
    results, in order. ``state`` (variables by symbol) is read and written, by default the first values;
    :func:`.variables.initial_values` makes one to keep from run to run.

    Raises:
        InputError: an array does not fit its argument.
        PipelineError: the module holds an op that has no numpy meaning.
        ImportModelError: there is no ``@main``.
    """
    with module.context:
        main = find_main(module)
        block = main.operation.regions[0].blocks[0]
        held = initial_values(module) if state is None else state
        run = _Run(module.operation, mode or module_numerics(module), held, keep)
        names, left = variables.of_arguments(main), variables.of_results(main)
        own = [held[name] for name in names if name]
        run.values.update(_bind(block.arguments, [*inputs, *own]))
        results = run.block(block)
        held.update({name: value for name, value in zip(left, results, strict=True) if name})
        return [value for name, value in zip(left, results, strict=True) if not name]


class _Run:
    """One run of ``@main``: the value of everything computed so far."""

    def __init__(self, module: Any, mode: str, variables: dict[str, Array], keep: Keep | None) -> None:
        self.values: dict[Any, Array] = {}
        self._module = module
        self._mode = mode
        self._variables = variables
        self._keep = keep

    def block(self, block: Any, arguments: Sequence[Array] = ()) -> list[Array]:
        """What the block's terminator passes on."""
        self.values.update(zip(block.arguments, arguments, strict=True) if arguments else ())
        for view in block.operations:
            operation = view.operation
            operands = [self.values[operand] for operand in operation.operands]
            if operation.name in ("func.return", "scf.yield", "scf.condition"):
                return operands
            results = self._operation(operation, operands)
            self.values.update(zip(operation.results, results, strict=True))
            if self._keep is not None:
                self._keep(operation, results)
        raise PipelineError("a block of @main has no end")

    def _operation(self, operation: Any, operands: list[Array]) -> list[Array]:
        match operation.name:
            case "scf.if":
                region = operation.regions[0 if operands[0] else 1]
                return self.block(region.blocks[0]) if region.blocks else []
            case "scf.while":
                return self._while(operation, operands)
            case "scf.for":
                return self._for(operation, operands)
            case "tensor.empty":
                type_ = to_tensor_type(operation.results[0].type)
                return [np.zeros(type_.shape, type_.dtype)]
            case "tensor.extract_slice":
                result = to_tensor_type(operation.results[0].type)
                return [operands[0][_place(operation, operands[1:])].reshape(result.shape)]
            case "tensor.insert_slice":
                target = operands[1].copy()
                part = target[_place(operation, operands[2:])]
                part[...] = operands[0].reshape(part.shape)
                return [target]
            case "arith.subi":
                return [operands[0] - operands[1]]
            case "func.call":
                return self._control(operation, operands)
            case "tensor.extract":
                return [operands[0][tuple(int(i) for i in operands[1:])]]
            case "arith.constant":
                return [np.asarray(ir.IntegerAttr(operation.attributes["value"]).value)]
            case "quant.scast":
                return [operands[0].view(to_tensor_type(operation.results[0].type).dtype)]
            case variables.LOAD:
                return [self._variables[variables.global_name(operation)]]
            case variables.STORE:
                self._variables[variables.global_name(operation)] = operands[0]
                return []
        return evaluate_operation(operation, operands, self._mode)

    def _control(self, call: Any, operands: list[Array]) -> list[Array]:
        """A branch or loop that ``outline-control-flow`` has made a call."""
        symbols = {
            ir.StringAttr(op.attributes["sym_name"]).value: op.operation
            for op in self._module.regions[0].blocks[0].operations
            if "sym_name" in op.operation.attributes
        }
        declaration = symbols[ir.FlatSymbolRefAttr(call.attributes["callee"]).value]
        if CONTROL not in declaration.attributes:
            return evaluate_operation(call, operands, self._mode)
        kind, *names = [ir.StringAttr(name).value for name in ir.ArrayAttr(declaration.attributes[CONTROL])]
        inner = [symbols[name] for name in names]
        if kind == "if":
            return self._inner(inner[0] if operands[0].all() else inner[1], operands[1:])
        if kind == "for":
            return self._counted(ir.DictAttr(declaration.attributes[LOOP]), inner[0], operands)
        count = len(call.results)
        carried, captured = operands[:count], operands[count:]
        while self._inner(inner[0], [*carried, *captured])[0].all():
            carried = self._inner(inner[1], [*carried, *captured])
        return carried

    def _counted(self, loop: Any, body: Any, operands: list[Array]) -> list[Array]:
        """A loop on slices of sequences, which has become a call."""
        count, own = (ir.IntegerAttr(loop[name]).value for name in ("count", "carried"))
        reads, writes = (list(ir.DenseI64ArrayAttr(loop[name])) for name in ("reads", "writes"))
        carried, captured = operands[:own], operands[own + len(reads) :]
        sequences, written = operands[own : own + len(reads)], []
        for step in range(count):
            slices = [
                s[step if way > 0 else count - 1 - step] for s, way in zip(sequences, reads, strict=True)
            ]
            results = self._inner(body, [*carried, *slices, *captured])
            carried = results[:own]
            written.append(results[own:])
        outputs = []
        for number, way in enumerate(writes):
            parts = [parts[number] for parts in written]
            outputs.append(np.stack(parts if way > 0 else parts[::-1]))
        return [*carried, *outputs]

    def _inner(self, module: Any, inputs: list[Array]) -> list[Array]:
        (main,) = [
            op
            for op in module.regions[0].blocks[0].operations
            if op.operation.name == "func.func" and op.operation.regions[0].blocks and op.name.value == "main"
        ]
        run = _Run(module, self._mode, self._variables, self._keep)
        return run.block(main.operation.regions[0].blocks[0], inputs)

    def _for(self, operation: Any, operands: list[Array]) -> list[Array]:
        lower, upper, step, *carried = operands
        block = operation.regions[0].blocks[0]
        for index in range(int(lower), int(upper), int(step)):
            carried = self.block(block, [np.asarray(index), *carried])
        return carried

    def _while(self, operation: Any, carried: list[Array]) -> list[Array]:
        before, after = (region.blocks[0] for region in operation.regions)
        while True:
            condition, *carried = self.block(before, carried)
            if not condition:
                return carried
            carried = self.block(after, carried)


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


def _place(operation: Any, offsets: Sequence[Array]) -> tuple[slice, ...]:
    """Where the slice of an op lies."""
    static = ("static_offsets", "static_sizes", "static_strides")
    starts, sizes, strides = (list(ir.DenseI64ArrayAttr(operation.attributes[name])) for name in static)
    computed = iter(offsets)
    dynamic = ir.ShapedType.get_dynamic_size()
    starts = [int(next(computed)) if start == dynamic else start for start in starts]
    return tuple(
        slice(start, start + (size - 1) * stride + 1, stride)
        for start, size, stride in zip(starts, sizes, strides, strict=True)
    )


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
