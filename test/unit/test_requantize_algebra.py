"""The requantize algebra: what each pass does to the numbers of random graphs, and that it does something."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_requantizes import random_module, random_pair
from random_tensors import seeds
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.ir_types import to_tensor_type
from zeropoint.dialect.numerics import MODES
from zeropoint.passes.pass_manager import run_pipeline

EXACT = (
    "fold-batch-norm",
    "fold-pad",
    "fold-requantize",
    "fold-requantize-into-constant",
    "fuse-matmul-bias",
    "hoist-requantize",
    "hoist-requantize{larger=true}",
    "merge-clamps",
    "merge-requantizes",
    "share-requantizes",
    "sink-requantize",
    "sink-requantize{larger=true}",
)
"""Passes that change no number."""

UNMARKED = ("fold-requantize-into-producer", "fold-concat-rescales")
"""Passes that change no number in a graph without forced requantizes."""

modes = st.sampled_from(sorted(MODES))


def check_exact(pipeline: str, seed: int, mode: str, inserted: float = 0.5) -> bool:
    """Run a pipeline on a random graph: equal bits before and after. Whether anything changed."""
    module, inputs = random_module(seed, inserted=inserted, numerics=mode)
    text, before = str(module), evaluate_module(module, inputs)
    run_pipeline(module, pipeline)
    after = evaluate_module(module, inputs)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=f"{text}\n=>\n{module}")
    return str(module) != text


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=40)
@given(seed=seeds, mode=modes)
def test_exact_passes_change_no_number(name: str, seed: int, mode: str) -> None:
    check_exact(name, seed, mode)


@pytest.mark.parametrize("name", UNMARKED)
@settings(max_examples=60)
@given(seed=seeds, mode=modes)
def test_folds_change_no_number_unless_forced(name: str, seed: int, mode: str) -> None:
    check_exact(name, seed, mode, inserted=0.0)


@settings(max_examples=40)
@given(seed=seeds, mode=modes, order=st.permutations((*EXACT, *UNMARKED)))
def test_exact_passes_in_any_order(seed: int, mode: str, order: list[str]) -> None:
    check_exact(",".join(order), seed, mode, inserted=0.0)


@pytest.mark.parametrize("name", [*EXACT, *UNMARKED])
def test_passes_find_work_in_random_graphs(name: str) -> None:
    if name in ("fold-batch-norm", "fuse-matmul-bias"):
        pytest.skip("their patterns are too special for random graphs; the lit tests have them")
    assert any(check_exact(name, seed, "reference", inserted=0.0) for seed in range(200))


@settings(max_examples=300)
@given(seed=seeds, mode=modes)
def test_a_forced_fold_leaves_out_rounding_alone(seed: int, mode: str) -> None:
    """Half a step of the type between and one of the last: also where either type saturates."""
    module, inputs = random_pair(seed, mode)
    text, before = str(module), evaluate_module(module, inputs)
    between, last = (to_tensor_type(op.results[0].type).params.scale for op in _ops(module)[-2:])
    run_pipeline(module, "fold-requantize-into-producer")
    after = evaluate_module(module, inputs)
    allowed = 1.5 + between / (2 * last)
    gap = np.abs(before[-1].astype(int) - after[-1].astype(int)).max(initial=0)
    assert gap <= allowed, f"{text}\n=>\n{module}"


def _ops(module: Any) -> list[Any]:
    block = module.body.operations[0].regions[0].blocks[0]
    return [op.operation for op in block.operations if op.operation.name != "func.return"]


def test_forced_folds_happen() -> None:
    folded = 0
    for seed in range(100):
        module, _ = random_pair(seed, "reference")
        run_pipeline(module, "fold-requantize-into-producer")
        folded += "qnn.requantize" not in str(module)
    assert folded > 60
