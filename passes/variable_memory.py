"""What @main returns as the new values of its variables is written into the memory of these."""

from __future__ import annotations

from typing import Any

from ..dialect.mlir import func, ir, memref
from .entry import ROLE, STATE, VARIABLE, argument_attributes, result_attributes, update_type

VIEWS = frozenset(
    {
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.reinterpret_cast",
        "memref.subview",
        "memref.view",
    }
)


def take_variables(function: Any) -> list[Any]:
    """Replace the results that are variables' new values by copies into the variables' arguments, at the end;
    gives these copies.
    """
    attributes = result_attributes(function)
    named = [ir.StringAttr(a[VARIABLE]).value if VARIABLE in a else None for a in attributes]
    if not any(named):
        return []
    block = function.regions[0].blocks[0]
    arguments = {
        ir.StringAttr(a[VARIABLE]).value: argument
        for a, argument in zip(argument_attributes(function), block.arguments, strict=True)
        if ROLE in a and ir.StringAttr(a[ROLE]).value == STATE
    }
    return_op = block.operations[len(block.operations) - 1].operation
    values = list(return_op.operands)
    with ir.InsertionPoint(return_op), return_op.location:
        copies = [
            ir.Operation.create("memref.copy", operands=[value, arguments[name]])
            for value, name in zip(values, named, strict=True)
            if name is not None
        ]
        left = [value for value, name in zip(values, named, strict=True) if name is None]
        func.ReturnOp(left)
    return_op.erase()
    update_type(function, [value.type for value in left])
    kept = [a for a, name in zip(attributes, named, strict=True) if name is None]
    function.operation.attributes["res_attrs"] = ir.ArrayAttr.get(kept)
    return copies


def write_variables(function: Any, copies: list[Any]) -> None:
    """Make each value lie in its variable's memory when ``@main`` returns.

    A buffer that is first written after the variable's old value was last read is the variable's memory
    itself. Others are copied, after everything else; first away from a variable's memory, if they lie in one.
    """
    block = function.regions[0].blocks[0]
    left = [copy for copy in copies if not _is_there(block, copy)]
    return_op = block.operations[len(block.operations) - 1].operation
    states = {copy.operands[1] for copy in left}
    for copy in left:
        value = copy.operands[0]
        if _root(value) in states:
            with ir.InsertionPoint(return_op), return_op.location:
                aside = memref.alloc(ir.MemRefType.get(value.type.shape, value.type.element_type), [], [])
                memref.copy(value, aside)
            copy.operands[0] = aside
    for copy in left:
        copy.move_before(return_op)


def _is_there(block: Any, copy: Any) -> bool:
    """Whether the value is in its place without the copy, which is then gone."""
    value, argument = copy.operands
    root = _root(value)
    if root != argument and not _take_over(block, copy, value, argument):
        return False
    copy.erase()
    return True


def _root(value: Any) -> Any:
    """The allocation or argument behind a view."""
    while not isinstance(value.owner, ir.Block) and value.owner.operation.name in VIEWS:
        value = value.owner.operation.operands[0]
    return value


def _take_over(block: Any, copy: Any, buffer: Any, argument: Any) -> bool:
    """Let ``argument`` be the allocation ``buffer``, if their lives (but for the copy) do not overlap."""
    if isinstance(buffer.owner, ir.Block) or buffer.owner.operation.name != "memref.alloc":
        return False
    if buffer.type != argument.type:
        return False
    steps = {op.operation: step for step, op in enumerate(block.operations)}
    own = steps[copy]
    lives = [step for step in _steps(buffer, steps) if step != own]
    reads = [step for step in _steps(argument, steps) if step != own]
    if not lives or (reads and max(reads) >= min(lives)):
        return False
    owner = buffer.owner
    copy.operands[0] = argument
    buffer.replace_all_uses_with(argument)
    owner.erase()
    return True


def _steps(value: Any, steps: dict[Any, int]) -> list[int]:
    """The steps at which a buffer or a view of it is used."""
    found: list[int] = []
    for use in value.uses:
        owner = use.owner.operation
        found += _steps(owner.results[0], steps) if owner.name in VIEWS else [steps[owner]]
    return found
