"""qopt's command line: mlir-opt's flags, with corrections for misspelt ones."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from ..errors import did_you_mean
from ..passes import PASS_NAMES
from ..passes.upstream import RECOMMENDED
from ..version import __version__

DESCRIPTION = """\
Run passes over a module: Zeropoint's and upstream MLIR's in any mix. Reads MLIR text or a TFLite model,
prints the resulting IR; everything else (diagnostics, dumps, timing) goes to stderr."""

EPILOG = """\
examples:
  qopt model.tflite --to=linalg                           a model, lowered to integer linalg
  qopt model.mlir -p canonicalize,cse                     two passes
  qopt model.mlir -p 'one-shot-bufferize{bufferize-function-boundaries=true}'
  qopt --pass-pipeline='builtin.module(cse,func.func(affine-loop-fusion))' < model.mlir
  qopt model.mlir -p cse,canonicalize --mlir-print-ir-after=cse 2> dump.mlir
  qopt test/dialect/conv2d-invalid.mlir --split-input-file --verify-diagnostics
  qopt model.tflite --to=asm --mlir-timing -o model.s

exit status: 0 done, 1 an error in the input or in a pass, 2 wrong usage"""

OUTPUT_LEVELS = ("qnn", "legalized", "formed", "linalg", "kernels", "llvm", "asm")
_VALUE_OPTIONAL = {"--verify-each": "true", "--verify-diagnostics": "all", "--verify-params": ""}


class UsageError(Exception):
    """The command line is wrong: exit status 2."""


class _Help(argparse.RawDescriptionHelpFormatter):
    def _format_action_invocation(self, action: argparse.Action) -> str:
        text = super()._format_action_invocation(action)
        flag, _, value = text.partition(" ")
        return f"{flag}[={value}]" if flag in _VALUE_OPTIONAL else text


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """The parsed command line.

    Raises:
        UsageError: a flag is unknown, misses its value or contradicts another.
    """
    parser = build_parser()
    flags = [flag for action in parser._actions for flag in action.option_strings]
    words = [_normalized(word, flags) for word in (sys.argv[1:] if argv is None else argv)]
    arguments, unknown = parser.parse_known_args(words)
    for word in unknown:
        flag = word.partition("=")[0]
        if flag.startswith("-"):
            raise UsageError(f"unknown flag '{flag}'{did_you_mean(flag, flags) or _pass_hint(flag)}")
        raise UsageError(f"one input file expected, got '{arguments.input}' and '{word}'")
    if arguments.to and (arguments.passes or arguments.pass_pipeline is not None):
        raise UsageError("--to runs a pipeline of its own; give either --to or passes")
    if arguments.passes and arguments.pass_pipeline is not None:
        raise UsageError("give either -p or --pass-pipeline")
    return arguments


def _pass_hint(flag: str) -> str:
    """mlir-opt has a flag for each pass."""
    name = flag.lstrip("-")
    return f"; a pass is run by -p {name}" if name in (*PASS_NAMES, *RECOMMENDED) else ""


def build_parser() -> argparse.ArgumentParser:
    """The parser; argparse's abbreviations are off, since flags share prefixes."""
    parser = _Parser(
        prog="qopt",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    parser.add_argument(
        "input", nargs="?", default="-", metavar="FILE", help=".mlir or .tflite; - is stdin (default)"
    )
    parser.add_argument("--version", action="version", version=f"qopt (Zeropoint {__version__})")
    parser.add_argument("-o", dest="output", default="-", metavar="FILE", help="write the IR to FILE")
    _add_pass_flags(parser.add_argument_group("what to run"))
    _add_input_flags(parser.add_argument_group("input and checks"))
    _add_printing_flags(parser.add_argument_group("how the result is printed"))
    _add_debugging_flags(parser.add_argument_group("what happened"))
    return parser


def _add_pass_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-p",
        dest="passes",
        action="append",
        default=[],
        metavar="PASSES",
        help="passes: a,b{option=value}; may be repeated",
    )
    group.add_argument(
        "--pass-pipeline", metavar="TEXT", help="a whole pipeline: builtin.module(a,func.func(b))"
    )
    group.add_argument(
        "--to",
        type=_choice("level", OUTPUT_LEVELS),
        metavar="LEVEL",
        help="run the compiler's own pipeline up to a level: " + ", ".join(OUTPUT_LEVELS),
    )
    group.add_argument(
        "--pipeline",
        default="optimized",
        metavar="NAME",
        help="whose pipeline --to takes: optimized, reference",
    )
    group.add_argument(
        "--target",
        metavar="TARGET",
        help="whose parameter rules to obey: a name or a .toml file; for --to, and passes without a target; "
        "also the machine that --to=asm is for",
    )
    group.add_argument("--numerics", metavar="MODE", help="whose bits to reproduce: reference, xnnpack")
    group.add_argument(
        "--list-passes",
        action="store_true",
        help="list our passes with their options, and useful upstream ones",
    )
    group.add_argument("--show-dialects", action="store_true", help="list the dialects that can be read")


def _add_input_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--split-input-file", action="store_true", help="treat the parts between '// -----' lines as files"
    )
    group.add_argument(
        "--verify-diagnostics",
        type=_choice("value", ("all", "only-expected")),
        metavar="all|only-expected",
        help="diagnostics must be those of the expected-error@+1 {{text}} comments (default: all)",
    )
    group.add_argument(
        "--verify-each",
        type=_boolean,
        default=True,
        metavar="BOOL",
        help="verify the IR after each pass (default: true)",
    )
    group.add_argument(
        "--verify-params",
        metavar="TARGET",
        help="check parameter rules after each pass, from legalize-params on (default: --target's)",
    )


def _add_printing_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--mlir-print-op-generic", action="store_true", help="the generic form of every op")
    group.add_argument("--mlir-print-debuginfo", action="store_true", help="locations")
    group.add_argument(
        "--mlir-pretty-debuginfo", action="store_true", help="locations to be read by people only"
    )
    group.add_argument(
        "--mlir-print-local-scope", action="store_true", help="no aliases: each line stands alone"
    )
    group.add_argument(
        "--mlir-use-nameloc-as-prefix", action="store_true", help="values named after their tensors"
    )
    group.add_argument(
        "--mlir-elide-elementsattrs-if-larger",
        type=_count,
        metavar="N",
        help="leave out dense data of more than N elements",
    )
    group.add_argument(
        "--mlir-elide-resource-strings-if-larger",
        type=_count,
        metavar="N",
        help="leave out resources of more than N characters",
    )


def _add_debugging_flags(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--mlir-print-ir-before-all", action="store_true", help="dump the module before each pass"
    )
    group.add_argument("--mlir-print-ir-after-all", action="store_true", help="dump it after each pass")
    group.add_argument(
        "--mlir-print-ir-before", action="append", default=[], metavar="PASS", help="dump before these (a,b)"
    )
    group.add_argument(
        "--mlir-print-ir-after", action="append", default=[], metavar="PASS", help="dump after these (a,b)"
    )
    group.add_argument(
        "--mlir-print-ir-after-change", action="store_true", help="dump after passes that changed it"
    )
    group.add_argument("--mlir-print-ir-after-failure", action="store_true", help="dump it if a pass fails")
    group.add_argument(
        "--mlir-print-ir-tree-dir", type=Path, metavar="DIR", help="dump into files under DIR, not to stderr"
    )
    group.add_argument("--mlir-timing", action="store_true", help="a table of times")
    group.add_argument(
        "--mlir-pass-pipeline-crash-reproducer",
        dest="reproducer",
        type=Path,
        metavar="FILE",
        help="on failure, write the IR before the failing pass and the command that runs it",
    )
    group.add_argument("--explain", action="store_true", help="say why rewrite patterns did not match")
    group.add_argument("--debug", action="store_true", help="--explain, and Python tracebacks of errors")


def _normalized(word: str, flags: Sequence[str]) -> str:
    """mlir-opt also takes one dash, and some flags may stand without a value."""
    flag, equals, value = word.partition("=")
    if re.match(r"-[a-z]", flag) and f"-{flag}" in flags:
        flag = f"-{flag}"
    if not equals and flag in _VALUE_OPTIONAL:
        return f"{flag}={_VALUE_OPTIONAL[flag]}"
    return f"{flag}{equals}{value}"


class _choice:  # noqa: N801 - argparse prints the name of a type's function
    def __init__(self, what: str, choices: Iterable[str]) -> None:
        self.what, self.choices = what, tuple(choices)

    def __call__(self, text: str) -> str:
        if text in self.choices:
            return text
        hint = did_you_mean(text, self.choices) or f", expected one of {', '.join(self.choices)}"
        raise argparse.ArgumentTypeError(f"unknown {self.what} '{text}'{hint}")


def _boolean(text: str) -> bool:
    values = {"true": True, "1": True, "false": False, "0": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"got '{text}', expected true or false")
    return values[text.lower()]


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"got '{text}', expected a number of 0 or more")
    return int(text)
