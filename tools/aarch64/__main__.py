"""``python -m zeropoint.tools.aarch64``: set up the emulated environment, and run commands in it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ...errors import ZeropointError
from .environment import FOLDER_VARIABLE, Environment, default_folder
from .run import run
from .setup import set_up

EPILOG = f"""\
examples:
  python -m zeropoint.tools.aarch64 setup
  python -m zeropoint.tools.aarch64 run zeropoint demo
  python -m zeropoint.tools.aarch64 run --cpu cortex-a53 python3 -c 'import zeropoint as zp; ...'
  python -m zeropoint.tools.aarch64 run pytest -q test/unit/test_codegen_loader.py
  python -m zeropoint.tools.aarch64 run ./a.out          (a program for AArch64)

`setup` needs qemu-user, apt-get, dpkg-deb and pip, and the network; it goes on where it was interrupted, and
does nothing when all is there. `run` sets up what is missing, and then works offline. The environment lies in
${FOLDER_VARIABLE}, by default in the folder aarch64 of Zeropoint's cache. On an AArch64 machine `run`
just runs the command. Exit status: the command's; 1 an error, 2 wrong usage.
"""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="python -m zeropoint.tools.aarch64",
        description="Run this project on an emulated AArch64 machine.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, help_text in (
        ("setup", "download and unpack what is missing; prints the environment's folder"),
        ("run", "run a command in the environment"),
    ):
        command = commands.add_parser(name, help=help_text, description=help_text)
        command.add_argument(
            "--folder", type=Path, default=None, help="of the environment (default: see above)"
        )
        if name == "run":
            command.add_argument(
                "--cpu",
                help="qemu's name of the CPU: max (the default: has everything), neoverse-n1 (dot products, "
                "no i8mm), cortex-a53 (plain NEON) ...; $QEMU_CPU is obeyed, too",
            )
            command.add_argument("words", nargs=argparse.REMAINDER, metavar="CMD ...")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit status; a command that is run replaces this process."""
    top = parser()
    arguments = top.parse_args(argv)
    environment = Environment((arguments.folder or default_folder()).absolute())
    try:
        if arguments.command == "run":
            if not arguments.words:
                top.error("run: no command; see --help")
            run(environment, arguments.words, arguments.cpu)
        set_up(environment)
        print(environment.folder)
    except ZeropointError as error:
        print(f"aarch64: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("aarch64: interrupted; the next call goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
