"""The object files of a program's kernels: from the cache, or made now."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..codegen.driver import DRIVER, driver_ir
from ..codegen.llvm import to_object
from ..codegen.lowering import LAUNCHED_LOWERING, KernelIr
from ..codegen.machine import Machine
from ..codegen.program import CONTROL, COPY
from ..codegen.split import KernelSource
from ..codegen.step_kernels import control_ir, copy_ir
from ..kernels.launch import Code
from ..passes.pipelines import passes_to
from ..version import __version__
from . import cache as disk_cache

LOG = logging.getLogger("zeropoint.compile")
Progress = Callable[[str], None]
"""Told in words what takes long."""


@dataclass(frozen=True)
class Recipe:
    """What a kernel is made of (any text that says it all), and how to make its LLVM IR."""

    identity: str
    lower: Callable[[], KernelIr]


def builtin_recipes(machine: Machine, used: Collection[str] = ()) -> dict[str, Recipe]:
    """The driver, the kernel that copies, and those that run steps, if they are ``used``."""
    texts = {DRIVER: driver_ir(machine.triple), COPY: copy_ir()}
    texts |= {kind: control_ir(kind) for kind in CONTROL if kind in used}
    return {
        name: Recipe(text, lambda text=text: KernelIr(text, optimize=True))  # type: ignore[misc]
        for name, text in texts.items()
    }


def identity(kernel: KernelSource | Code) -> str:
    """Everything that a kernel's LLVM IR depends on, but for the versions of the tools."""
    if isinstance(kernel, KernelSource):
        return repr((kernel.text, passes_to("llvm", start="kernels"), sources_digest("codegen")))
    return repr((kernel, LAUNCHED_LOWERING, sources_digest("kernels"), sources_digest("codegen")))


@lru_cache
def sources_digest(package: str) -> str:
    """Of the source of a package of ours: kernels are made anew when the code that writes them changes."""
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent.parent / package).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def key(recipe: Recipe, machine: Machine) -> str:
    """Names the object file that the installed versions make of a recipe for a machine."""
    return digest_on(machine, recipe.identity)


def digest_on(machine: Machine, *parts: str) -> str:
    """Of what the parts say, with the installed versions, on a machine."""
    everything = [*_versions(), machine.triple, machine.cpu, machine.features, *parts]
    return hashlib.sha256("\0".join(everything).encode()).hexdigest()


@lru_cache
def _versions() -> list[str]:
    found = [__version__]
    for package in ("llvmlite", "torch-mlir"):
        try:
            found.append(version(package))
        except PackageNotFoundError:
            found.append("unknown")
    return found


def kernel_objects(
    recipes: Mapping[str, Recipe],
    machine: Machine,
    *,
    cache: bool = True,
    progress: Progress = lambda text: None,
) -> dict[str, bytes]:
    """The object file of each recipe, by its name. What was not in the cache is there afterwards.

    LLVM works in another thread while this one lowers the next kernel.
    """
    started = time.perf_counter()
    keys = {name: key(recipe, machine) for name, recipe in recipes.items()}
    found = disk_cache.read(dict.fromkeys(keys.values())) if cache else {}
    missing = {keys[name]: recipe for name, recipe in recipes.items() if keys[name] not in found}
    if missing:
        made = _compile(missing, machine, progress)
        found.update(made)
        if cache:
            disk_cache.write(made)
    LOG.info(
        "%d kernels, %d of them compiled now, in %.3f s",
        len(found),
        len(missing),
        time.perf_counter() - started,
    )
    return {name: found[k] for name, k in keys.items()}


def _compile(recipes: Mapping[str, Recipe], machine: Machine, progress: Progress) -> dict[str, bytes]:
    futures: dict[str, Future[bytes]] = {}
    # One thread: llvmlite lets no two of them into LLVM.
    with ThreadPoolExecutor(1, thread_name_prefix="zeropoint-llvm") as pool:
        try:
            for k, recipe in recipes.items():
                done = sum(future.done() for future in futures.values())
                progress(f"compiling kernels: {done} of {len(recipes)}")
                made = recipe.lower()
                futures[k] = pool.submit(to_object, made.text, machine, optimize=made.optimize)
            objects = {}
            for done, (k, future) in enumerate(futures.items()):
                progress(f"compiling kernels: {done} of {len(recipes)}")
                objects[k] = future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)  # the first mistake is enough
            raise
    return objects
