"""top_k: selection, one value after the other. nonzero: a list that grows. Both are kernels of loops."""

from __future__ import annotations

import math
from typing import Any

from .builder import Builder, Value
from .core import Call, is_signed, storage_kind
from .scalar import Body, Scalar
from .sort_key import ABOVE_KEYS, MINUS_INFINITY, NO_KEY, place_of_key, sort_key


def top_k(builder: Builder, call: Call) -> Value:
    """``result[r, k]`` = the place of the largest key of row ``r`` that is less than the one before."""
    source, kind = call.types[0], storage_kind(call.result)
    if storage_kind(source) == "i64":
        return _top_k_wide(builder, call)
    count, places = source.shape[-1], call.result.shape[-1]
    rows = math.prod(source.shape[:-1])

    def write(body: Body, arguments: list[Any]) -> Any:
        values, keys, result = arguments

        def of_row(body: Body, row: Scalar, state: list[Any]) -> list[Any]:
            result, keys = state[0], _keys(body, values, row, state[1], count, signed=is_signed(source))

            def select(body: Body, k: Scalar, state: list[Any]) -> list[Any]:
                best = body.adopt(_highest_below(body, keys, count, state[1]))
                place = place_of_key(best).truncate(kind)
                return [body.insert(place, state[0], [body.adopt(row.value), k]), best.value]

            start = [result, body.constant("i64", ABOVE_KEYS).value]
            return [body.loop(body.constant("index", places), start, select)[0], keys]

        return body.loop(body.constant("index", rows), [result, keys], of_row)[0]

    values = builder.reshape(call.operand(0), (rows, count))
    result = builder.empty((rows, places), kind)
    result = builder.kernel("top_k", [values, builder.empty((count,), "i64")], result, write)
    return builder.reshape(result, call.result.shape)


def _keys(body: Body, values: Any, row: Scalar, keys: Any, count: int, *, signed: bool) -> Any:
    """The keys of a row; NaN counts as minus infinity."""

    def step(body: Body, i: Scalar, state: list[Any]) -> list[Any]:
        value = body.extract(values, [body.adopt(row.value), i])
        if not value.is_float:
            value = value.extend("i64", signed=signed)
        return [body.insert(sort_key(value, i, MINUS_INFINITY), state[0], [i])]

    return body.loop(body.constant("index", count), [keys], step)[0]


def _highest_below(body: Body, keys: Any, count: int, last: Any) -> Any:
    def step(body: Body, i: Scalar, state: list[Any]) -> list[Any]:
        key = body.extract(keys, [i])
        key = (key < body.adopt(last)).select(key, NO_KEY)
        return [body.adopt(state[0]).maximum(key).value]

    return body.loop(body.constant("index", count), [body.constant("i64", NO_KEY).value], step)[0]


def _top_k_wide(builder: Builder, call: Call) -> Value:
    """Of 64-bit integers: the best among what comes after the ``k - 1`` best, in one pass each.

    The state of a row is the best value so far in this pass with its index, and that of the pass before. A
    loop over places inside one over passes: both carry the state, so both reduce.
    """
    shape, index_kind = call.types[0].shape, storage_kind(call.result)
    rows = [f"d{i}" for i in range(len(shape) - 1)]
    row = ", ".join(rows)

    def step(
        value: Scalar, _: Scalar, best: Scalar, at: Scalar, last: Scalar, last_at: Scalar
    ) -> list[Scalar]:
        body = value.body
        number, place = (body.index(len(rows) + i).index_to(index_kind) for i in (0, 1))
        begins = place.compare("eq", 0)
        last, last_at = begins.select(best, last), begins.select(at, last_at)
        at = begins.select(body.constant(index_kind, -1), at)
        follows = (value < last) | (value.compare("eq", last) & (place > last_at))
        wins = (number.compare("eq", 0) | follows) & ((at < 0) | (value > best))
        best, at = wins.select(value, best), wins.select(place, at)
        return [at, best, at, last, last_at]

    # What a state starts with is never read; equal constants would be one tensor, which two states share.
    values = [builder.filled(shape[:-1], "i64", value) for value in (0, 1)]
    places = [builder.filled(shape[:-1], index_kind, value) for value in (2, 3)]
    result = builder.empty(call.result.shape, index_kind)
    outputs = [(result, ", ".join([*rows, "k"]))]
    outputs += [(state, row) for state in (values[0], places[0], values[1], places[1])]
    inputs = [(call.operand(0), ", ".join([*rows, "n"]))]
    return builder.generic(" ".join([*rows, "+k", "+n"]), inputs, outputs, step)[0]


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
