"""One-operator models of elementwise operators and reductions, run by LiteRT."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import reject

from random_tensors import Array, add_tensor
from tflite_builder import Builder, run_litert
from zeropoint.dialect.types import TensorType

NOT_IN_REFERENCE = frozenset({"CEIL", "ELU", "FLOOR_DIV", "ROUND"})
"""Operators that LiteRT's reference resolver does not have: its only kernel is judge."""

_REFUSALS = ("no_integer_overflow_from_quantization", "failed to create XNNPACK runtime")


def model_of(
    operator: str,
    types: Sequence[TensorType],
    result: TensorType,
    constants: Sequence[Array] = (),
    **options: Any,
) -> bytes:
    """The model of one operator; ``constants`` are its last inputs."""
    model = Builder()
    inputs = [add_tensor(model, f"x{i}", kind) for i, kind in enumerate(types)]
    last = [model.constant(f"c{i}", array) for i, array in enumerate(constants)]
    output = add_tensor(model, "y", result)
    model.op(operator, [*inputs, *last], [output], **options)
    return model.build(inputs, [output])


def litert(
    operator: str,
    types: Sequence[TensorType],
    result: TensorType,
    arrays: Sequence[Array],
    mode: str = "reference",
    constants: Sequence[Array] = (),
    **options: Any,
) -> Array:
    """LiteRT's result; the hypothesis example is dropped if LiteRT refuses its extreme scales.

    ``mode`` is a numerics mode: ``reference`` means the reference kernels, ``xnnpack`` the default
    interpreter.
    """
    model = model_of(operator, types, result, constants, **options)
    reference = mode == "reference"
    try:
        if operator in NOT_IN_REFERENCE:
            return run_litert(model, arrays, reference=False, delegates=not reference)[0]
        return run_litert(model, arrays, reference)[0]
    except RuntimeError as error:
        if not any(text in str(error) for text in _REFUSALS):
            raise
        reject()


def integers(values: Sequence[int]) -> Array:
    """An INT32 constant: axes and the like."""
    return np.asarray(values, np.int32)
