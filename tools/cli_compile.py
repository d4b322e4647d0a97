"""``zeropoint compile``: a network as an object file, a library or text for C, with a header."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..passes.pipelines import PIPELINES
from .cli_arguments import add_model_arguments, load_model
from .export_text import print_report
from .progress import ProgressLine

if TYPE_CHECKING:
    from ..runtime.export import Exported

EPILOG = """\
examples:
  zeropoint compile kws.tflite --target aarch64-dotprod               kws.o and kws.h
  zeropoint compile kws.tflite --target thumbv7em --report            what it would take; writes nothing
  zeropoint compile kws.tflite --target riscv64 --kind static -o libkws.a --name keywords
  zeropoint compile kws.tflite --target aarch64 --kind asm -o -       assembly to read

then, in C:
  #include "kws.h"
  static unsigned char arena[KWS_ARENA_BYTES] __attribute__((aligned(KWS_ARENA_ALIGNMENT)));
  kws_model model;
  int error = kws_init(&model, arena, sizeof arena);              checks memory and CPU
  kws_inputs inputs = {features};                                 pointers of the right types
  kws_outputs outputs = {scores};
  if (!error) error = kws_run(&model, &inputs, &outputs);         the same bits as in Python

  aarch64-linux-gnu-gcc main.c kws.o

The code allocates nothing, starts no thread, and needs no library but for the functions that the header
names. `zeropoint targets` lists the targets; docs/export.md says the rest.
"""


def register(commands: Any) -> None:
    """Add the subcommand to ``commands`` (argparse's subparsers)."""
    command: argparse.ArgumentParser = commands.add_parser(
        "compile",
        help="compile a model ahead of time, for C",
        description="Compile a model to one object file (kernels, driver, constants) and a C\n"
        "header, for this machine or another. Prints what it takes, layer by layer.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_model_arguments(command)
    command.add_argument(
        "--target",
        default="host",
        metavar="TARGET",
        help="the name or .toml file of a target with a machine (see `zeropoint targets`), whose parameter "
        "rules the model shall obey; this machine if left out",
    )
    command.add_argument(
        "--kind",
        default="object",
        metavar="KIND",
        help="object (.o, the default), static (.a), shared (.so; needs the target's linker), asm (.s), "
        "llvm (.ll)",
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where to write it; the header goes beside it. NAME and the kind's suffix if left out; `-` is "
        "stdout, for text, without a report",
    )
    command.add_argument(
        "--name", help="what every C symbol and macro begins with; made of the model's name if left out"
    )
    command.add_argument("--pipeline", choices=sorted(PIPELINES), default="optimized", help="how to compile")
    command.add_argument("--report", action="store_true", help="only the report of sizes; nothing is written")
    command.add_argument("--json", action="store_true", help="the report as JSON, for scripts")
    command.set_defaults(run=run, usage_error=command.error)


def run(arguments: argparse.Namespace) -> int:
    from ..runtime.export import KINDS, check_arguments, export, require_apart

    if arguments.output == "-" and arguments.kind not in ("asm", "llvm"):
        arguments.usage_error(f"-o -: is for the kinds asm and llvm, got '{arguments.kind}'")
    # A mistake is said before a large model is read.
    check_arguments(arguments.target, arguments.kind, arguments.name)
    model = load_model(arguments)
    writes = not arguments.report and arguments.output != "-"
    if writes and arguments.output is not None:
        require_apart(arguments.output, arguments.model)
    with ProgressLine() as progress:
        exported = export(
            model,
            arguments.target,
            arguments.kind,
            name=arguments.name,
            pipeline=arguments.pipeline,
            progress=progress.show,
        )
    if arguments.output == "-" and not arguments.report:
        print(exported.data.decode(), end="")
        return 0
    if writes:
        output = f"{exported.name}{KINDS[exported.kind]}" if arguments.output is None else arguments.output
        require_apart(output, arguments.model)
        exported = exported.write(output)
    if arguments.json:
        print(json.dumps(_document(exported), indent=1))
    else:
        print_report(exported)
    return 0


def _document(exported: Exported) -> dict[str, Any]:
    return {
        "name": exported.name,
        "target": exported.target,
        "kind": exported.kind,
        "files": [str(Path(file)) for file in exported.files],
        **exported.report.to_json(),
    }
