"""The requantize algebra: what each pass does to the numbers of random graphs, and that it does something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_requantizes import (
    MOVING,
    RESCALING,
    WITH_CLAMP,
    Step,
    average,
    clamp,
    concat,
    constant,
    convolve,
    max_pool,
    pad,
    random_chain,
    random_module,
    requantize,
    reshape,
)
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

PATTERNS: dict[str, tuple[Sequence[Step], ...]] = {
    "fold-concat-rescales": (RESCALING, [requantize, reshape], [concat]),
    "fold-pad": ([pad], [convolve, max_pool, average]),
    "fold-requantize": ([requantize], [requantize]),
    "fold-requantize-into-constant": ([constant], [requantize]),
    "fold-requantize-into-producer": (RESCALING, [requantize]),
    "hoist-requantize{larger=true}": (MOVING, MOVING, [requantize]),
    "merge-clamps": (WITH_CLAMP, [clamp]),
    "merge-requantizes": ([requantize], [requantize]),
    "sink-requantize{larger=true}": ([requantize], [pad, max_pool, concat, *MOVING]),
}
"""What a pass looks for: kinds of ops behind each other."""

modes = st.sampled_from(sorted(MODES))


def check_exact(pipeline: str, module: Any, inputs: list[Any]) -> bool:
    """Run a pipeline: equal bits before and after. Whether anything changed."""
    text, before = str(module), evaluate_module(module, inputs)
    run_pipeline(module, pipeline)
    after = evaluate_module(module, inputs)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=f"{text}\n=>\n{module}")
    return str(module) != text


@pytest.mark.parametrize("name", sorted(PATTERNS))
@settings(max_examples=60)
@given(seed=seeds, mode=modes)
def test_what_a_pass_looks_for(name: str, seed: int, mode: str) -> None:
    check_exact(name, *random_chain(seed, *PATTERNS[name], numerics=mode))


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_passes_find_work(name: str) -> None:
    assert any(check_exact(name, *random_chain(seed, *PATTERNS[name])) for seed in range(100))


@settings(max_examples=60)
@given(seed=seeds, mode=modes, order=st.permutations((*EXACT, *UNMARKED)))
def test_exact_passes_in_any_order(seed: int, mode: str, order: list[str]) -> None:
    check_exact(",".join(order), *random_module(seed, inserted=0.0, numerics=mode))


@settings(max_examples=40)
@given(seed=seeds, mode=modes, name=st.sampled_from(EXACT))
def test_marks_do_not_make_exact_passes_inexact(seed: int, mode: str, name: str) -> None:
    check_exact(name, *random_module(seed, inserted=1.0, numerics=mode))


def forced_pair(seed: int, mode: str) -> tuple[Any, list[Any]]:
    """An op that can rescale its result, and a forced requantize of that."""
    return random_chain(seed, RESCALING, [requantize], inserted=1.0, numerics=mode)


@settings(max_examples=200)
@given(seed=seeds, mode=modes)
def test_a_forced_fold_leaves_out_rounding_alone(seed: int, mode: str) -> None:
    """Half a step of the type between and one of the last: also where either type saturates."""
    module, inputs = forced_pair(seed, mode)
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
        module, _ = forced_pair(seed, "reference")
        run_pipeline(module, "fold-requantize-into-producer")
        folded += "qnn.requantize" not in str(module)
    assert folded > 60
