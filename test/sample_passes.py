"""Passes for tests of the machinery: one that records that it ran, one that fails in every way a pass can,
one that breaks parameter rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from zeropoint.dialect.ir_types import to_ir_type, to_tensor_type
from zeropoint.errors import PipelineError
from zeropoint.passes.registry import ModulePass, no_match

RAN: list[ModulePass] = []


@dataclass(frozen=True)
class RecordPass(ModulePass):
    """Remember that it ran,
    with the ``options``.

    Not shown.
    """

    name: ClassVar[str] = "test-record"
    across_concat: bool = False
    limit: int = 3
    ratio: float = 0.5
    target: str = "host"
    mode: Literal["fast", "exact"] = "exact"
    sizes: tuple[int, ...] = ()
    maybe: int | None = None

    def run(self, module: Any) -> None:
        RAN.append(self)


@dataclass(frozen=True)
class FailPass(ModulePass):
    """Fail in one of the ways a pass can."""

    name: ClassVar[str] = "test-fail"
    how: Literal["raise", "diagnose", "break", "bug"]

    def run(self, module: Any) -> None:
        function = module.regions[0].blocks[0].operations[0]
        if self.how == "raise":
            raise PipelineError("this network cannot be done")
        if self.how == "diagnose":
            function.location.emit_error("this function cannot be done")
        if self.how == "break":
            function.attributes["sym_name"] = function.attributes["function_type"]
        if self.how == "bug":
            raise ZeroDivisionError


@dataclass(frozen=True)
class RetypePass(ModulePass):
    """Give the result of every op called ``op`` another zero point, as a careless optimization might: the IR
    stays valid.
    """

    name: ClassVar[str] = "test-retype"
    op: str = "qnn.reshape"

    def run(self, module: Any) -> None:
        for view in module.regions[0].blocks[0].operations[0].regions[0].blocks[0].operations:
            if view.operation.name == self.op:
                (value,) = view.operation.results
                type_ = to_tensor_type(value.type)
                moved = replace(type_.params, zero_points=(type_.params.zero_point + 1,))
                value.set_type(to_ir_type(replace(type_, element=moved)))


def fold_nothing(op: Any) -> bool:
    return no_match(op, "the type changes")
