"""The driver: every unit of every step runs once, in order of steps, alone and with any team."""

from __future__ import annotations

import ctypes
import gc
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from emulation import needs_fork
from zeropoint.codegen import driver_team
from zeropoint.codegen.driver import DRIVER, RUN, driver_ir
from zeropoint.codegen.llvm import to_object
from zeropoint.codegen.loader import LoadedCode, load
from zeropoint.codegen.machine import Machine, host
from zeropoint.codegen.program import COPY, COPY_UNIT, Pointer, Program, Step
from zeropoint.codegen.step_kernels import copy_ir
from zeropoint.codegen.table import TableLayout, Workspace, chunks_of
from zeropoint.codegen.team import Team

# Row: source, destination, count, work. Unit u: destination[u] += source[(5 u) % count] + 1, after some work.
MIX = """
define void @kernel(ptr %row, i64 %begin, i64 %end) {
entry:
  %source = load ptr, ptr %row
  %p1 = getelementptr i64, ptr %row, i64 1
  %target = load ptr, ptr %p1
  %p2 = getelementptr i64, ptr %row, i64 2
  %count = load i64, ptr %p2
  %p3 = getelementptr i64, ptr %row, i64 3
  %work = load i64, ptr %p3
  %none = icmp sge i64 %begin, %end
  br i1 %none, label %exit, label %unit
unit:
  %u = phi i64 [ %begin, %entry ], [ %u.next, %store ]
  br label %busy
busy:
  %w = phi i64 [ 0, %unit ], [ %w.next, %busy ]
  %w.next = add i64 %w, 1
  call void asm sideeffect "", "~{memory}"()
  %more = icmp slt i64 %w.next, %work
  br i1 %more, label %busy, label %store
store:
  %five = mul i64 %u, 5
  %index = urem i64 %five, %count
  %s = getelementptr i64, ptr %source, i64 %index
  %a = load i64, ptr %s
  %t = getelementptr i64, ptr %target, i64 %u
  %b = load i64, ptr %t
  %c = add i64 %a, %b
  %d = add i64 %c, 1
  store i64 %d, ptr %t
  %u.next = add i64 %u, 1
  %again = icmp slt i64 %u.next, %end
  br i1 %again, label %unit, label %exit
exit:
  ret void
}
"""


@pytest.fixture(scope="module")
def code() -> LoadedCode:
    texts = {DRIVER: driver_ir(host().triple), COPY: copy_ir(), "mix": MIX}
    return load({name: to_object(text, host()) for name, text in texts.items()})


def random_program(seed: int, steps: int = 60) -> Program:
    """Each step mixes the values of the one before into its own buffer; the last one's is the output."""
    rng = random.Random(seed)
    counts = [rng.choice([1, 2, 3, 7, 8, 31, 64, 1000]) for _ in range(steps)]
    made, offset = [], 0
    source, length = Pointer("input"), 1000
    for number, count in enumerate(counts):
        is_last = number == steps - 1
        target = Pointer("output") if is_last else Pointer("arena", 0, offset)
        arguments = (source, target, min(count, length), rng.choice([0, 0, 10, 2000 // count]))
        made.append(Step("mix", count, arguments, cost=rng.choice([0, 0, 1000, 5000, 100000])))
        source, length, offset = target, count, offset + 8 * count
    return Program(tuple(made), offset, 1, 1)


def expected(program: Program, values: np.ndarray, runs: int) -> np.ndarray:
    arena: dict[int, np.ndarray] = {}
    result = np.zeros(1000, np.int64)
    for _ in range(runs):
        source = values
        for step in program.steps:
            _, target, count, _ = step.arguments
            place = (
                result
                if target.base == "output"
                else arena.setdefault(target.offset, np.zeros(step.units, np.int64))
            )
            place[: step.units] += source[(5 * np.arange(step.units)) % count] + 1
            source = place
    return result


class Runner:
    """A program, a team perhaps, and one workspace."""

    def __init__(self, code: LoadedCode, program: Program, threads: int, team: Team | None = None) -> None:
        self.team = team or (Team(code, threads) if threads > 1 else None)
        if self.team is not None:
            self.team.start()
        layout = TableLayout(program, code, 0, threads)
        self.workspace = Workspace(layout, self.team.address if self.team else 0)
        self.values = np.arange(1000, dtype=np.int64)
        self.result = np.zeros(1000, np.int64)
        self.workspace.point_at([self.values.ctypes.data, self.result.ctypes.data])
        self.call: Callable[[int], None] = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(DRIVER, RUN))

    def __call__(self) -> None:
        self.call(self.workspace.address)


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("seed", range(4))
def test_every_unit_runs_once_and_steps_in_order(code: LoadedCode, threads: int, seed: int) -> None:
    program = random_program(seed)
    run = Runner(code, program, threads)
    for _ in range(200):
        run()
    np.testing.assert_array_equal(run.result, expected(program, run.values, 200))


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("alone", [False, True])
def test_early_steps_run_once_with_the_step_behind_them(code: LoadedCode, threads: int, alone: bool) -> None:
    """Each adds one to every unit of its own buffer; what two of them share, and what follows, reads both."""
    rng = random.Random(threads)
    steps, buffers = [], [Pointer("arena", 0, 8000 * i) for i in range(3)]
    for _ in range(40):
        early, shared, last = rng.sample(buffers, 3)
        steps.append(
            Step("mix", 5, (Pointer("input"), early, 5, 50), cost=1, overlaps_next=rng.random() < 0.8)
        )
        steps.append(Step("mix", 1000, (Pointer("input"), shared, 1000, 5), cost=rng.choice([1, 10**5])))
        steps.append(Step("mix", 1000, (early, last, 5, 1), cost=rng.choice([1, 10**5])))
    steps.append(Step("mix", 1000, (buffers[0], Pointer("output"), 1000, 0)))
    program = Program(tuple(steps), 24000, 1, 1)
    run = Runner(code, program, threads)
    if alone and run.team is not None:
        ctypes.c_int64.from_address(run.team.address + driver_team.ALONE).value = 1 << 40
    run()
    run()
    memory = {pointer: np.zeros(1000, np.int64) for pointer in [*buffers, Pointer("output")]}
    memory[Pointer("input")] = run.values
    for step in steps * 2:
        source, target, count, _ = step.arguments
        assert isinstance(source, Pointer)
        assert isinstance(target, Pointer)
        memory[target][: step.units] += memory[source][5 * np.arange(step.units) % count] + 1
    np.testing.assert_array_equal(run.result, memory[Pointer("output")])


def test_a_team_that_slept_wakes(code: LoadedCode) -> None:
    program = random_program(1)
    run = Runner(code, program, 2)
    for _ in range(5):
        time.sleep(0.02)  # idle threads sleep after 0.1 ms
        run()
    np.testing.assert_array_equal(run.result, expected(program, run.values, 5))


def test_a_team_without_cores_gives_way_for_a_while(code: LoadedCode) -> None:
    """A helper says that it is on the main thread's core: steps are run alone, more of them each time."""
    steps = [Step("mix", 16, (Pointer("input"), Pointer("output"), 16, 0))] * 50
    run = Runner(code, Program(tuple(steps), 0, 1, 1), 2)
    assert run.team is not None

    def word(offset: int) -> ctypes.c_int64:
        assert run.team is not None
        return ctypes.c_int64.from_address(run.team.address + offset)

    runs = 0
    for level, length in [(1, 256), (2, 512), (3, 1024), (4, 2048), (5, 4096), (5, 8192), (5, 8192)]:
        word(driver_team.ALONE).value = 0
        word(driver_team.LEVEL).value = level - 1 if level < 5 else word(driver_team.LEVEL).value
        ctypes.c_int32.from_address(run.team.address + driver_team.CROWDED).value = 1
        run()
        runs += 1
        assert word(driver_team.LEVEL).value == level
        assert length - 49 <= word(driver_team.ALONE).value < length
    np.testing.assert_array_equal(run.result, expected_repeats(run.values, 50 * runs))


def test_interruptions_are_paid_back_and_a_lost_core_is_not(code: LoadedCode) -> None:
    """What the main thread owes sinks with every step that others help with; too much of it is a stall."""
    steps = [Step("mix", 16, (Pointer("input"), Pointer("output"), 16, 20_000))] * 20
    run = Runner(code, Program(tuple(steps), 0, 1, 1), 2)
    assert run.team is not None
    alone, debt = (
        ctypes.c_int64.from_address(run.team.address + offset)
        for offset in (driver_team.ALONE, driver_team.DEBT)
    )
    debt.value = 1 << 50
    run()
    assert alone.value > 0
    assert debt.value == 0
    deadline = time.monotonic() + 20
    paid = False
    while not paid and time.monotonic() < deadline:
        alone.value, debt.value = 0, 1000
        run()
        paid = alone.value == 0 and debt.value == 0
    assert paid


def expected_repeats(values: np.ndarray, steps: int) -> np.ndarray:
    result = np.zeros(1000, np.int64)
    result[:16] = steps * (values[(5 * np.arange(16)) % 16] + 1)
    return result


def test_runs_of_many_threads_share_one_team(code: LoadedCode) -> None:
    """One of them has it, the others run alone."""
    program = random_program(2)
    team = Team(code, 3)
    runners = [Runner(code, program, 3, team) for _ in range(6)]

    def work(run: Runner) -> None:
        for _ in range(100):
            run()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, runners))
    for run in runners:
        np.testing.assert_array_equal(run.result, expected(program, run.values, 100))


def helpers() -> int:
    return sum(thread.name.startswith("zeropoint-") for thread in threading.enumerate())


def wait_for_helpers(count: int) -> None:
    deadline = time.monotonic() + 10
    while helpers() != count and time.monotonic() < deadline:
        time.sleep(0.01)
    assert helpers() == count


def test_helpers_end_with_their_team(code: LoadedCode) -> None:
    gc.collect()
    wait_for_helpers(0)
    run = Runner(code, random_program(3), 4)
    run()
    assert helpers() == 3
    time.sleep(0.02)  # asleep: they must be woken to end
    del run
    gc.collect()
    wait_for_helpers(0)


@needs_fork
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_runs_alone_then_with_helpers_of_its_own(code: LoadedCode) -> None:
    program = random_program(4)
    run = Runner(code, program, 3)
    run()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            run()  # nobody is there to help
            assert run.team is not None
            run.team.start()
            run()
            np.testing.assert_array_equal(run.result, expected(program, run.values, 3))
            status = 0
        finally:
            os._exit(status)
    run()
    deadline = time.monotonic() + 30
    while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended[0] == 0:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert ended == (child, 0)
    np.testing.assert_array_equal(run.result, expected(program, run.values, 2))


@pytest.mark.parametrize(
    "ending", ["", "time.sleep(0.05)", "import os; os.kill(os.getpid(), 15)", "raise SystemExit(3)"]
)
def test_a_process_with_helpers_ends(ending: str) -> None:
    script = (
        "import time, numpy as np, zeropoint as zp\n"
        "from zeropoint.dialect.context import parse_module\n"
        "q = 'tensor<4000x!quant.uniform<i8:f32, 5.0e-01:3>>'\n"
        "text = f'func.func @main(%x: {q}) -> {q} {{ return %x : {q} }}'\n"
        "exe = zp.compile(zp.Model.from_module(parse_module(text), 'x'), threads=3)\n"
        "exe.run(np.zeros(4000, np.int8))\n" + ending
    )
    done = subprocess.run([sys.executable, "-c", script], timeout=60, capture_output=True, text=True)
    assert done.returncode == {"": 0, "t": 0, "i": -15, "r": 3}[ending[:1]], done.stderr
    assert not done.stderr


@pytest.mark.parametrize("size", [1, COPY_UNIT - 1, COPY_UNIT, 3 * COPY_UNIT + 5])
@pytest.mark.parametrize("threads", [1, 3])
def test_copy(code: LoadedCode, size: int, threads: int) -> None:
    step = Step(COPY, -(-size // COPY_UNIT), (Pointer("input"), Pointer("output"), size))
    run = Runner(code, Program((step,), 0, 1, 1), threads)
    rng = np.random.default_rng(0)
    source = rng.integers(0, 256, size + 8, np.uint8)
    target = np.zeros(size + 8, np.uint8)
    run.workspace.point_at([source.ctypes.data, target.ctypes.data])
    run()
    np.testing.assert_array_equal(target[:size], source[:size])
    assert not target[size:].any()


def test_program_without_steps(code: LoadedCode) -> None:
    Runner(code, Program((), 0, 1, 1), 1)()
    Runner(code, Program((), 0, 1, 1), 2)()


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("units", [1, 2, 7, 33, 10**6, 10**12])
@pytest.mark.parametrize("cost", [0, 500, 9999, 10_000, 10**9])
def test_chunks_cover_the_units(threads: int, units: int, cost: int) -> None:
    size, count = chunks_of(Step("mix", units, (), cost=cost), threads)
    assert size * (count - 1) < units <= size * count
    assert count <= min(units, 16 * threads, driver_team.MAX_CHUNKS)
    if threads == 1 or 0 < cost < 10_000:
        assert count == 1, "not worth the handing over"


@pytest.mark.parametrize(
    "triple",
    [
        "x86_64-unknown-linux-gnu",
        "aarch64-unknown-linux-gnu",
        "riscv64-unknown-linux-gnu",
        "arm64-apple-macosx11.0",
        "x86_64-pc-windows-msvc",
        "x86_64-unknown-freebsd",
    ],
)
def test_driver_for_any_system(triple: str) -> None:
    code = to_object(driver_ir(triple), Machine(triple))
    for symbol in (b"run", b"work", b"stop"):
        assert symbol in code
    assert (b"syscall" in code) == ("linux" in triple)


@pytest.mark.skipif(
    host().triple.split("-")[0] not in ("x86_64", "aarch64"), reason="no counter is known on this machine"
)
def test_time_is_counted() -> None:
    """At a rate that makes the driver's limit some hundred microseconds."""
    limit_and_ticks = driver_ir(host().triple) + (
        "define i64 @count() {\n  %t = call i64 @ticks()\n  ret i64 %t\n}\n"
        "define i64 @limit() {\n  %t = call i64 @stall_ticks()\n  ret i64 %t\n}\n"
    )
    code = load({"it": to_object(limit_and_ticks, host())})
    count, limit = (ctypes.CFUNCTYPE(ctypes.c_int64)(code.address("it", name)) for name in ("count", "limit"))
    begin, started = count(), time.perf_counter()
    time.sleep(0.05)
    ticks, seconds = count() - begin, time.perf_counter() - started
    assert 100e-6 < limit() / ticks * seconds < 1e-3
