"""log_softmax, l2_normalization and local_response_normalization."""

from __future__ import annotations

import numpy as np

from ...dialect import fixed_point_functions as fixed
from ...dialect import normalization as constants
from ...dialect.activation_tables import is_natural
from ...dialect.fixed_point import INT32_MAX, INT32_MIN
from ...dialect.types import QuantParams, TensorType
from .activation import Rows, reciprocal_of_one_plus
from .arith import require_per_tensor, rounding_divide_by_pot, srdhm, to_result, widen
from .builder import Builder, Value
from .core import Call, storage_kind
from .scalar import Scalar


def log_softmax(builder: Builder, call: Call) -> Value:
    """Per row: the largest value, the logarithm of the exponentials' sum, the differences."""
    rows, x = _rows(builder, call), call.operand(0)
    if call.types[0].is_quantized:
        return _to_result(builder, call, _log_softmax_8bit(rows, call))
    largest = rows.reduce(x, "f32", -np.inf, lambda e, best: e.maximum(best))
    distances = rows.map(x, [largest], "f64", lambda e, best: e.extend("f64") - best.extend("f64"))
    total = rows.reduce(distances, "f64", 0.0, lambda e, acc: acc + e.call("exp"))
    return rows.map(distances, [total], "f32", lambda e, sum_: (e - sum_.call("log")).truncate("f32"))


def l2_normalization(builder: Builder, call: Call) -> Value:
    """Per row: the sum of squares, then each element times its inverse root."""
    rows, x = _rows(builder, call), call.operand(0)
    if call.types[0].is_quantized:
        return _to_result(builder, call, _l2_normalization_8bit(rows, call))
    total = rows.reduce(x, "f64", 0.0, lambda e, acc: acc + e.extend("f64") * e.extend("f64"))

    def quotient(e: Scalar, squares: Scalar) -> Scalar:
        return (e.extend("f64") / squares.call("sqrt").maximum(1e-6)).truncate("f32")

    return rows.map(x, [total], "f32", quotient)


def _rows(builder: Builder, call: Call) -> Rows:
    return Rows(builder, call.types[0].shape, call["axis"])


def _to_result(builder: Builder, call: Call, value: Value) -> Value:
    """From the kernel's own parameters to the declared ones."""
    require_per_tensor(call.result, "the result")
    produced = constants.natural_params(_name(call), call.types[0].params.storage)
    if is_natural(call.result.params, produced):
        return value
    return to_result(builder, call, value, TensorType(call.types[0].shape, produced))


def _name(call: Call) -> str:
    return str(call.op.name).removeprefix("qnn.")


def _finished(x: Scalar, produced: QuantParams) -> Scalar:
    storage = produced.storage
    value = (x + produced.zero_point).clip(storage.minimum, storage.maximum)
    return value.truncate(storage_kind(TensorType((), produced)))


def _log_softmax_8bit(rows: Rows, call: Call) -> Value:
    """See ``normalization.LogSoftmax8``."""
    source, builder = require_per_tensor(call.types[0], "the input"), rows.builder
    produced = constants.natural_params(constants.LOG_SOFTMAX, source.storage)
    numbers = constants.log_softmax_8bit(source.scale)
    exps = builder.constant(np.asarray(numbers.exps, np.int32), f"{call.name}_exp")
    differences = builder.constant(np.asarray(numbers.differences, np.int32), f"{call.name}_difference")
    wide = builder.elementwise([call.operand(0)], call.types[0].shape, "i32", lambda e: widen(e, source))
    largest = rows.reduce(wide, "i32", -(1 << 15), lambda e, best: e.maximum(best))
    distances = rows.map(wide, [largest], "i32", lambda e, best: best - e)

    def add_exp(e: Scalar, acc: Scalar) -> Scalar:
        return acc + rounding_divide_by_pot(e.body.extract(exps, [e.to_index()]), 12)

    total = rows.reduce(distances, "i32", 0, add_exp)
    logs = builder.elementwise([total], total.type.shape, "i32", _logarithm)
    left, right = max(numbers.reverse_shift, 0), max(-numbers.reverse_shift, 0)

    def difference(e: Scalar, log: Scalar) -> Scalar:
        reverse = rounding_divide_by_pot(srdhm((log + INT32_MIN) << left, numbers.reverse_multiplier), right)
        reached = e.body.constant("i32", 0) - e > reverse.maximum(numbers.diff_min - 1)
        value = rounding_divide_by_pot(e.body.extract(differences, [e.to_index()]) - log, 22)
        return _finished(reached.select(value, -256), produced)

    return rows.map(distances, [logs], storage_kind(call.types[0]), difference)


def _logarithm(x: Scalar) -> Scalar:
    """``fixed_point_functions.logarithm`` of an i32."""
    zeros, quarter = x.call("ctlz"), 1 << (fixed.LOG_STEP - 2)
    twelve = x.body.constant("i32", 12)
    wide = x.extend("i64")
    first = _saturated(srdhm(x << (zeros - 1), fixed.SQRT_HALF).extend("i64") << 1)
    headroom = srdhm(x, fixed.SQRT_HALF).call("ctlz") - 1
    ratio = _saturated(wide << headroom.extend("i64")).minimum(first)
    exponent = (((twelve - zeros) << fixed.LOG_STEP) + quarter).maximum(
        ((twelve - headroom) << fixed.LOG_STEP) - quarter
    )
    middle = ((ratio.extend("i64") + (fixed.FOURTH_ROOT_OF_HALF + 1)) >> 1).truncate("i32")
    q = (ratio - fixed.FOURTH_ROOT_OF_HALF) << 1
    square = srdhm(q, q)
    numerator = srdhm(q, ratio) + srdhm(srdhm(q, square), fixed.LOG_NUMERATOR)
    constant, quadratic, linear = fixed.LOG_DENOMINATOR
    inner = srdhm(square, quadratic) + q + constant
    inverse = reciprocal_of_one_plus((srdhm(middle, inner) + srdhm(q, linear)).extend("i64"))
    total = srdhm(exponent, fixed.LOG_TWO) + srdhm(rounding_divide_by_pot(numerator, 6), inverse)
    return _saturated(total.extend("i64") << 1)


def _saturated(x: Scalar) -> Scalar:
    return x.clip(INT32_MIN, INT32_MAX).truncate("i32")


def _l2_normalization_8bit(rows: Rows, call: Call) -> Value:
    """See ``meaning.normalization``: one rounding rule for int8, another for uint8."""
    source, builder = require_per_tensor(call.types[0], "the input"), rows.builder
    produced = constants.natural_params(constants.L2_NORMALIZATION, source.storage)

    def steps(e: Scalar) -> Scalar:
        return widen(e, source) - source.zero_point

    x = call.operand(0)
    total = rows.reduce(x, "i32", 0, lambda e, acc: acc + steps(e) * steps(e))
    shape = total.type.shape
    inverses = builder.elementwise([total], shape, "i32", lambda acc: inverse_square_root(acc)[0])
    shifts = builder.elementwise([total], shape, "i32", lambda acc: inverse_square_root(acc)[1])

    def scaled(e: Scalar, inverse: Scalar, shift: Scalar) -> Scalar:
        if not source.storage.signed:
            return _finished(rounding_divide_by_pot(srdhm(steps(e) << 7, inverse), shift), produced)
        left = (e.body.constant("i32", 7) - shift).maximum(0)
        value = rounding_divide_by_pot(srdhm(steps(e) << left, inverse), (shift - 7).maximum(0))
        return _finished(value, produced)

    return rows.map(x, [inverses, shifts], storage_kind(call.types[0]), scaled)


def inverse_square_root(x: Scalar) -> tuple[Scalar, Scalar]:
    """``fixed_point_functions.inverse_square_root`` of an i32 from 0 on."""
    wide, shift = x.maximum(2), x.body.constant("i32", 11)
    for _ in range(2):
        large = wide >= 1 << 29
        wide, shift = large.select(wide >> 2, wide), shift + large.extend("i32", signed=False)
    pairs = ((wide.call("ctlz") - 1) >> 1) - 1
    wide, shift = wide << (pairs << 1), shift - pairs
    half_input = rounding_divide_by_pot(wide >> 1, 1)
    root = x.body.constant("i32", 1 << 28)
    for _ in range(5):
        cube = _saturated(srdhm(srdhm(root, root), root).extend("i64") << 6)
        step = srdhm(root, fixed.THREE_HALVES) - srdhm(half_input, cube)
        root = _saturated(step.extend("i64") << 3)
    root = srdhm(root, fixed.SQRT_HALF)
    zero = x.body.constant("i32", 0)
    root, shift = root << (zero - shift).maximum(0), shift.maximum(0)
    small = x.compare("le", 1)
    return small.select(x.body.constant("i32", INT32_MAX), root), small.select(zero, shift)


def local_response_normalization(builder: Builder, call: Call) -> Value:
    """Squares are summed in f64 over a padded window; then ``x * (bias + alpha * sum)^-beta``."""
    x, shape, radius = call.operand(0), list(call.types[0].shape), call["radius"]
    border = [0] * (len(shape) - 1) + [radius]
    names = [f"d{i}" for i in range(len(shape))]
    window = builder.empty([2 * radius + 1], "f32")
    read = ", ".join([*names[:-1], f"{names[-1]} + k"])
    (sums,) = builder.generic(
        f"{' '.join(names)} +k",
        [(builder.pad(x, border, border, 0.0), read), (window, "k")],
        [(builder.filled(shape, "f64", 0.0), ", ".join(names))],
        lambda e, _, acc: acc + e.extend("f64") * e.extend("f64"),
    )
    bias, alpha, beta = (float(call[name]) for name in ("bias", "alpha", "beta"))

    def scaled(e: Scalar, total: Scalar) -> Scalar:
        exponent = e.body.constant("f64", -beta)
        factor = e.body.create("math.powf", "f64", [total * alpha + bias, exponent])
        return (e.extend("f64") * factor).truncate("f32")

    return builder.elementwise([x, sums], shape, "f32", scaled)
