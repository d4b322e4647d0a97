"""outline-control-flow: regions of scf.if, scf.while and scf.for become modules, run by calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import func, ir
from ..dialect.model import NUMERICS_ATTRIBUTE
from ..errors import PipelineError
from .counted_loops import loop_attribute, take_slices
from .entry import entry_function, symbol
from .nested_modules import CONTROL, LOOP, STATEMENTS
from .registry import ModulePass, register

_SUFFIXES = {"if": ("then", "else"), "while": ("condition", "body"), "for": ("body",)}
_LEFT_OVER = frozenset({"arith.constant", "tensor.empty", "tensor.extract"})
"""Ops that nobody reads any more once statements are calls: conditions, bounds, sequences yet to be written.
"""
_CONSTANTS = frozenset({"arith.constant", "qnn.constant"})


@register
@dataclass(frozen=True)
class OutlineControlFlowPass(ModulePass):
    """Make each region of a statement in ``@main`` the ``@main`` of a module inside, and the statement a
    call.

    Its callee is a declaration whose ``qnn.control`` says what runs when: ``["if", then, else]`` by the first
    operand, a tensor of one i1; ``["while", condition, body]`` on the first operands, one per result; or
    ``["for", body]`` as often as ``qnn.loop`` says, on one slice of each sequence (see ``counted_loops.py``).
    Every region takes the values that either of the two uses, after what a loop carries. All passes that
    follow work on each module by itself (see ``nested_modules.py``).
    """

    name: ClassVar[str] = "outline-control-flow"

    def run(self, module: Any) -> None:
        entry = entry_function(module)
        if entry is None:
            return
        own = f"{symbol(module)}." if "sym_name" in module.attributes else ""
        for number, op in enumerate(_statements(entry)):
            _outline(module, op, f"{own}{op.name.removeprefix('scf.')}_{number}")
        for op in reversed([op.operation for op in entry.regions[0].blocks[0].operations]):
            if op.name in _LEFT_OVER and not any(True for _ in op.results[0].uses):
                op.erase()


def _statements(entry: Any) -> list[Any]:
    operations = [op.operation for op in entry.regions[0].blocks[0].operations]
    return [op for op in operations if op.name in STATEMENTS]


def _outline(module: Any, op: Any, name: str) -> None:
    kind = op.name.removeprefix("scf.")
    regions = list(op.regions)
    loop = take_slices(op) if kind == "for" else None
    captured = _captured(regions)
    operands, results = list(op.operands), list(op.results)
    if kind == "if":
        operands = [_condition(op.operands[0], op)]
    elif loop is not None:
        operands, results = loop.operands, loop.results
    names = [f"{name}.{suffix}" for suffix in _SUFFIXES[kind]]
    for inner_name, region in zip(names, regions, strict=True):
        if not region.blocks:
            with ir.InsertionPoint(region.blocks.append()), op.location:
                ir.Operation.create("scf.yield")
        block = region.blocks[0]
        if kind == "while" and inner_name == names[0]:
            _forward_all(block, op)
        own = list(block.arguments) if loop is None else loop.arguments
        inner = _module(module, inner_name, block, [*own, *captured])
        OutlineControlFlowPass().run(inner)
    operands += captured
    types = [result.type for result in results]
    declaration = _declare(module, op, name, [operand.type for operand in operands], types)
    declaration.attributes[CONTROL] = ir.ArrayAttr.get([ir.StringAttr.get(text) for text in (kind, *names)])
    if loop is not None:
        declaration.attributes[LOOP] = loop_attribute(loop)
    with ir.InsertionPoint(op), op.location:
        call = func.CallOp(types, name, operands)
    for old, new in zip(results, call.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


def _declare(module: Any, op: Any, name: str, operands: Sequence[Any], results: Sequence[Any]) -> Any:
    """The function, without a body, that a statement becomes a call of."""
    with ir.InsertionPoint(entry_function(module)), op.location:
        taken = ir.FunctionType.get(list(operands), list(results))
        declaration = func.FuncOp(name, taken, visibility="private").operation
    read = ir.DictAttr.get({"bufferization.access": ir.StringAttr.get("read")})
    declaration.attributes["arg_attrs"] = ir.ArrayAttr.get([read] * len(operands))
    return declaration


def _condition(value: Any, op: Any) -> Any:
    """The tensor that a condition is the only element of."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "tensor.extract":
        raise PipelineError(f"{op.location}: error: '{op.name}': its condition is no tensor.extract")
    return owner.operation.operands[0]


def _forward_all(block: Any, op: Any) -> None:
    """End a loop's condition with the tensor of it; what it passes on must be what the loop carries."""
    end = block.operations[len(block.operations) - 1].operation
    condition, *forwarded = end.operands
    if forwarded != list(block.arguments):
        raise PipelineError(
            f"{op.location}: error: '{op.name}': its condition passes on other values than it gets"
        )
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("scf.yield", operands=[_condition(condition, op)])
    extract = condition.owner.operation
    end.erase()
    if not any(True for _ in extract.results[0].uses):
        extract.erase()


def _captured(regions: Sequence[Any]) -> list[Any]:
    """Values from outside that ops in the regions use; constants are copied inside instead."""
    found: dict[Any, None] = {}
    for region in regions:
        for block in region.blocks:
            inside = set(block.arguments)
            _scan(block, inside, found)
    return list(found)


def _scan(block: Any, inside: set[Any], found: dict[Any, None]) -> None:
    inside = inside | set(block.arguments)
    for op in block.operations:
        for index, operand in enumerate(op.operation.operands):
            if operand in inside:
                continue
            owner = operand.owner
            if not isinstance(owner, ir.Block) and owner.operation.name in _CONSTANTS:
                with ir.InsertionPoint(op.operation):
                    copy = owner.operation.clone()
                op.operation.operands[index] = copy.results[0]
                inside |= set(copy.results)
            else:
                found[operand] = None
        for region in op.operation.regions:
            for inner in region.blocks:
                _scan(inner, inside, found)
        inside |= set(op.operation.results)


def _module(parent: Any, name: str, block: Any, values: Sequence[Any]) -> Any:
    """A module whose ``@main`` is a block, with ``values`` that it uses as arguments."""
    attributes = {"sym_name": ir.StringAttr.get(name)}
    if NUMERICS_ATTRIBUTE in parent.attributes:
        attributes[NUMERICS_ATTRIBUTE] = parent.attributes[NUMERICS_ATTRIBUTE]
    location = block.owner.location
    point = ir.InsertionPoint(parent.regions[0].blocks[0])
    module = ir.Operation.create("builtin.module", attributes=attributes, regions=1, loc=location, ip=point)
    body = module.regions[0].blocks.append()
    operations = [op.operation for op in block.operations]
    end = operations.pop()
    inputs = [value.type for value in values]
    with ir.InsertionPoint(body), location:
        main = func.FuncOp("main", ir.FunctionType.get(inputs, [value.type for value in end.operands]))
    inner = main.add_entry_block(arg_locs=[location] * len(inputs))
    for op in operations:
        inner.append(op)
    with ir.InsertionPoint(inner), end.location:
        func.ReturnOp(list(end.operands))
    end.erase()
    replaced = dict(zip(values, inner.arguments, strict=True))
    for user in _inside(inner):
        for index, operand in enumerate(user.operands):
            if operand in replaced:
                user.operands[index] = replaced[operand]
    return module


def _inside(block: Any) -> Iterator[Any]:
    """Every op of a block, and those in their regions."""
    for op in block.operations:
        yield op.operation
        for region in op.operation.regions:
            for inner in region.blocks:
                yield from _inside(inner)
