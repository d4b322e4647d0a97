"""Writes what ``main.c`` includes and links: the network of ``zeropoint demo`` as an object file with its
header, and test images with the outputs that the Python API computes for them.

    python prepare.py aarch64-dotprod build
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import zeropoint as zp
from zeropoint.tools.cli_demo import quantize_images
from zeropoint.tools.demo import NETWORK, load_test_set

IMAGES = 20


def c_rows(rows: Iterable[np.ndarray]) -> str:
    return ",\n".join("    {" + ", ".join(map(str, row.ravel())) + "}" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Prepare the C example.")
    parser.add_argument("target", help="what to compile for, see `zeropoint targets`")
    parser.add_argument("folder", type=Path, help="where to write")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)

    try:
        zp.export(NETWORK, arguments.target, output=arguments.folder / "digits.o", name="digits")
    except zp.ZeropointError as error:
        parser.exit(1, f"{parser.prog}: error: {error}\n")

    network = zp.compile(NETWORK)
    images, labels = load_test_set()
    inputs = quantize_images(images[:IMAGES], network.inputs[0])
    outputs = [network.run(image)[0] for image in inputs]
    text = f"""\
/* Handwritten digits as the network takes them, what they show, and the Python API's outputs. */
#include <stdint.h>
#define IMAGES {IMAGES}
static const int8_t images[IMAGES][{inputs[0].size}] = {{
{c_rows(inputs)}
}};
static const int labels[IMAGES] = {{{", ".join(map(str, labels[:IMAGES]))}}};
static const int8_t expected[IMAGES][{outputs[0].size}] = {{
{c_rows(outputs)}
}};
"""
    (arguments.folder / "images.h").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
