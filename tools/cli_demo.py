"""``zeropoint demo``: a real quantized network from its TFLite file to machine code, judged."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from .cli_inspect import is_depthwise, rescale_cells
from .demo import NETWORK, load_test_set
from .tables import print_table

SHADES = " .:-=+*#%@"


def register(commands: Any) -> None:
    """Add the subcommand to ``commands`` (argparse's subparsers)."""
    command: argparse.ArgumentParser = commands.add_parser(
        "demo",
        help="a real quantized network, from TFLite to machine code",
        description="Load the embedded int8 network (handwritten digits), compile it for this machine, "
        "run it on 200 images it never saw, and compare every output with LiteRT's reference kernels if "
        "those are installed.",
    )
    command.add_argument("--json", action="store_true", help="the figures as JSON, for scripts")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from ..dialect.describe import describe
    from ..frontends import load
    from ..runtime import compile

    clock = time.perf_counter()
    model = load(NETWORK)
    load_seconds = time.perf_counter() - clock
    clock = time.perf_counter()
    executable = compile(model)
    compile_seconds = time.perf_counter() - clock

    images, labels = load_test_set()
    inputs = quantize_images(images, model.inputs[0])
    outputs, seconds = [], []
    for image in inputs:
        start = time.perf_counter()
        (scores,) = executable.run(image)
        seconds.append(time.perf_counter() - start)
        outputs.append(scores)
    right = sum(int(scores.argmax() == label) for scores, label in zip(outputs, labels, strict=True))
    equal, wrong = compare_with_litert(inputs, outputs)

    rows = describe(model.module)
    figures = {
        "network": NETWORK.name,
        "operators": len(rows),
        "macs": sum(row.macs for row in rows),
        "load_seconds": load_seconds,
        "compile_seconds": compile_seconds,
        "images": len(labels),
        "right": right,
        "accuracy": right / len(labels),
        "median_run_microseconds": statistics.median(seconds) * 1e6,
        "litert_equal_images": equal,
        "litert_different_elements": wrong,
    }
    if arguments.json:
        print(json.dumps(figures, indent=1))
    else:
        _print(figures, rows, images, labels, outputs)
    return 1 if wrong else 0


def quantize_images(images: npt.NDArray[np.uint8], info: Any) -> list[npt.NDArray[np.int8]]:
    """Images [n, 8, 8] with pixels 0..16 as n inputs int8 [1, 8, 8, 1], by the input's own scale and zero
    point."""
    stored = np.clip(np.rint(images / info.scale) + info.zero_point, -128, 127).astype(np.int8)
    return [image.reshape(info.shape) for image in stored]


def compare_with_litert(inputs: Any, outputs: Any) -> tuple[int | None, int]:
    """(images whose every output element equals LiteRT's reference kernels, elements that differ).

    (None, 0) when LiteRT is not installed.
    """
    try:
        from ai_edge_litert.interpreter import Interpreter, OpResolverType
    except ImportError:
        return None, 0
    interpreter = Interpreter(str(NETWORK), experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    source = interpreter.get_input_details()[0]["index"]
    target = interpreter.get_output_details()[0]["index"]
    equal = wrong = 0
    for image, ours in zip(inputs, outputs, strict=True):
        interpreter.set_tensor(source, image)
        interpreter.invoke()
        different = int((interpreter.get_tensor(target) != ours).sum())
        equal += different == 0
        wrong += different
    return equal, wrong


def _print(figures: dict[str, Any], rows: Any, images: Any, labels: Any, outputs: Any) -> None:
    print(f"{figures['network']}: handwritten digits, int8 per-channel, {figures['macs'] / 1e6:.2f} MMAC\n")
    print_table(
        ("operator", "result", "multiplier or scale", "shift"),
        [
            (
                "conv2d depthwise" if is_depthwise(row) else row.op,
                "x".join(map(str, row.result.shape)),
                *rescale_cells(row),
            )
            for row in rows
        ],
        right=("multiplier or scale", "shift"),
    )
    print()
    for line in _pictures(images, labels, outputs):
        print(line)
    print(
        f"\naccuracy   {figures['right']} of {figures['images']} held-out images ({figures['accuracy']:.1%})"
    )
    load, compiling = figures["load_seconds"] * 1e3, figures["compile_seconds"] * 1e3
    print(f"load       {load:.0f} ms    compile {compiling:.0f} ms")
    microseconds = figures["median_run_microseconds"]
    print(f"run        {microseconds:.0f} us per image (median)")
    print(f"same bits  {_verdict(figures)}")


def _verdict(figures: dict[str, Any]) -> str:
    if figures["litert_equal_images"] is None:
        return "not compared: LiteRT is not installed; pip install ai-edge-litert"
    if figures["litert_different_elements"]:
        wrong = figures["litert_different_elements"]
        return f"NO: {wrong} output elements differ from LiteRT's reference kernels"
    return f"yes: all outputs of all {figures['images']} images equal LiteRT's reference kernels"


def _pictures(images: Any, labels: Any, outputs: Any) -> list[str]:
    """Five images side by side as characters, and what the network says of each."""
    chosen = range(min(5, len(images)))
    lines = [
        "   ".join("".join(SHADES[min(9, int(p) * 10 // 17)] * 2 for p in images[i][y]) for i in chosen)
        for y in range(8)
    ]
    says = [f"says {outputs[i].argmax()}, is {labels[i]}" for i in chosen]
    return [*lines, "   ".join(text.ljust(16) for text in says).rstrip()]
