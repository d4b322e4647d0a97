"""What qopt reads: a file or stdin, MLIR text (split at ``// -----``) or a TFLite model."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError

SPLIT_MARKER = "// -----"
_TFLITE_MAGIC = b"TFL3"
_SPLIT = re.compile(r"^// -----[ \t]*\r?\n", re.MULTILINE)


@dataclass(frozen=True)
class Input:
    """The bytes of a file and the name shown in messages; ``path`` is None for stdin."""

    name: str
    data: bytes
    path: Path | None

    @property
    def is_tflite(self) -> bool:
        """By the magic bytes, or by the extension (a broken file should fail as a model, not as text)."""
        return self.data[4:8] == _TFLITE_MAGIC or (self.path is not None and self.path.suffix == ".tflite")

    def text(self) -> str:
        """The content as text.

        Raises:
            InputError: it is not UTF-8.
        """
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            found = f"byte {error.start} is {self.data[error.start]:#x}"
            raise InputError(f"{self.name}: error: neither a TFLite model nor UTF-8 text ({found})") from None


@dataclass(frozen=True)
class Chunk:
    """A part of the input; ``text`` starts with as many empty lines as precede it: positions stay true."""

    text: str
    first_line: int


def read_input(path: str) -> Input:
    """Read a file, or stdin for ``-``.

    Raises:
        InputError: it cannot be read.
    """
    if path == "-":
        if sys.stdin.isatty():
            print("qopt: reading from the terminal; end with ctrl-D", file=sys.stderr)
        return Input("<stdin>", sys.stdin.buffer.read(), None)
    try:
        return Input(path, Path(path).read_bytes(), Path(path))
    except OSError as error:
        raise InputError(f"{path}: error: cannot read: {error.strerror}") from None


def split_chunks(text: str) -> list[Chunk]:
    """The parts between lines that hold only ``// -----``."""
    chunks, start, line = [], 0, 1
    for marker in [*_SPLIT.finditer(text), None]:
        part = text[start : marker.start() if marker else len(text)]
        chunks.append(Chunk("\n" * (line - 1) + part, line))
        if marker:
            line += part.count("\n") + 1
            start = marker.end()
    return chunks
