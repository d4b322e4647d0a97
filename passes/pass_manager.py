"""Running pipelines: passes of ours and upstream's in one MLIR pass manager."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from ..dialect.context import diagnostics_text
from ..dialect.mlir import MLIRError, PassManager, ir
from ..errors import PipelineError, did_you_mean
from . import PASS_NAMES, registry
from .nested_modules import run_nested
from .pipeline_text import Step, parse_pass_list
from .upstream import RECOMMENDED

MODULE = "builtin.module"
_RESTRICTED = re.compile(r"restricted to '([\w.]+)' on a PassManager intended to run on 'builtin.module'")


class Observer(Protocol):
    """What wants to look at the module between passes (``index`` counts the steps from 0)."""

    def before_step(self, index: int, step: Step, module: Any) -> None: ...

    def after_step(self, index: int, step: Step, module: Any) -> None: ...


def build_pass_manager(
    steps: Sequence[Step],
    context: Any,
    *,
    verify_each: bool = True,
    observers: Sequence[Observer] = (),
    nest: bool = True,
) -> Any:
    """One pass manager that runs ``steps`` on a module.

    An upstream pass that only works on, say, functions is put under ``func.func(...)`` by itself.

    Raises:
        PipelineError: a pass or an option does not exist, or a pass cannot run where it is put.
    """
    manager = PassManager(MODULE, context)
    manager.enable_verifier(verify_each)
    for index, step in enumerate(steps):
        if observers:
            manager.add(_observing(observers, "before_step", index, step), "(before)", "before")
        _add(manager, step)
        if observers:
            manager.add(_observing(observers, "after_step", index, step), "(after)", "after")
    return manager


def run_pipeline(module: Any, passes: str | Iterable[str], *, verify_each: bool = True) -> None:
    """Run a pass list (``"a,b{x=1}"``, or its elements) on a module, in place.

    Raises:
        PipelineError: the list is wrong, or a pass failed; the message has the passes' diagnostics.
    """
    text = passes if isinstance(passes, str) else ",".join(passes)

    def run(steps: Sequence[Step], operation: Any) -> None:
        build_pass_manager(steps, module.context, verify_each=verify_each).run(operation)

    try:
        run_nested(parse_pass_list(text), module.operation, run)
    except MLIRError as error:
        raise PipelineError(diagnostics_text(error, "<module>")) from error


def _add(manager: Any, step: Step) -> None:
    ours = registry.lookup(step.name)
    if ours is None:
        _add_upstream(manager, step)
        return
    if step.anchors:
        raise PipelineError(
            f"pass '{step.name}' works on the whole module and cannot be nested in '{step.anchors[-1]}'"
        )
    manager.add(_running(ours.from_options(step.options)), step.name, step.name, ours.summary())


def _add_upstream(manager: Any, step: Step) -> None:
    try:
        manager.add(step.text())
    except ValueError as error:
        restricted = _RESTRICTED.search(str(error))
        if restricted and not step.anchors:
            _add_upstream(manager, Step(step.name, step.options, (restricted[1],)))
            return
        raise PipelineError(_upstream_message(step, str(error))) from None


def _upstream_message(step: Step, message: str) -> str:
    if "does not refer to a registered pass" in message:
        return f"unknown pass '{step.name}'" + did_you_mean(
            step.name, [*PASS_NAMES, *registry.PASSES, *RECOMMENDED]
        )
    lines = [line for line in message.splitlines() if line.strip()]
    first = lines[0].removeprefix("<Pass-Options-Parser>: ") if lines else "wrong options"
    if first.startswith("failed to add"):
        first = f"wrong options '{step.options}'"
    return f"pass '{step.name}': {first[:1].lower()}{first[1:]}"


def _running(pass_: registry.ModulePass) -> Callable[[Any, Any], None]:
    """What the pass manager calls. A pass that emitted an error has failed, as upstream's have."""

    def run(op: Any, external: Any) -> None:
        errors = 0

        def count(diagnostic: Any) -> bool:
            nonlocal errors
            errors += diagnostic.severity == ir.DiagnosticSeverity.ERROR
            return False  # others handle it

        handler = op.context.attach_diagnostic_handler(count)
        try:
            with op.context, op.location:
                pass_.run(op)
        finally:
            handler.detach()
        if errors:
            external.signal_pass_failure()

    return run


def _observing(
    observers: Sequence[Observer], method: str, index: int, step: Step
) -> Callable[[Any, Any], None]:
    def run(op: Any, external: Any) -> None:
        for observer in observers:
            getattr(observer, method)(index, step, op)

    return run
