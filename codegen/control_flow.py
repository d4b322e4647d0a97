"""Branches and loops as steps: a statement is one step that runs others, behind those of ``@main``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..dialect.buffers import ALIGNMENT
from .program import CONTROL, COPY, COPY_UNIT, FOR, IF, WHILE, Pointer, Program, Step


@dataclass(frozen=True)
class Part:
    """What a statement runs: a program, a prefix for the names of its own kernels, and where its constants
    start.
    """

    program: Program
    prefix: str
    constants: int


@dataclass(frozen=True)
class Loop:
    """A counted loop: how often, how many values it carries, and of each sequence that it reads or writes the
    bytes from one time to the next (below 0 if it begins at the end).
    """

    count: int
    carried: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]


class InnerSteps:
    """The steps that others run, in one list."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def place(
        self,
        part: Part,
        inputs: Sequence[Pointer],
        outputs: Sequence[Pointer],
        arena: Pointer,
        after: Sequence[Step] = (),
    ) -> tuple[Pointer, Pointer]:
        """Add a part's steps, and some ``after`` them, on these places; gives where they begin and end."""
        shift = len(self.steps)
        own = {step.kernel for step in (*part.program.steps, *part.program.inner)}
        own -= {*CONTROL, COPY, *part.program.codes}

        def moved(argument: Pointer | int) -> Pointer | int:
            if isinstance(argument, int):
                return argument
            match argument.base:
                case "input":
                    return _inside(inputs[argument.index], argument.offset)
                case "output":
                    return _inside(outputs[argument.index], argument.offset)
                case "arena":
                    return _inside(arena, argument.offset)
                case "constants":
                    return replace(argument, offset=argument.offset + part.constants)
                case "steps":
                    return replace(argument, index=argument.index + shift)
            return argument

        def placed(step: Step) -> Step:
            name = part.prefix + step.kernel if step.kernel in own else step.kernel
            return replace(step, kernel=name, arguments=tuple(moved(a) for a in step.arguments))

        self.steps += [placed(step) for step in part.program.inner]
        begin = len(self.steps)
        self.steps += [placed(step) for step in part.program.steps]
        self.steps += after
        return Pointer("steps", begin), Pointer("steps", len(self.steps))


def _inside(place: Pointer, offset: int) -> Pointer:
    return replace(place, offset=place.offset + offset)


def if_step(
    inner: InnerSteps,
    parts: Sequence[Part],
    condition: Pointer,
    inputs: Sequence[Pointer],
    results: Sequence[Pointer],
    scratch: Pointer,
) -> Step:
    """Run the first part if the byte at ``condition`` is not 0, else the second."""
    places = [inner.place(part, inputs, results, scratch) for part in parts]
    return Step(IF, 1, (condition, *places[0], *places[1]), IF)


def while_step(
    inner: InnerSteps,
    parts: Sequence[Part],
    captured: Sequence[Pointer],
    results: Sequence[Pointer],
    sizes: Sequence[int],
    scratch: Pointer,
) -> Step:
    """While the first part says so, run the second on ``results``, which hold what the loop starts with."""
    condition = scratch
    new, arena, copies = _next_values(results, sizes, _inside(scratch, ALIGNMENT))
    inputs = [*results, *captured]
    asks = inner.place(parts[0], inputs, [condition], arena)
    body = inner.place(parts[1], inputs, new, arena, copies)
    return Step(WHILE, 1, (condition, *asks, *body), WHILE)


def for_step(
    inner: InnerSteps,
    part: Part,
    loop: Loop,
    given: Sequence[Pointer],
    results: Sequence[Pointer],
    sizes: Sequence[int],
    scratch: Pointer,
) -> Step:
    """Run a part as often as ``loop`` says. ``given`` are the sequences that it reads and what else it uses;
    the first ``results``, of these ``sizes``, hold what the loop starts with, the others are sequences.
    """
    carried, written = results[: loop.carried], results[loop.carried :]
    new, arena, copies = _next_values(carried, sizes, scratch)
    read = len(loop.reads)
    first = [_first(place, loop, by) for place, by in zip(given[:read], loop.reads, strict=True)]
    inputs = [*carried, *first, *given[read:]]
    outputs = [*new, *(_first(place, loop, by) for place, by in zip(written, loop.writes, strict=True))]
    begin, end = inner.place(part, inputs, outputs, arena, copies)
    moves: dict[tuple[str, int], int] = {("input", loop.carried + k): by for k, by in enumerate(loop.reads)}
    moves |= {("output", loop.carried + k): by for k, by in enumerate(loop.writes)}
    slots = [
        (
            Pointer("steps", begin.index - len(part.program.inner) + number),
            slot,
            moves[argument.base, argument.index],
        )
        for number, step in enumerate((*part.program.inner, *part.program.steps))
        for slot, argument in enumerate(step.arguments)
        if isinstance(argument, Pointer) and (argument.base, argument.index) in moves
    ]
    moving = [word for triple in slots for word in triple]
    return Step(FOR, 1, (begin, end, loop.count, len(slots), *moving), FOR)


def _first(place: Pointer, loop: Loop, by: int) -> Pointer:
    """Where a loop begins in a sequence."""
    return place if by > 0 else _inside(place, -by * (loop.count - 1))


def _next_values(
    results: Sequence[Pointer], sizes: Sequence[int], scratch: Pointer
) -> tuple[list[Pointer], Pointer, list[Step]]:
    """Places for what a loop carries on, the memory behind them, and the copies to where they are read."""
    new, end = [], 0
    for size in sizes:
        new.append(_inside(scratch, end))
        end += -(-size // ALIGNMENT) * ALIGNMENT
    copies = [
        Step(COPY, -(-size // COPY_UNIT), (source, target, size), COPY, bytes=2 * size)
        for source, target, size in zip(new, results, sizes, strict=True)
    ]
    return new, _inside(scratch, end), copies
