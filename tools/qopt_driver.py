"""qopt's work on one input: parse, run the passes, print or translate; a split file part by part."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dialect.constants import remember_resources
from ..dialect.context import new_context
from ..dialect.mlir import MLIRError, ir
from ..dialect.places import Place
from ..errors import PipelineError, TargetError, ZeropointError, did_you_mean
from ..passes.nested_modules import run_nested
from ..passes.pass_manager import Observer, build_pass_manager
from ..passes.pipeline_text import Step, parse_pass_list, parse_pipeline
from ..passes.pipelines import passes_to
from ..passes.plan_memory import ARENA_BYTES
from ..passes.target_attribute import remember_target
from ..passes.verify_params import with_verification
from ..targets import load_target
from .diagnostics import Collector, Finding, Source, error_block
from .qopt_arguments import UsageError
from .qopt_dumps import DumpRequest, IrDumps, Progress
from .qopt_expected import compare, expectations
from .qopt_input import SPLIT_MARKER, Chunk, Input, split_chunks

if TYPE_CHECKING:
    from ..codegen.machine import Machine

_NO_LIMIT = 2**62


class Driver:
    """Runs one command line; ``failed`` says whether the exit status is 1.

    Raises:
        UsageError: a pass, an option or a mode does not exist (checked before anything is read).
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.failed = False
        self.print_options = _print_options(arguments)
        try:
            self.steps = _checked(_steps(arguments), arguments)
            build_pass_manager(self.steps, new_context())
        except PipelineError as error:
            raise UsageError(str(error)) from None
        self.dumps = _dump_request(arguments, self.steps)
        _check_numerics(arguments.numerics)
        for name in (arguments.target, arguments.verify_params):
            _check_target(name)

    def process_text(self, source: Input) -> str | None:
        """The output for MLIR text: the IR of each part, or None if nothing came out."""
        text = source.text()
        chunks = split_chunks(text) if self.arguments.split_input_file else [Chunk(text, 1)]
        shown = Source(source.name, text)
        outputs = [self._process_chunk(source, shown, chunk) for chunk in chunks]
        if all(output is None for output in outputs):
            return None
        return f"\n{SPLIT_MARKER}\n".join(output or "" for output in outputs)

    def process_model(self, source: Input) -> str | None:
        """The output for a TFLite model."""
        from ..frontends import load_bytes

        if self.arguments.verify_diagnostics or self.arguments.split_input_file:
            flags = "--verify-diagnostics and --split-input-file"
            raise UsageError(f"{source.name} is a model; {flags} are for text")
        model = load_bytes(source.data, name=Path(source.name).name, numerics=self.arguments.numerics)
        shown = Source(source.name, None)
        with Collector(model.context, source.name, lambda f: self._print_finding(shown, f)) as collector:
            return self._transform(model.module, collector, named=True)

    def _process_chunk(self, source: Input, shown: Source, chunk: Chunk) -> str | None:
        verify = self.arguments.verify_diagnostics
        findings: list[Finding] = []
        context = new_context()
        report = findings.append if verify else lambda finding: self._print_finding(shown, finding)
        with Collector(context, source.name, report) as collector, context:
            output = self._parse_and_transform(source, chunk, context, collector)
        if verify:
            self._verify(shown, chunk, findings)
        return output

    def _parse_and_transform(
        self, source: Input, chunk: Chunk, context: Any, collector: Collector
    ) -> str | None:
        try:
            remember_resources(chunk.text, context)
            module = self._parse(source, chunk)
        except MLIRError as error:
            self._fail(collector, error)
            return None
        if self.arguments.numerics:
            module.operation.attributes["qnn.numerics"] = ir.StringAttr.get(
                self.arguments.numerics, module.context
            )
        return self._transform(module, collector, self._is_whole_file(source))

    def _parse(self, source: Input, chunk: Chunk) -> Any:
        if self._is_whole_file(source):  # locations then have the file's name
            return ir.Module.parseFile(str(source.path))
        return ir.Module.parse(chunk.text)

    def _is_whole_file(self, source: Input) -> bool:
        return source.path is not None and source.path.is_file() and not self.arguments.split_input_file

    def _transform(self, module: Any, collector: Collector, named: bool) -> str | None:
        """Run the passes and print; None after a failure. ``named``: locations name a file."""
        arguments = self.arguments
        if arguments.target:
            remember_target(module, arguments.target)
        progress = Progress(keep_ir=arguments.reproducer is not None, with_locations=named)
        dumps = IrDumps(self.dumps, self.print_options)
        observers: list[Observer] = [progress, dumps]
        if arguments.mlir_timing and self.dumps.is_empty and arguments.reproducer is None:
            observers = []  # they would be lines of the table

        def run(steps: Sequence[Step], operation: Any) -> None:
            manager = build_pass_manager(
                steps, module.context, verify_each=arguments.verify_each, observers=observers
            )
            if arguments.mlir_timing:
                manager.enable_timing()  # the table is printed when the manager goes
            manager.run(operation)

        try:
            # Where memory is planned, the pipeline up to level kernels is over.
            is_planned = bool(arguments.to) and ARENA_BYTES in module.operation.attributes
            run_nested([] if is_planned else self.steps, module.operation, run)
            if not arguments.verify_each:
                module.operation.verify()
            return self._printed(module)
        except (MLIRError, ZeropointError) as error:
            self._fail(collector, error)
        if progress.running is not None:
            index, step = progress.running
            dumps.failed(index, step, module.operation)
            if not arguments.verify_diagnostics:
                print(f"qopt: note: pass '{step.name}' failed", file=sys.stderr)
            if arguments.reproducer is not None:
                progress.write_reproducer(arguments.reproducer, self.steps, _warn)
        return None

    def _printed(self, module: Any) -> str:
        if self.arguments.to in ("llvm", "asm"):
            from ..codegen.listing import assembly, llvm_ir

            if self.arguments.to == "llvm":
                return llvm_ir(module)
            return assembly(module, _machine(self.arguments.target))
        return str(module.operation.get_asm(assume_verified=True, **self.print_options))

    def _fail(self, collector: Collector, error: Exception) -> None:
        """A failure that MLIR has not reported through a diagnostic becomes one here."""
        if not self.arguments.verify_diagnostics:
            self.failed = True
        if self.arguments.debug:
            traceback.print_exc()
        if isinstance(error, ZeropointError) and not self.arguments.verify_diagnostics:
            print(error_block(error, "qopt"), file=sys.stderr)
        elif isinstance(error, ZeropointError) or not collector.errors:
            collector.add(Finding("error", str(error)))

    def _print_finding(self, shown: Source, finding: Finding) -> None:
        sys.stdout.flush()
        print(shown.shown(finding), file=sys.stderr)

    def _verify(self, shown: Source, chunk: Chunk, findings: list[Finding]) -> None:
        """Compare with the expected-... comments; report what differs."""
        lines = chunk.text.split("\n")[chunk.first_line - 1 :]
        expected, mismatches = expectations(lines, chunk.first_line)
        only_expected = self.arguments.verify_diagnostics == "only-expected"
        for mismatch in mismatches + compare(expected, findings, only_expected):
            self.failed = True
            place = Place(shown.name, mismatch.line, mismatch.column) if mismatch.line else Place()
            self._print_finding(shown, Finding("error", mismatch.message, place))


def _steps(arguments: argparse.Namespace) -> list[Step]:
    if arguments.to:
        # Kernels go on one by one.
        level = "kernels" if arguments.to in ("llvm", "asm") else arguments.to
        # No machine matters before kernels are chosen.
        isa = "" if level in ("qnn", "legalized") else _machine(arguments.target).isa
        passes = passes_to(level, arguments.pipeline, target=arguments.target, isa=isa)
        return parse_pass_list(",".join(passes))
    if arguments.pass_pipeline is not None:
        return parse_pipeline(arguments.pass_pipeline)
    return parse_pass_list(",".join(text for text in arguments.passes if text.strip()))


def _machine(target: str | None) -> Machine:
    """What kernels are for: a target's machine, or this one."""
    from ..codegen.machine import host, machine_of

    return machine_of(load_target(target)) if target else host()


def _checked(steps: list[Step], arguments: argparse.Namespace) -> list[Step]:
    """The steps, with checks of parameters between them if these are asked for."""
    if arguments.verify_params is None:
        return steps
    return with_verification(steps, arguments.verify_params or arguments.target)


def _print_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Keyword arguments of the bindings' ``get_asm``."""
    elements, resources = (
        arguments.mlir_elide_elementsattrs_if_larger,
        arguments.mlir_elide_resource_strings_if_larger,
    )
    if elements is not None and resources is None:
        resources = (
            _NO_LIMIT  # else the bindings apply the elements' limit to resources, which mlir-opt does not
        )
    return {
        "large_elements_limit": elements,
        "large_resource_limit": resources,
        "enable_debug_info": arguments.mlir_print_debuginfo or arguments.mlir_pretty_debuginfo,
        "pretty_debug_info": arguments.mlir_pretty_debuginfo,
        "print_generic_op_form": arguments.mlir_print_op_generic,
        "use_local_scope": arguments.mlir_print_local_scope,
        "use_name_loc_as_prefix": arguments.mlir_use_nameloc_as_prefix,
    }


def _dump_request(arguments: argparse.Namespace, steps: list[Step]) -> DumpRequest:
    names = [step.name for step in steps]

    def chosen(flag: str, values: list[str]) -> frozenset[str]:
        wanted = frozenset(name.strip() for value in values for name in value.split(",") if name.strip())
        for name in sorted(wanted - set(names)):
            raise UsageError(f"{flag}: pass '{name}' is not in the pipeline{did_you_mean(name, names)}")
        return wanted

    return DumpRequest(
        before_all=arguments.mlir_print_ir_before_all,
        after_all=arguments.mlir_print_ir_after_all,
        after_change=arguments.mlir_print_ir_after_change,
        after_failure=arguments.mlir_print_ir_after_failure,
        before=chosen("--mlir-print-ir-before", arguments.mlir_print_ir_before),
        after=chosen("--mlir-print-ir-after", arguments.mlir_print_ir_after),
        directory=arguments.mlir_print_ir_tree_dir,
    )


def _check_numerics(mode: str | None) -> None:
    if mode is None:
        return
    from ..dialect.numerics import MODES

    if mode not in MODES:
        hint = did_you_mean(mode, MODES) or f", expected {' or '.join(MODES)}"
        raise UsageError(f"--numerics: unknown mode '{mode}'{hint}")


def _check_target(name: str | None) -> None:
    if name:
        try:
            load_target(name)
        except TargetError as error:
            raise UsageError(str(error)) from None


def _warn(message: str) -> None:
    print(message, file=sys.stderr)
