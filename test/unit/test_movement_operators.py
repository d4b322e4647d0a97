"""TFLite's operators that move, choose, order and convert values: LiteRT's reference kernels, the numpy
meaning of what is imported, and compiled code give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, reject, settings

import zeropoint
from random_movement_models import MODELS, Drawn
from random_movements import Array
from random_tensors import seeds
from tflite_builder import run_litert
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.model import Model
from zeropoint.frontends import load_bytes
from zeropoint.runtime.lengths import cut

REFUSED = ("is not supported by", "is_supported_type was not true", "(ONE_HOT) failed to invoke")
"""What LiteRT says of types that its kernel does not take."""


def expected(drawn: Drawn) -> list[Array]:
    """LiteRT's results; an example that it does not take is dropped."""
    try:
        return run_litert(drawn.build(), drawn.arrays)
    except RuntimeError as error:
        if not any(text in str(error) for text in REFUSED):
            raise
        reject()


def meaning(model: Model, drawn: Drawn) -> list[Array]:
    """What a run gives: results of a length that values decide are cut to it."""
    return cut(model.outputs, evaluate_module(model.module, drawn.arrays))


def check(results: Sequence[Array], wanted: Sequence[Array]) -> None:
    for actual, array in zip(results, wanted, strict=True):
        assert (actual.dtype, actual.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(actual, array)


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=12)
@given(seeds)
def test_meaning_equals_litert(name: str, seed: int) -> None:
    drawn = MODELS[name](np.random.default_rng(seed))
    wanted = expected(drawn)
    # Behind LiteRT's results are the lengths that some of them have, which it has no tensors for.
    check(meaning(load_bytes(drawn.build(), name="m"), drawn)[: len(wanted)], wanted)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("pipeline", ["reference", "optimized"])
def test_compiled_code_equals_the_meaning(name: str, pipeline: str) -> None:
    drawn = MODELS[name](np.random.default_rng(7))
    model = load_bytes(drawn.build(), name="m")
    wanted = meaning(model, drawn)
    check(zeropoint.compile(model, pipeline=pipeline, cache=False).run(*drawn.arrays), wanted)
