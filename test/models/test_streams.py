"""Networks that remember, over a sequence of invocations: every output equal to the judge's, in both numerics
modes, and again after a reset.

The judge is LiteRT; of the keyword model, whose 8-bit state LiteRT reads as if it had 16 bits, it is the
numpy meaning, for its state too: on made-up input its output is always the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from networks import FOLDER
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.variables import initial_values

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the shared models folder is not beside the project"
)

RUNS = 30
JUDGED_BY_LITERT = {
    "mww_okay_nabu_v2": True,
    "keras_lstm_mnist_ptq": True,
    "tflm_keyword_scrambled_8bit": False,
}


def litert(path: Any, mode: str) -> Callable[[Any], Any]:
    module = pytest.importorskip("ai_edge_litert.interpreter", reason="LiteRT judges these networks")
    kinds = module.OpResolverType
    resolver = kinds.BUILTIN_REF if mode == "reference" else kinds.AUTO
    runner = module.Interpreter(str(path), experimental_op_resolver_type=resolver, num_threads=1)
    runner.allocate_tensors()

    def invoke(array: Any) -> Any:
        runner.set_tensor(runner.get_input_details()[0]["index"], array)
        runner.invoke()
        return runner.get_tensor(runner.get_output_details()[0]["index"])

    return invoke


def meaning(model: zp.Model, state: dict[str, Any]) -> Callable[[Any], Any]:
    return lambda array: evaluate_module(model.module, [array], state=state)[0]


def stream(info: Any) -> list[Any]:
    """Values that wander: what a microphone or a pen gives, rather than noise."""
    rng = np.random.default_rng(5)
    bounds = np.iinfo(info.dtype)
    middle, span = (bounds.min + bounds.max) / 2, bounds.max - bounds.min
    arrays = []
    for index in range(RUNS):
        values = middle + span * (0.4 * np.sin(index / 3) + 0.25 * rng.normal(size=info.shape))
        arrays.append(np.clip(np.rint(values), bounds.min, bounds.max).astype(info.dtype))
    return arrays


@pytest.mark.parametrize(
    ("mode", "pipeline"), [("reference", "optimized"), ("xnnpack", "optimized"), ("reference", "reference")]
)
@pytest.mark.parametrize("name", JUDGED_BY_LITERT)
def test_stream(name: str, mode: str, pipeline: str) -> None:
    path = FOLDER / f"{name}.tflite"
    model = zp.load(path, numerics=mode)
    with model.context:
        state = initial_values(model.module)
    judge = litert(path, mode) if JUDGED_BY_LITERT[name] else meaning(model, state)
    executable = zp.compile(model, pipeline=pipeline)
    inputs = stream(model.inputs[0])
    wanted = [judge(array).copy() for array in inputs]
    for _ in range(2):
        for array, right in zip(inputs, wanted, strict=True):
            np.testing.assert_array_equal(executable.run(array)[0], right)
        if not JUDGED_BY_LITERT[name]:
            for variable, held in executable.variables.items():
                np.testing.assert_array_equal(held, state[f"variable/{variable}"])
        executable.reset()
