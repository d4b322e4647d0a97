"""Print the assembly of the kernel of one convolution, for FileCheck; how many vectors are on its stack; how
much of its longest innermost loop multiplies.

``kernel_assembly.py avx512vnni conv2d 14x14 64 64 --kernel=3 --linear``: the result's size, channels of the
input and of the result. It needs no machine that could run the kernel.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import replace

import numpy as np

import kernel_runner
from zeropoint.dialect import fixed_point as fx
from zeropoint.dialect.numerics import Rounding
from zeropoint.dialect.op_constants import Rescale
from zeropoint.kernels.conv import Conv
from zeropoint.kernels.epilogue import Epilogue
from zeropoint.kernels.families import plan
from zeropoint.kernels.image import Image
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS
from zeropoint.kernels.launch import Launch

_VECTOR_ON_STACK = re.compile(r"mm.*\(%r[sb]p\)|\bq\d+.*\[sp")
_PRODUCT = re.compile(r"sdot|smmla|smull|smlal|sadalp|vpdp|vpmadd")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("isa")
    parser.add_argument("kind", choices=["conv2d", "depthwise_conv2d"])
    parser.add_argument("size")
    parser.add_argument("inputs", type=int)
    parser.add_argument("outputs", type=int)
    parser.add_argument("--kernel", type=int, default=1)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--linear", action="store_true", help="no activation, a zero point in the middle")
    parser.add_argument("--integers", action="store_true", help="no float32 in the epilogue")
    parser.add_argument("--zero-point", type=int, default=128, help="of the filter, which is u8")
    arguments = parser.parse_args()
    if arguments.integers:
        Epilogue._float32 = classmethod(lambda *_: None)  # type: ignore[assignment,method-assign]
    isa = INSTRUCTION_SETS[arguments.isa]
    spec = replace(convolution(arguments), input_signed=not isa.unsigned_inputs)
    launch = plan(spec, isa)
    if not isinstance(launch, Launch):
        parser.error(launch)
    text = kernel_runner.assembly(launch.code)
    print(launch.code.symbol)
    print(text)
    print(f"vectors on the stack: {len(_VECTOR_ON_STACK.findall(text))}")
    loop = max(innermost_loops(text), key=len, default=[])
    products = [line for line in loop if _PRODUCT.match(line)]
    print(f"longest loop: {len(loop)} instructions, {100 * len(products) // max(1, len(loop))} % multiply")


def innermost_loops(text: str) -> list[list[str]]:
    """The instructions from each label to the jump back to it, if there is no other label in between."""
    found: list[list[str]] = []
    label, inside = "", []
    for line in map(str.strip, text.splitlines()):
        if match := re.match(r"(\.\w+):", line):
            label, inside = match[1], []
        elif line and line[0].isalpha():
            inside.append(line)
            if label and re.match(rf"[bj].*\s{re.escape(label)}$", line):
                found.append(list(inside))
    return found


def convolution(arguments: argparse.Namespace) -> Conv:
    height, width = map(int, arguments.size.split("x"))
    kernel, stride = arguments.kernel, arguments.stride
    before = kernel // 2
    size = [(n - 1) * stride + kernel - 2 * before for n in (height, width)]
    image = Image(1, *size, arguments.inputs, (before,) * 4)
    taps = 1 if arguments.kind == "depthwise_conv2d" else arguments.inputs
    rng = np.random.default_rng(1)
    filter = rng.integers(0, 256, (arguments.outputs, kernel, kernel, taps)).astype(np.uint8)
    scale = 0.0113 / kernel / taps**0.5
    multiplier, shift = fx.quantize_multiplier(scale)
    zero_point = 128 if arguments.linear else 0
    rescale = Rescale(Rounding.DOUBLE, (scale,), (multiplier,), (shift,), zero_point, 0, 255)
    groups = arguments.inputs if arguments.kind == "depthwise_conv2d" else 1
    return Conv(
        arguments.kind,
        image,
        Image(1, height, width, arguments.outputs),
        (kernel, kernel),
        (stride, stride),
        (1, 1),
        (before, before),
        groups,
        False,
        False,
        (arguments.zero_point,),
        False,
        rescale,
        filter,
        np.zeros(arguments.outputs, np.int32),
    )


if __name__ == "__main__":
    main()
