"""Random one-operator models of every operator against LiteRT's reference kernels.

``python test/operator_generator.py --count 200 [MAKER ...]`` prints a table: operator, kind of tensor,
examples, differences; ``--record`` keeps it for ``docs/operators.md`` (see ``operators_page``). LiteRT
runs in a process of its own, since some of its kernels end it.
"""

from __future__ import annotations

import argparse
import collections
import json
import multiprocessing
import multiprocessing.connection
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import random_arithmetic_models
import random_constant_models
import random_contraction_models
import random_detection_models
import random_movement_models
import random_recurrent_models
from elementwise_models import NOT_IN_REFERENCE
from random_detection_models import Detections
from random_movement_models import Drawn
from random_tensors import Array
from tflite_builder import TENSOR_TYPES, invoke_litert, start_litert
from zeropoint.dialect.context import new_context
from zeropoint.dialect.evaluate import evaluate_module
from zeropoint.dialect.variables import initial_values
from zeropoint.errors import ZeropointError
from zeropoint.frontends import load_bytes
from zeropoint.frontends.tflite import load
from zeropoint.runtime.lengths import cut

MAKERS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    **random_movement_models.MODELS,
    **random_arithmetic_models.MODELS,
    **random_constant_models.MODELS,
    **random_contraction_models.MODELS,
    "detection_postprocess": random_detection_models.detection_postprocess,
    **random_recurrent_models.MODELS,
}
"""Name -> a function that draws a model of one or a few related operators."""

RECORD = Path(__file__).parent / "data" / "operators.json"
"""operator -> kind -> [equal, different, refused, unsupported] examples of the last recorded run."""

STATUSES = ("equal", "different", "refused", "unsupported")

JUDGED_BY_OPTIMIZED = NOT_IN_REFERENCE | {"LOCAL_RESPONSE_NORMALIZATION"}
"""Operators whose reference kernel does not exist or is wrong: that of LOCAL_RESPONSE_NORMALIZATION leaves
out the last neighbour, which TensorFlow's definition and LiteRT's other kernel count.
"""

TOLERANCES: dict[str, tuple[float, float]] = {
    "CONV_2D": (1e-5, 1e-4),
    "DEPTHWISE_CONV_2D": (1e-5, 1e-4),
    "FULLY_CONNECTED": (1e-5, 1e-4),
    "BATCH_MATMUL": (1e-5, 1e-4),
    "CONV_3D": (1e-5, 1e-4),
    "CONV_3D_TRANSPOSE": (1e-5, 1e-4),
    "SVDF": (1e-5, 1e-5),
    "TRANSPOSE_CONV": (1e-5, 1e-4),
    "MEAN": (1e-5, 1e-5),
    "SUM": (1e-5, 1e-4),
    "REDUCE_PROD": (1e-5, 1e-5),
    "CUMSUM": (1e-5, 1e-4),
    "LOG_SOFTMAX": (1e-5, 1e-5),
    "L2_NORMALIZATION": (1e-5, 1e-6),
    "LOCAL_RESPONSE_NORMALIZATION": (1e-5, 1e-6),
    "SOFTMAX": (1e-5, 1e-6),
    "BIDIRECTIONAL_SEQUENCE_LSTM": (1e-4, 1e-4),
    "BIDIRECTIONAL_SEQUENCE_RNN": (1e-4, 1e-4),
    "LSTM": (1e-4, 1e-4),
    "RNN": (1e-4, 1e-4),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": (1e-4, 1e-4),
    "UNIDIRECTIONAL_SEQUENCE_RNN": (1e-4, 1e-4),
}
"""(relative, absolute) of float results that are sums, whose order is ours, or of several functions, or (of
recurrent operators) come from states that differ like that for many steps.
"""

TOLERANCE = (2e-6, 1e-6)
"""Of other float arithmetic: the C library's functions, contraction of products and sums."""

REFUSED = (
    "is not supported",
    "is_supported_type was not true",
    "failed to invoke",
    "no_integer_overflow_from_quantization",
    "failed to prepare",
    "did not get operators",
    "not currently supported",
)
"""What LiteRT says of types and scales that its kernel does not take."""

_WEIGHTED = frozenset(
    {"BATCH_MATMUL", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "SVDF", "TRANSPOSE_CONV"}
)
"""Operators whose second input are weights."""
_ROUNDED_LATE = frozenset({"TRANSPOSE_CONV", *random_recurrent_models.OPERATORS})
"""Those of them that add reals where their weights are integers and their results are not."""
_TYPE_NAMES = {code: name for name, code in TENSOR_TYPES.items()}
_BY_INPUT = frozenset({"ARG_MAX", "ARG_MIN", "CAST", "DEQUANTIZE", "QUANTIZE", "RANK", "SHAPE", "WHERE"})
_BY_INPUT |= random_arithmetic_models.COMPARISONS | {random_detection_models.OPERATOR}


@dataclass(frozen=True)
class Result:
    """``status``: equal, different, refused (by LiteRT), unsupported (by us)."""

    operator: str
    kind: str
    status: str
    detail: str = ""


def operator_of(drawn: Drawn) -> tuple[str, str]:
    """(operator, kind of the tensor that it computes on), e.g. ``("ADD", "int8")``, ``("ADD", "float32")``.

    Quantized types are marked: ``q int8``. So are weights that are integers where the result is not, or that
    are no constants: ``float32 x q int8``, ``q int8 x computed``.
    """
    operator = drawn.model.operators[-1]
    if drawn.kind:
        return operator.name, drawn.kind
    index = operator.inputs[0] if operator.name in _BY_INPUT else operator.outputs[0]
    kind = _kind(drawn, index)
    if operator.name == "MUL" and _kind(drawn, operator.inputs[0]) != kind:
        kind = f"{_kind(drawn, operator.inputs[0])} to {kind}"
    if operator.name in _WEIGHTED:
        weights, place = _kind(drawn, operator.inputs[1]), drawn.model.tensors[operator.inputs[1]]
        computed = place.data is None and operator.name != "BATCH_MATMUL"
        hybrid = kind == "float32" and weights != kind
        marks = ["computed"] * computed + [weights] * hybrid
        kind = " x ".join([kind, *([" ".join(marks)] if marks else [])])
    return operator.name, kind


def _kind(drawn: Drawn, index: int) -> str:
    tensor = drawn.model.tensors[index]
    return ("q " if tensor.scales else "") + _TYPE_NAMES[tensor.type]


def runs_of(drawn: Drawn) -> list[list[Array]]:
    """Inputs of every run: of one, unless the model has state."""
    return getattr(drawn, "runs", None) or [drawn.arrays]


def judged(drawn: Drawn) -> list[list[Array]]:
    """LiteRT's results run after run. Operators that its reference resolver lacks are judged by its only
    kernel.
    """
    reference = drawn.model.operators[-1].name not in JUDGED_BY_OPTIMIZED
    runner = start_litert(drawn.build(), reference=reference, delegates=reference)
    return [invoke_litert(runner, arrays) for arrays in runs_of(drawn)]


def is_exact(operator: str, kind: str) -> bool:
    """Whether results are compared bit by bit: all but float arithmetic."""
    if operator in _ROUNDED_LATE and kind.startswith("float32"):
        return False
    return kind.removesuffix(" x computed") not in ("float32", "float16") or operator in MOVES


_MOVES = """
    ARG_MAX ARG_MIN BATCH_TO_SPACE_ND BROADCAST_TO CAST CONCATENATION DEPTH_TO_SPACE DEQUANTIZE
    DYNAMIC_UPDATE_SLICE EMBEDDING_LOOKUP EXPAND_DIMS FILL GATHER GATHER_ND MAX_POOL_2D MAXIMUM MINIMUM
    MIRROR_PAD ONE_HOT PACK PAD PADV2 QUANTIZE RANK REDUCE_MAX REDUCE_MIN RELU RELU6 RELU_0_TO_1
    RELU_N1_TO_1 RESHAPE REVERSE_SEQUENCE REVERSE_V2 SELECT SELECT_V2 SHAPE SLICE SPACE_TO_BATCH_ND
    SPACE_TO_DEPTH SPLIT SPLIT_V SQUEEZE STRIDED_SLICE TILE TOPK_V2 TRANSPOSE UNPACK ZEROS_LIKE
    RESIZE_NEAREST_NEIGHBOR ABS NEG FLOOR CEIL ROUND SIGN EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER
    GREATER_EQUAL DENSIFY RANGE UNIQUE WHERE TFLite_Detection_PostProcess
"""
MOVES = frozenset(_MOVES.split())
"""Operators whose float results are bit-exact: they choose or move values, or round once."""


def kept_places(drawn: Drawn, wanted: list[Array]) -> list[Any]:
    """An index per output that leaves out where LiteRT is wrong, or writes nothing."""
    if isinstance(drawn, Detections):
        return drawn.written(wanted)
    kept = getattr(drawn, "kept", None)
    return [... if kept is None else kept] * len(wanted)


def compare(drawn: Drawn) -> Result:
    """Meaning against LiteRT; raises what LiteRT does if it is not a refusal."""
    operator, kind = operator_of(drawn)
    try:
        wanted = judged(drawn)
    except (RuntimeError, ValueError) as error:
        if any(text in str(error) for text in REFUSED):
            return Result(operator, kind, "refused", str(error)[-120:])
        raise
    try:
        model = load_bytes(drawn.build(), name="m.tflite")
    except ZeropointError as error:
        return Result(operator, kind, "unsupported", str(error)[-200:])
    rtol, atol = (0.0, 0.0) if is_exact(operator, kind) else TOLERANCES.get(operator, TOLERANCE)
    module = model.module
    with module.context:
        state = initial_values(module)
    for arrays, results in zip(runs_of(drawn), wanted, strict=True):
        outputs, places = evaluate_module(module, arrays, state=state), kept_places(drawn, results)
        computed = cut(model.outputs, outputs)[: len(results)]
        for actual, expected, kept in zip(computed, results, places, strict=True):
            assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), (operator, kind)
            actual, expected = actual[kept], expected[kept]
            if expected.dtype.kind == "b":
                actual, expected = actual.astype(np.int8), expected.astype(np.int8)
            try:
                np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)
            except AssertionError as error:
                return Result(operator, kind, "different", " ".join(str(error).split())[:300])
    return Result(operator, kind, "equal")


def drawn_models(name: str, count: int, first: int = 0) -> Iterator[tuple[int, Drawn]]:
    """Random models of a maker with their seeds."""
    for number in range(first, first + count):
        seed = zlib.crc32(name.encode()) + number
        yield seed, MAKERS[name](np.random.default_rng(seed))


def _work(name: str, count: int, pipe: multiprocessing.connection.Connection, first: int) -> None:
    # Contexts take most of the time of an import; modules of small models share one here.
    context = new_context()
    with patch.object(load, "new_context", lambda: context):
        _compare_all(name, count, pipe, first)


def _compare_all(name: str, count: int, pipe: multiprocessing.connection.Connection, first: int) -> None:
    for seed, drawn in drawn_models(name, count, first):
        pipe.send((seed, operator_of(drawn), None))
        pipe.send((seed, operator_of(drawn), compare(drawn)))
    pipe.send(None)


def run(name: str, count: int, first: int = 0) -> Iterator[tuple[int, Result]]:
    """``count`` models of a maker in a process that LiteRT may end; then another takes its place."""
    end, context = first + count, multiprocessing.get_context("spawn")
    while first < end:
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(name, end - first, theirs, first))
        process.start()
        theirs.close()
        seed, what = -1, ("", "")
        try:
            while (message := ours.recv()) is not None:
                seed, what, result = message
                if result is not None:
                    first += 1
                    yield seed, result
        except EOFError:
            first += 1
            yield seed, Result(*what, "refused", f"LiteRT ended the process, seed {seed}")
        process.join()


def write_record(record: dict[str, dict[str, list[int]]]) -> None:
    """Keep a run's figures, a line for each operator."""
    lines = [f"  {json.dumps(o)}: {json.dumps(record[o], sort_keys=True)}" for o in sorted(record)]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("makers", nargs="*", metavar="MAKER", help=f"of {', '.join(sorted(MAKERS))}")
    parser.add_argument("--count", type=int, default=200, help="examples of each operator, about")
    parser.add_argument("--record", action="store_true", help=f"update {RECORD.name}")
    parser.add_argument("--first", type=int, default=0, help="number of the first example")
    options = parser.parse_args()
    record: dict[str, dict[str, list[int]]] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    print(f"{'operator':<30} {'kind':<10} {'equal':>6} {'different':>9} {'refused':>8} {'unsupported':>11}")
    for name in options.makers or sorted(MAKERS):
        operators = {operator_of(drawn)[0] for _, drawn in drawn_models(name, 400)}
        table: dict[tuple[str, str], collections.Counter[str]] = collections.defaultdict(collections.Counter)
        shown: set[tuple[str, str, str]] = set()
        for seed, result in run(name, options.count * len(operators), options.first):
            table[result.operator, result.kind][result.status] += 1
            key = (result.operator, result.kind, result.status)
            if result.status != "equal" and key not in shown:
                shown.add(key)
                print(f"# {name} seed {seed}: {' '.join(key)}: {result.detail}", file=sys.stderr, flush=True)
        for (operator, kind), counts in sorted(table.items()):
            numbers = [counts[status] for status in STATUSES]
            record.setdefault(operator, {})[kind] = numbers
            print("{:<30} {:<10} {:>6} {:>9} {:>8} {:>11}".format(operator, kind, *numbers), flush=True)
    if options.record:
        write_record(record)


if __name__ == "__main__":
    main()
