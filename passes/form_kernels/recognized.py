"""Which ops make a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .. import graph
from . import convolutions, dynamic_range, elementwise, movement, pairs, reductions, resizing
from .groups import Around, Builder, Group

BUILDERS: Mapping[str, Builder] = {
    "add": pairs.or_with_number(elementwise.add),
    "arg_max": reductions.arg_max,
    "avg_pool2d": reductions.pool,
    "batch_matmul": convolutions.batch_matmul,
    "binary": pairs.or_with_number(pairs.any_function),
    "clamp": elementwise.unary,
    "compare": pairs.or_with_number(pairs.any_function),
    "concat": movement.concat,
    "conv2d": convolutions.conv2d,
    "dequantize": elementwise.dequantize,
    "dynamic_conv2d": dynamic_range.conv2d,
    "dynamic_fully_connected": dynamic_range.fully_connected,
    "fully_connected": convolutions.fully_connected,
    "leaky_relu": elementwise.unary,
    "logistic": elementwise.unary,
    "max_pool2d": reductions.pool,
    "maximum": pairs.or_with_number(pairs.extremum),
    "mean": reductions.mean,
    "minimum": pairs.or_with_number(pairs.extremum),
    "mul": pairs.or_with_number(elementwise.mul),
    "pad": movement.pad,
    "prelu": pairs.or_with_number(pairs.slopes),
    "quantize": elementwise.quantize,
    "reduce": reductions.reduce,
    "requantize": elementwise.unary,
    "resize_bilinear": resizing.resize,
    "resize_nearest": resizing.resize,
    "slice": movement.slice_,
    "softmax": reductions.softmax,
    "sub": pairs.or_with_number(elementwise.add),
    "tanh": elementwise.unary,
    "transpose": movement.transpose,
    "unary": elementwise.unary,
}
"""op (without ``qnn.``) -> what makes a group of it."""

Refused = dict[tuple[Any, int], str]
"""(op, how many ops stand before it in its group) -> why no family took the group."""


def groups_of(entry: Any, around: Around, refused: Refused) -> list[Group]:
    """The groups of a function, in program order: none that is refused already."""
    found: dict[Any, Group] = {}
    for view in entry.regions[0].blocks[0].operations:
        op = view.operation
        build = BUILDERS.get(graph.name_of(op)) if op.name.startswith("qnn.") else None
        if build is None or _is_empty(op):
            continue
        fused = _FUSIONS.get(graph.name_of(op), _alone)(op, found, around, refused)
        if fused is not None:
            for inner in fused.inner:
                found.pop(inner, None)
            found[op] = fused
        elif (op, 0) not in refused:
            group = build(op, graph.attributes_of(op), around)
            if isinstance(group, str):
                refused[op, 0] = group
            else:
                found[op] = group
    return list(found.values())


def unknown_ops(entry: Any) -> Iterator[Any]:
    """The ops of a function that nothing makes a group of. Reshapes are none: they only rename bytes."""
    for view in entry.regions[0].blocks[0].operations:
        op = view.operation
        if op.name.startswith("qnn.") and graph.name_of(op) not in (*BUILDERS, "constant", "reshape"):
            yield op


def _is_empty(op: Any) -> bool:
    """Whether a tensor of an op has no elements: there is nothing to compute."""
    return any(0 in value.type.shape for value in (*op.operands, *op.results))


def _alone(op: Any, found: Mapping[Any, Group], around: Around, refused: Refused) -> Group | None:
    return None


def _residual(op: Any, found: Mapping[Any, Group], around: Around, refused: Refused) -> Group | None:
    """An add with the convolution that only it reads, if there is one."""
    for value in op.operands:
        group = _only_read_here(value, found, "conv2d")
        if group is None or (op, 1 + len(group.inner)) in refused:
            continue
        fused = convolutions.with_residual(group, op, graph.attributes_of(op), around)
        if isinstance(fused, Group):
            return fused
    return None


def _slices(op: Any, found: Mapping[Any, Group], around: Around, refused: Refused) -> Group | None:
    """A concat with the groups that only it reads, where their parameters are the result's."""
    element = graph.type_of(op.results[0]).element
    producers = [
        _only_read_here(value, found) if graph.type_of(value).element == element else None
        for value in op.operands
    ]
    count = sum(1 + len(group.inner) for group in producers if group)
    if not count or (op, count) in refused:
        return None
    fused = movement.concat_of_producers(op, graph.attributes_of(op), around, producers)
    return fused if isinstance(fused, Group) else None


def _only_read_here(value: Any, found: Mapping[Any, Group], *names: str) -> Group | None:
    """The group of what makes a value that one op reads, once."""
    maker = graph.producer(value, *names)
    group = found.get(maker) if maker is not None else None
    return group if group is not None and graph.sole_user(value) is not None else None


_FUSIONS: Mapping[str, Callable[[Any, Mapping[Any, Group], Around, Refused], Group | None]] = {
    "add": _residual,
    "concat": _slices,
}
"""op -> what it may be one group with."""
