"""From a file's bytes to a module: which subgraph, under which names, with which shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialect.context import new_context
from ...dialect.mlir import ir
from ...dialect.model import DEFAULT_NUMERICS
from ...errors import InputError
from .graph import Graph, ModelFile, Signature, short
from .graph_import import GraphImport, Shape
from .reader import model_limit_bytes, read_model, tensor_limit_bytes

Shapes = Mapping[str, Sequence[int]] | Sequence[Sequence[int]]


def load_tflite(
    data: bytes,
    name: str,
    *,
    signature: str | None = None,
    shapes: Shapes | None = None,
    numerics: str | None = None,
    max_bytes: int | None = None,
) -> Any:
    """The qnn module of a TFLite file, in a context of its own (``module.context``).

    Args:
        data: the file's bytes.
        name: the file's name, for messages and locations.
        signature: the entry point to import; default the first subgraph. Arguments and results then have
            its names.
        shapes: other input shapes than the file's, by input name (others keep theirs) or as a list in input
            order; the shapes of all other tensors follow from the operators.
        numerics: a mode of ``dialect.numerics``; default ``reference``.
        max_bytes: the most memory that the model's tensors may need together; default the limits of
            :mod:`.reader`.

    Raises:
        ImportModelError: the file is damaged or wrong.
        UnsupportedOpError: it uses operators that cannot be imported; lists all of them.
        InputError: an argument does not fit the model.
    """
    mode = DEFAULT_NUMERICS if numerics is None else numerics
    limit = tensor_limit_bytes() if max_bytes is None else max_bytes
    total = model_limit_bytes() if max_bytes is None else max_bytes
    model = read_model(data, name, limit, total)
    entry = _find_signature(model, signature)
    graph = model.graphs[entry.graph if entry else 0]
    names = [_input_name(graph, entry, index) for index in graph.inputs]
    new_shapes = None if shapes is None else _input_shapes(graph, names, shapes)
    with new_context(), ir.Location.unknown():
        imported = GraphImport(model, graph, new_shapes, limit)
        module = imported.build(mode, entry)
    if imported.declared_bytes > total:
        imported.fail(
            f"its tensors need {imported.declared_bytes} bytes with these shapes, "
            f"more than the limit of {total}"
        )
    return module


def _find_signature(model: ModelFile, key: str | None) -> Signature | None:
    if key is None:
        return None
    for signature in model.signatures:
        if signature.key == key:
            return signature
    known = ", ".join(f"'{short(s.key)}'" for s in model.signatures) or "none"
    raise InputError(f"{model.name}: no signature '{short(key)}', the model has {known}")


def _input_name(graph: Graph, signature: Signature | None, index: int) -> str:
    name = graph.tensors[index].name
    return signature.inputs.get(index, name) if signature else name


def _input_shapes(graph: Graph, names: Sequence[str], shapes: Shapes) -> list[Shape]:
    """One shape per graph input."""
    declared = [graph.tensors[index].shape for index in graph.inputs]
    if isinstance(shapes, Mapping):
        for name in shapes:
            if name not in names:
                raise InputError(
                    f"shapes: no input '{short(name)}', the model has {[short(n) for n in names]}"
                )
        given = [shapes.get(name, shape) for name, shape in zip(names, declared, strict=True)]
    else:
        given = list(shapes)
        if len(given) != len(names):
            raise InputError(f"shapes: got {len(given)}, expected {len(names)} (one per input)")
    return [_checked_shape(name, shape) for name, shape in zip(names, given, strict=True)]


def _checked_shape(name: str, shape: Sequence[int]) -> Shape:
    try:
        extents = tuple(int(extent) for extent in shape)
    except (TypeError, ValueError) as error:
        raise InputError(f"shapes: input '{short(name)}': expected whole numbers, got {shape!r}") from error
    if any(extent < 1 for extent in extents):
        raise InputError(f"shapes: input '{short(name)}': extents must be positive, got {list(extents)}")
    return extents
