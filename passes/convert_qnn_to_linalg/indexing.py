"""Ops whose places are values: gather, scatter_nd, dynamic_slice, dynamic_update_slice, one_hot.

Each is one op over the result whose body reads elements at computed places; places are limited first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .arith import to_result, widen
from .builder import Builder, Formula, Value
from .core import Call, storage_kind
from .rearrangement import operand_as_result
from .scalar import Body, Scalar


def gather(builder: Builder, call: Call) -> Value:
    """``result[p, q, s] = input[p, limited(indices[p[:batch_dims], q, :]), s]``."""
    source, indices = call.types
    x, places = call.operand(0), call.operand(1)
    axis, batch_dims, depth = call["axis"], call["batch_dims"], indices.shape[-1]
    middle = len(indices.shape) - 1 - batch_dims
    names = [f"d{i}" for i in range(len(call.result.shape))]
    read = [*names[:batch_dims], *names[axis : axis + middle]]
    inputs = [(places, ", ".join([*read, str(k)])) for k in range(depth)]

    def element(*scalars: Scalar) -> Scalar:
        body = scalars[0].body
        chosen = [_limited(index, source.shape[axis + k] - 1) for k, index in enumerate(scalars[:depth])]
        before = [body.index(d) for d in range(axis)]
        behind = [body.index(d) for d in range(axis + middle, len(names))]
        return body.extract(x, [*before, *chosen, *behind])

    output = (builder.empty(call.result.shape, storage_kind(source)), ", ".join(names))
    value = builder.generic(" ".join(names), inputs, [output], element)[0]
    return to_result(builder, call, value, source)


def _limited(index: Scalar, last: int) -> Scalar:
    """``min(max(index, 0), last)`` as an index."""
    return index.extend("i64").clip(0, last).to_index()


def scatter_nd(builder: Builder, call: Call) -> Value:
    """``result[i, s] = sum_q(indices[q, :] = i ? updates[q, s] : 0)``: every place looks at every update."""
    updates, indices = call.types
    shape, depth = call.result.shape, indices.shape[-1]
    count = math.prod(indices.shape[:-1])
    values = builder.reshape(call.operand(0), (count, *shape[depth:]))
    places = builder.reshape(call.operand(1), (count, depth))
    names = [f"d{i}" for i in range(len(shape))]
    inputs = [(values, ", ".join(["q", *names[depth:]])), *((places, f"q, {k}") for k in range(depth))]
    kind = "i32" if updates.is_quantized else storage_kind(updates)

    def accumulate(update: Scalar, *scalars: Scalar) -> Scalar:
        body, total = update.body, scalars[-1]
        here = body.constant("i1", -1)
        for dimension, index in enumerate(scalars[:depth]):
            # The loop of the updates lies between the dimensions they index and the others.
            here = here & index.extend("i64").compare("eq", body.index(dimension).index_to("i64"))
        if updates.element == "i1":
            return total | (here & update)
        value = widen(update, updates.params) - updates.params.zero_point if updates.is_quantized else update
        return here.select(total + value, total)

    loops = " ".join([*names[:depth], "+q", *names[depth:]])
    start = (builder.filled(shape, kind, 0), ", ".join(names))
    total = builder.generic(loops, inputs, [start], accumulate)[0]
    if not updates.is_quantized:
        return total
    params = call.result.params
    stored, (low, high) = storage_kind(call.result), (params.storage.minimum, params.storage.maximum)

    def finish(acc: Scalar) -> Scalar:
        return (acc.extend("i64") + params.zero_point).clip(low, high).truncate(stored)

    return builder.elementwise([total], shape, stored, finish)


def dynamic_slice(builder: Builder, call: Call) -> Value:
    """``result[i] = input[start + i]``."""
    source, shape = call.types[0], call.result.shape
    x, begin = call.operand(0), call.operand(1)

    def element(unused: Scalar) -> Scalar:
        body = unused.body
        starts = _starts(body, begin, source.shape, shape)
        places = [(start + body.index(d).index_to("i64")).to_index() for d, start in enumerate(starts)]
        return body.extract(x, places)

    return to_result(builder, call, _over(builder, shape, storage_kind(source), element), source)


def dynamic_update_slice(builder: Builder, call: Call) -> Value:
    """``result[j] = inside(j - start) ? update[j - start] : input[j]``."""
    shape, part = call.types[0].shape, call.types[1].shape
    x, update = (operand_as_result(builder, call, i) for i in (0, 1))
    begin = call.operand(2)
    names = ", ".join(f"d{d}" for d in range(len(shape)))

    def element(old: Scalar, _: Scalar) -> Scalar:
        body = old.body
        inside, places = body.constant("i1", -1), []
        for d, start in enumerate(_starts(body, begin, shape, part)):
            place = body.index(d).index_to("i64") - start
            inside = inside & (place >= 0) & (place < part[d])
            places.append(_limited(place, part[d] - 1))
        return inside.select(body.extract(update, places), old)

    kind = storage_kind(call.result)
    output = (builder.empty(shape, kind), names)
    return builder.generic(names.replace(",", ""), [(x, names)], [output], element)[0]


def _starts(body: Body, begin: Value, shape: Sequence[int], sizes: Sequence[int]) -> list[Scalar]:
    """Where a part of ``sizes`` begins in a tensor of ``shape``, per dimension, limited to where it fits."""
    starts = []
    for d, (extent, size) in enumerate(zip(shape, sizes, strict=True)):
        stored = body.extract(begin, [body.constant("index", d)])
        starts.append(stored.extend("i64").clip(0, extent - size))
    return starts


def _over(builder: Builder, shape: Sequence[int], kind: str, element: Formula) -> Value:
    """An op over the result whose body reads what it needs."""
    names = [f"d{i}" for i in range(len(shape))]
    output = (builder.empty(shape, kind), ", ".join(names))
    return builder.generic(" ".join(names), [], [output], element)[0]


def one_hot(builder: Builder, call: Call) -> Value:
    """``result[p, k, q] = indices[p, q] = k ? on_value : off_value``."""
    axis, shape = call["axis"], call.result.shape
    names = [f"d{i}" for i in range(len(shape))]
    rest = ", ".join(name for d, name in enumerate(names) if d != axis)
    on_value, off_value = (operand_as_result(builder, call, i) for i in (0, 1))
    inputs = [(on_value, ""), (off_value, ""), (call.operand(2), rest)]

    def element(on: Scalar, off: Scalar, index: Scalar, _: Scalar) -> Scalar:
        here = index.body.index(axis).index_to("i64")
        return index.extend("i64").compare("eq", here).select(on, off)

    output = (builder.empty(shape, storage_kind(call.result)), ", ".join(names))
    return builder.generic(" ".join(names), inputs, [output], element)[0]
