"""Arguments that several subcommands share, and what they mean."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..dialect.numerics import MODES
from ..errors import InputError


def add_model_arguments(command: argparse.ArgumentParser) -> None:
    """The model file and how to read it."""
    command.add_argument("model", help="a .tflite or .mlir file")
    command.add_argument(
        "--numerics",
        choices=sorted(MODES),
        help="whose bits to reproduce: `reference` (LiteRT's reference kernels, the default for TFLite) "
        "or `xnnpack` (LiteRT as people run it)",
    )
    command.add_argument("--signature", metavar="NAME", help="take this signature of the model")
    command.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="INPUT=1,224,224,3",
        help="give an input another shape (repeatable)",
    )


class whole_number:  # noqa: N801 - the type of an argument, as `int` is
    """An argparse type: a whole number of at least ``least``."""

    def __init__(self, least: int) -> None:
        self.least = least

    def __call__(self, text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = self.least - 1
        if value < self.least:
            raise argparse.ArgumentTypeError(f"got {text}, expected a whole number of {self.least} or more")
        return value


def load_model(arguments: argparse.Namespace) -> Any:
    """The model the arguments name; raises ZeropointError, also if what is made of it would overwrite it."""
    from ..frontends import load

    output = getattr(arguments, "output", None)
    if output and Path(output).resolve() == Path(arguments.model).resolve():
        raise InputError(f"-o {output}: is the model itself, expected another file")
    shapes = dict(_shape(text) for text in arguments.shape)
    return load(
        arguments.model, signature=arguments.signature, shapes=shapes or None, numerics=arguments.numerics
    )


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    name, equals, extents = text.rpartition("=")
    try:
        shape = tuple(int(extent) for extent in extents.split(","))
    except ValueError:
        shape = ()
    if not equals or not name or not shape:
        raise InputError(
            f"--shape {text!r}: expected INPUT=EXTENT,EXTENT,... such as --shape image=1,96,96,1"
        )
    return name, shape
