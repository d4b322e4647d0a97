"""``NAME_run`` as LLVM IR: a network's steps one after the other.

A step is a call of its kernel on a row in stack memory (see ``program.py``), branches and loops are what they
are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ...errors import PipelineError
from ..program import CONTROL, COPY, FOR, IF, WHILE, Pointer, Program, Step
from .interface import ERROR_NUMBERS, CTensor, Interface

Moves: TypeAlias = Sequence[tuple[int, str]]
"""How an address moves: bytes for each count of a counter, whose place in memory is a value of LLVM IR."""


class RunFunction:
    """Writes ``NAME_run``."""

    def __init__(
        self,
        interface: Interface,
        program: Program,
        kernels: Mapping[str, str],
        word: str,
        attributes: str,
    ) -> None:
        self._attributes = attributes
        self._interface = interface
        self._program = program
        self._kernels = kernels
        self._word = word
        self._lines: list[str] = []
        self._count = 0
        self._moving: dict[tuple[int, int], list[tuple[int, str]]] = {}
        """(Inner step, argument) -> by how many bytes it moves with each counter of loops around it."""

    def text(self) -> str:
        name = self._interface.name
        steps = (*self._program.steps, *self._program.inner)
        slots = max((len(s.arguments) for s in steps if s.kernel not in (COPY, *CONTROL)), default=1)
        self._lines = [
            f"define i32 @{name}_run(ptr %model, ptr %inputs, ptr %outputs) nounwind {self._attributes} {{",
            f"  %row = alloca [{max(slots, 1)} x i64], align 16",
            f"  %error = call i32 @{name}_check_model(ptr %model)",
            "  %is.fine = icmp eq i32 %error, 0",
            "  br i1 %is.fine, label %arguments, label %failed",
            "failed:",
            "  ret i32 %error",
            "arguments:",
            "  %arena = load ptr, ptr %model",
        ]
        self._check_tensors("INPUT", "in", "%inputs", self._interface.inputs)
        self._check_tensors("OUTPUT", "out", "%outputs", self._interface.outputs)
        for step in self._program.steps:
            self._step(step, [()] * len(step.arguments))
        return "\n".join([*self._lines, "  ret i32 0", "}"])

    def _check_tensors(self, kind: str, prefix: str, struct_: str, tensors: Sequence[CTensor]) -> None:
        """Load the pointers and check each that is used."""
        used = [tensor for tensor in tensors if tensor.info.is_read or prefix == "out"]
        if used:
            self._require(f"icmp ne ptr {struct_}, null", f"ERROR_{kind}_NULL")
        for i, tensor in enumerate(tensors):
            if tensor not in used:
                continue
            self._lines += [
                f"  %{prefix}{i}.p = getelementptr ptr, ptr {struct_}, i32 {i}",
                f"  %{prefix}{i} = load ptr, ptr %{prefix}{i}.p",
            ]
            self._require(f"icmp ne ptr %{prefix}{i}, null", f"ERROR_{kind}_NULL")
            size = tensor.info.dtype.itemsize
            if size > 1:
                self._lines += [
                    f"  %{prefix}{i}.n = ptrtoint ptr %{prefix}{i} to {self._word}",
                    f"  %{prefix}{i}.odd = and {self._word} %{prefix}{i}.n, {size - 1}",
                ]
                self._require(f"icmp eq {self._word} %{prefix}{i}.odd, 0", f"ERROR_{kind}_MISALIGNED")

    def _require(self, condition: str, error: str) -> None:
        n = self._next()
        self._lines += [
            f"  %c{n} = {condition}",
            f"  br i1 %c{n}, label %ok{n}, label %error{n}",
            f"error{n}:",
            f"  ret i32 {ERROR_NUMBERS[error]}",
            f"ok{n}:",
        ]

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _step(self, step: Step, moves: Sequence[Moves]) -> None:
        """``moves``: of each argument."""
        if step.kernel == COPY:
            self._copy(step, moves)
        elif step.kernel == IF:
            self._if(step, moves[0])
        elif step.kernel == WHILE:
            self._while(step, moves[0])
        elif step.kernel == FOR:
            self._for(step)
        else:
            self._call(step, moves)

    def _inner(self, step: Step, slot: int) -> None:
        """The steps that a statement runs: where they begin and end stands in two of its arguments."""
        first, last = _pointers(step.arguments[slot : slot + 2])
        for number in range(first.index, last.index):
            inner = self._program.inner[number]
            moves = [self._moving.get((number, k), ()) for k in range(len(inner.arguments))]
            self._step(inner, moves)

    def _call(self, step: Step, moves: Sequence[Moves]) -> None:
        for slot, argument in enumerate(step.arguments):
            place = "%row"
            if slot:
                place = f"%s{self._next()}"
                self._lines.append(f"  {place} = getelementptr i64, ptr %row, i32 {slot}")
            if isinstance(argument, int):
                value = argument if argument < 1 << 63 else argument - (1 << 64)
                self._lines.append(f"  store i64 {value}, ptr {place}")
            else:
                self._lines.append(f"  store ptr {self._address(argument, moves[slot])}, ptr {place}")
        self._lines.append(f"  call void @{self._kernels[step.kernel]}(ptr %row, i64 0, i64 {step.units})")

    def _copy(self, step: Step, moves: Sequence[Moves]) -> None:
        source, target = _pointers(step.arguments[:2])
        size = step.arguments[2]
        assert isinstance(size, int)
        if (source == target and moves[0] == moves[1]) or not size:
            return
        same = (source.base, source.index) == (target.base, target.index) and moves[0] == moves[1]
        if same and abs(source.offset - target.offset) < size:
            raise PipelineError(f"a copy of {size} bytes overlaps itself: {source} to {target}")
        to, from_ = self._address(target, moves[1]), self._address(source, moves[0])
        self._lines.append(memcpy(self._word, to, from_, size))

    def _if(self, step: Step, moves: Moves) -> None:
        n = self._next()
        self._condition(step, moves, n)
        self._lines += [f"  br i1 %h{n}, label %then{n}, label %else{n}", f"then{n}:"]
        self._inner(step, 1)
        self._lines += [f"  br label %end{n}", f"else{n}:"]
        self._inner(step, 3)
        self._lines += [f"  br label %end{n}", f"end{n}:"]

    def _while(self, step: Step, moves: Moves) -> None:
        n = self._next()
        self._lines += [f"  br label %ask{n}", f"ask{n}:"]
        self._inner(step, 1)
        self._condition(step, moves, n)
        self._lines += [f"  br i1 %h{n}, label %body{n}, label %end{n}", f"body{n}:"]
        self._inner(step, 3)
        self._lines += [f"  br label %ask{n}", f"end{n}:"]

    def _for(self, step: Step) -> None:
        """The counter is a word in memory: what it is used for costs less than to keep it in registers."""
        n = self._next()
        count, slots = step.arguments[2:4]
        assert isinstance(slots, int)
        for k in range(4, 4 + 3 * slots, 3):
            (moved,) = _pointers(step.arguments[k : k + 1])
            slot, by = step.arguments[k + 1 : k + 3]
            assert isinstance(slot, int)
            assert isinstance(by, int)
            self._moving.setdefault((moved.index, slot), []).append((by, f"%time{n}"))
        self._lines[1:1] = [f"  %time{n} = alloca {self._word}"]
        self._lines += [
            f"  store {self._word} 0, ptr %time{n}",
            f"  br label %body{n}",
            f"body{n}:",
        ]
        self._inner(step, 0)
        self._lines += [
            f"  %t{n} = load {self._word}, ptr %time{n}",
            f"  %n{n} = add {self._word} %t{n}, 1",
            f"  store {self._word} %n{n}, ptr %time{n}",
            f"  %again{n} = icmp ult {self._word} %n{n}, {count}",
            f"  br i1 %again{n}, label %body{n}, label %end{n}",
            f"end{n}:",
        ]

    def _condition(self, step: Step, moves: Moves, n: int) -> None:
        (place,) = _pointers(step.arguments[:1])
        address = self._address(place, moves)
        self._lines += [f"  %b{n} = load i8, ptr {address}", f"  %h{n} = icmp ne i8 %b{n}, 0"]

    def _address(self, place: Pointer, moves: Moves = ()) -> str:
        """A value of type ptr."""
        address = self._start(place)
        for by, counter in moves:
            n = self._next()
            self._lines += [
                f"  %t{n} = load {self._word}, ptr {counter}",
                f"  %by{n} = mul {self._word} %t{n}, {by}",
                f"  %m{n} = getelementptr i8, ptr {address}, {self._word} %by{n}",
            ]
            address = f"%m{n}"
        return address

    def _start(self, place: Pointer) -> str:
        match place.base:
            case "constants":
                name = f"@{self._interface.name}_constants"
                return f"getelementptr (i8, ptr {name}, {self._word} {place.offset})"
            case "input":
                return self._at(f"%in{place.index}", place.offset)
            case "output":
                return self._at(f"%out{place.index}", place.offset)
            case "arena":
                return self._at("%arena", self._interface.buffers + place.offset)
            case "state":
                return self._at("%arena", self._interface.places[place.index] + place.offset)
        raise PipelineError(f"no place of a step: {place}")

    def _at(self, base: str, offset: int) -> str:
        if not offset:
            return base
        value = f"%a{self._next()}"
        self._lines.append(f"  {value} = getelementptr i8, ptr {base}, {self._word} {offset}")
        return value


def _pointers(arguments: Sequence[Pointer | int]) -> list[Pointer]:
    return [argument for argument in arguments if isinstance(argument, Pointer)]


def memcpy(word: str, target: str, source: str, size: int) -> str:
    return f"  call void @llvm.memcpy.p0.p0.{word}(ptr {target}, ptr {source}, {word} {size}, i1 false)"
