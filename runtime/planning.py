"""From a model to its program: the passes, and how each kernel of it is made."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ..codegen.lowering import KernelIr, Lowering
from ..codegen.program import Program
from ..codegen.split import KernelSource, split
from ..dialect.model import Model
from ..errors import InputError
from ..kernels.choices import Chooser, choosing
from ..kernels.families import emit
from ..kernels.launch import Code
from ..passes.decisions import collect
from ..passes.externalize_constants import constant_block
from ..passes.keep_intermediates import KeepIntermediatesPass
from ..passes.pass_manager import run_pipeline
from .kernel_objects import Recipe, identity
from .refusals import with_reasons

# The bindings' objects are safe under the interpreter lock, but passes in Python let other threads in.
_MLIR = threading.Lock()


@dataclass(frozen=True)
class Plan:
    """A network after the passes."""

    model: Model
    """What was planned: the model, with more outputs where intermediate values are kept."""
    program: Program
    kernels: Mapping[str, KernelSource | Code]
    """What the program's kernels are made of, but for those that every program has at hand."""
    constants: npt.NDArray[np.uint8]
    """The constant block."""


def load_model(model_or_path: Model | str | os.PathLike[str]) -> Model:
    """The model, or the one in a file.

    Raises:
        InputError: it is neither.
        ImportModelError: the file cannot be loaded.
    """
    from ..frontends import load  # the readers are needed for files only

    if isinstance(model_or_path, Model):
        return model_or_path
    if not isinstance(model_or_path, str | os.PathLike):
        raise InputError(f"model_or_path: got {type(model_or_path).__name__}, expected a path or a Model")
    return load(model_or_path)


def require_static(model: Model) -> None:
    """Raises InputError if an input has an extent that is not known."""
    for info in model.inputs:
        if not info.type.is_static:
            shape = ["?" if extent < 0 else extent for extent in info.shape]
            example = ", ".join("1" if extent == "?" else str(extent) for extent in shape)
            raise InputError(
                f"{model.name}: input '{info.name}' has the dynamic shape [{', '.join(map(str, shape))}]; "
                f"load the model with shapes={{'{info.name}': [{example}]}} or other extents"
            )


def plan_network(
    model: Model, passes: Sequence[str], chooser: Chooser | None, *, keep_intermediates: bool = False
) -> Plan:
    """Run ``passes``, which lead to level kernels, and read what comes out.

    Raises:
        PipelineError: the network could not be lowered.
    """
    with _MLIR, choosing(chooser):
        with model.context, model.module.operation.location:
            module = model.module.operation.clone()
            planned = model
            if keep_intermediates:
                KeepIntermediatesPass().run(module)
                planned = Model.from_module(module, model.name)
        with collect() as decisions:
            run_pipeline(module, passes, verify_each=False)  # MLIR verifies what comes out
        program, kernels = split(module)
        program = with_reasons(program, passes, decisions)
        return Plan(planned, program, kernels, constant_block(module))


def kernel_recipes(
    model: Model, kernels: Mapping[str, KernelSource | Code], index_bits: int = 64
) -> dict[str, Recipe]:
    """How each kernel of a plan is made, for a machine whose addresses have ``index_bits``."""
    lowering: list[Lowering] = []

    def lower(kernel: KernelSource | Code) -> KernelIr:
        with _MLIR:
            if not lowering:
                lowering.append(Lowering(model.context, index_bits))
            if isinstance(kernel, KernelSource):
                return lowering[0].kernel(kernel)
            return lowering[0].launched(emit(kernel))

    return {name: Recipe(identity(kernel), partial(lower, kernel)) for name, kernel in kernels.items()}
