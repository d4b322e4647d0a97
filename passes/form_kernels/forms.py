"""In which form every tensor is kept: chosen once, by what its readers want."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import graph
from .groups import NO_BORDER, PLAIN, Form, Group, Want


def base_of(value: Any) -> Any:
    """The value whose bytes ``value`` has: behind reshapes that change nothing but the shape."""
    op = graph.producer(value, "reshape")
    while op is not None and graph.type_of(op.operands[0]).element == graph.type_of(value).element:
        value = op.operands[0]
        op = graph.producer(value, "reshape")
    return value


def choose_forms(groups: Iterable[Group], signed: bool) -> dict[Any, Form]:
    """The form of each group's result.

    A result that others than groups read (also the caller of the network) is kept as its type says. Else it
    is flipped if a reader wants the other sign, and has the widest border that a reader asks for. ``signed``:
    whether that is i8, where readers take both: the sign that convolutions want.
    """
    listed = list(groups)
    readers: dict[Any, list[tuple[Group, Want]]] = {}
    reshaped = set()
    for group in listed:
        for value, want in zip(group.inputs, group.wants, strict=True):
            base = base_of(value)
            readers.setdefault(base, []).append((group, want))
            if base != value:
                reshaped.add(base)
    taken = {op for group in listed for op in (group.op, *group.inner)}
    forms: dict[Any, Form] = {}
    for group in reversed(listed):  # readers first: some want what their own result is kept as
        type_ = graph.type_of(group.result)
        wants = [
            (want, forms[reader.result].flipped if want.like_result else want.flips(type_))
            for reader, want in readers.get(group.result, [])
        ]
        form = _form(group, wants, _read_elsewhere(group.result, taken), signed)
        # A reshape needs the bytes one behind the other.
        forms[group.result] = Form(form.flipped) if group.result in reshaped else form
    return forms


def _form(group: Group, wants: list[tuple[Want, bool]], read_elsewhere: bool, signed: bool) -> Form:
    """``wants`` of its readers, each with whether that is the other sign than the type's."""
    if not wants or read_elsewhere:
        return PLAIN
    flips = [flips for want, flips in wants if not want.any_sign]
    # Where every reader takes both, the usual one too: the fewer forms, the fewer kernels.
    type_ = graph.type_of(group.result)
    flipped = any(flips) if flips else Want(signed).flips(type_)
    border = NO_BORDER
    for want, _ in wants if group.result_has_border else ():
        border = tuple(map(max, border, want.border))  # type: ignore[assignment]
    return Form(flipped, border)


def _read_elsewhere(value: Any, taken: set[Any]) -> bool:
    """Whether an op that is in no group reads a value or a reshape of it."""
    for use in value.uses:
        op = use.owner.operation
        if op in taken:
            continue
        is_view = op.name == "qnn.reshape" and base_of(op.results[0]) != op.results[0]
        if not is_view or _read_elsewhere(op.results[0], taken):
            return True
    return False
