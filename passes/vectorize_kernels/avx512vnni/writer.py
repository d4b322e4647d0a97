"""Writes a kernel as MLIR text: fresh names, constants once at the top, loops over i64."""

from __future__ import annotations

from collections.abc import Callable, Sequence

I32 = "vector<16xi32>"
I64 = "vector<8xi64>"
F32 = "vector<16xf32>"
F64 = "vector<8xf64>"
BYTES = "vector<16xi8>"
LANES = 16
"""i32 lanes of a vector, and so output channels that one holds."""

Body = Callable[..., Sequence[str]]


class Writer:
    """The text of one kernel. Values are SSA names, as strings."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._constants: dict[str, str] = {}
        self._count = 0
        self._depth = 1

    def text(self, name: str) -> str:
        """The whole function, in the form that ``vectorize-kernels`` takes."""
        head = f"func.func private @{name}(%x: !llvm.ptr, %w: !llvm.ptr, %p: !llvm.ptr, %out: !llvm.ptr) {{"
        constants = [f"  {value} = arith.constant {text}" for text, value in self._constants.items()]
        return "\n".join([head, *constants, *self._lines, "  return", "}", ""])

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

    def splat(self, value: int | float, type_: str) -> str:
        return self.constant(f"dense<{value}> : {type_}")

    def times(self, value: str, factor: int) -> str:
        """``value * factor``, i64."""
        return value if factor == 1 else self.binary("muli", value, self.index(factor), "i64")

    def plus(self, lhs: str, rhs: str) -> str:
        return self.binary("addi", lhs, rhs, "i64")

    def at_most(self, value: str, limit: int) -> str:
        return self.binary("minsi", value, self.index(limit), "i64")

    def at(self, pointer: str, offset: str | int) -> str:
        """``pointer`` advanced by bytes."""
        if offset == 0:
            return pointer
        moved = self.index(offset) if isinstance(offset, int) else offset
        return self.op(f"llvm.getelementptr {pointer}[{moved}] : (!llvm.ptr, i64) -> !llvm.ptr, i8")

    def load(self, pointer: str, type_: str, alignment: int = 1, volatile: bool = False) -> str:
        """A load; a volatile one stays where it is written."""
        kind = "llvm.load volatile" if volatile else "llvm.load"
        return self.op(f"{kind} {pointer} {{alignment = {alignment} : i64}} : !llvm.ptr -> {type_}")

    def store_bytes(self, value: str, pointer: str, channels: int) -> None:
        """Store sixteen bytes, or the first ``channels`` of them if those are fewer.

        One channel alone is not offered: LLVM 22 stores four bytes where a truncated vector is masked to one.
        """
        if channels >= LANES:
            self.line(f"llvm.store {value}, {pointer} {{alignment = 1 : i64}} : {BYTES}, !llvm.ptr")
            return
        assert channels > 1, "a masked store of one byte is miscompiled"
        lanes = ", ".join("true" if lane < channels else "false" for lane in range(LANES))
        mask = self.constant(f"dense<[{lanes}]> : vector<16xi1>")
        self.line(
            f"llvm.intr.masked.store {value}, {pointer}, {mask} {{alignment = 1 : i32}} : "
            f"{BYTES}, vector<16xi1> into !llvm.ptr"
        )

    def bitcast(self, value: str, source: str, target: str) -> str:
        return self.op(f"vector.bitcast {value} : {source} to {target}")

    def intrinsic(self, name: str, arguments: Sequence[str], types: Sequence[str], result: str) -> str:
        """A call of an LLVM intrinsic; a wrong type here crashes the translation, so kernels go through
        :mod:`.instructions`.
        """
        return self.op(
            f'llvm.call_intrinsic "{name}"({", ".join(arguments)}) : ({", ".join(types)}) -> {result}'
        )

    def loop(self, count: int, body: Body, carried: Sequence[str] = (), type_: str = I32) -> list[str]:
        """``for i in range(count): carried = body(i, *carried)``; all carried values have one type.

        ``body`` returns the next carried values. A single iteration makes no loop.
        """
        if count == 1:
            return list(body(self.index(0), *carried))
        index = self._fresh("i")
        bounds = f"{index} = {self.index(0)} to {self.index(count)} step {self.index(1)}"
        if not carried:
            self.line(f"scf.for {bounds} : i64 {{")
            self._inside(body, index)
            self.line("}")
            return []
        result = self._fresh("r")
        names = [f"{result}_{k}" for k in range(len(carried))]
        initial = ", ".join(f"{name} = {value}" for name, value in zip(names, carried, strict=True))
        types = ", ".join([type_] * len(carried))
        self.line(f"{result}:{len(carried)} = scf.for {bounds} iter_args({initial}) -> ({types}) : i64 {{")
        values = self._inside(body, index, *names)
        self.line(f"  scf.yield {', '.join(values)} : {types}")
        self.line("}")
        return [f"{result}#{k}" for k in range(len(carried))]

    def _inside(self, body: Body, *arguments: str) -> Sequence[str]:
        self._depth += 1
        try:
            return body(*arguments)
        finally:
            self._depth -= 1

    def _fresh(self, prefix: str) -> str:
        self._count += 1
        return f"%{prefix}{self._count}"
