"""From a model to an :class:`Executable`: the passes, the code generator, the cache, the loader."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from ..codegen.cpu import instructions
from ..codegen.lowering import KernelIr, Lowering
from ..codegen.machine import Machine, host, machine_of
from ..codegen.program import Program
from ..codegen.split import KernelSource, split
from ..dialect.model import Model
from ..errors import InputError, TargetError
from ..kernels.choices import Chooser, choosing
from ..kernels.families import emit
from ..kernels.launch import Code
from ..passes.decisions import collect
from ..passes.externalize_constants import constant_block
from ..passes.keep_intermediates import KeepIntermediatesPass
from ..passes.pass_manager import run_pipeline
from ..passes.pipelines import passes_to
from ..targets import load_target
from ..targets.host import why_not_here
from ..targets.loading import HOST
from .compiled import Compiled
from .executable import Executable
from .kernel_objects import Progress, Recipe, builtin_recipes, identity, kernel_objects
from .refusals import with_reasons
from .stored_choices import store, stored_chooser
from .tuning import fixed
from .tuning import tune as tune_network
from .variables import Variables

LOG = logging.getLogger("zeropoint.compile")
# The bindings' objects are safe under the interpreter lock, but passes in Python let other threads in.
_MLIR = threading.Lock()


def compile(
    model_or_path: Model | str | os.PathLike[str],
    target: str = "host",
    *,
    threads: int = 1,
    pipeline: str = "optimized",
    keep_intermediates: bool = False,
    cache: bool = True,
    tune: bool = False,
    progress: Progress = lambda text: None,
    variables: Variables | None = None,
) -> Executable:
    """Compile a model to machine code in this process. Long steps log to the logger ``zeropoint`` at INFO.

    Args:
        model_or_path: a model, or the path of a file to load. ``zp.load(path, numerics=..., shapes=...)``
            gives a model with other numerics or input shapes than the file's.
        target: ``host``, whose kernels take a network as it is, or the name or path of a target whose
            parameter rules it shall obey. Code uses the target's instructions and no others, and runs here:
            this machine must have them. A target that is rules alone takes those of the host.
        threads: how many threads one inference may use; the results are the same.
        pipeline: ``optimized``, with vector code for this machine; or ``reference``, loops alone. The results
            are the same.
        keep_intermediates: compute and keep every value of the network, for ``Executable.intermediates()``.
        cache: keep compiled kernels on disk, and take them from there the next time (see
            ``runtime/cache.py``); use what tuning has chosen before.
        tune: measure several kernels for each part of the network on this machine and take the fastest, now
            and in later compilations. Takes several times as long; the results are the same.
            ``Executable.tuning`` says what was found.
        progress: is told, in words, what takes long.
        variables: ``Executable.variables`` of another signature of the model, to be shared; its own if left
            out.

    Raises:
        InputError: an argument is wrong, or an input of the model has a dynamic dimension.
        TargetError: unknown target, a mistake in its file, or this machine cannot run its code.
        ImportModelError: the file cannot be loaded.
        PipelineError: unknown pipeline; or the network could not be lowered (a bug of ours, unless the model
            is hand-written).
    """
    _check(threads)
    machine = _machine_here(target)
    job = _job(model_or_path, target, machine, pipeline, keep_intermediates, cache, progress)
    chooser = stored_chooser(machine) if cache and machine.isa and not tune else None
    tuning = None
    if tune:
        tuning = tune_network(lambda trial: job.compiled(trial, 1).load(), progress)
        chooser = fixed(tuning.chosen)
        if cache:
            store(tuning.chosen, machine)
    progress("choosing kernels")
    executable = job.compiled(chooser, threads).load(variables)
    executable.tuning = tuning
    job.report()
    return executable


def compile_ahead(
    model_or_path: Model | str | os.PathLike[str],
    target: str,
    *,
    threads: int = 1,
    pipeline: str = "optimized",
    keep_intermediates: bool = False,
    cache: bool = True,
    progress: Progress = lambda text: None,
) -> Compiled:
    """Compile a model for a machine that need not be this one; nothing is loaded or run. ``save`` of what is
    returned writes a file that :func:`zeropoint.load_executable` runs there.

    Arguments are those of :func:`compile`.

    Raises:
        InputError, ImportModelError, PipelineError: as :func:`compile`.
        TargetError: unknown target, or a mistake in its file.
    """
    _check(threads)
    machine = host() if target == HOST else machine_of(load_target(target))
    job = _job(model_or_path, target, machine, pipeline, keep_intermediates, cache, progress)
    progress("choosing kernels")
    compiled = job.compiled(stored_chooser(machine) if cache and machine.isa else None, threads)
    job.report()
    return compiled


@dataclass
class _Job:
    """One model, compiled once or, to tune it, several times with other choices."""

    model: Model
    machine: Machine
    passes: tuple[str, ...]
    keep_intermediates: bool
    cache: bool
    progress: Progress
    objects: dict[str, bytes] = field(default_factory=dict)
    """Every kernel made so far."""
    started: float = field(default_factory=time.perf_counter)

    def compiled(self, chooser: Chooser | None, threads: int) -> Compiled:
        """The network with the kernels that ``chooser`` wants."""
        model = self.model
        with _MLIR, choosing(chooser):
            lowered, program, kernels, constants = _planned(model, self.passes, self.keep_intermediates)
        LOG.info("%s: %d steps after %.2f s", model.name, len(program.steps), self._seconds())
        recipes = _recipes(model, program, kernels, self.machine)
        missing = {name: recipe for name, recipe in recipes.items() if name not in self.objects}
        self.objects.update(kernel_objects(missing, self.machine, cache=self.cache, progress=self.progress))
        kept = tuple(lowered.outputs[len(model.outputs) :]) if self.keep_intermediates else None
        return Compiled(
            program,
            {name: self.objects[name] for name in recipes},
            constants,
            tuple(model.inputs),
            tuple(model.outputs),
            kept,
            model.name,
            threads,
            instructions(self.machine.features.split(",")),
            self.machine.triple,
        )

    def report(self) -> None:
        LOG.info("%s: compiled in %.2f s", self.model.name, self._seconds())

    def _seconds(self) -> float:
        return time.perf_counter() - self.started


def _job(
    model_or_path: Model | str | os.PathLike[str],
    target: str,
    machine: Machine,
    pipeline: str,
    keep_intermediates: bool,
    cache: bool,
    progress: Progress,
) -> _Job:
    passes = passes_to("kernels", pipeline, target=None if target == HOST else target, isa=machine.isa)
    model = model_or_path if isinstance(model_or_path, Model) else _load(model_or_path)
    _require_static(model)
    return _Job(model, machine, passes, keep_intermediates, cache, progress)


def _machine_here(name: str) -> Machine:
    """What to generate code for; this machine must be able to run it."""
    if name == HOST:
        return host()
    target = load_target(name)
    if why := why_not_here(target):
        raise TargetError(f"target '{name}': {why}")
    return machine_of(target)


def _check(threads: int) -> None:
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads: got {threads!r}, expected a positive whole number")


def _load(path: str | os.PathLike[str]) -> Model:
    from ..frontends import load  # the readers are needed for files only

    if not isinstance(path, str | os.PathLike):
        raise InputError(f"model_or_path: got {type(path).__name__}, expected a path or a Model")
    return load(path)


def _require_static(model: Model) -> None:
    for info in model.inputs:
        if not info.type.is_static:
            shape = ["?" if extent < 0 else extent for extent in info.shape]
            example = ", ".join("1" if extent == "?" else str(extent) for extent in shape)
            raise InputError(
                f"{model.name}: input '{info.name}' has the dynamic shape [{', '.join(map(str, shape))}]; "
                f"load the model with shapes={{'{info.name}': [{example}]}} or other extents"
            )


def _planned(
    model: Model, passes: tuple[str, ...], keep_intermediates: bool
) -> tuple[Model, Program, dict[str, KernelSource | Code], npt.NDArray[np.uint8]]:
    """The model that is compiled, its program, the kernels in it, and its constant block."""
    with model.context, model.module.operation.location:
        module = model.module.operation.clone()
        compiled = model
        if keep_intermediates:
            KeepIntermediatesPass().run(module)
            compiled = Model.from_module(module, model.name)
    with collect() as decisions:
        run_pipeline(module, passes, verify_each=False)  # MLIR verifies what comes out
    program, kernels = split(module)
    return compiled, with_reasons(program, passes, decisions), kernels, constant_block(module)


def _recipes(
    model: Model, program: Program, kernels: Mapping[str, KernelSource | Code], machine: Machine
) -> dict[str, Recipe]:
    """How each kernel of a program is made, and the driver that runs them."""
    lowering: list[Lowering] = []

    def lower(kernel: KernelSource | Code) -> KernelIr:
        with _MLIR:
            if not lowering:
                lowering.append(Lowering(model.context))
            if isinstance(kernel, KernelSource):
                return lowering[0].kernel(kernel)
            return lowering[0].launched(emit(kernel))

    recipes = builtin_recipes(machine, program.kernels)
    for name, kernel in kernels.items():
        recipes[name] = Recipe(identity(kernel), partial(lower, kernel))
    return recipes
