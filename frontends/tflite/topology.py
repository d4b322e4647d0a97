"""Checks of a graph as a whole: indices, who writes what, and an order in which operators can run."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NoReturn

from .graph import OPTIONAL, Operator, Tensor, short

Fail = Callable[[str], NoReturn]

STATEFUL = frozenset({"ASSIGN_VARIABLE", "CALL", "CALL_ONCE", "IF", "READ_VARIABLE", "WHILE"})
"""Operators that stay in the file's order: they may read or write variables."""


def describe(operator: Operator, tensors: Sequence[Tensor]) -> str:
    """``CONV_2D (op 12, output 'block1/conv')`` for messages."""
    name = f"custom operator '{short(operator.custom_code)}'" if operator.name == "CUSTOM" else operator.name
    outputs = [i for i in operator.outputs if 0 <= i < len(tensors)]
    output = f", output '{short(tensors[outputs[0]].name)}'" if outputs else ""
    return f"{name} (op {operator.index}{output})"


def first_users(operators: Sequence[Operator]) -> dict[int, str]:
    """Tensor index -> ``CONV_2D (op 12)``, the first operator that reads or writes it."""
    users: dict[int, str] = {}
    for operator in operators:
        label = describe(operator, ())
        for index in (*operator.inputs, *operator.outputs):
            users.setdefault(index, label)
    return users


def check_graph_ends(
    inputs: Sequence[int], outputs: Sequence[int], tensors: Sequence[Tensor], fail: Fail
) -> None:
    """Graph inputs and outputs exist; no input is named twice or has constant data."""
    for what, indices in (("input", inputs), ("output", outputs)):
        for index in indices:
            if not 0 <= index < len(tensors):
                fail(f"graph {what} {index} does not exist, the graph has {len(tensors)} tensors")
    if len(set(inputs)) != len(inputs):
        fail(f"graph inputs {list(inputs)} name a tensor twice")
    for index in inputs:
        if tensors[index].is_constant:
            fail(f"graph input '{short(tensors[index].name)}' has constant data")


def check_indices(operator: Operator, tensors: Sequence[Tensor], fail: Fail) -> None:
    """Every tensor that an operator names exists; only inputs may be left out (-1)."""
    for what, indices, lowest in (("input", operator.inputs, OPTIONAL), ("output", operator.outputs, 0)):
        for index in indices:
            if not lowest <= index < len(tensors):
                fail(
                    f"{describe(operator, tensors)}: {what} tensor {index} does not exist, "
                    f"the graph has {len(tensors)} tensors"
                )


def find_producers(
    operators: Sequence[Operator], tensors: Sequence[Tensor], inputs: Sequence[int], fail: Fail
) -> dict[int, int]:
    """Tensor index -> position of the operator that writes it. Each tensor has at most one writer; inputs
    and constants none.
    """
    producers: dict[int, int] = {}
    graph_inputs = set(inputs)
    for position, operator in enumerate(operators):
        for index in operator.outputs:
            where, tensor = describe(operator, tensors), tensors[index]
            if index in producers:
                first = describe(operators[producers[index]], ())
                fail(f"{where}: tensor '{short(tensor.name)}' is already written by {first}")
            if index in graph_inputs:
                fail(f"{where}: writes the graph input '{short(tensor.name)}'")
            if tensor.data is not None and tensor.data.size:
                fail(f"{where}: writes the constant '{short(tensor.name)}'")
            producers[index] = position
    return producers


def sort_operators(
    operators: Sequence[Operator],
    tensors: Sequence[Tensor],
    inputs: Sequence[int],
    outputs: Sequence[int],
    fail: Fail,
) -> tuple[Operator, ...]:
    """Operators such that each comes after the producers of its inputs; the file's order wherever that is
    one.

    Raises (through ``fail``) for a cycle, and for a tensor that is read but has neither producer nor data.
    """
    producers = find_producers(operators, tensors, inputs, fail)
    graph_inputs = set(inputs)

    def has_value(index: int) -> bool:
        tensor = tensors[index]
        return index in graph_inputs or index in producers or tensor.is_constant or tensor.is_variable

    previous: int | None = None
    waits_for: list[int] = []
    consumers: dict[int, list[int]] = defaultdict(list)
    for position, operator in enumerate(operators):
        for index in operator.inputs:
            if index != OPTIONAL and not has_value(index):
                fail(
                    f"{describe(operator, tensors)}: input '{short(tensors[index].name)}' has no value: "
                    "no operator writes it, and it is neither a graph input nor a constant"
                )
        needed = {producers[index] for index in operator.inputs if index in producers}
        if operator.name in STATEFUL:
            needed |= {previous} if previous is not None else set()
            previous = position
        waits_for.append(len(needed))
        for producer in needed:
            consumers[producer].append(position)
    for index in outputs:
        if not has_value(index):
            fail(f"graph output '{short(tensors[index].name)}' has no value: no operator writes it")

    ready = [position for position, count in enumerate(waits_for) if count == 0]
    order: list[int] = []
    while ready:
        position = heapq.heappop(ready)
        order.append(position)
        for consumer in consumers[position]:
            waits_for[consumer] -= 1
            if waits_for[consumer] == 0:
                heapq.heappush(ready, consumer)
    if len(order) < len(operators):
        first = operators[min(set(range(len(operators))) - set(order))]
        fail(f"{describe(first, tensors)}: depends on its own output (the graph has a cycle)")
    return tuple(operators[position] for position in order)
