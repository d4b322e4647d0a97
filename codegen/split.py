"""From a bufferized module to a :class:`Program` and the text of its kernels.

``@main`` is read, not compiled: it only says which places each kernel works on.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..dialect.mlir import ir
from ..errors import PipelineError
from ..kernels.launch import OVERREAD_BYTES, Code, Launch
from ..passes.entry import (
    INITIAL_OFFSET,
    ROLE,
    STATE,
    VARIABLE,
    aligned,
    argument_attributes,
    entry_function,
    function_type,
    symbol,
)
from ..passes.externalize_constants import constant_places
from ..passes.form_kernels.calls import LAUNCHES
from ..passes.form_kernels.calls import read as read_launch
from ..passes.nested_modules import CONTROL, LOOP, control_of
from ..passes.plan_memory import ARENA_BYTES, byte_size, element_bytes
from .control_flow import InnerSteps, Loop, Part, for_step, if_step, while_step
from .lifetimes import Lifetimes
from .program import COPY, COPY_UNIT, Pointer, Program, Step, Variable

BODY = "body"
"""What the function of a kernel is called in its own module."""
_EXACT_FAMILIES = frozenset({"conversion", "products", "quantize_rows", "sums", "table"})
_WHOLE_CHANNELS = 16
"""That ``mean`` reads as they are; of fewer, more than there are."""
_SYMBOL = re.compile(r'@([\w.$-]+|"[^"]*")')
_MACS_PER_NS, _BYTES_PER_NS = 200, 40
"""What a core does when all goes well; most steps take 0.7 to 1.4 times as long as that says."""
_FLOAT_FORMATS = {"f16": ("<e", "<H"), "bf16": ("<f", "<xxH"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}


@dataclass(frozen=True)
class KernelSource:
    """A kernel at the memref level: a module whose function ``@body`` takes ``parameters`` (MLIR types)."""

    text: str
    parameters: tuple[str, ...]


def split(module: Any) -> tuple[Program, dict[str, KernelSource | Code]]:
    """The steps of ``@main``, and the kernels that they name: functions of the module, or codes of a family.

    Raises:
        PipelineError: no ``@main``, or it holds an op that is no step: run the pipeline to level kernels.
    """
    with module.context:
        reader = _read(module.operation, constant_places(module.operation))
        return reader.program(), {**reader.sources, **reader.launched}


def _read(module: Any, constants: Mapping[str, int], own: int = 0) -> _MainReader:
    """Read ``@main`` of a module; ``constants`` says where those of all modules inside start in the block of
    the outermost one, ``own`` where its own do.
    """
    entry = entry_function(module)
    if entry is None:
        raise PipelineError("no function @main with a body to generate code for")
    attributes = module.attributes
    planned = ir.IntegerAttr(attributes[ARENA_BYTES]).value if ARENA_BYTES in attributes else 0
    symbols = {
        symbol(op): op
        for op in module.regions[0].blocks[0].operations
        if "sym_name" in op.operation.attributes
    }
    reader = _MainReader(entry, symbols, planned, constants, own)
    for op in entry.regions[0].blocks[0].operations:
        reader.read(op.operation)
    reader.sources.update({name: _source(name, symbols) for name in reader.called})
    return reader


class _MainReader:
    """Follows memory through ``@main``."""

    def __init__(
        self,
        entry: Any,
        symbols: Mapping[str, Any],
        arena_bytes: int,
        constants: Mapping[str, int],
        own_constants: int,
    ) -> None:
        self.steps: list[Step] = []
        self.sources: dict[str, KernelSource] = {}
        self._inner = InnerSteps()
        self._inner_constants, self._own_constants = constants, own_constants
        self.called: dict[str, None] = {}
        """Kernels of the module, in the order of their first call."""
        self.launched: dict[str, Code] = {}
        self._symbols = symbols
        self._arena_bytes = arena_bytes
        self._counts: Counter[str] = Counter()
        self._input_bytes: list[int] = []
        self._variables: list[Variable] = []
        self._staged: dict[int, Pointer] = {}
        """Input -> where its copy lies."""
        self._scalars: dict[Any, int] = {}
        self._places: dict[Any, Pointer] = {}
        """A memref -> the address its descriptor is built on; offsets in its type come on top."""
        self._lifetimes = Lifetimes()
        self._buffers: dict[Any, Any] = {}
        """A memref -> the buffer of the arena that it is in."""
        arguments = entry.regions[0].blocks[0].arguments
        for argument, attributes in zip(arguments, argument_attributes(entry), strict=True):
            base: Any = ir.StringAttr(attributes[ROLE]).value if ROLE in attributes else "input"
            self._places[argument] = Pointer(base, self._counts[base])
            self._counts[base] += 1
            if base == "input":
                self._input_bytes.append(byte_size(argument.type))
            elif base == STATE:
                self._variables.append(_variable(argument.type, attributes))

    def program(self) -> Program:
        alive = self._lifetimes.alive(len(self.steps))
        steps = [replace(step, alive_bytes=size) for step, size in zip(self.steps, alive, strict=True)]
        return Program(
            tuple(steps),
            self._arena_bytes,
            self._counts["input"],
            self._counts["output"],
            max(alive, default=0),
            self.launched,
            tuple(self._variables),
            tuple(self._inner.steps),
        )

    def read(self, op: Any) -> None:
        reader = _READERS.get(op.name)
        if reader is None:
            raise PipelineError(
                f"'{op.name}' in @main is no step of a program: run the pipeline up to level kernels first"
            )
        reader(self, op)

    def constant(self, op: Any) -> None:
        value = op.attributes["value"]
        if isinstance(value, ir.FloatAttr):
            self._scalars[op.results[0]] = _float_bits(value)
        else:
            self._scalars[op.results[0]] = int(ir.IntegerAttr(value).value)

    def view(self, op: Any) -> None:
        source = self._places[op.operands[0]]
        self._places[op.results[0]] = replace(source, offset=source.offset + self._scalars[op.operands[1]])
        if source.base == "arena":
            self._buffers[op.results[0]] = self._buffers.get(op.operands[0], op.results[0])

    def reshape(self, op: Any) -> None:
        """The same memory in another shape; where it starts is in the result's type."""
        self._places[op.results[0]] = self._places[op.operands[0]]
        if op.operands[0] in self._buffers:
            self._buffers[op.results[0]] = self._buffers[op.operands[0]]

    def copy(self, op: Any) -> None:
        source, target = op.operands
        for value in (source, target):
            if not _is_dense(value.type):
                raise PipelineError(f"memref.copy in @main: {value.type} is not dense")
        for value in (source, target):
            self._use(value)
        self._copy(self._start(source), self._start(target), byte_size(source.type), op.location)

    def call(self, op: Any) -> None:
        name = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
        declaration = self._symbols[name].operation.attributes
        if LAUNCHES in declaration:
            for attribute in ir.ArrayAttr(declaration[LAUNCHES]):
                self._launch(name, *read_launch(attribute), op)
            return
        if CONTROL in declaration:
            self._control(op, self._symbols[name].operation)
            return
        self.called[name] = None
        arguments = [self._scalars[v] if v in self._scalars else self._places[v] for v in op.operands]
        buffers = [v for v in op.operands if v not in self._scalars]
        for value in buffers:
            self._use(value)
        step = Step(
            name,
            1,
            tuple(arguments),
            name,
            bytes=sum(byte_size(v.type) for v in buffers),
            source=tensor_names(op.location),
            constant_bytes=self._constant_bytes(buffers),
        )
        self.steps.append(step)

    def _control(self, op: Any, declaration: Any) -> None:
        """A branch or a loop; operands are those of the statement, its results, and scratch memory."""
        kind, *names = control_of(declaration)
        parts = [self._part(name) for name in names]
        results = parts[-1].program.outputs
        operands = list(op.operands)
        for value in operands:
            self._use(value)
        places = [self._start(value) for value in operands]
        given, written = places[: -1 - results], places[-1 - results : -1]
        if kind == "if":
            step = if_step(self._inner, parts, given[0], given[1:], written, places[-1])
        else:
            values = operands[-1 - results : -1]
            loop = _loop(declaration.attributes[LOOP], operands, values) if kind == "for" else None
            carried = results if loop is None else loop.carried
            sizes = [byte_size(value.type) for value in values[:carried]]
            for source, target, size in zip(given, written, sizes, strict=False):
                self._copy(source, target, size, op.location)
            for value in operands:
                self._use(value)
            if loop is None:
                step = while_step(self._inner, parts, given[carried:], written, sizes, places[-1])
            else:
                step = for_step(self._inner, parts[0], loop, given[carried:], written, sizes, places[-1])
        bytes_ = sum(byte_size(value.type) for value in operands[:-1])
        self.steps.append(replace(step, bytes=bytes_, source=tensor_names(op.location)))

    def _part(self, name: str) -> Part:
        """The program of a module inside; its kernels become known here."""
        start = self._inner_constants[name]
        inner, prefix = _read(self._symbols[name].operation, self._inner_constants, start), f"{name}."
        self.sources.update({prefix + kernel: source for kernel, source in inner.sources.items()})
        self.launched.update(inner.launched)
        return Part(inner.program(), prefix, start - self._own_constants)

    def _launch(self, name: str, launch: Launch, numbers: Sequence[int], op: Any) -> None:
        """Run a family's kernel on the operands ``numbers`` of a call."""
        self.launched[launch.code.symbol] = launch.code
        operands = [op.operands[number] for number in numbers]
        is_exact = _reads_exactly(launch.code)
        places = [self._start(v) if is_exact else self._readable(v, op.location) for v in operands]
        for value, place in zip(operands, places, strict=True):
            self._use(value)
            given = self._places[value]
            if (given.base, place.base) == ("input", "arena"):
                self._lifetimes.use(given.index, self._input_bytes[given.index], len(self.steps))
        if self._fills_border_of(operands[-1]) and all(
            self._buffers.get(value, value) != self._buffers[operands[-1]] for value in operands[:-1]
        ):
            self.steps[-1] = replace(self.steps[-1], overlaps_next=True)
        bytes_ = sum(byte_size(value.type) for value in operands)
        step = Step(
            launch.code.symbol,
            launch.units,
            (*places, *launch.scalars),
            name,
            launch.macs,
            bytes_,
            launch.macs // _MACS_PER_NS + bytes_ // _BYTES_PER_NS,
            tensor_names(op.location),
            self._constant_bytes(operands),
        )
        self.steps.append(step)

    def _fills_border_of(self, result: Any) -> bool:
        """Whether that is what the latest step does. A kernel only writes the inside of its result."""
        if not self.steps or result not in self._buffers:
            return False
        step = self.steps[-1]
        code = self.launched.get(step.kernel)
        return code is not None and code.family == "border" and step.arguments[0] == self._start(result)

    def _use(self, value: Any) -> None:
        """The next step reads or writes (a part of) a buffer."""
        if value in self._buffers:
            buffer = self._buffers[value]
            self._lifetimes.use(buffer, byte_size(buffer.type), len(self.steps))

    def _constant_bytes(self, buffers: Sequence[Any]) -> int:
        return sum(byte_size(v.type) for v in buffers if self._places[v].base == "constants")

    def ignore(self, op: Any) -> None:
        """Nothing to do at run time."""

    def _start(self, value: Any) -> Pointer:
        """Where the first element lies."""
        place = self._places[value]
        _, offset = value.type.get_strides_and_offset()
        return replace(place, offset=place.offset + offset * element_bytes(value.type))

    def _readable(self, value: Any, location: Any) -> Pointer:
        """The start of a buffer that may be read beyond its end. A caller's array may not: it is copied."""
        start = self._start(value)
        if start.base != "input":
            return start
        if start.index not in self._staged:
            size = self._input_bytes[start.index]
            staged = Pointer("arena", 0, aligned(self._arena_bytes))
            self._arena_bytes = staged.offset + aligned(size + OVERREAD_BYTES)
            self._lifetimes.use(start.index, size, len(self.steps))
            self._copy(Pointer("input", start.index), staged, size, location)
            self._staged[start.index] = staged
        staged = self._staged[start.index]
        return replace(staged, offset=staged.offset + start.offset)

    def _copy(self, source: Pointer, target: Pointer, size: int, location: Any) -> None:
        units = -(-size // COPY_UNIT)
        cost, names = 2 * size // _BYTES_PER_NS, tensor_names(location)
        self.steps.append(
            Step(COPY, units, (source, target, size), COPY, bytes=2 * size, cost=cost, source=names)
        )


_READERS: dict[str, Callable[[_MainReader, Any], None]] = {
    "arith.constant": _MainReader.constant,
    "func.call": _MainReader.call,
    "func.return": _MainReader.ignore,
    "memref.cast": _MainReader.reshape,
    "memref.collapse_shape": _MainReader.reshape,
    "memref.copy": _MainReader.copy,
    "memref.expand_shape": _MainReader.reshape,
    "memref.reinterpret_cast": _MainReader.reshape,
    "memref.subview": _MainReader.reshape,
    "memref.view": _MainReader.view,
}


def _reads_exactly(code: Code) -> bool:
    """Whether a kernel reads no byte beyond an input: a caller's array need not be copied for it."""
    is_mean = code.family == "mean" and int(code["channels"]) >= _WHOLE_CHANNELS
    return is_mean or code.family in _EXACT_FAMILIES


def _variable(type_: Any, attributes: Any) -> Variable:
    """The variable that an argument of ``@main`` is the memory of."""
    element = type_.element_type
    kind = "float" if isinstance(element, ir.FloatType) else "int"
    return Variable(
        ir.StringAttr(attributes[VARIABLE]).value,
        tuple(type_.shape),
        "bool" if element == ir.IntegerType.get_signless(1) else f"{kind}{8 * element_bytes(type_)}",
        ir.IntegerAttr(attributes[INITIAL_OFFSET]).value,
    )


def _loop(attribute: Any, operands: Sequence[Any], results: Sequence[Any]) -> Loop:
    """A counted loop on these buffers."""
    said = ir.DictAttr(attribute)
    count, carried = (ir.IntegerAttr(said[name]).value for name in ("count", "carried"))
    reads, writes = (list(ir.DenseI64ArrayAttr(said[name])) for name in ("reads", "writes"))

    def pitches(values: Sequence[Any], ways: Sequence[int]) -> tuple[int, ...]:
        for value in values:
            if not _is_dense(value.type):
                raise PipelineError(f"a loop in @main: {value.type} is not dense")
        return tuple(way * (byte_size(value.type) // count) for value, way in zip(values, ways, strict=True))

    read = operands[carried : carried + len(reads)]
    return Loop(count, carried, pitches(read, reads), pitches(results[carried:], writes))


def _is_dense(type_: Any) -> bool:
    strides, _ = type_.get_strides_and_offset()
    expected = 1
    for extent, stride in zip(reversed(type_.shape), reversed(strides), strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def _float_bits(value: Any) -> int:
    pack, unpack = _FLOAT_FORMATS[str(value.type)]
    return int(struct.unpack(unpack, struct.pack(pack, value.value))[0])


def tensor_names(location: Any) -> tuple[str, ...]:
    """The names of the model's tensors in a location, each once."""
    return tuple(dict.fromkeys(_names(location)))


def _names(location: Any) -> Iterator[str]:
    if isinstance(location, ir.NameLoc):
        yield location.name_str
    elif isinstance(location, ir.FusedLoc):
        for part in location.locations:
            yield from _names(part)
    elif isinstance(location, ir.CallSiteLoc):
        yield from _names(location.callee)


def _source(name: str, symbols: Mapping[str, Any]) -> KernelSource:
    function = symbols[name]
    text = _text(function).replace(f"@{name}(", f"@{BODY}(", 1)
    texts, seen, open_ = [text], {name, BODY}, [text]
    while open_:  # what the kernel calls or reads by name
        for used in _SYMBOL.findall(open_.pop()):
            if used not in seen and used in symbols:
                seen.add(used)
                texts.append(_text(symbols[used]))
                open_.append(texts[-1])
    whole = "\n".join(texts)
    if "dense_resource<" in whole:
        raise PipelineError(f"kernel '{name}' holds a large constant; kernels take constants as arguments")
    parameters = tuple(str(type_) for type_ in function_type(function).inputs)
    return KernelSource(whole, parameters)


def _text(op: Any) -> str:
    return str(op.operation.get_asm(use_local_scope=True, assume_verified=True))
