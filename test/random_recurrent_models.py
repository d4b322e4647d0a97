"""Random one-operator models of TFLite's recurrent operators, over sequences of invocations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from drawn_model import Drawn
from random_tensors import Array

RUNS = 10
ABSENT = -1
HYBRID = "float32 x q int8"
OPERATORS = (
    "BIDIRECTIONAL_SEQUENCE_LSTM",
    "BIDIRECTIONAL_SEQUENCE_RNN",
    "LSTM",
    "RNN",
    "SVDF",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN",
)


@dataclass
class Stream(Drawn):
    """A model with state, and arrays for its inputs run after run. ``weights`` are floats or integers."""

    runs: list[list[Array]] = field(default_factory=list)
    weights_kind: str = "float32"

    @property
    def some(self) -> bool:
        return bool(self.rng.integers(0, 2))

    def size(self, high: int = 8) -> int:
        return int(self.rng.integers(1, high))

    def draw_runs(self, shapes: Sequence[Sequence[int]]) -> None:
        """What the inputs hold at every run: floats, or stored int8."""
        for _ in range(RUNS):
            if self.kind == "q int8":
                arrays = [self.rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
            else:
                arrays = [self.rng.normal(size=shape).astype(np.float32) for shape in shapes]
                if not self.rng.integers(0, 8):
                    arrays[0][...] = 0.0  # products that LiteRT leaves out
            self.runs.append(arrays)
        self.arrays = self.runs[0]

    def sequence(self, name: str, shape: Sequence[int]) -> int:
        self.inputs.append(self.model.tensor(name, shape, np.float32))
        return self.inputs[-1]

    def matrix(self, name: str, rows: int, columns: int) -> int:
        """Weights on float activations: of products that stay of the size of 1."""
        if self.weights_kind == "float32":
            values = self.rng.normal(size=(rows, columns)) / np.sqrt(columns)
            return self.model.constant(name, values.astype(np.float32))
        array = self.rng.integers(-127, 128, (rows, columns)).astype(np.int8)
        return self.model.constant(name, array, scales=float(self.rng.uniform(0.002, 0.01)))

    def vector(self, name: str, count: int) -> int:
        return self.model.constant(name, self.rng.normal(size=count).astype(np.float32))

    def small(self, name: str, count: int) -> int:
        """Weights of peepholes."""
        if self.weights_kind == "float32":
            return self.vector(name, count)
        array = self.rng.integers(-127, 128, count).astype(np.int8)
        return self.model.constant(name, array, scales=float(self.rng.uniform(0.002, 0.02)))

    def state(self, name: str, batch: int, width: int) -> int:
        return self.model.tensor(name, (batch, width), np.float32, variable=True)

    def gates(self, coupled: bool, make: Callable[[int], int], gates: Sequence[int] = range(4)) -> list[int]:
        """An input of the operator per gate; a coupled input gate has none."""
        return [ABSENT if coupled and gate == 0 else make(gate) for gate in gates]


def stream(rng: np.random.Generator, kind: str = "") -> Stream:
    """Of float activations, with weights of floats or integers, or (``q int8``) of integers."""
    kind = kind or str(rng.choice(["float32", HYBRID]))
    return Stream(rng, kind=kind, weights_kind="int8" if kind == HYBRID else "float32")


def _leading(time_major: bool, batch: int, time: int) -> tuple[int, ...]:
    return (time, batch) if time_major else (batch, time)


@dataclass(frozen=True)
class _Form:
    """What an LSTM has, and its sizes."""

    coupled: bool
    peepholes: bool
    projected: bool
    normalized: bool
    depth: int
    units: int
    outputs: int

    @classmethod
    def drawn(cls, drawn: Stream, normalized: bool = True) -> _Form:
        coupled, peepholes, projected, layered = (drawn.some for _ in range(4))
        units = drawn.size()
        outputs = drawn.size() if projected else units
        return cls(coupled, peepholes, projected, normalized and layered, drawn.size(), units, outputs)


def _lstm(drawn: Stream, form: _Form, name: str, diagonals: bool = False) -> list[int]:
    """Inputs 1 to 17 of an LSTM on floats. ``diagonals``: recurrent weights may be those of some matrices."""
    units, outputs, coupled = form.units, form.outputs, form.coupled

    def recurrent(gate: int) -> int:
        if diagonals and units == outputs and not drawn.rng.integers(0, 4):
            return drawn.vector(f"{name} r{gate}", units)
        return drawn.matrix(f"{name} r{gate}", units, outputs)

    inputs = drawn.gates(coupled, lambda gate: drawn.matrix(f"{name} w{gate}", units, form.depth))
    inputs += drawn.gates(coupled, recurrent)
    seen = drawn.gates(coupled, lambda gate: drawn.small(f"{name} p{gate}", units), range(3))
    inputs += seen if form.peepholes else [ABSENT] * 3
    inputs += drawn.gates(coupled, lambda gate: drawn.vector(f"{name} b{gate}", units))
    if not form.projected:
        return [*inputs, ABSENT, ABSENT]
    bias = drawn.vector(f"{name} pb", outputs) if drawn.some else ABSENT
    return [*inputs, drawn.matrix(f"{name} pw", outputs, units), bias]


def _options(drawn: Stream, form: _Form) -> dict[str, object]:
    clip = float(np.float32(drawn.rng.uniform(0.1, 1.0)))
    return {
        "FusedActivationFunction": str(drawn.rng.choice(["TANH", "TANH", "RELU6", "RELU_N1_TO_1"])),
        "CellClip": clip if drawn.some else 0.0,
        "ProjClip": clip if form.projected and drawn.some else 0.0,
        "AsymmetricQuantizeInputs": drawn.weights_kind == "int8" and drawn.some,
    }


def unidirectional_sequence_lstm(rng: np.random.Generator) -> Drawn:
    """On floats, or (half of them) on integers."""
    make = _integer_lstm if rng.integers(0, 2) else _float_lstm
    return make(rng, "UNIDIRECTIONAL_SEQUENCE_LSTM")


def lstm(rng: np.random.Generator) -> Drawn:
    """One step, of the same kinds or with one matrix."""
    make = (_integer_lstm, _float_lstm, _basic_lstm)[int(rng.integers(0, 3))]
    return make(rng, "LSTM")


def _float_lstm(rng: np.random.Generator, name: str) -> Drawn:
    drawn = stream(rng)
    form, time_major = _Form.drawn(drawn), drawn.some
    batch, time = drawn.size(4), drawn.size(6)
    leading = _leading(time_major, batch, time) if name != "LSTM" else (batch,)
    x = drawn.sequence("x", (*leading, form.depth))
    inputs = _lstm(drawn, form, "", name != "LSTM")
    states = [drawn.state("h", batch, form.outputs), drawn.state("c", batch, form.units)]
    layered = [ABSENT] * 4
    if form.normalized:
        layered = drawn.gates(form.coupled, lambda gate: drawn.vector(f"n{gate}", form.units))
    drawn.outputs = [drawn.model.tensor("y", (*leading, form.outputs), np.float32)]
    options = _options(drawn, form)
    if name != "LSTM":
        options["TimeMajor"] = time_major
    operands = [x, *inputs, *states, *layered]
    if not form.normalized and drawn.some:
        operands = operands[:20]
    drawn.model.op(name, operands, drawn.outputs, **options)
    drawn.draw_runs([(*leading, form.depth)])
    return drawn


def _basic_lstm(rng: np.random.Generator, name: str) -> Drawn:
    drawn = stream(rng, "float32")
    batch, depth, units, model = drawn.size(4), drawn.size(), drawn.size(), drawn.model
    x = drawn.sequence("x", (batch, depth))
    h, c = drawn.state("h", batch, units), drawn.state("c", batch, units)
    weights, bias = drawn.matrix("w", 4 * units, depth + units), drawn.vector("b", 4 * units)
    widths = (units, units, depth + units, 4 * units)
    drawn.outputs = [model.tensor(f"y{k}", (batch, width), np.float32) for k, width in enumerate(widths)]
    options = {"FusedActivationFunction": "TANH", "KernelType": 1}
    model.op(name, [x, h, weights, bias, c], drawn.outputs, **options)
    drawn.draw_runs([(batch, depth)])
    return drawn


def _integer_lstm(rng: np.random.Generator, name: str) -> Drawn:
    drawn = stream(rng, "q int8")
    form, time_major, model = _Form.drawn(drawn), drawn.some, drawn.model
    # Peepholes of more outputs than units are read from beyond their end.
    if form.peepholes and form.outputs > form.units:
        form = replace(form, outputs=form.units)
    batch, time = drawn.size(4), drawn.size(6)
    units, outputs, coupled = form.units, form.outputs, form.coupled
    leading = _leading(time_major, batch, time) if name != "LSTM" else (batch,)

    def scale(low: float, high: float) -> float:
        return float(np.float32(2.0 ** rng.uniform(low, high)))

    def weights(name: str, rows: int, columns: int) -> int:
        array = rng.integers(-127, 128, (rows, columns)).astype(np.int8)
        return model.constant(name, array, scales=scale(-9, -5))

    def vector(name: str, low: float, high: float) -> int:
        array = rng.integers(-32767, 32768, units).astype(np.int16)
        return model.constant(name, array, scales=scale(low, high))

    def bias(name: str, count: int, high: int) -> int:
        return model.constant(name, rng.integers(-high, high, count).astype(np.int32), scales=1e-4)

    high = 1 << 21 if form.normalized else 10_000
    inputs = [model.tensor("x", (*leading, form.depth), np.int8, scale(-8, -4), int(rng.integers(-128, 128)))]
    drawn.inputs = [inputs[0]]
    inputs += drawn.gates(coupled, lambda gate: weights(f"w{gate}", units, form.depth))
    inputs += drawn.gates(coupled, lambda gate: weights(f"r{gate}", units, outputs))
    seen = drawn.gates(coupled, lambda gate: vector(f"p{gate}", -16, -12), range(3))
    inputs += seen if form.peepholes else [ABSENT] * 3
    inputs += drawn.gates(coupled, lambda gate: bias(f"b{gate}", units, high))
    projection = [ABSENT, ABSENT]
    if form.projected:
        projection = [weights("p", outputs, units), bias("pb", outputs, 10_000) if drawn.some else ABSENT]
    s_h, zero_point = scale(-8, -6), int(rng.integers(-20, 20))
    s_y = scale(-7, -3) if form.projected else s_h
    h = model.tensor("h", (batch, outputs), np.int8, s_y, zero_point, variable=True)
    c = model.tensor("c", (batch, units), np.int16, 2.0 ** int(rng.integers(-15, -8)), variable=True)
    inputs += [*projection, h, c]
    if form.normalized:
        inputs += drawn.gates(coupled, lambda gate: vector(f"n{gate}", -16, -12))
    elif drawn.some:
        inputs += [ABSENT] * 4
    between = [model.tensor(f"i{gate}", (), np.int16, scale(-14, -10)) for gate in range(4)]
    hidden_zero = int(rng.integers(-20, 20)) if form.projected else zero_point
    between.append(model.tensor("hidden", (), np.int8, s_h, hidden_zero))
    drawn.outputs = [model.tensor("y", (*leading, outputs), np.int8, s_y, zero_point)]
    options = {**_options(drawn, form), "FusedActivationFunction": "TANH"}
    if name != "LSTM":
        options["TimeMajor"] = time_major
    model.op(name, inputs, drawn.outputs, between, **options)
    drawn.draw_runs([(*leading, form.depth)])
    return drawn


def _directions(
    drawn: Stream, leading: tuple[int, ...], widths: Sequence[int], merged: bool
) -> dict[str, object]:
    """The outputs of a bidirectional operator."""
    shapes = [sum(widths)] if merged else widths
    drawn.outputs = [
        drawn.model.tensor(f"y{k}", (*leading, width), np.float32) for k, width in enumerate(shapes)
    ]
    return {"MergeOutputs": merged}


def bidirectional_sequence_lstm(rng: np.random.Generator) -> Drawn:
    """With an auxiliary input or without, which has weights of its own or not."""
    drawn = stream(rng)
    form, other = _Form.drawn(drawn, normalized=False), _Form.drawn(drawn, normalized=False)
    # Both are of one size, or LiteRT refuses.
    other = replace(form, coupled=other.coupled, peepholes=other.peepholes)
    merged, role = drawn.some, str(rng.choice(["none", "input", "weights"]))
    # Of merged outputs of several batches with the batch first LiteRT takes the states of a batch from where
    # its outputs would lie, twice as far on.
    batch, time = drawn.size(4), drawn.size(6)
    time_major = drawn.some or (merged and batch > 1)
    leading = _leading(time_major, batch, time)
    x = drawn.sequence("x", (*leading, form.depth))
    inputs, states, auxiliary = [], [], [ABSENT] * 9
    for name, one in (("f", form), ("b", other)):
        inputs += _lstm(drawn, one, name)
        states += [drawn.state(f"{name} h", batch, one.outputs), drawn.state(f"{name} c", batch, one.units)]
    if role != "none":
        auxiliary[0] = drawn.sequence("a", (*leading, form.depth))
    if role == "weights":
        for first, one in ((1, form), (5, other)):
            auxiliary[first : first + 4] = drawn.gates(
                one.coupled, lambda gate, one=one: drawn.matrix(f"a{gate}", one.units, one.depth)
            )
    options = {**_options(drawn, form), **_directions(drawn, leading, (form.outputs, other.outputs), merged)}
    drawn.model.op(
        "BIDIRECTIONAL_SEQUENCE_LSTM",
        [x, *inputs, *states, *auxiliary],
        drawn.outputs,
        TimeMajor=time_major,
        **options,
    )
    drawn.draw_runs([(*leading, form.depth)] * len(drawn.inputs))
    return drawn


def _rnn(drawn: Stream, name: str, depth: int, units: int, batch: int) -> list[int]:
    weights, recurrent = drawn.matrix(f"{name} w", units, depth), drawn.matrix(f"{name} r", units, units)
    return [weights, recurrent, drawn.vector(f"{name} b", units), drawn.state(f"{name} h", batch, units)]


def _rnn_options(drawn: Stream) -> dict[str, object]:
    return {
        "FusedActivationFunction": str(drawn.rng.choice(["TANH", "NONE", "RELU6", "RELU_N1_TO_1"])),
        "AsymmetricQuantizeInputs": drawn.weights_kind == "int8" and drawn.some,
    }


def rnn(rng: np.random.Generator) -> Drawn:
    """RNN and UNIDIRECTIONAL_SEQUENCE_RNN."""
    drawn = stream(rng)
    batch, depth, units, time_major = drawn.size(4), drawn.size(), drawn.size(), drawn.some
    options = _rnn_options(drawn)
    leading: tuple[int, ...] = (batch,)
    name = str(rng.choice(["RNN", "UNIDIRECTIONAL_SEQUENCE_RNN"]))
    if name != "RNN":
        leading = _leading(time_major, batch, drawn.size(6))
        options["TimeMajor"] = time_major
    x = drawn.sequence("x", (*leading, depth))
    drawn.outputs = [drawn.model.tensor("y", (*leading, units), np.float32)]
    drawn.model.op(name, [x, *_rnn(drawn, "", depth, units, batch)], drawn.outputs, **options)
    drawn.draw_runs([(*leading, depth)])
    return drawn


def bidirectional_sequence_rnn(rng: np.random.Generator) -> Drawn:
    """With an auxiliary input or without, which has weights of its own or not."""
    drawn = stream(rng)
    batch, depth, time_major, merged = drawn.size(4), drawn.size(), drawn.some, drawn.some
    widths, time = (drawn.size(), drawn.size()), drawn.size(6)
    roles = ["none", "input", "weights"]
    if time_major and drawn.weights_kind == "int8":
        # LiteRT goes through the whole sequence as often as it has steps, and beyond merged outputs.
        time, merged = 1, merged and batch == 1
    if not time_major:
        roles.remove("input")  # LiteRT reads the other input backwards
    role = str(rng.choice(roles))
    leading = _leading(time_major, batch, time)
    x = drawn.sequence("x", (*leading, depth))
    inputs = [*_rnn(drawn, "f", depth, widths[0], batch), *_rnn(drawn, "b", depth, widths[1], batch)]
    auxiliary = [ABSENT] * 3
    if role != "none":
        auxiliary[0] = drawn.sequence("a", (*leading, depth))
    if role == "weights":
        auxiliary[1:] = [drawn.matrix(f"a{k}", width, depth) for k, width in enumerate(widths)]
    options = {**_rnn_options(drawn), **_directions(drawn, leading, widths, merged), "TimeMajor": time_major}
    drawn.model.op("BIDIRECTIONAL_SEQUENCE_RNN", [x, *inputs, *auxiliary], drawn.outputs, **options)
    drawn.draw_runs([(*leading, depth)] * len(drawn.inputs))
    return drawn


def svdf(rng: np.random.Generator) -> Drawn:
    """On floats, or (half of them) on integers."""
    drawn = stream(rng, "q int8" if rng.integers(0, 2) else "")
    batch, depth, units, memory, rank = (drawn.size(high) for high in (4, 9, 9, 9, 4))
    filters, integer, model = units * rank, drawn.kind == "q int8", drawn.model
    if integer:
        s_x, s_f, s_t = (float(np.float32(s)) for s in 2.0 ** rng.uniform(-10, -3, 3))
        s_s = float(np.float32(s_x * s_f * 2.0 ** rng.uniform(-4, 2)))
        s_y = float(np.float32(s_s * s_t * 2.0 ** rng.uniform(2, 14)))
        x = model.tensor("x", (batch, depth), np.int8, s_x, int(rng.integers(-128, 128)))
        drawn.inputs = [x]
        weights = rng.integers(-127, 128, (filters, depth)).astype(np.int8)
        feature = model.constant("feature", weights, scales=s_f)
        over_time = rng.integers(-2000, 2001, (filters, memory)).astype(np.int16)
        time = model.constant("time", over_time, scales=s_t)
        bias = model.constant("bias", rng.integers(-9999, 9999, units).astype(np.int32), scales=s_s * s_t)
        state = model.tensor("state", (batch, filters * memory), np.int16, s_s, variable=True)
        y = model.tensor("y", (batch, units), np.int8, s_y, int(rng.integers(-128, 128)))
    else:
        x = drawn.sequence("x", (batch, depth))
        feature, time = drawn.matrix("feature", filters, depth), drawn.matrix("time", filters, memory)
        bias, state = drawn.vector("bias", units), drawn.state("state", batch, filters * memory)
        y = model.tensor("y", (batch, units), np.float32)
    drawn.outputs = [y]
    options = {
        "Rank": rank,
        "FusedActivationFunction": "RELU" if integer else str(rng.choice(["NONE", "RELU", "RELU6"])),
        "AsymmetricQuantizeInputs": drawn.weights_kind == "int8" and drawn.some,
    }
    operands = [x, feature, time, bias if rng.integers(4) else ABSENT, state]
    model.op("SVDF", operands, drawn.outputs, **options)
    drawn.draw_runs([(batch, depth)])
    return drawn


MODELS = {
    "unidirectional_sequence_lstm": unidirectional_sequence_lstm,
    "bidirectional_sequence_lstm": bidirectional_sequence_lstm,
    "lstm": lstm,
    "rnn": rnn,
    "bidirectional_sequence_rnn": bidirectional_sequence_rnn,
    "svdf": svdf,
}
"""Name -> a function that draws a model with inputs, run after run."""
