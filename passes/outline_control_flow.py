"""outline-control-flow: regions of scf.if and scf.while become modules of their own, run by calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..dialect.mlir import func, ir
from ..dialect.model import NUMERICS_ATTRIBUTE
from ..errors import PipelineError
from .entry import entry_function, symbol
from .nested_modules import CONTROL
from .registry import ModulePass, register

_IF, _WHILE = "scf.if", "scf.while"
_OF_CONDITIONS = frozenset({"arith.constant", "tensor.extract"})
_CONSTANTS = frozenset({"arith.constant", "qnn.constant"})


@register
@dataclass(frozen=True)
class OutlineControlFlowPass(ModulePass):
    """Make each region of a statement in ``@main`` the ``@main`` of a module inside, and the statement a
    call.

    Its callee is a declaration whose ``qnn.control`` says what runs when: ``["if", then, else]`` by the first
    operand, a tensor of one i1; or ``["while", condition, body]`` on the first operands, one per result.
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
            if op.name in _OF_CONDITIONS and not any(True for _ in op.results[0].uses):
                op.erase()


def _statements(entry: Any) -> list[Any]:
    operations = [op.operation for op in entry.regions[0].blocks[0].operations]
    return [op for op in operations if op.name in (_IF, _WHILE)]


def _outline(module: Any, op: Any, name: str) -> None:
    kind = op.name.removeprefix("scf.")
    regions = list(op.regions)
    captured = _captured(regions)
    suffixes = ("then", "else") if kind == "if" else ("condition", "body")
    operands = list(op.operands)
    if kind == "if":
        operands = [_condition(op.operands[0], op)]
    names = []
    for region, suffix in zip(regions, suffixes, strict=True):
        if not region.blocks:
            with ir.InsertionPoint(region.blocks.append()), op.location:
                ir.Operation.create("scf.yield")
        if suffix == "condition":
            _forward_all(region.blocks[0], op)
        names.append(f"{name}.{suffix}")
        inner = _module(module, names[-1], region.blocks[0], captured)
        OutlineControlFlowPass().run(inner)
    operands += captured
    types = [result.type for result in op.results]
    with ir.InsertionPoint(entry_function(module)), op.location:
        taken = ir.FunctionType.get([operand.type for operand in operands], types)
        declaration = func.FuncOp(name, taken, visibility="private").operation
    read = ir.DictAttr.get({"bufferization.access": ir.StringAttr.get("read")})
    declaration.attributes["arg_attrs"] = ir.ArrayAttr.get([read] * len(operands))
    declaration.attributes[CONTROL] = ir.ArrayAttr.get([ir.StringAttr.get(text) for text in (kind, *names)])
    with ir.InsertionPoint(op), op.location:
        call = func.CallOp(types, name, operands)
    for old, new in zip(op.results, call.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()


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


def _module(parent: Any, name: str, block: Any, captured: Sequence[Any]) -> Any:
    """A module whose ``@main`` is a block: of its arguments and the values ``captured``."""
    attributes = {"sym_name": ir.StringAttr.get(name)}
    if NUMERICS_ATTRIBUTE in parent.attributes:
        attributes[NUMERICS_ATTRIBUTE] = parent.attributes[NUMERICS_ATTRIBUTE]
    location = block.owner.location
    point = ir.InsertionPoint(parent.regions[0].blocks[0])
    module = ir.Operation.create("builtin.module", attributes=attributes, regions=1, loc=location, ip=point)
    body = module.regions[0].blocks.append()
    operations = [op.operation for op in block.operations]
    end = operations.pop()
    inputs = [value.type for value in (*block.arguments, *captured)]
    with ir.InsertionPoint(body), location:
        main = func.FuncOp("main", ir.FunctionType.get(inputs, [value.type for value in end.operands]))
    inner = main.add_entry_block(arg_locs=[location] * len(inputs))
    for op in operations:
        inner.append(op)
    with ir.InsertionPoint(inner), end.location:
        func.ReturnOp(list(end.operands))
    end.erase()
    own = len(list(block.arguments))
    for old, new in zip(block.arguments, list(inner.arguments)[:own], strict=True):
        old.replace_all_uses_with(new)
    replaced = dict(zip(captured, list(inner.arguments)[own:], strict=True))
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
