"""form-kernels: groups of qnn ops become launches of kernels from the families.

``groups.py`` says what a group is, ``recognized.py`` which ops make one, ``forms.py`` chooses how tensors are
kept, ``calls.py`` writes the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ...dialect.ir_types import to_ir_type
from ...dialect.mlir import ir
from ...dialect.model import module_numerics
from ...dialect.types import TensorType
from ...errors import PipelineError, did_you_mean
from ...kernels import families
from ...kernels.border import Border
from ...kernels.instruction_set import INSTRUCTION_SETS, InstructionSet
from ...kernels.launch import Launch
from .. import graph
from ..decisions import record
from ..entry import entry_function
from ..registry import ModulePass, register
from .calls import Calls
from .elementwise import copy_table
from .forms import base_of, choose_forms
from .groups import PLAIN, Around, Form, Group, Part, Stored, is_8bit, is_16bit, stored
from .recognized import Refused, groups_of, unknown_ops

Planned = list[tuple[Launch, Sequence[int], int]]
"""Launches, what each reads, and the bytes of its result if that is temporary: see :class:`.groups.Part`."""


@register
@dataclass(frozen=True)
class FormKernelsPass(ModulePass):
    """Replace groups of ops that kernels of the instruction set ``isa`` compute by calls of these.

    A call's callee is a declaration whose ``qnn.launches`` say which kernels run on which operands.
    Tensors between such calls are bytes as they lie in memory: perhaps with a border, an i8 tensor perhaps as
    u8 or a u8 one as i8. What no family takes stays as it is; ``--explain`` says why. Without ``isa``
    nothing changes.
    """

    name: ClassVar[str] = "form-kernels"
    isa: str = ""

    def run(self, module: Any) -> None:
        if not self.isa:
            return
        if self.isa not in INSTRUCTION_SETS:
            raise PipelineError(
                f"pass '{self.name}': unknown instruction set '{self.isa}'"
                f"{did_you_mean(self.isa, INSTRUCTION_SETS)}"
            )
        entry = entry_function(module)
        if entry is None:
            return
        isa = INSTRUCTION_SETS[self.isa]
        around = Around(module_numerics(module), not isa.unsigned_inputs)
        planner = _Planner(isa)
        refused: Refused = {}
        while True:
            groups = groups_of(entry, around, refused)
            forms = choose_forms(groups, around.signed_inputs)
            plans = [planner.plan(group, forms) for group in groups]
            new = {
                (group.op, len(group.inner)): plan
                for group, plan in zip(groups, plans, strict=True)
                if isinstance(plan, str)
            }
            if not new:
                break
            refused |= new
        for (op, _), reason in refused.items():
            record("refused", op, reason, by=self.name)
        for op in unknown_ops(entry):
            record("refused", op, "no family computes this operator", by=self.name)
        planned = [plan for plan in plans if not isinstance(plan, str)]
        _Rewriter(Calls(module, entry), planner, forms).replace(groups, planned)


class _Planner:
    """Asks the families; each question once."""

    def __init__(self, isa: InstructionSet) -> None:
        self._isa = isa
        self._known: dict[Any, Planned | str] = {}

    def plan(self, group: Group, forms: dict[Any, Form]) -> Planned | str:
        inputs = [_stored(value, wanted, forms) for value, wanted in _wanted(group, forms)]
        result = stored(graph.type_of(group.result), forms[group.result])
        key = (group.op, len(group.inner), tuple(s.form for s in (*inputs, result)))
        if key not in self._known:
            self._known[key] = self._ask(group, inputs, result)
        return self._known[key]

    def _ask(self, group: Group, inputs: Sequence[Stored], result: Stored) -> Planned | str:
        parts = group.make(inputs, result)
        if isinstance(parts, str):
            return parts
        if any(result.form.border):
            parts = [Part(Border(result.image, result.zero_point & 0xFF), ()), *parts]
        return self.launches(parts)

    def launches(self, parts: Sequence[Part]) -> Planned | str:
        planned: Planned = []
        for part in parts:
            launch = families.plan(part.spec, self._isa)
            if isinstance(launch, str):
                return launch
            planned.append((launch, part.inputs, part.temporary))
        return planned

    def copy(self, source: Stored, target: Stored) -> Planned:
        """A tensor into another form."""
        parts = [Part(copy_table(source, target))]
        if any(target.form.border):
            parts.insert(0, Part(Border(target.image, target.zero_point & 0xFF), ()))
        planned = self.launches(parts)
        if isinstance(planned, str):
            raise PipelineError(f"form-kernels: a copy could not be planned: {planned}")
        return planned


def _wanted(group: Group, forms: dict[Any, Form]) -> Iterator[tuple[Any, Form]]:
    """The inputs of a group, each with the form it reads."""
    for value, want in zip(group.inputs, group.wants, strict=True):
        kept = forms.get(base_of(value), PLAIN)
        yield value, want.form(graph.type_of(value), kept, forms[group.result])


def _stored(value: Any, wanted: Form, forms: dict[Any, Form]) -> Stored:
    """How a reader gets a value: in the form it is kept in if that will do, else in a copy of the form it
    wants.
    """
    kept = forms.get(base_of(value))
    fits = kept is not None and kept.covers(wanted)
    return stored(graph.type_of(value), kept if fits and kept is not None else wanted)


class _Rewriter:
    """Puts calls in the place of groups."""

    def __init__(self, calls: Calls, planner: _Planner, forms: dict[Any, Form]) -> None:
        self._calls = calls
        self._planner = planner
        self._forms = forms
        self._bytes: dict[tuple[Any, Form], Any] = {}
        """(value, form) -> the tensor of its bytes."""

    def replace(self, groups: Sequence[Group], plans: Sequence[Planned]) -> None:
        for group, plan in zip(groups, plans, strict=True):
            with ir.InsertionPoint(group.op), group.op.location:
                inputs = [self._input(value, wanted) for value, wanted in _wanted(group, self._forms)]
                result = stored(graph.type_of(group.result), self._forms[group.result])
                self._bytes[group.result, result.form] = self._called(plan, inputs, _tensor_type(result))
        for group in reversed(groups):
            self._erase(group)

    def _called(self, plan: Planned, inputs: Sequence[Any], result: Any) -> Any:
        """The tensor that launches compute; a call of its own for each temporary one."""
        known, first = list(inputs), 0
        for number, (_, _, temporary) in enumerate(plan, 1):
            if temporary or number == len(plan):
                type_ = ir.RankedTensorType.get([temporary], ir.IntegerType.get_signless(8))
                known.append(self._call(plan[first:number], known, type_ if temporary else result))
                first = number
        return known[-1]

    def _call(self, plan: Planned, known: Sequence[Any], result: Any) -> Any:
        used = sorted({number for _, reads, _ in plan for number in reads})
        launches = [(launch, [used.index(number) for number in reads]) for launch, reads, _ in plan]
        family = plan[-1][0].code.family
        return self._calls.call(family, launches, [known[number] for number in used], result)

    def _input(self, value: Any, wanted: Form) -> Any:
        base = base_of(value)
        kept = self._forms.get(base)
        form = kept if kept is not None and kept.covers(wanted) else wanted
        if any(form.border) and base != value:  # of the reshaped image, not of the one below
            return self._copied(value, base, kept or PLAIN, form)
        if (base, form) not in self._bytes:
            if kept is None and form == PLAIN:
                self._bytes[base, form] = _as_bytes(base)
            else:
                self._bytes[base, form] = self._copied(value, base, kept or PLAIN, form)
        return self._bytes[base, form]

    def _copied(self, value: Any, base: Any, kept: Form, form: Form) -> Any:
        type_ = graph.type_of(value)
        source, target = stored(type_, kept), stored(type_, form)
        given = self._input(base, kept)
        launches = [(launch, reads) for launch, reads, _ in self._planner.copy(source, target)]
        return self._calls.call("copy", launches, [given], _tensor_type(target))

    def _erase(self, group: Group) -> None:
        """Give the result to readers that are no groups; erase the ops."""
        _erase_dead_views(group.result)
        if any(True for _ in group.result.uses):
            with ir.InsertionPoint(group.op), group.op.location:
                tensor = self._bytes[group.result, PLAIN]
                typed = _cast(tensor, group.result.type) if graph.params_of(group.result) else tensor
                group.result.replace_all_uses_with(typed)
        for op in (group.op, *reversed(group.inner)):
            op.erase()


def _erase_dead_views(value: Any) -> None:
    """Erase the reshapes of a value that nobody reads any more."""
    for use in list(value.uses):
        op = use.owner.operation
        if op.name == "qnn.reshape":
            _erase_dead_views(op.results[0])
            graph.erase_if_unused(op)


def _cast(value: Any, type_: Any) -> Any:
    """Between a quantized tensor and one of its storage type."""
    return ir.Operation.create("quant.scast", results=[type_], operands=[value]).results[0]


def _as_bytes(value: Any) -> Any:
    type_ = graph.type_of(value)
    return _cast(value, _plain_type(type_)) if type_.is_quantized else value


def _plain_type(type_: TensorType) -> Any:
    return ir.RankedTensorType.get(list(type_.shape), ir.IntegerType.get_signless(type_.dtype.itemsize * 8))


def _tensor_type(stored_: Stored) -> Any:
    """The type of a buffer: the tensor's own shape if it is dense."""
    if not (is_8bit(stored_.type) or is_16bit(stored_.type)):
        return _plain_type(stored_.type) if stored_.type.is_quantized else to_ir_type(stored_.type)
    if stored_.image.is_dense:
        return _plain_type(stored_.type)
    width = ir.IntegerType.get_signless(8 * stored_.image.element_bytes)
    return ir.RankedTensorType.get(list(stored_.image.buffer_shape), width)
