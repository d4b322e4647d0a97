"""Finding out which format a file has, and handing it to that format's frontend."""

from __future__ import annotations

import os
from pathlib import Path

from ..dialect.context import parse_module
from ..dialect.mlir import ir
from ..dialect.model import NUMERICS_ATTRIBUTE, Model
from ..dialect.numerics import MODES
from ..errors import ImportModelError, InputError
from .tflite import load_tflite
from .tflite.load import Shapes
from .tflite.schema import IDENTIFIER

KNOWN_FORMATS = "TFLite (.tflite) and MLIR (.mlir)"


def load(
    path: str | os.PathLike[str],
    *,
    signature: str | None = None,
    shapes: Shapes | None = None,
    numerics: str | None = None,
    max_bytes: int | None = None,
) -> Model:
    """The model in a file; its module is verified and lives in an MLIR context of its own.

    Args:
        path: a ``.tflite`` or ``.mlir`` file.
        signature: the entry point to take, of a TFLite file that has signatures; inputs and outputs then
            have its names.
        shapes: other input shapes than the file's, by input name (others keep theirs) or as a list in input
            order.
        numerics: the numerics mode; default the one the file asks for, ``reference`` for TFLite.
        max_bytes: the most memory that the tensors of a model file may need together, as if none shared any;
            a model that declares more is refused before anything is allocated. Default 1 GiB for each tensor
            and 16 GiB for all (``ZEROPOINT_TENSOR_LIMIT_BYTES`` and ``ZEROPOINT_MODEL_LIMIT_BYTES`` in the
            environment).

    Raises:
        ImportModelError: the file cannot be read, has no known format, or is damaged or wrong.
        UnsupportedOpError: it uses operators that cannot be imported; lists all of them.
        InputError: an argument does not fit the model.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path: got {type(path).__name__}, expected the path of a file")
    if Path(path).is_dir():
        raise InputError(f"{os.fspath(path)}: error: is a directory, expected a .tflite or .mlir file")
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ImportModelError(
            f"{os.fspath(path)}: error: cannot be read: {error.strerror or error}"
        ) from error
    return load_bytes(
        data, name=Path(path).name, signature=signature, shapes=shapes, numerics=numerics, max_bytes=max_bytes
    )


def load_bytes(
    data: bytes,
    *,
    name: str,
    signature: str | None = None,
    shapes: Shapes | None = None,
    numerics: str | None = None,
    max_bytes: int | None = None,
) -> Model:
    """:func:`load` of a file's content. ``name`` is for messages, and its extension tells the format if the
    content does not.
    """
    if max_bytes is not None and (not isinstance(max_bytes, int) or max_bytes < 1):
        raise InputError(f"max_bytes: got {max_bytes!r}, expected a positive number of bytes")
    if numerics is not None and numerics not in MODES:
        raise InputError(f"unknown numerics mode '{numerics}', expected one of {', '.join(sorted(MODES))}")
    suffix = Path(name).suffix.lower()
    if data[4:8] == IDENTIFIER.encode() or suffix == ".tflite":
        module = load_tflite(
            data, name, signature=signature, shapes=shapes, numerics=numerics, max_bytes=max_bytes
        )
        return Model.from_module(module, name)
    if suffix == ".mlir":
        if signature is not None or shapes is not None:
            raise InputError(f"{name}: signature and shapes are for model files; MLIR says its own")
        return _load_mlir(data, name, numerics)
    raise ImportModelError(f"{name}: error: unknown model format; known are {KNOWN_FORMATS}")


def _load_mlir(data: bytes, name: str, numerics: str | None) -> Model:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ImportModelError(f"{name}: error: not text: {error}") from error
    module = parse_module(text, name=name)
    if numerics is not None:
        module.operation.attributes[NUMERICS_ATTRIBUTE] = ir.StringAttr.get(numerics, module.context)
    return Model.from_module(module, name)
