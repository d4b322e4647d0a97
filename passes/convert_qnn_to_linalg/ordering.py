"""top_k: selection, one value after the other. nonzero: a list that grows, a kernel of loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from .builder import Builder, Value
from .core import Call, is_signed, storage_kind
from .scalar import Body, Scalar


def top_k(builder: Builder, call: Call) -> Value:
    """``result[r, k]`` = the best of row ``r`` among what comes after the ``k - 1`` best, in one pass each.

    The state of a row is the best value so far in this pass with its index, and that of the pass before. A
    loop over places inside one over passes: both carry the state, so both reduce.
    """
    source, shape = call.types[0], call.types[0].shape
    kind, index_kind = storage_kind(source), storage_kind(call.result)
    rows = [f"d{i}" for i in range(len(shape) - 1)]
    row = ", ".join(rows)
    wide = kind if source.is_float else "i64"

    def step(x: Scalar, _: Scalar, best: Scalar, at: Scalar, last: Scalar, last_at: Scalar) -> list[Scalar]:
        body = x.body
        number, place = (body.index(len(rows) + i).index_to(index_kind) for i in (0, 1))
        value = _comparable(x, wide, signed=is_signed(source))
        begins = place.compare("eq", 0)
        last, last_at = begins.select(best, last), begins.select(at, last_at)
        at = begins.select(body.constant(index_kind, -1), at)
        follows = (value < last) | (value.compare("eq", last) & (place > last_at))
        wins = (number.compare("eq", 0) | follows) & ((at < 0) | (value > best))
        best, at = wins.select(value, best), wins.select(place, at)
        return [at, best, at, last, last_at]

    # What a state starts with is never read; equal constants would be one tensor, which two states share.
    values = [builder.filled(shape[:-1], wide, value) for value in (0, 1)]
    places = [builder.filled(shape[:-1], index_kind, value) for value in (2, 3)]
    result = builder.empty(call.result.shape, index_kind)
    outputs = [(result, ", ".join([*rows, "k"]))]
    outputs += [(state, row) for state in (values[0], places[0], values[1], places[1])]
    inputs = [(call.operand(0), ", ".join([*rows, "n"]))]
    return builder.generic(" ".join([*rows, "+k", "+n"]), inputs, outputs, step)[0]


def _comparable(x: Scalar, wide: str, *, signed: bool) -> Scalar:
    """Floats with NaN as -inf; integers in i64."""
    if x.is_float:
        return x.compare("unordered", x).select(x.body.constant(wide, -np.inf), x)
    return x.extend(wide, signed=signed)


def nonzero(builder: Builder, call: Call) -> Value:
    """``result[n++] = i`` for every ``i`` that holds, then -1."""
    count, kind = call.types[0].shape[0], storage_kind(call.result)

    def write(body: Body, arguments: list[Any]) -> Any:
        holds, result = arguments
        stop, none = body.constant("index", count), body.constant("index", 0)

        def keep(body: Body, i: Scalar, state: list[Any]) -> list[Any]:
            """What does not hold is written, too, and overwritten by the next."""
            length, one = body.adopt(state[1]), body.extract(holds, [i])
            longer = length + one.select(body.constant("index", 1), body.constant("index", 0))
            return [body.insert(i.index_to(kind), state[0], [length]), longer.value]

        listed, length = body.loop(stop, [result, none.value], keep)

        def end(body: Body, i: Scalar, state: list[Any]) -> list[Any]:
            found = i.index_to("i64") < body.adopt(length).index_to("i64")
            number = found.select(body.extract(state[0], [i]), body.constant(kind, -1))
            return [body.insert(number, state[0], [i])]

        return body.loop(stop, [listed], end)[0]

    return builder.kernel("nonzero", [call.operand(0)], builder.empty(call.result.shape, kind), write)
