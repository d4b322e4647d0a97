"""The published multipliers and shifts of a hosted uint8 MobileNet, convolution by convolution."""

from __future__ import annotations

import csv

import pytest

import zeropoint as zp
from networks import FOLDER
from zeropoint.dialect.describe import describe

TABLE = FOLDER.parent / "reference" / "mobilenet_v1_u8_multipliers.csv"
MODEL = FOLDER / "mobilenet_v1_1.0_224_quant_embedding_extractor.tflite"


@pytest.mark.skipif(not TABLE.is_file(), reason="the shared reference folder is not beside the project")
def test_multipliers_and_shifts_equal_the_published_table() -> None:
    with TABLE.open(encoding="utf-8") as file:
        published = list(csv.DictReader(line for line in file if not line.startswith("#")))[:27]
    rows = [row for row in describe(zp.load(MODEL).module) if row.op == "conv2d"]
    ours = [(row.multipliers, row.shifts, row.range) for row in rows]
    expected = [
        (
            (int(row["multiplier"]),),
            (int(row["shift"]),),
            (int(row["activation_min"]), int(row["activation_max"])),
        )
        for row in published
    ]
    assert len(ours) == 27
    assert ours == expected
