"""Target files: what is shipped, what a user writes, and what is said about mistakes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from zeropoint import targets
from zeropoint.dialect.meaning import MEANINGS
from zeropoint.errors import TargetError
from zeropoint.targets.comparison import rule_summary
from zeropoint.targets.loading import DATA
from zeropoint.targets.operators import CONTRACTIONS, CONVERSIONS, OPERATORS, STORAGES
from zeropoint.targets.rules import float32
from zeropoint.targets.target import Cache

if sys.version_info >= (3, 11):
    pass
else:
    pass

DOCS = Path(targets.__file__).parent.parent / "docs" / "targets.md"
BEGIN = "<!-- rules: begin (checked against targets/data by test/unit/test_targets.py) -->"
END = "<!-- rules: end -->"
MACHINES = {
    "x86-64": (128, 16, "pmaddwd"),
    "x86-64-v3": (256, 16, "vpmaddwd"),
    "x86-64-v4": (512, 32, "vpmaddwd"),
    "x86-64-vnni": (512, 32, "vpdpbusd"),
    "x86-64-amx": (512, 32, "tdpbusd"),
    "aarch64": (128, 32, "smlal"),
    "aarch64-dotprod": (128, 32, "sdot"),
    "aarch64-i8mm": (128, 32, "smmla"),
    "riscv64": (64, 32, None),
    "thumbv7em": (32, 13, None),
    "thumbv7em-hf": (32, 13, None),
}
PROFILES = ("tflite", "xnnpack", "glow", "onnxruntime", "tvm", "pytorch-xnnpack", "stablehlo")
SHIPPED = (*MACHINES, "reference", *PROFILES, "float-islands-demo")


# What is shipped


def test_exactly_the_promised_targets_are_shipped() -> None:
    assert {file.stem for file in DATA.glob("*.toml")} == set(SHIPPED)
    assert set(targets.list_targets()) >= {"host", *SHIPPED}


def test_the_ops_are_those_of_the_dialect() -> None:
    assert {*OPERATORS, *CONVERSIONS} == set(MEANINGS), "a new op belongs into targets/operators.py"


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_target_answers_for_every_op_and_storage_type(name: str) -> None:
    target = targets.load_target(name)
    assert target.name == name
    assert target.description
    for op in (*OPERATORS, *CONVERSIONS):
        for storage in STORAGES:
            origin = target.rule(op, storage).origin
            line = Path(origin.file).read_text().splitlines()[origin.line - 1]
            assert "=" in line or op in CONVERSIONS, f"{origin} is not where a rule is written: {line}"
    for op in CONTRACTIONS:
        assert target.bias_rule(op).kind == "derived"


@pytest.mark.parametrize("name", MACHINES)
def test_machines_have_the_rules_of_reference(name: str) -> None:
    target, reference = targets.load_target(name), targets.load_target("reference")
    bits, registers, dot = MACHINES[name]
    assert target.machine is not None
    assert (target.machine.vector_bits, target.machine.vector_registers) == (bits, registers)
    assert next((each.name for each in target.machine.dot), None) == dot
    assert [d for d in targets.diff_targets(target, reference) if d.what.startswith("rules")] == []


def test_dot_instructions_say_the_signs_of_their_operands() -> None:
    def signs(name: str) -> tuple[str, str, int]:
        machine = targets.load_target(name).machine
        assert machine is not None
        return machine.dot[0].lhs, machine.dot[0].rhs, machine.dot[0].group

    assert signs("x86-64-vnni") == ("u8", "i8", 4)
    assert signs("aarch64-dotprod") == ("i8", "i8", 4)
    assert signs("aarch64-i8mm") == ("i8", "i8", 8)
    vnni, arm = targets.load_target("x86-64-vnni"), targets.load_target("aarch64-dotprod")
    assert (vnni.activations, vnni.weights) == ("u8", "i8")
    assert (arm.activations, arm.weights) == ("i8", "i8")


# The facts: op -> rules of (tflite, xnnpack, glow, onnxruntime, tvm, pytorch-xnnpack) for i8.
EQUAL, RESULT, FREE, NONE = "same-as-input", "same-as-result", "free", "unsupported"
FACTS = {
    "max_pool2d": (EQUAL, EQUAL, EQUAL, EQUAL, EQUAL, EQUAL),
    "avg_pool2d": (EQUAL, NONE, FREE, EQUAL, RESULT, NONE),
    "reshape": (EQUAL, EQUAL, EQUAL, EQUAL, EQUAL, EQUAL),
    "transpose": (EQUAL, EQUAL, EQUAL, EQUAL, EQUAL, EQUAL),
    "slice": (EQUAL, EQUAL, EQUAL, EQUAL, EQUAL, EQUAL),
    "concat": (RESULT, RESULT, RESULT, FREE, RESULT, EQUAL),
    "pad": (EQUAL, EQUAL, EQUAL, EQUAL, EQUAL, NONE),
    "resize_bilinear": (EQUAL, EQUAL, EQUAL, EQUAL, NONE, NONE),
    "resize_nearest": (EQUAL, NONE, EQUAL, EQUAL, NONE, NONE),
    "mean": (FREE, FREE, FREE, FREE, EQUAL, EQUAL),
    "clamp": (FREE, FREE, FREE, RESULT, EQUAL, EQUAL),
    "softmax": ("fixed", NONE, FREE, "fixed", FREE, NONE),
    "logistic": ("fixed", FREE, FREE, FREE, FREE, NONE),
    "tanh": ("fixed", FREE, FREE, NONE, FREE, NONE),
    "add": (FREE, FREE, FREE, FREE, FREE, FREE),
    "mul": (FREE, FREE, FREE, FREE, FREE, FREE),
    "sub": (FREE, FREE, FREE, NONE, FREE, NONE),
    "conv2d": (FREE, FREE, FREE, FREE, FREE, FREE),
    "fully_connected": (FREE, FREE, FREE, FREE, FREE, FREE),
    "batch_matmul": (FREE, NONE, FREE, FREE, FREE, NONE),
    "arg_max": (FREE, NONE, FREE, FREE, NONE, NONE),
    "broadcast": (EQUAL, NONE, EQUAL, EQUAL, NONE, NONE),
    "dynamic_slice": (EQUAL, NONE, EQUAL, EQUAL, NONE, NONE),
    "gather": (EQUAL, NONE, EQUAL, EQUAL, NONE, NONE),
    "reverse": (EQUAL, NONE, EQUAL, EQUAL, NONE, NONE),
    "reverse_sequence": (EQUAL, NONE, EQUAL, EQUAL, NONE, NONE),
    "scatter_nd": (EQUAL, NONE, EQUAL, EQUAL, NONE, NONE),
    "dynamic_update_slice": (RESULT, NONE, RESULT, RESULT, NONE, NONE),
    "one_hot": (RESULT, NONE, RESULT, RESULT, NONE, NONE),
    "select": (RESULT, NONE, RESULT, RESULT, NONE, NONE),
    "arg_min": (FREE, NONE, FREE, FREE, NONE, NONE),
    "top_k": (FREE, NONE, FREE, FREE, NONE, NONE),
    "binary": (FREE, NONE, FREE, FREE, NONE, NONE),
    "compare": (FREE, NONE, FREE, FREE, NONE, NONE),
    "decode_boxes": (FREE, NONE, FREE, FREE, NONE, NONE),
    "nonzero": (FREE, NONE, FREE, FREE, NONE, NONE),
    "non_max_suppression": (FREE, NONE, FREE, FREE, NONE, NONE),
    "cumsum": (FREE, NONE, FREE, FREE, NONE, NONE),
    "l2_normalization": ("fixed", NONE, FREE, FREE, NONE, NONE),
    "local_response_normalization": (FREE, NONE, FREE, FREE, NONE, NONE),
    "log_softmax": ("fixed", NONE, FREE, FREE, NONE, NONE),
    "leaky_relu": (FREE, FREE, FREE, FREE, FREE, NONE),
    "maximum": (RESULT, FREE, FREE, FREE, RESULT, NONE),
    "minimum": (RESULT, FREE, FREE, FREE, RESULT, NONE),
    "prelu": (FREE, NONE, FREE, FREE, NONE, NONE),
    "reduce": (FREE, FREE, FREE, FREE, NONE, NONE),
    "reduce_max": (EQUAL, NONE, FREE, FREE, NONE, NONE),
    "reduce_min": (EQUAL, NONE, FREE, FREE, NONE, NONE),
    "unary": (FREE, FREE, FREE, FREE, FREE, NONE),
    "lstm_cell": (FREE, NONE, FREE, FREE, NONE, NONE),
    "lstm_gate": (FREE, NONE, FREE, FREE, NONE, NONE),
    "lstm_hidden": (FREE, NONE, FREE, FREE, NONE, NONE),
    "lstm_normalization": (FREE, NONE, FREE, FREE, NONE, NONE),
}


@pytest.mark.parametrize("op", OPERATORS)
def test_profiles_say_what_the_systems_demand(op: str) -> None:
    profiles = ("tflite", "xnnpack", "glow", "onnxruntime", "tvm", "pytorch-xnnpack")
    assert tuple(targets.load_target(name).rule(op, "i8").kind for name in profiles) == FACTS[op]


@pytest.mark.parametrize(
    ("op", "storage", "scale", "zero_point"),
    [
        ("softmax", "i8", 1 / 256, -128),
        ("softmax", "u8", 1 / 256, 0),
        ("softmax", "i16", 1 / 32768, 0),
        ("logistic", "i8", 1 / 256, -128),
        ("logistic", "u8", 1 / 256, 0),
        ("logistic", "i16", 1 / 32768, 0),
        ("tanh", "i8", 1 / 128, 0),
        ("tanh", "u8", 1 / 128, 128),
        ("tanh", "i16", 1 / 32768, 0),
    ],
)
def test_fixed_parameters_of_tflite(op: str, storage: str, scale: float, zero_point: int) -> None:
    rule = targets.load_target("tflite").rule(op, storage)
    assert (rule.kind, rule.scale, rule.zero_point) == ("fixed", scale, zero_point)
    assert rule.accepts(scale, zero_point)
    assert not rule.accepts(scale, zero_point + 1)
    assert not rule.accepts(scale * 1.002, zero_point)
    assert rule.accepts(scale * 1.0005, zero_point) == (op == "softmax"), "only softmax forgives 0.1 %"


def test_tflite_concat_is_free_for_uint8_only() -> None:
    target = targets.load_target("tflite")
    kinds = {storage: target.rule("concat", storage).kind for storage in ("i8", "u8", "i16")}
    assert kinds == {"i8": "same-as-result", "u8": "free", "i16": "same-as-result"}


def test_an_int8_softmax_with_int16_result_has_parameters_of_its_own() -> None:
    target = targets.load_target("tflite")
    rule = target.rule("softmax", "i16", "i8")
    assert (rule.scale, rule.zero_point) == (1 / 65536, -32768)
    assert target.rule("softmax", "i16", "i16").scale == 1 / 32768


def test_storage_types_that_a_target_does_not_take_are_unsupported() -> None:
    xnnpack = targets.load_target("xnnpack")
    assert xnnpack.rule("conv2d", "i8").kind == "free"
    rule = xnnpack.rule("conv2d", "i16")
    assert rule.kind == "unsupported"
    assert "types = " in Path(rule.origin.file).read_text().splitlines()[rule.origin.line - 1]
    assert xnnpack.storages("conv2d") == ("i8", "u8")
    assert targets.load_target("float-islands-demo").storages("conv2d") == ("i8", "u8", "i32")


def test_conversions_are_free_everywhere() -> None:
    assert {targets.load_target("pytorch-xnnpack").rule(op, "i16").kind for op in CONVERSIONS} == {"free"}


# The documentation


def markdown_rules() -> str:
    """The table of profiles in docs/targets.md."""
    columns = ("reference", *PROFILES)
    rows = [["op", *columns], ["---"] * (len(columns) + 1)]
    loaded = [targets.load_target(name) for name in columns]
    rows += [[f"`{op}`", *(rule_summary(target, op) for target in loaded)] for op in OPERATORS]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_the_documented_table_is_that_of_the_data() -> None:
    written = DOCS.read_text().split(BEGIN)[1].split(END)[0].strip()
    assert written == markdown_rules(), f"put this between the marks in {DOCS}:\n{markdown_rules()}"


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """The documentation's example, saved as it stands."""
    blocks = re.findall(r"```toml\n(.*?)```", DOCS.read_text(), re.DOTALL)
    file = tmp_path / "engine.toml"
    file.write_text(blocks[0])
    return file


def test_the_documented_example_works(engine: Path) -> None:
    assert len(engine.read_text().splitlines()) <= 15
    target = targets.load_target(engine)
    assert target.name == "engine"
    assert target.machine is not None
    assert (target.machine.cpu, target.machine.features) == ("cortex-a76", ("+neon", "+dotprod"))
    pool, softmax = target.rule("avg_pool2d", "u8"), target.rule("softmax", "i8")
    assert (pool.kind, str(pool.origin)) == ("same-as-input", f"{engine}:13")
    assert (softmax.kind, str(softmax.origin)) == ("unsupported", f"{engine}:14")
    assert target.rule("max_pool2d", "i8").origin.file == str(DATA / "reference.toml")


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (
            "avg_pool2d =",
            "avg_pool =",
            "engine.toml:13: error: rules.avg_pool: no op 'avg_pool'; did you mean 'avg_pool2d'?",
        ),
        (
            '"unsupported"',
            '"unsuported"',
            "engine.toml:14: error: rules.softmax: got 'unsuported', expected free, same-as-input, "
            "same-as-result, fixed(scale, zero_point), derived, unsupported; did you mean 'unsupported'?",
        ),
        (
            "l1_kib = 64",
            'l1_kib = "64"',
            "engine.toml:6: error: machine.cache.l1_kib: got '64', expected an integer",
        ),
    ],
)
def test_three_wrong_versions_of_the_documented_example(
    engine: Path, right: str, wrong: str, message: str
) -> None:
    engine.write_text(engine.read_text().replace(right, wrong))
    with pytest.raises(TargetError) as caught:
        targets.load_target(engine)
    assert str(caught.value) == f"{engine.parent}/{message}"
    assert message in DOCS.read_text()


# Inheritance


def test_what_a_file_does_not_say_is_inherited(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(
        'extends = "tflite"\n[storage]\ntypes = ["i8"]\nactivations = "i8"\nops = { add = ["i8", "i16"] }\n'
        '[machine]\ntriple = "riscv64-unknown-linux-gnu"\nvector_bits = 64\nvector_registers = 32\n'
        'features = ["+v", "+m"]\ncache = { l1_kib = 1, l2_kib = 2 }\n'
    )
    (tmp_path / "leaf.toml").write_text(
        'extends = "base.toml"\n[machine]\nfeatures = ["-v", "+c"]\ncache = { l2_kib = 3 }\n'
        '[rules]\nsoftmax = "unsupported"\nlogistic = { i8 = "free" }\nconv2d = { "*" = "same-as-input" }\n'
    )
    leaf = targets.load_target(tmp_path / "leaf.toml")
    assert leaf.machine is not None
    assert leaf.machine.features == ("-v", "+m", "+c")
    assert leaf.machine.cache == Cache(1, 3, 0)
    assert leaf.machine.vector_registers == 32
    assert (leaf.activations, leaf.weights, leaf.numerics) == ("i8", None, "reference")
    assert leaf.storages("add") == ("i8", "i16")
    assert leaf.rule("mul", "i16").kind == "unsupported", "storage.types of the base"
    assert leaf.rule("softmax", "i8").kind == "unsupported", (
        "the short form replaces every storage type's rule"
    )
    assert leaf.changing_storage("softmax") == {}
    assert leaf.rule("logistic", "i8").kind == "free"
    assert leaf.rules["logistic"]["u8"].origin.file == str(DATA / "tflite.toml")
    assert leaf.bias_rule("conv2d").origin.file == str(DATA / "tflite.toml"), "* does not speak for the bias"
    assert [Path(file).name for file in leaf.files] == ["leaf.toml", "base.toml", "tflite.toml"]


def test_without_a_default_an_unlisted_op_is_free(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text("")
    assert targets.load_target(file).rule("softmax", "i8").kind == "free"
    file.write_text('[rules]\ndefault = "unsupported"\nadd = { i8 = "free" }')
    target = targets.load_target(file)
    assert target.rule("softmax", "i8").origin.line == 2
    assert (target.rule("add", "i8").kind, target.rule("add", "u8").kind) == ("free", "unsupported")


def test_scales_are_rounded_to_float32(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.write_text('[rules.tanh]\ni8 = "fixed( 1/127 , -1 )"\nu8 = "fixed(0.1, 3)"')
    target = targets.load_target(file)
    assert target.rule("tanh", "i8").scale == float32(1 / 127) != 1 / 127
    assert target.rule("tanh", "u8").scale == 0.10000000149011612


def test_entry_points_name_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "engine.toml").write_text('extends = "glow"\ndescription = "from a package"')
    (tmp_path / "our_package.py").write_text(
        "from pathlib import Path\nENGINE = Path(__file__).parent / 'engine.toml'\nBROKEN = 3\n"
        "def find():\n    return ENGINE\n"
    )
    info = tmp_path / "our_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: our-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[zeropoint.targets]\nour-engine = our_package:ENGINE\nfound = our_package:find\n"
        "broken = our_package:BROKEN\ntflite = our_package:BROKEN\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert {"our-engine", "found", "broken"} <= set(targets.list_targets())
    assert targets.load_target("our-engine").description == "from a package"
    assert targets.load_target("found").name == "found"
    assert targets.load_target("tflite").files == (str(DATA / "tflite.toml"),), "shipped names stay"
    with pytest.raises(TargetError, match=r"'broken = our_package:BROKEN' .* expected a path, got TypeError"):
        targets.load_target("broken")


# Differences and the command line


def test_a_target_does_not_differ_from_itself() -> None:
    for name in SHIPPED:
        assert targets.diff_targets(targets.load_target(name), targets.load_target(name)) == []


def test_differences_name_what_differs(engine: Path) -> None:
    a, b = targets.load_target("aarch64-dotprod"), targets.load_target(engine)
    assert [tuple(d) for d in targets.diff_targets(a, b)] == [
        ("machine.cpu", "generic", "cortex-a76"),
        ("machine.cache.l3_kib", "0", "2048"),
        ("rules.avg_pool2d", "free", "same-as-input"),
        ("rules.softmax i4 u4 u16 i32", "free", "unsupported"),
        ("rules.softmax i8", "fixed(1/256, -128, 0.001)", "unsupported"),
        ("rules.softmax u8", "fixed(1/256, 0, 0.001)", "unsupported"),
        ("rules.softmax i16", "fixed(1/32768, 0, 0.001)", "unsupported"),
        ("rules.softmax i8->i16", "fixed(1/65536, -32768, 0.001)", "unsupported"),
    ]


def zeropoint(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "zeropoint.tools.cli", "targets", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_command_line_lists_explains_and_compares(engine: Path) -> None:
    listing = zeropoint()
    assert listing.returncode == 0
    assert set(SHIPPED) <= {line.split(" ")[0] for line in listing.stdout.splitlines()}
    shown = zeropoint(engine)
    assert re.search(r"avg_pool2d +any +same-as-input +.*engine\.toml:13", shown.stdout)
    plain = json.loads(zeropoint(engine, "--json").stdout)
    assert plain["rules"]["softmax"]["i8"] == {"rule": "unsupported", "file": str(engine), "line": 14}
    assert plain["machine"]["dot"][0]["name"] == "sdot"
    assert zeropoint("diff", "aarch64-dotprod", engine).stdout in DOCS.read_text(), "the documented output"


def test_the_command_line_says_what_is_wrong(engine: Path) -> None:
    engine.write_text(engine.read_text().replace("avg_pool2d", "avg_pool"))
    wrong = zeropoint(engine)
    assert (wrong.returncode, wrong.stdout) == (1, "")
    message = f"{engine}:13: error: rules.avg_pool: no op 'avg_pool'; did you mean 'avg_pool2d'?"
    assert wrong.stderr == f"{message}\n"
    assert zeropoint("diff", "tflite").returncode == 2


def test_reading_targets_needs_no_mlir() -> None:
    code = (
        "import sys, zeropoint.targets as t; t.load_target('tflite'); "
        "sys.exit(any(m in sys.modules for m in ('torch_mlir', 'mlir', 'numpy', 'llvmlite')))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
