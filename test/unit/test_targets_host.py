"""Finding the target of the machine we run on, and the lines of keys in a file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from zeropoint import hwcap, targets
from zeropoint.targets.host import host_features, host_target, strongest
from zeropoint.targets.loading import DATA
from zeropoint.targets.locate import line_of, locate
from zeropoint.targets.target import Cache

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

X86 = ("x86-64", "x86-64-v3", "x86-64-v4", "x86-64-vnni", "x86-64-amx")
ARM = ("aarch64", "aarch64-dotprod", "aarch64-i8mm")
SHIPPED = tuple(file.stem for file in sorted(DATA.glob("*.toml")))


# Lines


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, (*path, key))
    yield path


@pytest.mark.parametrize("name", SHIPPED)
def test_every_key_of_a_shipped_file_is_located(name: str) -> None:
    text = (DATA / f"{name}.toml").read_text()
    lines = locate(text)
    for path in leaves(tomllib.loads(text)):
        if path and isinstance(path[-1], str):
            assert path[-1] in text.splitlines()[lines[path] - 1]


def test_lines_in_all_forms_of_toml() -> None:
    text = '''# a comment with [brackets] = and "quotes"
a.b = 1
"c d" = """
x = 1
"""
[ t . 'u v' ]   # [x]
list = [ 1, # one
  "]", [2,
  { k = '#' }]]
date = 1979-05-27T07:32:00Z
s = "a\\"b=c"
[[arr]]
k = 1
[[arr]]
k = 2
[arr.sub]
inline = { x = 1, "y z" = { w = ["}"] } }
'''
    document, lines = tomllib.loads(text), locate(text)
    assert set(lines) == set(leaves(document)) - {()}
    expected = {
        ("a", "b"): 2,
        ("c d",): 3,
        ("t", "u v"): 6,
        ("t", "u v", "list"): 7,
        ("t", "u v", "list", 1): 8,
        ("t", "u v", "list", 2, 1, "k"): 9,
        ("t", "u v", "date"): 10,
        ("arr", 0, "k"): 13,
        ("arr", 1, "k"): 15,
        ("arr", 1, "sub"): 16,
        ("arr", 1, "sub", "inline", "y z", "w", 0): 17,
    }
    assert {path: lines[path] for path in expected} == expected
    assert line_of(lines, ("arr", 1, "k", "missing")) == 15
    assert line_of(lines, ("nothing",)) == 1


# The host


def test_this_machine_is_the_strongest_shipped_target_it_fits() -> None:
    llvm = pytest.importorskip("llvmlite.binding")
    there = {name for name, present in host_features().items() if present}
    host = targets.detect_host()
    assert host.name == "host"
    assert host.machine is not None
    assert host.machine.cpu == llvm.get_host_cpu_name()
    assert host.machine.triple == llvm.get_process_triple()

    def fits(name: str) -> bool:
        machine = targets.load_target(name).machine
        assert machine is not None
        needs = {feature[1:] for feature in machine.features}
        return machine.architecture == host.machine.architecture and needs <= there  # type: ignore[union-attr]

    fitting = [name for name in (*X86, *ARM) if fits(name)]  # weakest first
    assert host.extends == (fitting[-1] if fitting else "reference")
    assert targets.load_target("host") == host


V3 = "cx16 popcnt sse3 ssse3 sse4.1 sse4.2 avx avx2 bmi bmi2 f16c fma lzcnt movbe"
V4 = f"{V3} avx512bw avx512cd avx512dq avx512f avx512vl"


def test_what_linux_says_of_aarch64_in_llvms_words() -> None:
    """Neoverse N1's bits: dot products, half precision and atomics, but neither i8mm nor SVE."""
    words = hwcap.names(0x119FFB, 0)
    assert {"fp", "asimd", "asimddp", "asimdhp", "atomics"} <= set(words)
    features = hwcap.llvm_features(words)
    assert {name for name, there in features.items() if there} == {
        *("fp-armv8", "neon", "aes", "sha2", "crc", "lse", "fullfp16", "rdm", "rcpc", "dotprod")
    }
    assert [features[name] for name in ("i8mm", "bf16", "sve", "sve2")] == [False] * 4
    assert hwcap.names(0, 1 << 13 | 1 << 14) == ("i8mm", "bf16")
    assert hwcap.llvm_features(["i8mm"])["i8mm"]


def test_llvm_knows_the_features_that_linux_tells_of() -> None:
    pytest.importorskip("llvmlite.binding")
    features = ",".join(f"+{name}" for name in hwcap.llvm_features([]))
    # LLVM complains on stderr alone.
    program = (
        "import llvmlite.binding as llvm; llvm.initialize_all_targets();"
        f"llvm.Target.from_triple('aarch64-linux-gnu').create_target_machine(features='{features},+nonsense')"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr
    assert "+nonsense" in told
    assert told.count("not a recognized feature") == 1


@pytest.mark.parametrize(
    ("triple", "features", "expected"),
    [
        ("x86_64-unknown-linux-gnu", "sse2", "reference"),
        ("x86_64-pc-windows-msvc", V3.split(" avx ")[0], "x86-64"),
        ("x86_64-unknown-linux-gnu", V3, "x86-64-v3"),
        ("x86_64-unknown-linux-gnu", f"{V3} avx512f avxvnni", "x86-64-v3"),
        ("x86_64-unknown-linux-gnu", V4, "x86-64-v4"),
        ("x86_64-unknown-linux-gnu", f"{V4} avx512vnni", "x86-64-vnni"),
        ("x86_64-unknown-linux-gnu", f"{V4} avx512vnni amx-tile", "x86-64-vnni"),
        ("x86_64-unknown-linux-gnu", f"{V4} avx512vnni avx512vbmi amx-tile amx-int8", "x86-64-amx"),
        ("aarch64-unknown-linux-gnu", "neon", "aarch64"),
        ("arm64-apple-darwin23", "neon dotprod", "aarch64-dotprod"),
        ("aarch64-unknown-linux-gnu", "neon dotprod i8mm", "aarch64-i8mm"),
        ("riscv64-unknown-linux-gnu", "v", "reference"),
    ],
)
def test_host_detection(triple: str, features: str, expected: str) -> None:
    there = dict.fromkeys(features.split(), True) | {"absent": False}
    assert strongest(triple, there).name == expected
    host = host_target(triple, "cpu", there, Cache(l1_kib=7))
    assert host.machine is not None
    assert host.machine.cache.l1_kib == 7
    assert "-absent" in host.machine.features
    assert host.machine.vector_bits >= 64
    assert host.rule("concat", "i8").kind == "same-as-result"
