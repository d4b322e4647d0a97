"""Every operator that is imported computes what LiteRT does, on random models; the page says so."""

from __future__ import annotations

import re

import numpy as np
import pytest
import tflite

from operator_generator import MAKERS, compare, drawn_models
from operators_page import ROOT, grades, page, record, test_exists, tests_of
from tflite_builder import Builder
from zeropoint.errors import UnsupportedOpError
from zeropoint.frontends import load_bytes
from zeropoint.frontends.tflite.registry import CUSTOM_IMPORTERS, IMPORTERS
from zeropoint.frontends.tflite.schema import BUILTINS

test_exists.__test__ = tests_of.__test__ = False  # type: ignore[attr-defined]
EXAMPLES = 20


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_operators(name: str) -> None:
    """A few random models of each maker; kinds that LiteRT does not take are left out."""
    recorded, equal = record(), 0
    for seed, drawn in drawn_models(name, EXAMPLES):
        result = compare(drawn)
        assert result.status != "different", f"seed {seed}: {result}"
        if result.status == "equal":
            equal += 1
            assert recorded[result.operator][result.kind][0], f"the record lacks {result}"
        elif result.status == "unsupported":
            assert not recorded[result.operator][result.kind][0], f"the record says otherwise: {result}"
    assert equal


def test_every_operator_is_on_the_page_and_every_cell_has_its_test() -> None:
    recorded = record()
    for operator in {**IMPORTERS, **CUSTOM_IMPORTERS}:
        counts = recorded.get(operator, {})
        tests = tests_of(operator, counts)
        assert tests, f"{operator}: no example recorded, no test named"
        assert grades(operator, counts), operator
        for test in tests:
            assert test_exists(test), f"{operator}: {test} does not exist"
    assert not recorded.keys() - IMPORTERS.keys() - CUSTOM_IMPORTERS.keys()


def test_recorded_differences_are_none() -> None:
    different = {
        (operator, kind): counts[1]
        for operator, kinds in record().items()
        for kind, counts in kinds.items()
        if counts[1]
    }
    assert not different


def test_operators_without_an_importer_are_refused() -> None:
    named = re.findall(r"`([A-Z0-9_]+)`", page().partition("All others are refused")[2])
    assert {name for name in BUILTINS if name not in IMPORTERS} >= set(named)
    assert {"CUSTOM", "NON_MAX_SUPPRESSION_V4"} <= set(named)
    for name in [n for n in named if hasattr(tflite.BuiltinOperator, n)]:
        model = Builder()
        x, y = (model.tensor(n, (2, 2), np.float32) for n in "xy")
        model.op(name, [x], [y])
        with pytest.raises(UnsupportedOpError, match=name):
            load_bytes(model.build([x], [y]), name="m.tflite")


def test_the_page_is_up_to_date() -> None:
    committed = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
    assert committed == page(), "run: python test/operators_page.py > docs/operators.md"
