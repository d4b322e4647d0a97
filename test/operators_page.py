"""The page of operators: the kinds of tensors each is imported with, how exact it is, which test says so.

``python test/operators_page.py > docs/operators.md`` writes it; ``test/unit/test_operators.py`` compares.
Cells come from the recorded run of ``operator_generator`` and from :data:`ELSEWHERE`; rows from the
importer's registry and the schema's list of operators.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from operator_generator import JUDGED_BY_OPTIMIZED, RECORD, is_exact
from zeropoint.frontends.tflite.registry import CUSTOM_IMPORTERS, IMPORTERS
from zeropoint.frontends.tflite.schema import BUILTINS

ROOT = Path(__file__).parents[1]
GENERATED_BY = "test_operators.py::test_operators"
"""The test of all cells that the record backs."""

EXACT, WITHIN, TOLERANCE, REFUSED = "exact", "within 1", "tolerance", "refused"
COLUMNS = ("float32", "q int8", "q uint8", "q int16", "others")


@dataclass(frozen=True)
class Cell:
    """Kinds of tensors that a test outside the generator covers."""

    kinds: str
    grade: str
    test: str


_I16 = "test_contractions_int16.py"
_HYBRID = "test_dynamic_range.py"
_FLOAT_RNN = "test_recurrent_float.py"
_RECURRENT = "test_recurrent_models.py"
ELSEWHERE: dict[str, tuple[Cell, ...]] = {
    "ASSIGN_VARIABLE": (Cell("all", EXACT, "test_tflite_variables.py::test_read_and_assign"),),
    "BATCH_MATMUL": (Cell("float32 x q int8", EXACT, f"{_HYBRID}::test_batch_matmul"),),
    "BIDIRECTIONAL_SEQUENCE_LSTM": (
        Cell("float32", TOLERANCE, f"{_RECURRENT}::test_compiled"),
        Cell("float32 x q int8", TOLERANCE, f"{_RECURRENT}::test_compiled"),
    ),
    "BIDIRECTIONAL_SEQUENCE_RNN": (
        Cell("float32", TOLERANCE, f"{_RECURRENT}::test_compiled"),
        Cell("float32 x q int8", TOLERANCE, f"{_RECURRENT}::test_compiled"),
    ),
    "CALL": (Cell("all", EXACT, "test_control_flow.py::test_nested"),),
    "CALL_ONCE": (Cell("all", EXACT, "test_tflite_variables.py::test_read_and_assign"),),
    "CONV_2D": (
        Cell("q int16", EXACT, f"{_I16}::test_convolutions"),
        Cell("float32 x q int8", EXACT, f"{_HYBRID}::test_convolutions"),
    ),
    "CONV_3D": (Cell("float32", TOLERANCE, "test_conv_3d.py::test_convolutions"),),
    "CONV_3D_TRANSPOSE": (Cell("float32", TOLERANCE, "test_conv_3d.py::test_transposed_convolutions"),),
    "DENSIFY": (Cell("q int8", EXACT, "test_sparse_tensors.py::test_densify_in_front_of_a_convolution"),),
    "DEPTHWISE_CONV_2D": (
        Cell("q int16", EXACT, f"{_I16}::test_convolutions"),
        Cell("float32 x q int8", EXACT, f"{_HYBRID}::test_convolutions"),
    ),
    "FULLY_CONNECTED": (
        Cell("q int16", EXACT, f"{_I16}::test_fully_connected"),
        Cell("float32 x q int8", EXACT, f"{_HYBRID}::test_fully_connected"),
        Cell("float32 x q int4", EXACT, f"{_HYBRID}::test_weights_in_blocks"),
        Cell("q int8 x q int4", EXACT, "test_int4_weights.py::test_int8_activations"),
    ),
    "DIV": (Cell("q int16", EXACT, "test_meaning_binary.py::test_div"),),
    "GELU": (Cell("q int16", WITHIN, "test_meaning_unary.py::test_quantized"),),
    "LSTM": (
        Cell("float32", TOLERANCE, f"{_RECURRENT}::test_compiled"),
        Cell("q int8", EXACT, f"{_RECURRENT}::test_compiled"),
        Cell("q uint8", REFUSED, f"{_RECURRENT}::test_basic_kernel_on_uint8_is_refused"),
    ),
    "IF": (Cell("all", EXACT, "test_control_flow.py::test_if"),),
    "LOG": (Cell("q int16", EXACT, "test_meaning_unary.py::test_quantized"),),
    "QUANTIZE": (Cell("q int32", EXACT, "test_meaning_quantization.py::test_requantize"),),
    "READ_VARIABLE": (Cell("all", EXACT, "test_tflite_variables.py::test_read_and_assign"),),
    "RNN": (Cell("float32", TOLERANCE, f"{_FLOAT_RNN}::test_rnn"),),
    "SUM": (
        Cell("q int8", EXACT, "test_meaning_reduce.py::test_sum"),
        Cell("q int16", WITHIN, "test_meaning_reduce.py::test_sum"),
    ),
    "SVDF": (
        Cell("q int8", EXACT, "test_svdf.py::test_integer"),
        Cell("float32", TOLERANCE, "test_svdf.py::test_float"),
    ),
    "TRANSPOSE_CONV": (
        Cell("float32", TOLERANCE, "test_transpose_conv.py::test_transposed_convolutions"),
        Cell("q int8", EXACT, "test_transpose_conv.py::test_transposed_convolutions"),
        Cell("q uint8", EXACT, "test_transpose_conv.py::test_transposed_convolutions"),
        Cell("q int16", EXACT, "test_transpose_conv.py::test_transposed_convolutions"),
        Cell("float32 x q int8", TOLERANCE, "test_transpose_conv.py::test_transposed_convolutions"),
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (
        Cell("q int8", EXACT, "test_lstm.py::test_integer"),
        Cell("float32", TOLERANCE, f"{_RECURRENT}::test_compiled"),
    ),
    "UNIDIRECTIONAL_SEQUENCE_RNN": (
        Cell("float32", TOLERANCE, f"{_FLOAT_RNN}::test_unidirectional_sequence_rnn"),
    ),
    "UNIQUE": (
        Cell("constants", EXACT, "test_tflite_shapes.py::test_places_and_different_values_of_constants"),
    ),
    "VAR_HANDLE": (Cell("all", EXACT, "test_tflite_variables.py::test_read_and_assign"),),
    "WHERE": (
        Cell("constants", EXACT, "test_tflite_shapes.py::test_places_and_different_values_of_constants"),
    ),
    "WHILE": (Cell("all", EXACT, "test_control_flow.py::test_while"),),
}
"""What tests outside the generator say."""

REMARKS: dict[str, str] = {
    "BATCH_MATMUL": "int8 factors with zero points and an int32 result are refused: LiteRT leaves the zero "
    "points out; so are more than 256 batches of int8 weights for floats",
    "BIDIRECTIONAL_SEQUENCE_LSTM": "with the batch first LiteRT takes the states of merged outputs from "
    "where twice as wide ones would lie: not compared for several batches",
    "BIDIRECTIONAL_SEQUENCE_RNN": "with integer weights and time first LiteRT goes through a sequence as "
    "often as it has steps, and ends the process on merged outputs of several batches; with the batch first "
    "it never reads an auxiliary input backwards: not compared",
    "DEPTHWISE_CONV_2D": "float activations with int8 weights of one scale for all channels are not "
    "compared: LiteRT reads a scale per channel",
    "FULLY_CONNECTED": "int8 activations with an int16 result are refused: LiteRT writes bytes there",
    "LSTM": "the basic kernel on uint8 and the one that sums gates in 8 bits (12 intermediate tensors) are "
    "refused: no op has their roundings",
    "MUL": "int16 factors with an 8-bit result have the scales 2^-15, 2^-15 and 2^-7, others are refused: "
    "LiteRT's kernel is for these, whatever the file says",
    "STRIDED_SLICE": "where begins and ends are computed at run time, the file must declare the result's "
    "shape, or the ends be offsets: a range whose length is not known is refused, and so are steps other "
    "than 1",
    "SUM": "quantized sums over no axes are not compared: LiteRT reads past its input",
    "TFLite_Detection_PostProcess": "of equal scores of one box, where several classes of it are wanted, the "
    "first class comes first: LiteRT's order is its C++ library's, not compared; so is what its fast "
    "suppression leaves in memory behind the last detection, which is zero here; int8 is taken like uint8, "
    "which LiteRT's kernel does not take",
    "UNIQUE": "of values that only a run knows more than 4096 are refused; NaN is not compared",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "integer peepholes with a projection to more outputs than units are "
    "refused: LiteRT reads beyond them",
}
"""What is refused of an operator, or not compared because LiteRT is wrong, and why."""

_INTRODUCTION = """\
# Operators

<!-- Generated by `python test/operators_page.py`; do not edit. -->

What `zeropoint.load` takes of TFLite's operators, and how results compare with LiteRT's reference kernels:

* *exact*: bit by bit;
* *within 1*: a stored value may differ by one (the test says why);
* *tolerance*: float arithmetic, to a few units in the last place, since the order of sums and the C
  library's functions differ (the bounds are in `test/operator_generator.py`);
* *refused*: an `UnsupportedOpError` that names the operator;
* empty: no kernel of LiteRT takes it, or none that is right, or an `UnsupportedOpError` says that we do not.

A kind with `q` is a quantized tensor; `float32 x q int8` are float activations with quantized weights, `x
computed` weights (and perhaps biases) that are no constants, which must have one scale for all channels;
TRANSPOSE_CONV, CONV_3D and recurrent operators take constants only. WHERE and UNIQUE of values that only a
run knows may be outputs of the model, not inputs of other operators. The number is that of random
one-operator models that agreed in the last recorded run (`python test/operator_generator.py --count 200
--record`); the tests draw a few of them anew, other cells name their test. LiteRT's optimized kernel judges
where the reference kernel does not exist or is wrong:
{judged}.

Not compared: float results beyond float32, which are infinite here, while LiteRT limits what an operator with
a fused activation (NONE, too) computes to the largest finite number; and NaN, infinities and magnitudes below
1e-36 in activations that are quantized at run time, which LiteRT converts to integers in ways that C++ leaves
undefined. All of our pipelines agree on these.

| operator | {columns} | examples | tests |
| --- | {rules} | ---: | --- |
"""


def record() -> dict[str, dict[str, list[int]]]:
    """The recorded run."""
    found: dict[str, dict[str, list[int]]] = json.loads(RECORD.read_text("utf-8"))
    return found


def grades(operator: str, counts: Mapping[str, list[int]]) -> dict[str, str]:
    """Kind -> grade of one operator."""
    found = {}
    for kind, (equal, different, _, unsupported) in counts.items():
        if equal and not different:
            found[kind] = EXACT if is_exact(operator, kind) else TOLERANCE
        elif unsupported and not different:
            found[kind] = REFUSED
    for cell in ELSEWHERE.get(operator, ()):
        found[cell.kinds] = cell.grade
    return found


def tests_of(operator: str, counts: Mapping[str, list[int]]) -> list[str]:
    """The tests that back an operator's cells."""
    named = [GENERATED_BY] if any(equal for equal, *_ in counts.values()) else []
    return list(dict.fromkeys([*named, *(cell.test for cell in ELSEWHERE.get(operator, ()))]))


def page() -> str:
    """The text of ``docs/operators.md``."""
    recorded = record()
    rows = [
        _row(operator, recorded.get(operator, {})) for operator in sorted({**IMPORTERS, **CUSTOM_IMPORTERS})
    ]
    refused = [name for name in BUILTINS if name not in IMPORTERS and not name.startswith("PLACEHOLDER")]
    judged = ", ".join(f"`{name}`" for name in sorted(JUDGED_BY_OPTIMIZED))
    head = _INTRODUCTION.format(
        columns=" | ".join(COLUMNS),
        rules=" | ".join("---" for _ in COLUMNS),
        judged=judged,
    )
    remarks = "".join(f"* `{name}`: {_folded(text)}\n" for name, text in sorted(REMARKS.items()))
    text = "\n".join(
        [
            "",
            "What is refused of these, or not compared where LiteRT is wrong:",
            "",
            remarks,
            "All others are refused (`test_operators.py::test_operators_without_an_importer_are_refused`):",
            "",
        ]
    )
    return head + "\n".join(rows) + "\n" + text + "\n" + _wrapped(refused) + "\n"


def _folded(text: str) -> str:
    """A remark in lines of a page's width."""
    return "\n  ".join(textwrap.wrap(text, 100))


def _wrapped(names: list[str]) -> str:
    lines = [""]
    for name in sorted(names):
        if len(lines[-1]) + len(name) > 100:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else ''}`{name}`"
    return "\n".join(lines)


def _row(operator: str, counts: Mapping[str, list[int]]) -> str:
    found = grades(operator, counts)
    cells = [found.get(kind, "") for kind in COLUMNS[:-1]]
    by_grade: dict[str, list[str]] = {}
    for kind in sorted(found.keys() - set(COLUMNS)):
        by_grade.setdefault(found[kind], []).append(kind)
    cells.append("; ".join(f"{grade}: {', '.join(kinds)}" for grade, kinds in by_grade.items()))
    examples = sum(equal for equal, *_ in counts.values())
    tests = ", ".join(f"`{test}`" for test in tests_of(operator, counts))
    return f"| `{operator}` | {' | '.join(cells)} | {examples or ''} | {tests} |"


def test_exists(name: str) -> bool:
    """Whether ``file::function`` is a test of the unit tests."""
    file, _, function = name.partition("::")
    path = ROOT / "test" / "unit" / file
    return path.exists() and bool(re.search(rf"^def {function}\(", path.read_text("utf-8"), re.MULTILINE))


if __name__ == "__main__":
    sys.stdout.write(page())
