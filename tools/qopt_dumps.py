"""What watches a pipeline: IR dumps before and after passes, and the reproducer of a failure.

The bindings' own IR printing cannot select passes by name, has another banner and prints nothing when a pass
written in Python raises, so the module is printed here, between the steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..passes.pipeline_text import Step


@dataclass(frozen=True)
class DumpRequest:
    """Which dumps are wanted; ``before``/``after`` are names of passes. ``directory`` None means stderr."""

    before_all: bool = False
    after_all: bool = False
    after_change: bool = False
    after_failure: bool = False
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    directory: Path | None = None

    @property
    def is_empty(self) -> bool:
        return self == DumpRequest()


@dataclass
class IrDumps:
    """Observer that prints the module; ``print_options`` are those of the bindings' ``get_asm``."""

    request: DumpRequest
    print_options: Mapping[str, Any]
    _text_before: str = ""
    _failed: set[int] = field(default_factory=set)

    def before_step(self, index: int, step: Step, module: Any) -> None:
        if self.request.after_change:
            self._text_before = _fingerprint(module)
        if self.request.before_all or step.name in self.request.before:
            self._print(f"Before {step.name} ({step.name})", f"{index}_{step.name}.before.mlir", module)

    def after_step(self, index: int, step: Step, module: Any) -> None:
        request = self.request
        if request.after_change:
            wanted = _fingerprint(module) != self._text_before and (
                not request.after or step.name in request.after
            )
        else:
            to_files_only = (
                request == DumpRequest(directory=request.directory) and request.directory is not None
            )
            wanted = request.after_all or step.name in request.after or to_files_only
        if wanted:
            self._print(f"After {step.name} ({step.name})", f"{index}_{step.name}.mlir", module)

    def failed(self, index: int, step: Step, module: Any) -> None:
        """The step did not end well."""
        if self.request.after_failure or self.request.after_all or step.name in self.request.after:
            self._print(f"After {step.name} Failed ({step.name})", f"{index}_{step.name}.failed.mlir", module)

    def _print(self, title: str, file_name: str, module: Any) -> None:
        text = f"// -----// IR Dump {title} //----- //\n{module.get_asm(**self.print_options)}\n"
        if self.request.directory is None:
            sys.stdout.flush()
            sys.stderr.write(text)
            return
        attributes = module.attributes
        symbol = attributes["sym_name"].value if "sym_name" in attributes else "no-symbol-name"
        folder = self.request.directory / f"builtin_module_{symbol}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / file_name).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{folder / file_name}: error: cannot write: {error.strerror}") from None


@dataclass
class Progress:
    """Observer that knows which step runs; with ``keep_ir`` also the IR that the step started from.

    ``with_locations`` is for input whose locations name a file; others would point into the reproducer.
    """

    keep_ir: bool = False
    with_locations: bool = True
    running: tuple[int, Step] | None = None
    _ir: str = ""

    def before_step(self, index: int, step: Step, module: Any) -> None:
        self.running = (index, step)
        if self.keep_ir:
            self._ir = module.get_asm(enable_debug_info=self.with_locations)

    def after_step(self, index: int, step: Step, module: Any) -> None:
        self.running = None

    def write_reproducer(self, path: Path, steps: Sequence[Step], warn: Callable[[str], None]) -> None:
        """Write the IR before the failing step, headed by the command that runs the rest of the pipeline."""
        if self.running is None:
            return
        index, step = self.running
        rest = ",".join(s.text() for s in steps[index:])
        header = f"// qopt: pass '{step.name}' failed on this module; again:\n// qopt '{path}' -p '{rest}'\n"
        try:
            path.write_text(header + self._ir, encoding="utf-8")
        except OSError as error:
            warn(f"{path}: error: cannot write the reproducer: {error.strerror}")
            return
        warn(f"qopt: note: wrote a reproducer: {path}")


def _fingerprint(module: Any) -> str:
    """Text that differs when the module does (resources by name only: they never change in place)."""
    return str(module.get_asm(large_resource_limit=1, assume_verified=True, print_generic_op_form=True))
