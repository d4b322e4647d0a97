"""``qopt``: the pass driver, with mlir-opt's flags. Reads MLIR or TFLite, runs passes, prints the IR."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError, ZeropointError
from .diagnostics import error_block
from .qopt_arguments import UsageError, parse_arguments
from .qopt_input import read_input


def main(argv: Sequence[str] | None = None) -> int:
    """Run qopt; returns the exit status."""
    try:
        arguments = parse_arguments(argv)
        _log_explanations(arguments)
        try:
            return _run(arguments)
        except ZeropointError as error:
            if arguments.debug:
                traceback.print_exc()
            print(error_block(error, "qopt"), file=sys.stderr)
            return 1
    except UsageError as error:
        print(f"qopt: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader went away (`| head`): nothing more can be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


def _run(arguments: argparse.Namespace) -> int:
    if arguments.list_passes or arguments.show_dialects:
        from .qopt_listing import dialects_listing, passes_listing

        text = (passes_listing() if arguments.list_passes else "") + (
            dialects_listing() if arguments.show_dialects else ""
        )
        _write(text, arguments.output)
        return 0
    from .qopt_driver import Driver

    driver = Driver(arguments)
    source = read_input(arguments.input)
    output = driver.process_model(source) if source.is_tflite else driver.process_text(source)
    if output is not None and (not driver.failed or arguments.output == "-"):
        _write(output, arguments.output)
    return 1 if driver.failed else 0


def _write(text: str, output: str) -> None:
    if output == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{output}: error: cannot write: {error.strerror}") from None


def _log_explanations(arguments: argparse.Namespace) -> None:
    if not (arguments.explain or arguments.debug):
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("explain: %(message)s"))
    logger = logging.getLogger("zeropoint.passes")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.DEBUG)


if __name__ == "__main__":
    sys.exit(main())
