"""``zeropoint``: one command for what people do with a quantized model."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from ..errors import ZeropointError, did_you_mean
from ..version import __version__

EPILOG = """\
examples:
  zeropoint demo                                   a real network, from its file to machine code
  zeropoint inspect model.tflite                   operators, shapes, parameters, multipliers and shifts
  zeropoint explain model.tflite --target tflite   what a target's rules do to it, and why
  zeropoint run model.tflite --input image.npy     run it and look at its outputs
  zeropoint run model.tflite --target ./mine.toml  the same under the rules of another backend
  zeropoint bench model.tflite                     how long one inference takes, as percentiles
  zeropoint compile model.tflite --target aarch64  an object file and a header, for C on another machine
  zeropoint import model.tflite | qopt --to=linalg the IR, for the pass driver

`zeropoint COMMAND --help` explains each command. Exit status: 0 done, 1 an error, 2 wrong usage.
"""


def parser() -> argparse.ArgumentParser:
    """The whole command line; each subcommand sets ``run``, a function of the parsed arguments."""
    from . import cli_bench, cli_compile, cli_demo, cli_explain, cli_import, cli_inspect, cli_run, cli_targets

    top = argparse.ArgumentParser(
        prog="zeropoint",
        description="Compile and run quantized neural networks with the bits of their reference kernels.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"zeropoint {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in (
        cli_demo,
        cli_import,
        cli_inspect,
        cli_explain,
        cli_run,
        cli_bench,
        cli_compile,
        cli_targets,
    ):
        module.register(commands)
    top.set_defaults(commands=tuple(commands.choices))
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    top = parser()
    words = list(sys.argv[1:] if argv is None else argv)
    _require_command(top, words)
    arguments = top.parse_args(words)
    command: Callable[[argparse.Namespace], int] = arguments.run
    try:
        status = command(arguments)
        sys.stdout.flush()
    except ZeropointError as error:
        # A message about a file starts with it already, as compilers' do.
        text = str(error)
        print(text if ": error: " in text else f"zeropoint: error: {text}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader went away (`| head`): not an error, and nothing more can be written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return status


def _require_command(top: argparse.ArgumentParser, words: Sequence[str]) -> None:
    """The first word is an option or a command; otherwise this ends as wrong usage does, with help."""
    if not words:
        top.print_help(sys.stderr)
        sys.exit(2)
    commands: tuple[str, ...] = top.get_default("commands")
    if not words[0].startswith("-") and words[0] not in commands:
        hint = did_you_mean(words[0], commands) or f", expected one of {', '.join(commands)}"
        top.error(f"no command '{words[0]}'{hint}")


if __name__ == "__main__":
    sys.exit(main())
