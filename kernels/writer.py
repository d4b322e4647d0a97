"""Writes a kernel as MLIR text: fresh names, constants once at the top, loops over i64."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .instruction_set import InstructionSet

Body = Callable[..., Sequence[str]]
Count = str | int
"""An i64: a value's name, or a number that is known when the kernel is written."""


class Writer:
    """The text of one kernel ``@kernel(%row, %begin, %end)``. Values are SSA names, as strings."""

    def __init__(self, isa: InstructionSet) -> None:
        self.isa = isa
        self.lanes = isa.lanes
        self.i32 = f"vector<{isa.lanes}xi32>"
        self.f32 = f"vector<{isa.lanes}xf32>"
        self.i64 = f"vector<{isa.lanes // 2}xi64>"
        self.f64 = f"vector<{isa.lanes // 2}xf64>"
        self.i16 = f"vector<{isa.lanes * 2}xi16>"
        self.i8 = f"vector<{isa.lanes * 4}xi8>"
        """A whole vector of bytes."""
        self.quarter = f"vector<{isa.lanes}xi8>"
        """A byte per i32 lane."""
        self._lines: list[str] = []
        self._constants: dict[str, str] = {}
        self._count = 0
        self._depth = 1

    def text(self) -> str:
        """The whole function."""
        head = "func.func @kernel(%row: !llvm.ptr, %begin: i64, %end: i64) {"
        constants = [f"  {value} = arith.constant {text}" for text, value in self._constants.items()]
        return "\n".join([head, *constants, *self._lines, "  return", "}", ""])

    def pointer(self, slot: int) -> str:
        """The address in slot ``slot`` of the row."""
        return self.load(self.at("%row", 8 * slot), "!llvm.ptr", 8)

    def scalar(self, slot: int) -> str:
        """The i64 in slot ``slot`` of the row."""
        return self.load(self.at("%row", 8 * slot), "i64", 8)

    def allocate(self, size: int) -> str:
        """The address of ``size`` bytes on the stack, aligned to vectors; only at a kernel's start."""
        alignment = f"{{alignment = {self.isa.vector_bytes} : i64}}"
        return self.op(f"llvm.alloca {self.index(size)} x i8 {alignment} : (i64) -> !llvm.ptr")

    def align_stack(self) -> None:
        """Whole vectors that LLVM keeps on the stack are not cut by a cache line: it aligns them only where
        something else on the stack is.
        """
        place = self.allocate(8)
        self.line(f"llvm.store volatile {self.index(0)}, {place} {{alignment = 8 : i64}} : i64, !llvm.ptr")

    def line(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)

    def op(self, text: str) -> str:
        """An op with one result."""
        value = self._fresh("v")
        self.line(f"{value} = {text}")
        return value

    def binary(self, name: str, lhs: str, rhs: str, type_: str) -> str:
        return self.op(f"arith.{name} {lhs}, {rhs} : {type_}")

    def constant(self, text: str) -> str:
        """``text`` is what follows ``arith.constant``."""
        if text not in self._constants:
            self._constants[text] = self._fresh("c")
        return self._constants[text]

    def index(self, value: int) -> str:
        """An i64 constant."""
        return self.constant(f"{int(value)} : i64")

    def count(self, value: Count) -> str:
        return self.index(value) if isinstance(value, int) else value

    def splat(self, value: int | float, type_: str) -> str:
        """A vector constant."""
        return self.constant(f"dense<{value}> : {type_}")

    def broadcast(self, value: str, scalar: str, type_: str) -> str:
        """A value of the scalar type ``scalar`` in every lane of ``type_``."""
        return self.op(f"vector.broadcast {value} : {scalar} to {type_}")

    def times(self, value: str, factor: Count) -> str:
        """``value * factor``, i64."""
        return value if factor == 1 else self.binary("muli", value, self.count(factor), "i64")

    def plus(self, lhs: str, rhs: Count) -> str:
        return lhs if rhs == 0 else self.binary("addi", lhs, self.count(rhs), "i64")

    def minus(self, lhs: str, rhs: Count) -> str:
        return lhs if rhs == 0 else self.binary("subi", lhs, self.count(rhs), "i64")

    def at_most(self, value: str, limit: Count) -> str:
        return self.binary("minsi", value, self.count(limit), "i64")

    def split(self, value: str, divisor: Count) -> tuple[str, str]:
        """``value // divisor`` and ``value % divisor`` of a non-negative i64."""
        by = self.count(divisor)
        quotient = self.binary("divui", value, by, "i64")
        return quotient, self.minus(value, self.times(quotient, by))

    def at(self, pointer: str, offset: Count) -> str:
        """``pointer`` advanced by bytes."""
        if offset == 0:
            return pointer
        return self.op(
            f"llvm.getelementptr {pointer}[{self.count(offset)}] : (!llvm.ptr, i64) -> !llvm.ptr, i8"
        )

    def load(self, pointer: str, type_: str, alignment: int = 1, volatile: bool = False) -> str:
        """A load; a volatile one stays where it is written."""
        kind = "llvm.load volatile" if volatile else "llvm.load"
        return self.op(f"{kind} {pointer} {{alignment = {alignment} : i64}} : !llvm.ptr -> {type_}")

    def store(self, value: str, pointer: str, type_: str, alignment: int = 1) -> None:
        self.line(f"llvm.store {value}, {pointer} {{alignment = {alignment} : i64}} : {type_}, !llvm.ptr")

    def bitcast(self, value: str, source: str, target: str) -> str:
        return self.op(f"vector.bitcast {value} : {source} to {target}")

    def shuffle(self, lhs: str, rhs: str, lanes: Sequence[int], type_: str) -> str:
        """Lanes of two vectors of one type, counted through."""
        return self.op(f"vector.shuffle {lhs}, {rhs} [{', '.join(map(str, lanes))}] : {type_}, {type_}")

    def intrinsic(self, name: str, arguments: Sequence[str], types: Sequence[str], result: str) -> str:
        """A call of an LLVM intrinsic; a wrong type here crashes the translation, so kernels go through
        :mod:`.instructions`.
        """
        return self.op(
            f'llvm.call_intrinsic "{name}"({", ".join(arguments)}) : ({", ".join(types)}) -> {result}'
        )

    def units(self, body: Callable[[str], Sequence[str] | None]) -> None:
        """``for unit in range(begin, end): body(unit)``."""
        self.loop_from("%begin", "%end", lambda unit: body(unit) or [])

    def loop(
        self, count: Count, body: Body, carried: Sequence[str] = (), types: str | Sequence[str] = ""
    ) -> list[str]:
        """``for i in range(count): carried = body(i, *carried)``.

        ``body`` returns the next carried values. ``types`` is one type for all of them, or one each; i32
        vectors without it. A single iteration makes no loop.
        """
        if count == 1:
            return list(body(self.index(0), *carried))
        return self.loop_from(self.index(0), self.count(count), body, carried, types)

    def loop_from(
        self,
        first: str,
        end: str,
        body: Body,
        carried: Sequence[str] = (),
        types: str | Sequence[str] = "",
        step: int = 1,
    ) -> list[str]:
        """``for i in range(first, end, step): carried = body(i, *carried)``."""
        index = self._fresh("i")
        bounds = f"{index} = {first} to {end} step {self.index(step)}"
        if not carried:
            self.line(f"scf.for {bounds} : i64 {{")
            self._inside(body, index)
            self.line("}")
            return []
        listed = [types or self.i32] * len(carried) if isinstance(types, str) else list(types)
        result = self._fresh("r")
        names = [f"{result}_{k}" for k in range(len(carried))]
        initial = ", ".join(f"{name} = {value}" for name, value in zip(names, carried, strict=True))
        joined = ", ".join(listed)
        self.line(f"{result}:{len(carried)} = scf.for {bounds} iter_args({initial}) -> ({joined}) : i64 {{")
        values = self._inside(body, index, *names)
        self.line(f"  scf.yield {', '.join(values)} : {joined}")
        self.line("}")
        return [f"{result}#{k}" for k in range(len(carried))]

    def repeat(self, count: Count, body: Body, carried: Sequence[str], types: Sequence[str]) -> list[str]:
        """As :meth:`loop`, of at least one iteration: nothing is tested before the first."""
        if count == 1:
            return list(body(self.index(0), *carried))
        result, joined = self._fresh("r"), ", ".join(["i64", *types])
        names = [self._fresh("i") for _ in range(len(carried) + 1)]
        values = (self.index(0), *carried)
        initial = ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
        self.line(f"{result}:{len(names)} = scf.while ({initial}) : ({joined}) -> ({joined}) {{")

        def once(index: str, *values: str) -> Sequence[str]:
            found = [self.plus(index, 1), *body(index, *values)]
            self.line(f"scf.condition({self.compare('ne', found[0], count)}) {', '.join(found)} : {joined}")
            return found

        self._inside(once, *names)
        again = [self._fresh("i") for _ in names]
        arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(again, ("i64", *types), strict=True))
        self.line("} do {")
        self.line(f"^bb0({arguments}):")
        self.line(f"  scf.yield {', '.join(again)} : {joined}")
        self.line("}")
        return [f"{result}#{k + 1}" for k in range(len(carried))]

    def when(self, condition: str, body: Callable[[], None]) -> None:
        """``if condition: body()``, an i1."""
        self.line(f"scf.if {condition} {{")
        self._depth += 1
        body()
        self._depth -= 1
        self.line("}")

    def update(
        self, condition: str, body: Callable[[], Sequence[str]], values: Sequence[str], type_: str
    ) -> list[str]:
        """``values = body() if condition else values``, an i1; all of one type."""
        joined = ", ".join([type_] * len(values))
        result = self._fresh("u")
        self.line(f"{result}:{len(values)} = scf.if {condition} -> ({joined}) {{")
        self.line(f"  scf.yield {', '.join(self._inside(body))} : {joined}")
        self.line("} else {")
        self.line(f"  scf.yield {', '.join(values)} : {joined}")
        self.line("}")
        return [f"{result}#{k}" for k in range(len(values))]

    def compare(self, predicate: str, lhs: str, rhs: Count) -> str:
        """An i1 of two i64."""
        return self.op(f"arith.cmpi {predicate}, {lhs}, {self.count(rhs)} : i64")

    def _inside(self, body: Body, *arguments: str) -> Sequence[str]:
        self._depth += 1
        try:
            return body(*arguments)
        finally:
            self._depth -= 1

    def _fresh(self, prefix: str) -> str:
        self._count += 1
        return f"%{prefix}{self._count}"
