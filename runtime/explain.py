"""From a model and a target to an :class:`Explanation`: legalize a copy as the compiler would, and look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..codegen.machine import machine_of
from ..dialect.describe import describe
from ..dialect.model import Model, TensorInfo
from ..errors import InputError
from ..passes.decisions import collect
from ..passes.pass_manager import run_pipeline
from ..passes.pipelines import passes_to
from ..targets import load_target
from .conversion_costs import costs_of, output_changes
from .explained_rows import Rows
from .explanation import Explanation, Row, is_unchanged
from .inputs import check_array
from .op_origins import Origins
from .refusals import refused_ops

Array = npt.NDArray[Any]
Progress = Callable[[str], None]


def explain(
    model: Model,
    target: str,
    samples: Sequence[Sequence[Array]] = (),
    progress: Progress = lambda text: None,
) -> Explanation:
    """What compiling ``model`` for ``target`` (a name or a path) does to its ops. The model is left alone.

    ``samples`` are inputs (one array per input of the model, in its storage type) that accuracy is measured
    on; without any it is not. ``progress`` is told about steps that take long.

    Raises:
        InputError: an input has a dynamic dimension, or a sample does not fit.
        TargetError: there is no such target, or its file is wrong.
        PipelineError: a pass failed.
    """
    _require_static(model)
    found = load_target(target)
    before = describe(model.module)
    with model.context, model.module.operation.location:
        module = model.module.operation.clone()
        origins = Origins(module, before)
    # rules that stay broken are told with their rows
    passes = [name for name in passes_to("legalized", target=target) if not name.startswith("verify-")]
    with collect() as decisions:
        for name in passes:
            run_pipeline(module, name)
            with model.context:
                origins.number_inserted(decisions)
    with model.context:
        builder = Rows(origins, found, decisions)
        rows, returns = builder.rows(), builder.returns()
        rows = _with_costs(rows, builder.operations, module, samples, progress)
        isa = machine_of(found).isa
        rows = _with_families(rows, builder.operations, module, isa)
        outputs = () if is_unchanged(rows) else output_changes(model, module, samples, progress)
    names = tuple(info.name for info in model.inputs), tuple(info.name for info in model.outputs)
    return Explanation(
        model.name, model.numerics, found, *names, tuple(rows), returns, outputs, len(samples), isa
    )


def _with_costs(
    rows: Sequence[Row],
    operations: Sequence[Any],
    module: Any,
    samples: Sequence[Sequence[Array]],
    progress: Progress,
) -> list[Row]:
    """The rows, those of inserted ops with what these cost."""
    inserted = [i for i, row in enumerate(rows) if row.status == "inserted"]
    costs = costs_of(module, [operations[i] for i in inserted], samples, progress)
    of_row = dict(zip(inserted, costs, strict=True))
    return [replace(row, cost=of_row.get(i)) for i, row in enumerate(rows)]


def _with_families(rows: Sequence[Row], operations: Sequence[Any], module: Any, isa: str) -> list[Row]:
    """The rows, those of ops that no kernel family takes with the reason why."""
    refused = refused_ops(module, isa)
    there = [
        replace(row, no_family=refused.get((op.name, str(op.location)), ""))
        for row, op in zip(rows, operations, strict=False)
    ]
    return [*there, *rows[len(operations) :]]  # those that are gone come last


def split_samples(model: Model, arrays: Sequence[Array]) -> list[list[Array]]:
    """Samples from one array per input, each of one sample or of N: along a leading axis of its own, or N
    times as long in the first dimension. An array of one sample goes with each of the N.

    Raises:
        InputError: a dtype or shape does not fit, or two arrays hold different numbers of samples.
    """
    _require_static(model)
    stacks = [_stacked(info, array) for info, array in zip(model.inputs, arrays, strict=True)]
    counts = {info.name: len(stack) for info, stack in zip(model.inputs, stacks, strict=True)}
    several = {name: count for name, count in counts.items() if count != 1}
    if len(set(several.values())) > 1:
        found = ", ".join(f"'{name}' {count}" for name, count in several.items())
        raise InputError(f"inputs hold different numbers of samples: {found}; give all the same, or one")
    count = max(several.values(), default=1)
    return [[stack[i if len(stack) > 1 else 0] for stack in stacks] for i in range(count)]


def _stacked(info: TensorInfo, array: Array) -> Array:
    """An input's array with a leading axis over samples."""
    shape = tuple(info.shape)
    longer = len(shape) > 0 and array.ndim == len(shape) and array.shape[1:] == shape[1:]
    if array.dtype == info.dtype and array.size:
        if array.shape == shape or array.shape[1:] == shape:
            return array.reshape(-1, *shape)
        if longer and shape[0] and array.shape[0] % shape[0] == 0:
            return array.reshape(-1, *shape)
    return check_array(info, array)[np.newaxis]


def _require_static(model: Model) -> None:
    for info in model.inputs:
        if not info.type.is_static:
            shape = ", ".join("?" if extent < 0 else str(extent) for extent in info.shape)
            raise InputError(
                f"{model.name}: input '{info.name}' has the dynamic shape [{shape}]; give it another one: "
                f"--shape {info.name}=EXTENT,... or load(..., shapes=...)"
            )
