"""``zp.export``: headers, kinds of files, checks in the code, sizes, and arguments that are refused."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import zeropoint as zp
from c_program import WARNINGS, Program, build, require, toolchain
from exported_networks import MANY, control_flow_network, random_inputs
from tflite_builder import Builder
from zeropoint.codegen.ahead.archive import archive
from zeropoint.codegen.ahead.cpu_check import X86_FEATURES, cpu_check
from zeropoint.codegen.ahead.interface import ERROR_NUMBERS
from zeropoint.codegen.ahead.names import c_name, distinct
from zeropoint.codegen.ahead.object_file import summary
from zeropoint.codegen.cpu import instructions
from zeropoint.codegen.llvm import to_object
from zeropoint.codegen.machine import Machine, host
from zeropoint.dialect.context import parse_module
from zeropoint.frontends import load_bytes
from zeropoint.runtime.export import KINDS
from zeropoint.tools.demo import NETWORK

ODD_NAMES = """
!q = !quant.uniform<i8:f32:1, {5.0e-01:3, 2.5e-01:-4}>
func.func @main(%a: tensor<2x2x!q> {qnn.name = "class"}, %b: tensor<2x2xf32> {qnn.name = "*/ int main;"})
    -> (tensor<2x2x!q> {qnn.name = "1st"}, tensor<2x2xf32> {qnn.name = "\\E2\\82\\AC"},
        tensor<2x2xf32> {qnn.name = "_"}) {
  %c = "qnn.add"(%b, %b) {clamp = array<f32>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %a, %c, %b : tensor<2x2x!q>, tensor<2x2xf32>, tensor<2x2xf32>
}
"""


def model_of(text: str) -> zp.Model:
    return zp.Model.from_module(parse_module(text), "net work.mlir")


def require_tool(name: str) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")


@pytest.fixture(scope="module")
def many() -> zp.Model:
    return model_of(MANY)


@pytest.mark.parametrize("text", [MANY, ODD_NAMES], ids=["many", "odd names"])
@pytest.mark.parametrize(
    ("compiler", "language"),
    [("cc", "c99"), ("cc", "c11"), ("c++", "c++98"), ("c++", "c++20"), ("clang", "c99")],
)
def test_header_compiles_without_warnings(text: str, compiler: str, language: str, tmp_path: Path) -> None:
    require_tool(compiler)
    exported = zp.export(model_of(text))
    (tmp_path / "net.h").write_text(exported.header)
    source = tmp_path / ("main.cpp" if "++" in language else "main.c")
    source.write_text('#include "net.h"\n#include "net.h"\nint main(void) { return NET_WORK_OK; }\n')
    long_long = ["-Wno-long-long"] if language == "c++98" else []
    build([compiler, *WARNINGS, *long_long, f"-std={language}", "-fsyntax-only", str(source)])


def test_c_and_llvm_lay_tensors_out_alike(tmp_path: Path) -> None:
    """What the descriptions say, printed by a C program."""
    require(toolchain("host"))
    exported = zp.export(model_of(ODD_NAMES), name="odd")
    exported.write(tmp_path / "odd.o")
    source = tmp_path / "main.c"
    source.write_text(
        '#include "odd.h"\n#include <stdio.h>\n'
        "static void show(const odd_tensor *t)\n{\n"
        '    printf("%s|%u|%u|%u %u|%u|%u|%u|%d %d|%g %g|%d %d\\n", t->name, t->dtype, t->rank,\n'
        "           t->shape[0], t->shape[1], t->elements, t->bytes, t->scales, t->axis, t->length,\n"
        "           t->scale[0], t->scale[1], t->zero_point[0], t->zero_point[1]);\n}\n"
        "int main(void)\n{\n    show(&odd_input_tensors[0]);\n    show(&odd_input_tensors[1]);\n"
        "    show(&odd_output_tensors[1]);\n    return 0;\n}\n"
    )
    build(["cc", *WARNINGS, "-o", str(tmp_path / "odd"), str(source), str(tmp_path / "odd.o")])
    shown = subprocess.run([tmp_path / "odd"], capture_output=True, check=True).stdout.decode()
    assert shown.splitlines() == [
        "class|1|2|2 2|4|4|2|1 -1|0.5 0.25|3 -4",
        "*/ int main;|10|2|2 2|4|16|0|-1 -1|0 0|0 0",
        "€|10|2|2 2|4|16|0|-1 -1|0 0|0 0",
    ]


def test_outputs_with_a_length(tmp_path: Path) -> None:
    builder = Builder()
    x = builder.tensor("x", (6,), np.int32)
    places = builder.tensor("places", (1, 1), np.int64, signature=(-1, 1))
    builder.op("WHERE", [x], [places])
    model = load_bytes(builder.build([x], [places]), name="where.tflite")
    exported = zp.export(model, name="where")
    assert "int64[up to 6, see 'places:length', 1]" in exported.header
    require(toolchain("host"))
    given = np.array([0, 3, 0, 0, 9, 9], np.int32)
    ((filled, count),) = Program(exported, model, tmp_path).run([given])
    assert filled[: int(count)].tolist() == [[1], [4], [5]]


def test_names_in_c() -> None:
    assert c_name("serving_default_x:0", "input") == "serving_default_x_0"
    assert c_name("9 lives", "input_2") == "input_2_9_lives"
    assert c_name("€", "output_0") == "output_0"
    assert c_name("class", "x") == "class_"
    assert distinct(["a", "A", "a_2", "b", "a"]) == ["a", "A_2", "a_2_2", "b", "a_3"]
    assert distinct(["x_bytes", "x", "X_2"], ["_BYTES"]) == ["x_bytes", "x_2", "X_2_2"]
    header = zp.export(model_of(ODD_NAMES), name="odd").header
    assert "const int8_t *class_;" in header
    assert "const float *int_main;" in header
    assert "int8_t *output_0_1st;" in header
    assert "float *output_1;" in header
    assert "float *output_2;" in header


def test_header_says_what_tensors_are() -> None:
    header = zp.export(NETWORK, name="digits").header
    assert "#define DIGITS_INPUT_SERVING_DEFAULT_IMAGE_0_SCALE 0.0627451f" in header
    assert "#define DIGITS_INPUT_SERVING_DEFAULT_IMAGE_0_ZERO_POINT (-128)" in header
    assert "#define DIGITS_INPUT_SERVING_DEFAULT_IMAGE_0_BYTES 64u" in header
    assert "int8[1, 8, 8, 1], real = 0.0627451017 * (stored + 128)" in header
    assert re.search(r"#define DIGITS_ARENA_BYTES \d+u\n#define DIGITS_ARENA_ALIGNMENT 64u", header)


class Library:
    """An exported network as a shared library in this process."""

    def __init__(self, model: zp.Model, folder: Path, target: str = "host") -> None:
        require_tool("cc")
        self.exported = zp.export(model, target, "shared", folder / "net.so", name="net")
        self.code = ctypes.CDLL(str(folder / "net.so"))
        self.code.net_init.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        self.code.net_run.argtypes = [ctypes.c_void_p] * 3
        self.code.net_error_text.restype = ctypes.c_char_p
        self.model = (ctypes.c_size_t * 2)(123, 456)
        self.size = self.exported.report.arena_bytes
        self.memory = np.zeros(self.size + 64, np.uint8)
        self.arena = self.memory.ctypes.data + -self.memory.ctypes.data % 64

    def init(self, arena: int | None = None, size: int | None = None) -> str:
        arena = self.arena if arena is None else arena
        return self.error(self.code.net_init(self.model, arena, self.size if size is None else size))

    def run(self, inputs: list[int], outputs: list[int]) -> str:
        pointers = (ctypes.c_void_p * len(inputs))(*inputs), (ctypes.c_void_p * len(outputs))(*outputs)
        return self.error(self.code.net_run(self.model, *pointers))

    @staticmethod
    def error(number: int) -> str:
        return next(name for name, value in ERROR_NUMBERS.items() if value == number)


@pytest.fixture(scope="module")
def library(many: zp.Model, tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(many, tmp_path_factory.mktemp("library"))


def arrays(library: Library, many: zp.Model) -> tuple[list[Any], list[Any]]:
    return random_inputs(many, 0), [np.zeros(info.shape, info.dtype) for info in many.outputs]


def addresses(values: list[Any]) -> list[int]:
    return [value.ctypes.data for value in values]


def test_a_shared_library_remembers_and_forgets(library: Library, many: zp.Model) -> None:
    executable = zp.compile(many)
    inputs, outputs = arrays(library, many)
    assert library.init() == "OK"
    for _ in range(2):
        for _ in range(3):
            assert library.run(addresses(inputs), addresses(outputs)) == "OK"
            for ours, theirs in zip(executable.run(*inputs), outputs, strict=True):
                np.testing.assert_array_equal(ours, theirs)
        assert library.code.net_reset(library.model) == 0
        executable.reset()


def test_two_models_share_nothing_but_code(library: Library, many: zp.Model) -> None:
    inputs, outputs = arrays(library, many)
    assert library.init() == "OK"
    library.run(addresses(inputs), addresses(outputs))
    first = [value.copy() for value in outputs]
    other, memory = (ctypes.c_size_t * 2)(), np.zeros(library.size + 64, np.uint8)
    start = memory.ctypes.data + -memory.ctypes.data % 64
    assert library.code.net_init(other, start, library.size) == 0
    pointers = [(ctypes.c_void_p * len(v))(*addresses(v)) for v in (inputs, outputs)]
    assert library.code.net_run(other, *pointers) == 0
    for ours, theirs in zip(first, outputs, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_two_networks_in_one_program(many: zp.Model, tmp_path: Path) -> None:
    require_tool("cc")
    zp.export(many, output=tmp_path / "one.o", name="one")
    zp.export(many, output=tmp_path / "two.o", name="two")
    source = tmp_path / "main.c"
    source.write_text(
        '#include "one.h"\n#include "two.h"\n'
        "int main(void) { return one_error_text(0)[0] != two_error_text(0)[0]; }\n"
    )
    objects = [str(tmp_path / name) for name in ("one.o", "two.o")]
    build(["cc", *WARNINGS, "-std=c99", "-o", str(tmp_path / "both"), str(source), *objects])
    subprocess.run([tmp_path / "both"], check=True)


def test_an_arena_that_does_not_do(library: Library, many: zp.Model) -> None:
    inputs, outputs = arrays(library, many)
    assert library.error(library.code.net_init(None, library.arena, library.size)) == "ERROR_MODEL_NULL"
    assert library.init(arena=0) == "ERROR_ARENA_NULL"
    assert library.init(size=library.size - 1) == "ERROR_ARENA_TOO_SMALL"
    for shift in (1, 4, 16, 32):
        assert library.init(arena=library.arena + shift) == "ERROR_ARENA_MISALIGNED"
    # A failed init leaves a model that does not run.
    assert library.run(addresses(inputs), addresses(outputs)) == "ERROR_NOT_INITIALIZED"
    assert library.error(library.code.net_reset(library.model)) == "ERROR_NOT_INITIALIZED"
    assert library.error(library.code.net_reset(None)) == "ERROR_MODEL_NULL"
    assert library.error(library.code.net_run(None, None, None)) == "ERROR_MODEL_NULL"
    library.model[0], library.model[1] = library.arena, 12345  # as memory happens to be
    assert library.run(addresses(inputs), addresses(outputs)) == "ERROR_NOT_INITIALIZED"


def test_pointers_that_do_not_do(library: Library, many: zp.Model) -> None:
    inputs, outputs = arrays(library, many)
    assert library.init() == "OK"
    good_inputs, good_outputs = addresses(inputs), addresses(outputs)
    for number, info in enumerate(many.inputs):
        changed = [*good_inputs]
        changed[number] = 0
        assert library.run(changed, good_outputs) == ("ERROR_INPUT_NULL" if info.is_read else "OK")
        changed[number] = good_inputs[number] + 1
        odd = info.dtype.itemsize > 1 and info.is_read
        assert library.run(changed, good_outputs) == ("ERROR_INPUT_MISALIGNED" if odd else "OK")
    for number, info in enumerate(many.outputs):
        changed = [*good_outputs]
        changed[number] = 0
        assert library.run(good_inputs, changed) == "ERROR_OUTPUT_NULL"
        if info.dtype.itemsize > 1:
            changed[number] = good_outputs[number] + 1
            assert library.run(good_inputs, changed) == "ERROR_OUTPUT_MISALIGNED"
    pointers = (ctypes.c_void_p * len(inputs))(*good_inputs)
    assert library.error(library.code.net_run(library.model, None, pointers)) == "ERROR_INPUT_NULL"
    assert library.error(library.code.net_run(library.model, pointers, None)) == "ERROR_OUTPUT_NULL"


def test_texts_of_errors(library: Library) -> None:
    texts = [library.code.net_error_text(number).decode() for number in ERROR_NUMBERS.values()]
    assert texts[0] == "no error"
    assert len(set(texts)) == len(texts)
    assert library.code.net_error_text(-1) == library.code.net_error_text(999) == b"no error of this network"


@pytest.mark.parametrize(
    ("target", "cpu"),
    [
        ("aarch64-i8mm", "cortex-a53"),
        ("aarch64-i8mm", "neoverse-n1"),
        ("aarch64-dotprod", "cortex-a53"),
        ("x86-64-v3", "Nehalem"),
        ("x86-64-vnni", "Haswell"),
        ("x86-64-amx", "Haswell"),
    ],
)
def test_a_cpu_without_the_instructions(target: str, cpu: str, many: zp.Model, tmp_path: Path) -> None:
    require_tool(toolchain(target).runner[0])
    program = Program(zp.export(many, target, name="net"), many, tmp_path)
    assert program.process(random_inputs(many, 0), cpu=cpu).returncode == 100 + ERROR_NUMBERS["ERROR_CPU"]


@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="runs x86-64 code")
def test_machine_code_of_the_check(tmp_path: Path) -> None:
    """What stands as bytes before bodies: cpuid, and a system call (here: which process this is)."""
    require_tool("cc")
    machine = Machine("x86_64-unknown-linux-gnu", "x86-64", "+sse2,+avx2,+amx-tile")
    text = cpu_check("net", machine).ir.replace("define internal", "define")
    (tmp_path / "check.o").write_bytes(to_object(text, machine, optimize=False))
    build(["cc", "-shared", "-o", str(tmp_path / "check.so"), str(tmp_path / "check.o")])
    code = ctypes.CDLL(str(tmp_path / "check.so"))
    code.net_system_call.restype, code.net_system_call.argtypes = ctypes.c_long, [ctypes.c_long] * 3
    assert code.net_system_call(39, 0, 0) == os.getpid()
    assert code.net_system_call(-1, 0, 0) == -errno.ENOSYS
    code.net_has.restype = ctypes.c_bool
    here = instructions(host().features.split(","))
    for feature, (leaf, part, register, bit) in X86_FEATURES.items():
        if feature.startswith(("sse", "avx", "fma", "bmi", "popcnt", "lzcnt", "gfni")):
            has = code.net_has(ctypes.c_uint(leaf), part, "abcd".index(register), ctypes.c_uint(1 << bit))
            assert has == (feature in here), feature


def test_features_that_nobody_can_check() -> None:
    with pytest.raises(zp.TargetError, match=r"features \+avx99: exported code could not tell whether a CPU"):
        cpu_check("net", Machine("x86_64-unknown-linux-gnu", "x86-64", "+sse2,+avx99"))
    assert cpu_check("net", Machine("aarch64-unknown-linux-gnu", "", "+neon,-i8mm")).features == ("neon",)
    assert cpu_check("net", Machine("arm64-apple-darwin", "", "+neon")).features == ()
    assert cpu_check("net", Machine("riscv64-unknown-linux-gnu", "", "+m,+d")).features == ()


@pytest.mark.parametrize(
    ("target", "kinds"), [("x86-64", ("object", "static", "asm", "llvm")), ("thumbv7em", ("object",))]
)
def test_bytes_are_reproducible(target: str, kinds: tuple[str, ...], tmp_path: Path) -> None:
    """In another process, folder and order of dictionaries; nothing tells of paths or times."""
    code = (
        "import sys, zeropoint as zp\n"
        "for kind in sys.argv[3:]: zp.export(*sys.argv[1:3], kind, f'net.{kind}', name='net')"
    )
    results: list[dict[str, bytes]] = []
    for number in range(2):
        folder = tmp_path / f"folder{number}"
        folder.mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": str(number), "ZEROPOINT_CACHE_DIR": str(folder)}
        command = [sys.executable, "-c", code, str(NETWORK), target, *kinds]
        subprocess.run(command, cwd=folder, env=environment, check=True, timeout=120)
        results.append({path.name: path.read_bytes() for path in folder.glob("net.*")})
    assert set(results[0]) == {"net.h", *(f"net.{kind}" for kind in kinds)}
    assert results[0] == results[1]
    for data in results[0].values():
        assert not re.search(rb"/tmp|/home|folder[01]|digits|20[2-9][0-9]-", data)


def test_a_shared_library_is_reproducible(tmp_path: Path) -> None:
    require_tool("cc")
    first, second = (zp.export(NETWORK, kind="shared", name="net").data for _ in range(2))
    assert first == second
    assert str(tmp_path.parent).encode() not in first


@pytest.mark.parametrize("kind", ["object", "static", "asm", "llvm"])
def test_every_kind_gives_the_same_bits(kind: str, many: zp.Model, tmp_path: Path) -> None:
    require(toolchain("host"))
    exported = zp.export(many, kind=kind, name="net")
    file = exported.write(tmp_path / f"net{KINDS[kind]}").files[0]
    inputs = random_inputs(many, 0)
    want = [value.tobytes() for value in zp.compile(many).run(*inputs)]
    linked = str(file)
    if kind == "llvm":
        module = llvm.parse_assembly(file.read_text(), llvm.create_context())
        target = llvm.Target.from_triple(module.triple)
        features = llvm.get_host_cpu_features().flatten()
        machine = target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, reloc="pic")
        linked = str(tmp_path / "from_text.o")
        Path(linked).write_bytes(machine.emit_object(module))
    library = tmp_path / "net.so"
    build(["cc", "-shared", "-o", str(library), "-Wl,--whole-archive", linked, "-Wl,--no-whole-archive"])
    other = object.__new__(Library)
    other.code, other.exported = ctypes.CDLL(str(library)), exported
    other.code.net_init.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    other.model, other.size = (ctypes.c_size_t * 2)(), exported.report.arena_bytes
    other.memory = np.zeros(other.size + 64, np.uint8)
    other.arena = other.memory.ctypes.data + -other.memory.ctypes.data % 64
    outputs = [np.zeros(info.shape, info.dtype) for info in many.outputs]
    assert other.init() == "OK"
    assert other.run(addresses(inputs), addresses(outputs)) == "OK"
    assert [value.tobytes() for value in outputs] == want


def test_an_archive_is_read_by_the_systems_tools(tmp_path: Path) -> None:
    require_tool("ar")
    name = "a_network_with_a_long_name"
    exported = zp.export(NETWORK, "x86-64", "static", tmp_path / "lib.a", name=name)
    listed = subprocess.run(["ar", "t", "lib.a"], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert listed.stdout.split() == [f"{name}.o"]
    index = subprocess.run(["nm", "-s", "lib.a"], cwd=tmp_path, capture_output=True, check=True, text=True)
    assert f"{name}_run in {name}.o" in index.stdout
    object_bytes = zp.export(NETWORK, "x86-64", name=name).data
    assert exported.data.endswith(object_bytes)
    assert len(archive("short.o", b"abc", ["f"])) % 2 == 0


@pytest.mark.parametrize("target", ["x86-64-vnni", "aarch64-i8mm", "riscv64", "thumbv7em", "thumbv7em-hf"])
def test_an_object_holds_and_shows_nothing_else(target: str, many: zp.Model) -> None:
    exported = zp.export(many, target, name="net")
    found = summary(exported.data)
    assert found is not None
    public = {"init", "run", "reset", "error_text", "input_tensors", "output_tensors"}
    assert set(found.defined) == {f"net_{name}" for name in public}
    assert all(function.startswith("net_") for function in found.functions)
    assert found.writable == 0
    libc = {name for name in found.undefined if not name.startswith("__aeabi_")}
    assert libc <= {"memcpy", "memset"}, libc


def test_the_report_adds_up() -> None:
    for target in ("x86-64-vnni", "aarch64", "thumbv7em"):
        exported = zp.export(NETWORK, target, name="net")
        report = exported.report
        found = summary(exported.data)
        assert found is not None
        assert report.code_bytes == found.code
        # Padding between functions is all that belongs to neither.
        kernels = sum(layer.code for layer in report.layers)
        assert kernels + report.entry_bytes == report.code_bytes
        assert report.flash_bytes == found.code + found.read_only
        assert sum(layer.constants for layer in report.layers) <= report.constant_bytes
        assert report.peak_bytes == max(layer.arena for layer in report.layers) <= report.arena_bytes
        assert (report.input_bytes, report.output_bytes, report.writable_bytes) == (64, 10, 0)
        assert report.to_json()["layers"][0]["tensor"] == report.layers[0].tensor


def test_code_is_counted_once() -> None:
    text = """
      !q = !quant.uniform<i8:f32, 5.0e-01>
      func.func @main(%x: tensor<4x!q>) -> (tensor<4x!q>, tensor<4x!q>) {
        %0 = "qnn.add"(%x, %x) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q> loc("a")
        %1 = "qnn.add"(%0, %0) {clamp = array<f32>} : (tensor<4x!q>, tensor<4x!q>) -> tensor<4x!q> loc("b")
        return %0, %1 : tensor<4x!q>, tensor<4x!q>
      }"""
    layers = zp.export(model_of(text), pipeline="reference").report.layers
    assert [(layer.tensor, layer.shares_code) for layer in layers] == [("a", False), ("b", True)]
    assert layers[0].code > 0 == layers[1].code


def test_state_is_in_the_report(many: zp.Model) -> None:
    report = zp.export(many).report
    assert report.state_bytes == 4 + 4
    assert report.arena_bytes >= 2 * 64 + report.peak_bytes


def test_what_is_written(tmp_path: Path) -> None:
    assert zp.export(NETWORK).files == ()
    exported = zp.export(NETWORK, output=tmp_path / "some.o")
    assert exported.name == "digits_int8"
    assert exported.files == (tmp_path / "some.o", tmp_path / "some.h")
    assert (tmp_path / "some.o").read_bytes() == exported.data
    assert (tmp_path / "some.h").read_text() == exported.header
    with pytest.raises(zp.InputError, match="which is where the header goes"):
        exported.write(tmp_path / "some.h")
    with pytest.raises(zp.InputError, match=r"output: got the folder '.*', expected a file's name"):
        exported.write(tmp_path)
    with pytest.raises(zp.InputError, match=r"output: got the folder '\.', expected a file's name"):
        exported.write(".")
    with pytest.raises(zp.ZeropointError, match=r"nowhere/x\.o: cannot be written: No such file"):
        exported.write(tmp_path / "nowhere" / "x.o")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"target": "aarch65"}, zp.TargetError, "no target 'aarch65'; did you mean 'aarch64'"),
        ({"target": "xnnpack"}, zp.TargetError, "is rules alone, .* expected one of host, aarch64"),
        ({"kind": "statik"}, zp.InputError, "kind: got 'statik'; did you mean 'static'?"),
        ({"kind": "exe"}, zp.InputError, "kind: got 'exe', expected one of object, static, shared"),
        ({"name": "my net"}, zp.InputError, "name: got 'my net', expected a name that C allows.*'my_net'"),
        ({"name": "int"}, zp.InputError, "for example 'int_'"),
        ({"kind": "shared", "target": "thumbv7em"}, zp.TargetError, "has no operating system .*'static'"),
        ({"pipeline": "fast"}, zp.PipelineError, "unknown pipeline 'fast'"),
    ],
)
def test_arguments_that_are_refused(arguments: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        zp.export(NETWORK, **arguments)


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (
            'cpu = "cortex-a77x"',
            r"board.toml: error: machine.cpu: LLVM knows no CPU 'cortex-a77x' for aarch64; did",
        ),
        ('cpu = "z80"', r"no CPU 'z80' for aarch64; there are a64fx, .*, cortex-a55, .*, neoverse-n1, "),
        (
            'features = ["+dotprdo"]',
            r"machine.features: LLVM knows no feature '\+dotprdo' .*did you mean 'dotprod'",
        ),
    ],
)
def test_a_cpu_or_feature_that_nobody_knows(machine: str, message: str, tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text(f'extends = "aarch64"\n[machine]\n{machine}\n')
    with pytest.raises(zp.TargetError, match=message):
        zp.export(NETWORK, str(board))


def test_a_board_of_ones_own(tmp_path: Path) -> None:
    board = tmp_path / "board.toml"
    board.write_text('extends = "aarch64"\n[machine]\ncpu = "cortex-a76"\nfeatures = ["+dotprod"]\n')
    header = zp.export(NETWORK, str(board)).header
    assert "(aarch64-unknown-linux-gnu, cortex-a76)" in header


def test_a_linker_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(zp.TargetError, match=r"none of riscv64-linux-gnu-gcc is here; install gcc-riscv64"):
        zp.export(NETWORK, "riscv64", "shared")


def test_a_model_that_is_too_large_for_32_bits() -> None:
    text = """
      func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
        %0 = "qnn.broadcast"(%x) : (tensor<1xf32>) -> tensor<40000x30000xf32>
        %1 = "qnn.add"(%0, %0) {clamp = array<f32>}
            : (tensor<40000x30000xf32>, tensor<40000x30000xf32>) -> tensor<40000x30000xf32>
        %2 = "qnn.slice"(%1)
            {offsets = array<i64: 3, 4>, sizes = array<i64: 1, 1>, strides = array<i64: 1, 1>}
            : (tensor<40000x30000xf32>) -> tensor<1x1xf32>
        %3 = "qnn.reshape"(%2) : (tensor<1x1xf32>) -> tensor<1xf32>
        return %3 : tensor<1xf32>
      }"""
    model = zp.Model.from_module(parse_module(text), "large")
    with pytest.raises(zp.InputError, match=r"arena of [0-9,]{13} bytes .* more than target 'thumbv7em' has"):
        zp.export(model, "thumbv7em")


def test_models_that_are_refused() -> None:
    dynamic = """
      func.func @main(%x: tensor<?x3xf32> {qnn.name = "x"}) -> tensor<?x3xf32> {
        return %x : tensor<?x3xf32>
      }"""
    with pytest.raises(zp.InputError, match="input 'x' has the dynamic shape"):
        zp.export(model_of(dynamic))
    with pytest.raises(zp.InputError, match="model_or_path: got int"):
        zp.export(3)  # type: ignore[arg-type]


class Guarded:
    """Memory that ends where a page begins that nobody may touch: going beyond it ends the process."""

    def __init__(self, size: int, alignment: int = 1) -> None:
        page = mmap.PAGESIZE
        whole = -(-size // page) * page
        self._memory = mmap.mmap(-1, whole + page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        libc = ctypes.CDLL(None)
        assert libc.mprotect(ctypes.c_void_p(start + whole), ctypes.c_size_t(page), 0) == 0
        self.address = start + whole - -(-size // alignment) * alignment
        self.size = size

    def write(self, data: bytes) -> None:
        ctypes.memmove(self.address, data, self.size)

    def read(self) -> bytes:
        return ctypes.string_at(self.address, self.size)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is protected as Linux does it")
@pytest.mark.parametrize("network", ["digits", "many", "loops"])
def test_nothing_beyond_the_callers_memory_is_touched(network: str, many: zp.Model, tmp_path: Path) -> None:
    models = {
        "digits": lambda: zp.load(NETWORK),
        "many": lambda: many,
        "loops": lambda: load_bytes(control_flow_network(), name="loops.tflite"),
    }
    model = models[network]()
    library = Library(model, tmp_path)
    inputs = random_inputs(model, 0)
    given = [Guarded(value.nbytes, value.itemsize) for value in inputs]
    for place, value in zip(given, inputs, strict=True):
        place.write(value.tobytes())
    results = [
        Guarded(info.type.elements * info.dtype.itemsize, info.dtype.itemsize) for info in model.outputs
    ]
    arena = Guarded(library.size, 64)
    assert library.init(arena.address) == "OK"
    assert library.run([p.address for p in given], [p.address for p in results]) == "OK"
    want = [value.tobytes() for value in zp.compile(model).run(*inputs)]
    assert [place.read() for place in results] == want
