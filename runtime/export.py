"""From a model to a file for C: an object, a library, assembly or LLVM IR, and a header."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..codegen.ahead.archive import archive
from ..codegen.ahead.header import header_text
from ..codegen.ahead.interface import Interface, interface_of
from ..codegen.ahead.linker import require_linker, shared_library
from ..codegen.ahead.merging import MergedModule, merge
from ..codegen.ahead.names import c_name, require_c_name
from ..codegen.ahead.object_file import ObjectSummary, summary
from ..codegen.machine import Machine, host, machine_of
from ..dialect.model import Model
from ..errors import InputError, TargetError, ZeropointError, did_you_mean
from ..passes.pipelines import passes_to
from ..targets import list_targets, load_target
from ..targets.loading import HOST
from .export_report import ExportReport, export_report
from .planning import kernel_recipes, load_model, plan_network, require_static

if TYPE_CHECKING:
    from .kernel_objects import Progress

KINDS = {"object": ".o", "static": ".a", "shared": ".so", "asm": ".s", "llvm": ".ll"}
"""What can be exported, and what its file is called."""


@dataclass(frozen=True)
class Exported:
    """A network for C."""

    name: str
    """The C name that everything in the header begins with."""
    kind: str
    target: str
    data: bytes
    """The file's contents: for the kinds ``asm`` and ``llvm`` text in UTF-8."""
    header: str
    """The C header."""
    report: ExportReport
    """What it takes, layer by layer."""
    files: tuple[Path, ...] = ()
    """What was written: the file, then the header."""

    def write(self, output: str | os.PathLike[str]) -> Exported:
        """Write the file, and the header beside it; returns this with :attr:`files` set.

        Files of these names are replaced.

        Raises:
            InputError: ``output`` is no file's name, or the file would be where the header goes.
            ZeropointError: a file cannot be written.
        """
        path, beside = output_files(output)
        for place, data in ((path, self.data), (beside, self.header.encode())):
            try:
                place.write_bytes(data)
            except OSError as error:
                raise ZeropointError(f"{place}: cannot be written: {error.strerror or error}") from error
        return replace(self, files=(path, beside))


def export(
    model_or_path: Model | str | os.PathLike[str],
    target: str = HOST,
    kind: str = "object",
    output: str | os.PathLike[str] | None = None,
    *,
    name: str | None = None,
    pipeline: str = "optimized",
    progress: Progress = lambda text: None,
) -> Exported:
    """Compile a model ahead of time, for C code on a machine of any kind that there is a target for.

    The same model, target and name give the same bytes, whenever and wherever.

    Args:
        model_or_path: a model, or the path of a file to load. Of several signatures one is exported: choose
            it with ``zp.load(path, signature=...)``.
        target: the name or path of a target with a machine (``aarch64-dotprod``, ``thumbv7em`` ...), whose
            parameter rules the network shall obey; or ``host``, this machine, without rules.
        kind: ``object``, one relocatable object file; ``static``, a library of it; ``shared``, a shared
            library, for which the target's linker must be installed; ``asm`` or ``llvm``, text.
        output: where to write it; the header goes beside it, with the suffix ``.h``. Files of these names are
            replaced, but for the model. Nothing is written if it is left out.
        name: what every symbol and macro begins with; made of the model's name if left out.
        pipeline: as for :func:`zeropoint.compile`.
        progress: is told, in words, what takes long.

    Raises:
        InputError: an argument is wrong, or an input of the model has a dynamic dimension.
        TargetError: unknown target, a mistake in its file, one without a machine, or one for which there is
            no linker here.
        ImportModelError: the model's file cannot be loaded.
        PipelineError: the network could not be lowered.
        ZeropointError: a file cannot be written.
    """
    machine = check_arguments(target, kind, name)
    if output is not None:
        require_apart(output, model_or_path)
    model = load_model(model_or_path)
    require_static(model)
    chosen = name or c_name(Path(model.name).stem, "network")
    progress("planning")
    # No choices that tuning on this machine has stored: what comes out depends on the arguments alone.
    passes = passes_to("kernels", pipeline, target=None if target == HOST else target, isa=machine.isa)
    plan = plan_network(model, passes, None)
    interface = interface_of(chosen, model.inputs, model.outputs, plan.program)
    if max(interface.arena_bytes, plan.constants.nbytes) >> machine.pointer_bits:
        raise InputError(
            f"{model.name}: needs an arena of {interface.arena_bytes:,} bytes and {plan.constants.nbytes:,} "
            f"bytes of constants, more than target '{target}' has addresses for"
        )
    recipes = kernel_recipes(model, plan.kernels, machine.pointer_bits)
    lowered = {}
    for number, (kernel, recipe) in enumerate(recipes.items()):
        progress(f"lowering kernels: {number} of {len(recipes)}")
        lowered[kernel] = recipe.lower()
    progress("compiling")
    merged = merge(interface, plan.program, plan.constants.tobytes(), lowered, machine)
    code = merged.object_file()
    sizes = summary(code)
    data = _contents(kind, merged, code, interface, sizes)
    header = header_text(interface, _described(target, machine), sizes.undefined if sizes else ())
    report = export_report(plan.program, plan.constants.nbytes, interface, merged.functions, sizes)
    exported = Exported(chosen, kind, target, data, header, report)
    return exported if output is None else exported.write(output)


def output_files(output: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Where a network and its header are written.

    Raises:
        InputError: ``output`` is no file's name, or both would have one.
    """
    if not isinstance(output, str | os.PathLike):
        raise InputError(f"output: got {type(output).__name__}, expected the path of a file")
    path = Path(output)
    if "\0" in str(path):
        raise InputError(f"output: got {os.fspath(output)!r}, expected the path of a file")
    if path.is_dir():
        raise InputError(f"output: got the folder '{path}', expected a file's name")
    beside = path.with_suffix(".h")
    if beside == path:
        raise InputError(f"output: got '{path}', which is where the header goes; take another suffix")
    return path, beside


def require_apart(output: str | os.PathLike[str], source: object) -> None:
    """Refuse to write over the file that a model comes from; ``source`` may be anything else, too.

    Raises:
        InputError: it is one of :func:`output_files`, or they are none.
    """
    model = Path(source) if isinstance(source, str | os.PathLike) else None
    for place in output_files(output):
        if model is not None and place.exists() and model.exists() and place.samefile(model):
            raise InputError(f"output: '{place}' would be written over the model; take another name")


def check_arguments(target: str, kind: str, name: str | None) -> Machine:
    """What can be said about the arguments of :func:`export` without the model; gives the target's machine.

    Raises:
        InputError, TargetError: as :func:`export`.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(str(kind), KINDS) or f", expected one of {', '.join(KINDS)}"
        raise InputError(f"kind: got {kind!r}{hint}")
    if name is not None:
        require_c_name(name)
    machine = target_machine(target)
    if kind == "shared":
        require_linker(machine)
    return machine


def target_machine(target: str) -> Machine:
    """The machine of a target; this one for ``host``.

    Raises:
        TargetError: there is no such target, it is a profile of rules, or LLVM does not know its CPU or one
            of its features.
    """
    if target == HOST:
        return host()
    found = load_target(target)
    if found.machine is None:
        machines = [name for name in list_targets() if load_target(name).machine is not None]
        raise TargetError(
            f"target '{target}' is rules alone, with no machine to generate code for; expected one of "
            f"{', '.join(machines)}"
        )
    return machine_of(found)


def _described(target: str, machine: Machine) -> str:
    return f"{target} ({machine.triple}{f', {machine.cpu}' if machine.cpu else ''})"


def _contents(
    kind: str, merged: MergedModule, code: bytes, interface: Interface, sizes: ObjectSummary | None
) -> bytes:
    match kind:
        case "static":
            if sizes is None:
                raise TargetError("kind 'static': expected a target with ELF object files; take 'object'")
            return archive(f"{interface.name}.o", code, sizes.defined)
        case "shared":
            return shared_library(interface.name, code, merged.machine, sizes.undefined if sizes else ())
        case "asm":
            return merged.assembly().encode()
        case "llvm":
            return merged.llvm_ir().encode()
    return code
