"""From a model to an :class:`Executable`: the passes, the code generator, the cache, the loader."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass, field

from ..codegen.cpu import instructions
from ..codegen.machine import Machine, host, machine_of
from ..dialect.model import Model
from ..errors import InputError, TargetError
from ..kernels.choices import Chooser
from ..passes.pipelines import passes_to
from ..targets import load_target
from ..targets.host import why_not_here
from ..targets.loading import HOST
from .compiled import Compiled
from .executable import Executable
from .kernel_objects import Progress, builtin_recipes, kernel_objects
from .planning import kernel_recipes, load_model, plan_network, require_static
from .stored_choices import store, stored_chooser
from .tuning import fixed
from .tuning import tune as tune_network
from .variables import Variables

LOG = logging.getLogger("zeropoint.compile")


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
        plan = plan_network(model, self.passes, chooser, keep_intermediates=self.keep_intermediates)
        program = plan.program
        LOG.info("%s: %d steps after %.2f s", model.name, len(program.steps), self._seconds())
        recipes = builtin_recipes(self.machine, program.kernels) | kernel_recipes(model, plan.kernels)
        missing = {name: recipe for name, recipe in recipes.items() if name not in self.objects}
        self.objects.update(kernel_objects(missing, self.machine, cache=self.cache, progress=self.progress))
        kept = tuple(plan.model.outputs[len(model.outputs) :]) if self.keep_intermediates else None
        return Compiled(
            program,
            {name: self.objects[name] for name in recipes},
            plan.constants,
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
    model = load_model(model_or_path)
    require_static(model)
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
