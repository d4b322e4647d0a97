"""The TFLite reader on damaged and hostile files: each is an ImportModelError that says what is wrong."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable

import numpy as np
import pytest

from tflite_builder import Builder
from zeropoint.errors import ImportModelError, ZeropointError
from zeropoint.frontends import load_bytes
from zeropoint.frontends.tflite.flatbuffer import FlatBuffer
from zeropoint.frontends.tflite.reader import read_model
from zeropoint.frontends.tflite.schema import (
    BUILTINS,
    ELEMENT_TYPES,
    OPTION_FIELDS,
    OPTION_TABLES,
    OPTIONS_OF,
)

X, W, BIAS, Y = range(4)


def network() -> Builder:
    """FULLY_CONNECTED of x [2, 5] with per-channel weights [3, 5] and a bias."""
    b = Builder()
    b.tensor("x", (2, 5), np.int8, scales=0.1, zero_points=7)
    b.constant("w", np.arange(15, dtype=np.int8).reshape(3, 5), scales=(0.02, 0.03, 0.01))
    b.constant("bias", np.asarray([1, 2, 3], np.int32), scales=(0.002, 0.003, 0.001))
    b.tensor("y", (2, 3), np.int8, scales=0.5, zero_points=-8)
    b.op("FULLY_CONNECTED", [X, W, BIAS], [Y])
    return b


def read(b: Builder, inputs: tuple[int, ...] = (X,), outputs: tuple[int, ...] = (Y,)) -> None:
    read_model(b.build(inputs, outputs), "m.tflite")


def test_reads_what_was_written() -> None:
    model = read_model(network().build([X], [Y]), "m.tflite")
    (graph,) = model.graphs
    assert [tensor.name for tensor in graph.tensors] == ["x", "w", "bias", "y"]
    assert graph.inputs == (X,)
    assert graph.outputs == (Y,)
    x, w = graph.tensors[X], graph.tensors[W]
    assert x.type.params.scale == float(np.float32(0.1))
    assert x.type.params.zero_point == 7
    assert w.type.params.axis == 0
    assert w.data is not None
    np.testing.assert_array_equal(w.data, np.arange(15, dtype=np.int8).reshape(3, 5))
    (operator,) = graph.operators
    assert operator.name == "FULLY_CONNECTED"
    assert operator.options == {
        "activation": "NONE",
        "weights_format": "DEFAULT",
        "keep_num_dims": False,
        "asymmetric_inputs": False,
        "bias_type": 0,
    }


def change(index: int, **fields: object) -> Callable[[Builder], None]:
    """Change fields of one tensor of the network."""

    def apply(b: Builder) -> None:
        for name, value in fields.items():
            setattr(b.tensors[index], name, value)

    return apply


def rewire(inputs: list[int] | None = None, outputs: list[int] | None = None) -> Callable[[Builder], None]:
    """Give the operator other inputs or outputs."""

    def apply(b: Builder) -> None:
        operator = b.operators[0]
        operator.inputs, operator.outputs = inputs or operator.inputs, outputs or operator.outputs

    return apply


def then(*operators: tuple[str, list[int], list[int]]) -> Callable[[Builder], None]:
    """Add tensors 4 and 5 like y, and operators."""

    def apply(b: Builder) -> None:
        for name in ("t", "u"):
            b.tensor(name, (2, 3), np.int8, scales=0.5)
        for name, inputs, outputs in operators:
            b.op(name, inputs, outputs)

    return apply


FAULTS: dict[str, tuple[Callable[[Builder], None], str]] = {
    "negative extent": (change(X, shape=(2, -5)), "tensor 0 ('x'): shape [2, -5] has a negative extent"),
    "huge shape": (change(X, shape=(2**31 - 1,) * 4), "more than the limit of 1073741824"),
    "shape product 2^64": (change(X, shape=(65536,) * 4), "needs 18446744073709551616 bytes"),
    "unknown type": (change(X, type=99), "unknown tensor type 99, expected 0 to 22"),
    "scale nan": (change(X, scales=(np.nan,)), "scale must be finite and positive, got nan"),
    "scale infinite": (change(X, scales=(np.inf,)), "scale must be finite and positive, got inf"),
    "scale negative": (change(X, scales=(-0.5,)), "scale must be finite and positive, got -0.5"),
    "scale 0": (change(X, scales=(0.0,)), "scale must be positive, got 0"),
    "scale denormal": (change(Y, scales=(1e-45,)), "is denormal, expected at least 1.17549e-38"),
    "zero point of int8": (
        change(X, zero_points=(300,)),
        "FULLY_CONNECTED (op 0), tensor 0 ('x'): zero point 300 lies outside the range of i8 storage, "
        "[-128, 127]",
    ),
    "zero point 2^62": (change(X, zero_points=(2**62,)), "zero point 4611686018427387904 lies outside"),
    "zero point count": (change(W, zero_points=(0, 0)), "zero points: got 2, expected 3 (one per scale)"),
    "zero point per channel": (change(W, zero_points=(0, 5, 0)), "per-channel i8 tensor must be 0, got 5"),
    "scale count": (
        change(W, scales=(0.1, 0.2), zero_points=(0, 0)),
        "per-axis scales: got 2, expected 3 (the extent of dimension 0)",
    ),
    "axis": (change(W, axis=2), "quantized dimension 2 does not exist in shape [3, 5]"),
    "axis negative": (change(W, axis=-1), "quantized dimension -1 does not exist"),
    "constant too small": (change(BIAS, data=b"\x01\x02"), "holds 2 bytes, expected 12 for INT32 [3]"),
    "constant too large": (change(W, data=b"\x00" * 16), "holds 16 bytes, expected 15 for INT8 [3, 5]"),
    "no data": (change(W, data=None), "input 'w' has no value: no operator writes it"),
    "input index": (rewire(inputs=[X, 99, BIAS]), "input tensor 99 does not exist, the graph has 4 tensors"),
    "input index -7": (rewire(inputs=[X, -7, BIAS]), "input tensor -7 does not exist"),
    "output index": (rewire(outputs=[50]), "output tensor 50 does not exist"),
    "output index -1": (rewire(outputs=[-1]), "output tensor -1 does not exist"),
    "writes a constant": (rewire(outputs=[W]), "FULLY_CONNECTED (op 0, output 'w'): writes the constant 'w'"),
    "writes an input": (rewire(outputs=[X]), "writes the graph input 'x'"),
    "self loop": (rewire(inputs=[Y, W, BIAS]), "depends on its own output (the graph has a cycle)"),
    "cycle": (then(("RELU", [5], [4]), ("RELU", [4], [5])), "RELU (op 1, output 't'): depends on its own"),
    "two writers": (
        then(("RELU", [X], [Y])),
        "RELU (op 1, output 'y'): tensor 'y' is already written by FULLY_CONNECTED (op 0)",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(fault: str) -> None:
    apply, message = FAULTS[fault]
    b = network()
    apply(b)
    with pytest.raises(ImportModelError) as caught:
        read(b)
    assert str(caught.value).startswith("m.tflite: error: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ((42,), (Y,), "graph input 42 does not exist, the graph has 4 tensors"),
        ((X,), (-1,), "graph output -1 does not exist"),
        ((X, X), (Y,), "graph inputs [0, 0] name a tensor twice"),
        ((X, W), (Y,), "graph input 'w' has constant data"),
    ],
)
def test_graph_ends(inputs: tuple[int, ...], outputs: tuple[int, ...], message: str) -> None:
    with pytest.raises(ImportModelError, match=message.replace("[", r"\[")):
        read(network(), inputs, outputs)


def test_output_without_a_value() -> None:
    b = network()
    b.tensor("orphan", (1,), np.int8, scales=0.5)
    with pytest.raises(ImportModelError, match="graph output 'orphan' has no value"):
        read(b, (X,), (4,))


def test_operators_in_any_order() -> None:
    """A consumer listed before its producer is imported after it; otherwise the file's order stays."""
    b = network()
    b.tensor("late", (2, 3), np.int8, scales=0.5)
    b.op("RELU", [Y], [4])
    b.operators.reverse()
    (graph,) = read_model(b.build([X], [4]), "m").graphs
    assert [operator.name for operator in graph.operators] == ["FULLY_CONNECTED", "RELU"]
    assert [operator.index for operator in graph.operators] == [1, 0]


def test_long_names_are_cut_in_messages() -> None:
    b = network()
    b.tensors[X].name = "x" * 100_000
    read(b)
    b.tensors[X].zero_points = (300,)
    with pytest.raises(ImportModelError) as caught:
        read(b)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("axis", [0, 3])
def test_a_vector_has_one_axis(axis: int) -> None:
    """Biases that carry the filter's axis are accepted."""
    b = network()
    b.tensors[BIAS].axis = axis
    (graph,) = read_model(b.build([X], [Y]), "m").graphs
    assert graph.tensors[BIAS].type.params.axis == 0


def test_int4_is_unpacked() -> None:
    """Low nibble first, sign extended, the last high nibble of an odd count is padding."""
    b = network()
    b.tensors[W].type, b.tensors[W].shape = 17, (3, 1)
    b.tensors[W].data = bytes([0x7F, 0xA8])
    data = read_model(b.build([X], [Y]), "m").graphs[0].tensors[W].data
    assert data is not None
    assert data.reshape(-1).tolist() == [-1, 7, -8]


def test_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    model = network().build([X], [Y])
    with pytest.raises(ImportModelError, match="needs 15 bytes, more than the limit of 14"):
        read_model(model, "m", limit_bytes=14)
    monkeypatch.setenv("ZEROPOINT_TENSOR_LIMIT_BYTES", "9")
    with pytest.raises(ImportModelError, match="more than the limit of 9"):
        read_model(model, "m")
    monkeypatch.setenv("ZEROPOINT_TENSOR_LIMIT_BYTES", "lots")
    with pytest.raises(ImportModelError, match="expected a positive number of bytes"):
        read_model(model, "m")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "0 bytes are shorter than its header"),
        (b"\x10\x00\x00", "3 bytes are shorter than its header"),
        (b"\x10\x00\x00\x00ABCD" + bytes(64), "its identifier is b'ABCD'"),
        (b"\xf0\xff\xff\xffTFL3" + bytes(64), "table at byte 4294967280"),
        (b"\x08\x00\x00\x00TFL3" + bytes(64), "vtable of 0 bytes"),
    ],
)
def test_headers(data: bytes, message: str) -> None:
    with pytest.raises(ImportModelError, match=message.replace("[", r"\[")):
        read_model(data, "m.tflite")


def test_every_truncation_is_an_error() -> None:
    model = network().build([X], [Y])
    for length in range(len(model)):
        with pytest.raises(ImportModelError):
            read_model(model[:length], "m.tflite")


def test_shared_bytes_cost_no_more_than_the_file() -> None:
    """A vector whose million entries are one and the same table is refused, not read a million times."""
    count = 1_000_000
    head = struct.pack("<I4s", 20, b"TFL3")
    vtable = struct.pack("<HHHHH", 10, 12, 4, 0, 8) + bytes(2)  # version and subgraphs
    table = struct.pack("<iII", 12, 3, 4)
    # Behind the vector stands the one table, empty.
    offsets = b"".join(struct.pack("<I", 4 * (count - i) + 4) for i in range(count))
    data = head + vtable + table + struct.pack("<I", count) + offsets + struct.pack("<HHi", 4, 4, 4)
    start = time.perf_counter()
    with pytest.raises(ImportModelError, match="refers to the same bytes over and over"):
        read_model(data, "m.tflite")
    assert time.perf_counter() - start < 5.0


def test_reads_are_charged() -> None:
    file = FlatBuffer(bytes(10), "m.tflite")
    with pytest.raises(ImportModelError, match="refers to the same bytes over and over"):
        file.charge(1 << 20)


def test_schema_tables_are_whole() -> None:
    assert len(BUILTINS) == 210
    assert BUILTINS[127] == "PLACEHOLDER_FOR_GREATER_OP_CODES"
    assert BUILTINS[206] == "STABLEHLO_COMPOSITE"
    assert OPTION_TABLES[101] == "BatchMatMulOptions"
    assert ELEMENT_TYPES[9].name == "INT8"
    assert set(OPTIONS_OF) <= set(BUILTINS)
    assert set(OPTIONS_OF.values()) == set(OPTION_FIELDS) <= set(OPTION_TABLES)


def small_models() -> list[bytes]:
    """Files to damage: several operator families in one graph each."""
    first = network()
    first.tensor("flat", (6,), np.int8, scales=0.5)
    first.constant("shape", np.asarray([-1], np.int32))
    first.op("RESHAPE", [Y, 5], [4])
    second = Builder()
    x = second.tensor("image", (1, 4, 4, 2), np.uint8, scales=0.5, zero_points=128)
    w = second.constant(
        "filter", np.arange(18, dtype=np.uint8).reshape(1, 3, 3, 2), scales=0.25, zero_points=9
    )
    y = second.tensor("depthwise", (1, 2, 2, 2), np.uint8, scales=1.0)
    options = {"StrideH": 2, "StrideW": 2, "DilationHFactor": 1, "DilationWFactor": 1}
    second.op("DEPTHWISE_CONV_2D", [x, w, -1], [y], Padding="SAME", DepthMultiplier=1, **options)
    p = second.tensor("pool", (1, 1, 1, 2), np.uint8, scales=1.0)
    pool = {"FilterHeight": 2, "FilterWidth": 2, "StrideH": 1, "StrideW": 1}
    second.op("AVERAGE_POOL_2D", [y], [p], Padding="VALID", **pool)
    s = second.tensor("sum", (1, 2, 2, 2), np.uint8, scales=2.0)
    second.op("ADD", [y, p], [s], FusedActivationFunction="RELU6")
    c = second.tensor("joined", (1, 2, 2, 4), np.uint8, scales=2.0)
    second.op("CONCATENATION", [s, y], [c], Axis=3)
    return [first.build([X], [4]), second.build([x], [c])]


def test_mutants_load_or_are_refused() -> None:
    """Random damage gives a model or a ZeropointError: no other exception, no crash, no hang."""
    rng = random.Random(20)
    originals = small_models()
    loaded = refused = 0
    end = time.perf_counter() + 15.0
    while loaded + refused < 3000 and time.perf_counter() < end:
        mutant = bytearray(rng.choice(originals))
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            at = rng.randrange(8, len(mutant))
            if rng.random() < 0.5:
                mutant[at] = rng.randrange(256)
            else:
                word = rng.choice([0, 1, 2, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, rng.randrange(1 << 32)])
                at = min(at & ~3, len(mutant) - 4)
                mutant[at : at + 4] = struct.pack("<I", word)
        start = time.perf_counter()
        try:
            load_bytes(bytes(mutant), name="mutant.tflite")
            loaded += 1
        except ZeropointError:
            refused += 1
        assert time.perf_counter() - start < 5.0
    # Shares, since a busy machine gets through few.
    assert min(loaded, refused) > (loaded + refused) // 20


@pytest.mark.parametrize("by", ["argument", "environment", "shapes"])
def test_memory_of_all_tensors_is_limited(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tensors of 400 bytes."""
    model = Builder()
    x, y, z = (model.tensor(name, (10, 10), np.float32, signature=(-1, 10)) for name in "xyz")
    model.op("ABS", [x], [y])
    model.op("ABS", [y], [z])
    data = model.build([x], [z])
    assert load_bytes(data, name="m.tflite", max_bytes=1200)
    if by == "environment":
        monkeypatch.setenv("ZEROPOINT_MODEL_LIMIT_BYTES", "1199")
    arguments = {"max_bytes": 1199} if by == "argument" else {}
    arguments |= {"max_bytes": 1200, "shapes": {"x": [11, 10]}} if by == "shapes" else {}
    with pytest.raises(ImportModelError, match=r"need 1[23]\d0 bytes.* more than the limit of 1\d{3}"):
        load_bytes(data, name="m.tflite", **arguments)
