"""``zeropoint import``: a model file as the text of its qnn module."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..errors import InputError
from .cli_arguments import add_model_arguments, load_model

ELIDED_BYTES = 64


def register(commands: Any) -> None:
    """Add the subcommand to ``commands`` (argparse's subparsers)."""
    command: argparse.ArgumentParser = commands.add_parser(
        "import",
        help="print a model as qnn IR",
        description="Print the qnn module of a model: text that qopt reads. On a terminal, the data of large "
        "constants is left out unless --data is given. A file (-o) keeps the tensors' names, as MLIR "
        "locations.",
    )
    add_model_arguments(command)
    command.add_argument("-o", "--output", metavar="FILE", help="write to FILE instead of standard output")
    data = command.add_mutually_exclusive_group()
    data.add_argument("--data", action="store_true", help="print all constant data, also on a terminal")
    data.add_argument(
        "--no-data", action="store_true", help="leave out large constants' data (not loadable again)"
    )
    command.add_argument(
        "--locations",
        action=argparse.BooleanOptionalAction,
        help="print the tensor names as MLIR locations, or leave them out (default: with -o only)",
    )
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    model = load_model(arguments)
    on_terminal = arguments.output is None and sys.stdout.isatty()
    elide = arguments.no_data or (on_terminal and not arguments.data)
    locations = arguments.output is not None if arguments.locations is None else arguments.locations
    text = model.module.operation.get_asm(
        enable_debug_info=locations, large_resource_limit=ELIDED_BYTES if elide else None
    )
    if arguments.output is None:
        print(text, end="" if text.endswith("\n") else "\n")
        return 0
    try:
        Path(arguments.output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{arguments.output}: cannot write: {error.strerror}") from error
    return 0
