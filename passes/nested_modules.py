"""Modules inside a module: what ``outline-control-flow`` makes of regions.

Every pass works on one ``@main``. :func:`run_nested` runs passes on the inner modules first, each on its own
and out of sight of the others, then on the outer one, which has to know how much memory a run of them needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dialect.buffers import OVERREAD_BYTES
from ..dialect.evaluate import CONTROL as CONTROL
from ..dialect.evaluate import LOOP as LOOP
from ..dialect.mlir import ir
from .entry import ROLE, aligned, argument_attributes, entry_function, symbol
from .pipeline_text import Step

SCRATCH = "qnn.scratch_bytes"
"""Attribute of such a declaration: the memory that a run of it needs, its last operand."""
STATEMENTS = frozenset({"scf.if", "scf.while", "scf.for"})
"""Ops with regions that ``outline-control-flow`` makes modules of."""
OUTLINE, ALLOCATE = "outline-control-flow", "allocate-launch-results"

Run = Callable[[Sequence[Step], Any], None]


def run_nested(steps: Sequence[Step], module: Any, run: Run) -> None:
    """``run`` steps on a module and those inside it."""
    names = [step.name for step in steps]
    if OUTLINE in names and _has_regions(module):
        count = names.index(OUTLINE) + 1
        run(steps[:count], module)
        steps = steps[count:]
    inner = inner_modules(module)
    if not inner:
        if steps:
            run(steps, module)
        return
    block = module.regions[0].blocks[0]
    for child in inner:
        child.detach_from_parent()
    try:
        for child in inner:
            run_nested(steps, child, run)
        if ALLOCATE in (step.name for step in steps):
            _tell_scratch(module, {symbol(child): child for child in inner})
        if steps:
            run(steps, module)
    finally:
        for child in inner:
            block.append(child)


def inner_modules(module: Any) -> list[Any]:
    """The modules directly inside a module."""
    operations = [op.operation for op in module.regions[0].blocks[0].operations]
    return [op for op in operations if op.name == "builtin.module"]


def all_inner_modules(module: Any) -> list[Any]:
    """The modules inside a module, each followed by those inside it."""
    return [one for inner in inner_modules(module) for one in (inner, *all_inner_modules(inner))]


def control_of(declaration: Any) -> list[str]:
    """The kind of a statement and the names of the modules that it runs."""
    return [ir.StringAttr(text).value for text in ir.ArrayAttr(declaration.attributes[CONTROL])]


def _has_regions(module: Any) -> bool:
    entry = entry_function(module)
    operations = [] if entry is None else list(entry.regions[0].blocks[0].operations)
    return any(op.operation.name in STATEMENTS for op in operations)


def _tell_scratch(module: Any, inner: dict[str, Any]) -> None:
    with module.context:
        for op in module.regions[0].blocks[0].operations:
            if CONTROL in op.operation.attributes:
                kind, *names = control_of(op.operation)
                sizes = [run_bytes(inner[name]) for name in names]
                width = ir.IntegerType.get_signless(64)
                # Of two branches one runs.
                size = max(sizes) if kind == "if" else sum(sizes)
                op.operation.attributes[SCRATCH] = ir.IntegerAttr.get(width, size)


def run_bytes(module: Any) -> int:
    """Memory for a run of a planned inner module: its arena, copies of its inputs, its results."""
    entry = entry_function(module)
    assert entry is not None, "an inner module has a function @main"
    total = 0
    for argument, attributes in zip(
        entry.regions[0].blocks[0].arguments, argument_attributes(entry), strict=True
    ):
        role = ir.StringAttr(attributes[ROLE]).value if ROLE in attributes else "input"
        if role != "constants" and isinstance(argument.type, ir.MemRefType):
            total += aligned(memref_bytes(argument.type) + OVERREAD_BYTES)
    return total


def memref_bytes(type_: Any) -> int:
    """The bytes of a static memref, of elements of a byte at least."""
    count = 1
    for extent in type_.shape:
        count *= extent
    element = type_.element_type
    return int(count * -(-(64 if isinstance(element, ir.IndexType) else element.width) // 8))
