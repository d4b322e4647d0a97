"""Branches and loops as steps: a statement is one step that runs others, behind those of ``@main``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..dialect.buffers import ALIGNMENT
from .program import IF, WHILE, Pointer, Program, Step


@dataclass(frozen=True)
class Part:
    """What a statement runs: a program, a prefix for the names of its own kernels, and where its constants
    start.
    """

    program: Program
    prefix: str
    constants: int


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
        own -= {IF, WHILE, "copy", *part.program.codes}

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
    copy: str,
    copy_unit: int,
    scratch: Pointer,
) -> Step:
    """While the first part says so, run the second on ``results``, which hold what the loop starts with."""
    condition, end = scratch, ALIGNMENT
    new = []
    for size in sizes:
        new.append(_inside(scratch, end))
        end += -(-size // ALIGNMENT) * ALIGNMENT
    arena = _inside(scratch, end)
    inputs = [*results, *captured]
    asks = inner.place(parts[0], inputs, [condition], arena)
    copies = [
        Step(copy, -(-size // copy_unit), (source, target, size), copy, bytes=2 * size)
        for source, target, size in zip(new, results, sizes, strict=True)
    ]
    body = inner.place(parts[1], inputs, new, arena, copies)
    return Step(WHILE, 1, (condition, *asks, *body), WHILE)
