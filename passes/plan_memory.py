"""plan-memory: every buffer of the network gets its place in one arena, decided at compile time."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..dialect.mlir import arith, func, ir, memref
from ..dialect.model import NAME_ATTRIBUTE
from ..errors import PipelineError
from .entry import (
    ROLE,
    aligned,
    append_arguments,
    entry_function,
    functions,
    result_attributes,
    result_types,
    symbol,
    update_type,
)
from .registry import ModulePass, register
from .variable_memory import VIEWS, take_variables, write_variables

LOG = logging.getLogger("zeropoint.passes")
ARENA_BYTES = "qnn.arena_bytes"
ARENA_SLACK = "qnn.arena_slack"
"""Attribute of a module: how many bytes past the last buffer kernels may read."""


@dataclass(frozen=True)
class Buffer:
    """``size`` bytes that hold a value from step ``first`` to step ``last``, both included."""

    size: int
    first: int
    last: int


def assign_offsets(buffers: Sequence[Buffer]) -> tuple[list[int], int]:
    """A place for each buffer, such that buffers alive at the same step do not overlap; and the bytes that
    takes.

    Greedy: the largest first, each at the lowest free offset. Offsets are multiples of 64.
    """
    order = sorted(range(len(buffers)), key=lambda i: (-buffers[i].size, buffers[i].first))
    starts = np.zeros(len(buffers), np.int64)
    ends, firsts, lasts = starts.copy(), starts.copy(), starts.copy()
    offsets = [0] * len(buffers)
    for placed, index in enumerate(order):
        buffer = buffers[index]
        alive = (firsts[:placed] <= buffer.last) & (lasts[:placed] >= buffer.first)
        offset = _lowest_gap(starts[:placed][alive], ends[:placed][alive], buffer.size)
        offsets[index] = offset
        starts[placed], ends[placed] = offset, offset + aligned(buffer.size)
        firsts[placed], lasts[placed] = buffer.first, buffer.last
    return offsets, int(ends.max(initial=0))


def _lowest_gap(starts: Any, ends: Any, size: int) -> int:
    order = np.argsort(starts, kind="stable")
    # Where the occupied bytes before each start end.
    free = np.concatenate([[0], np.maximum.accumulate(ends[order])])
    room = np.concatenate([starts[order], [np.iinfo(np.int64).max]]) - free
    return int(free[np.argmax(room >= size)])


@register
@dataclass(frozen=True)
class PlanMemoryPass(ModulePass):
    """Make the entry function's buffers views of an arena, and its results arguments that it writes.

    ``main(inputs..., outputs..., arena)``: a buffer that is returned becomes (a view of) its output argument;
    all others share the arena by liveness. What a variable becomes is written where it lies: at once if its
    old value is not needed any more, else by a copy at the end. Buffers are 64-byte aligned. The arena's size
    is the module attribute ``qnn.arena_bytes``.
    """

    name: ClassVar[str] = "plan-memory"

    def run(self, module: Any) -> None:
        function = entry_function(module)
        if function is None:
            return
        for kernel in functions(module):
            _require_no_allocation(kernel, function)
        with module.context, module.location:
            variables = take_variables(function)
            _bind_outputs(function, roots_of(function))
            write_variables(function, variables)
            size = _bind_arena(function, _slack(module))
            module.attributes[ARENA_BYTES] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), size)


def _bind_outputs(function: Any, roots: dict[Any, Any]) -> None:
    """Turn results into output arguments, and the allocations behind them into views of these."""
    block = function.regions[0].blocks[0]
    return_op = block.operations[len(block.operations) - 1]
    values = list(return_op.operands)
    i8 = ir.IntegerType.get_signless(8)
    types = [ir.MemRefType.get([byte_size(value.type)], i8) for value in values]
    names = [
        {k: ir.StringAttr(a[k]).value for k in (NAME_ATTRIBUTE,) if k in a}
        for a in result_attributes(function)
    ]
    if "res_attrs" in function.operation.attributes:
        del function.operation.attributes["res_attrs"]
    update_type(function, [])
    arguments = append_arguments(
        function,
        [(type_, {ROLE: "output", **name}) for type_, name in zip(types, names, strict=True)],
    )
    views: dict[Any, Any] = {}
    for value, argument in zip(values, arguments, strict=True):
        root = roots.get(value)
        if root is not None and root not in views and byte_size(root.type) == byte_size(value.type):
            with ir.InsertionPoint(root.owner), root.owner.location:
                views[root] = _view(argument, 0, root.type)
            root.replace_all_uses_with(views[root])
        else:  # an input, a constant, a part of a buffer, or the same value once more
            with ir.InsertionPoint(return_op), return_op.location:
                memref.copy(views.get(value, value), _view(argument, 0, value.type))
    with ir.InsertionPoint(return_op), return_op.location:
        func.ReturnOp([])
    return_op.operation.erase()
    for root in views:
        root.owner.erase()


def _slack(module: Any) -> int:
    attributes = module.attributes
    return int(ir.IntegerAttr(attributes[ARENA_SLACK]).value) if ARENA_SLACK in attributes else 0


def _bind_arena(function: Any, slack: int) -> int:
    """Turn the other allocations into views of the arena, which ends with ``slack`` bytes that belong to
    none; returns its size.
    """
    block = function.regions[0].blocks[0]
    allocations = [op.operation.results[0] for op in block.operations if op.operation.name == "memref.alloc"]
    steps = {op.operation: step for step, op in enumerate(block.operations)}
    buffers = []
    for allocation in allocations:
        used = sorted(_use_steps(allocation, steps)) or [steps[allocation.owner.operation]]
        buffers.append(Buffer(byte_size(allocation.type), used[0], used[-1]))
    offsets, size = assign_offsets(buffers)
    size += slack
    total = sum(buffer.size for buffer in buffers)
    LOG.info("plan-memory: %d buffers of %d bytes in an arena of %d bytes", len(buffers), total, size)
    arena_type = ir.MemRefType.get([size], ir.IntegerType.get_signless(8))
    (arena,) = append_arguments(function, [(arena_type, {ROLE: "arena"})])
    for allocation, offset in zip(allocations, offsets, strict=True):
        owner = allocation.owner
        with ir.InsertionPoint(owner), owner.location:
            allocation.replace_all_uses_with(_view(arena, offset, allocation.type))
        owner.erase()
    return size


def _use_steps(value: Any, steps: dict[Any, int]) -> Iterator[int]:
    """The steps (ops of the entry block) at which a buffer or a view of it is used."""
    for use in value.uses:
        owner = use.owner.operation
        if owner.name in VIEWS:
            yield from _use_steps(owner.results[0], steps)
        else:
            yield steps[owner]


def roots_of(function: Any) -> dict[Any, Any]:
    """Every buffer and view of one -> the allocation behind it."""
    roots: dict[Any, Any] = {}
    for op in function.regions[0].blocks[0].operations:
        operation = op.operation
        if operation.name == "memref.alloc":
            roots[operation.results[0]] = operation.results[0]
        elif operation.name in VIEWS and operation.operands[0] in roots:
            roots[operation.results[0]] = roots[operation.operands[0]]
    return roots


def _require_no_allocation(kernel: Any, entry: Any) -> None:
    """A kernel that allocates would leak: its buffers have no place in the plan."""
    if kernel.operation == entry.operation:
        return
    allocates = any(op.operation.name == "memref.alloc" for op in kernel.regions[0].blocks[0].operations)
    if allocates or result_types(kernel):
        raise PipelineError(
            f"plan-memory: kernel '{symbol(kernel)}' allocates memory; it must work in its arguments"
        )


def _view(base: Any, offset: int, type_: Any) -> Any:
    start = arith.ConstantOp(ir.IndexType.get(), offset).result
    return memref.ViewOp(type_, base, start, []).result


def byte_size(type_: Any) -> int:
    """The bytes of a static, densely laid out memref."""
    return int(math.prod(type_.shape)) * element_bytes(type_)


def element_bytes(type_: Any) -> int:
    """The bytes of a memref's element; 1-bit and 4-bit values take a byte each."""
    element = type_.element_type
    bits = 64 if isinstance(element, ir.IndexType) else element.width
    return -(-int(bits) // 8)
