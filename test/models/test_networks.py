"""Real networks, every output element equal to the judge's, in both numerics modes.

The judge is LiteRT (reference kernels, or its default XNNPACK ones), or the numpy meaning of each op where
LiteRT
refuses the file. The README's table of networks is made of what these tests counted: set
ZEROPOINT_UPDATE_README=1 to write it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zeropoint as zp
from networks import FOLDER, NETWORKS, Network, random_inputs
from zeropoint.dialect.describe import describe
from zeropoint.dialect.evaluate import evaluate_module

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="the shared models folder is not beside the project"
)

MODES = ("reference", "xnnpack")
README = Path(__file__).resolve().parents[2] / "README.md"
BEGIN, END = "<!-- networks: begin -->\n", "<!-- networks: end -->\n"
HEADER = (
    "| network | operators | MMAC | real inputs | random inputs | output elements compared | `reference` "
    "| `xnnpack` |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


@dataclass
class Count:
    """Elements compared with the judge, and how many of them differ."""

    real: int = 0
    random: int = 0
    elements: int = 0
    different: int = 0


def judge(network: Network, mode: str, model: zp.Model) -> Any:
    """A function from input to the right outputs."""
    if not network.judged_by_litert:
        return lambda image: evaluate_module(model.module, [image])
    litert = pytest.importorskip("ai_edge_litert.interpreter", reason="LiteRT judges these networks")
    resolver = litert.OpResolverType.BUILTIN_REF if mode == "reference" else litert.OpResolverType.AUTO
    interpreter = litert.Interpreter(str(network.path), experimental_op_resolver_type=resolver, num_threads=1)
    interpreter.allocate_tensors()

    def invoke(image: Any) -> list[Any]:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], image)
        interpreter.invoke()
        return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]

    return invoke


def count_differences(network: Network, mode: str) -> tuple[Count, zp.Model]:
    """Run ``network`` on its real inputs and on two random ones, and compare every output element with the
    judge."""
    model = zp.load(network.path, numerics=mode)
    executable = zp.compile(model)
    right = judge(network, mode, model)
    count = Count()
    info = model.inputs[0]

    def inputs() -> Iterator[Any]:
        for image in network.real_inputs(info):
            count.real += 1
            yield image
        for image in random_inputs(info, 2):
            count.random += 1
            yield image

    for image in inputs():
        for ours, expected in zip(executable.run(image), right(image), strict=True):
            assert ours.shape == expected.shape
            assert ours.dtype == expected.dtype
            count.elements += expected.size
            count.different += int(np.count_nonzero(ours != expected))
    return count, model


def table_row(network: Network, model: zp.Model, counts: dict[str, Count]) -> str:
    rows = describe(model.module)
    reference = counts["reference"]
    verdicts = [
        "bit-exact" if counts[mode].different == 0 else f"{counts[mode].different} differ" for mode in MODES
    ]
    note = "" if network.judged_by_litert else " (judge: the numpy meaning; LiteRT refuses the file)"
    macs = sum(row.macs for row in rows) / 1e6
    cells = [
        f"{network.name}{note}",
        str(len(rows)),
        f"{macs:.1f}",
        str(reference.real),
        str(reference.random),
        f"{reference.elements:,}",
        *verdicts,
    ]
    return f"| {' | '.join(cells)} |\n"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_every_output_element_is_right(network: Network) -> None:
    counts, model = {}, None
    for mode in MODES:
        counts[mode], model = count_differences(network, mode)
    assert model is not None
    row = table_row(network, model, counts)
    if os.environ.get("ZEROPOINT_UPDATE_README") == "1":
        update_readme(network, row)
    assert {mode: count.different for mode, count in counts.items()} == dict.fromkeys(MODES, 0)
    assert row in README.read_text(encoding="utf-8"), (
        "the README's table is stale: ZEROPOINT_UPDATE_README=1 writes it"
    )


def update_readme(network: Network, row: str) -> None:
    """Put ``row`` into the README's table, keeping the order of ``NETWORKS``."""
    text = README.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    old, tail = rest.split(END)
    rows = {line.split(" ")[1]: f"{line}\n" for line in old.splitlines()[2:] if line.startswith("| ")}
    rows[network.name] = row
    ordered = [rows[n.name] for n in NETWORKS if n.name in rows]
    README.write_text(head + BEGIN + HEADER + "".join(ordered) + END + tail, encoding="utf-8")
