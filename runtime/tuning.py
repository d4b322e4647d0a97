"""Measures the ways to compute each part of a network, inside of that network, and takes the fastest.

The network is built several times: with what the cost model chooses, then with every problem's second way,
its third, and so on. All are run in turn, step by step, so that each way is timed among the steps around it,
on their buffers, with weights that are as cold as they will be. The winners are built together and measured
against the cost model's choices once more: the luck of the first measurement does not count twice.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..codegen.program import Program
from ..kernels.choices import Chooser, Problem, Way, Ways
from .step_times import sample_steps

if TYPE_CHECKING:
    from .executable import Executable

Seconds = npt.NDArray[np.float64]
Progress = Callable[[str], None]
Build = Callable[[Chooser], "Executable"]

_LEAST_GAIN = 0.02
"""What a way has to be faster than the cost model's, as a share: less is noise."""
_SECONDS = 0.08
"""Of measuring, per problem that has several ways."""
_LEAST_ROUNDS = 5
_RUNS = 2
"""Of a network in a row: the first finds its weights where the others' runs have left them."""
_TURN_SECONDS = 5e-4
"""Small networks run more often in a row: a turn costs something itself."""
_MOST_RUNS = 100


@dataclass(frozen=True)
class TunedProblem:
    """A problem of the network that there are several ways for; seconds are sums over its steps."""

    problem: Problem
    steps: int
    """Of the network, that solve it."""
    source: str
    """What the model calls the result of the first of them."""
    ways: int
    usual: Way
    """The cost model's."""
    chosen: Way
    usual_seconds: float
    chosen_seconds: float

    @property
    def is_changed(self) -> bool:
        return self.chosen != self.usual


@dataclass(frozen=True)
class Tuning:
    """What tuning a network has found."""

    problems: tuple[TunedProblem, ...]
    usual_seconds: float
    """Of all steps of the network, as the cost model has it."""
    chosen_seconds: float
    measuring_seconds: float
    seconds: float
    """Of everything: compiling all ways, too."""

    @property
    def chosen(self) -> dict[Problem, Way]:
        return {tuned.problem: tuned.chosen for tuned in self.problems}

    def to_json(self) -> dict[str, Any]:
        return {
            "seconds": self.seconds,
            "measuring_seconds": self.measuring_seconds,
            "usual_ms": self.usual_seconds * 1e3,
            "chosen_ms": self.chosen_seconds * 1e3,
            "problems": [
                {
                    "kernel": tuned.problem.code.symbol,
                    "tensor": tuned.source,
                    "steps": tuned.steps,
                    "ways": tuned.ways,
                    "usual": str(tuned.usual),
                    "chosen": str(tuned.chosen),
                    "usual_ms": tuned.usual_seconds * 1e3,
                    "chosen_ms": tuned.chosen_seconds * 1e3,
                }
                for tuned in self.problems
            ],
        }


def tune(build: Build, progress: Progress) -> Tuning:
    """What is the fastest for a network, which ``build`` compiles as a chooser says."""
    started = time.perf_counter()
    found: dict[Problem, Sequence[Way]] = {}
    usual = build(_recorder(found))
    steps = steps_of(usual._program)
    several = {p: found[p] for p in steps if len(found.get(p, ())) > 1}
    if not several:
        return Tuning((), 0.0, 0.0, 0.0, time.perf_counter() - started)
    most = max(map(len, several.values()))
    variants = [usual]
    for number in range(1, most):
        progress(f"tuning {len(several)} kernels: compiling, {number} of {most - 1}")
        variants.append(build(_numbered(several, number)))
    budget = _SECONDS * len(several)
    measuring = time.perf_counter()
    times = measure(variants, budget, progress)
    best = {problem: _fastest(several[problem], steps[problem], times) for problem in several}
    measured = time.perf_counter() - measuring
    pair = times[[0, 0]]
    if any(best[p] != several[p][0] for p in several):
        progress("tuning: compiling the winners")
        rival = build(fixed(best))
        measuring = time.perf_counter()
        pair = measure([usual, rival], budget / 2, progress)
        measured += time.perf_counter() - measuring
    tuned = tuple(_confirmed(p, several[p], best[p], steps[p], usual._program, pair) for p in several)
    gained = sum(t.usual_seconds - t.chosen_seconds for t in tuned)
    total = float(pair[0].sum())
    return Tuning(tuned, total, total - gained, measured, time.perf_counter() - started)


def steps_of(program: Program) -> dict[Problem, list[int]]:
    """The steps of a network as the cost model has it, by what they solve."""
    steps: defaultdict[Problem, list[int]] = defaultdict(list)
    for number, step in enumerate(program.steps):
        if (code := program.codes.get(step.kernel)) is not None:
            scalars = tuple(value for value in step.arguments if isinstance(value, int))
            steps[Problem(code, step.units, scalars, step.macs)].append(number)
    return dict(steps)


def measure(networks: Sequence[Executable], seconds: float, progress: Progress) -> Seconds:
    """``[networks, steps]``: the least time of each step, in rounds of a few runs of each network."""
    workspaces = [network._workspace_at(_inputs(network)) for network in networks]
    counts = [len(network._program.steps) for network in networks]
    assert len(set(counts)) == 1, "a choice has changed the steps of a network"
    least = np.full((len(networks), counts[0]), np.inf)
    started, rounds, runs = time.perf_counter(), 0, _RUNS
    while rounds < _LEAST_ROUNDS or time.perf_counter() - started < seconds:
        progress(f"tuning: measuring, {min(1.0, (time.perf_counter() - started) / seconds):.0%}")
        first = rounds % len(networks)
        for number in (*range(first, len(networks)), *range(first)):
            samples = sample_steps(counts[0], networks[number]._code, workspaces[number], runs)
            np.minimum(least[number], samples.min(axis=0), out=least[number])
        if not rounds:
            fitting = _TURN_SECONDS / max(float(least.sum(axis=1).max()), 1e-9)
            runs = max(_RUNS, min(_MOST_RUNS, int(fitting)))
        rounds += 1
    return least


def _inputs(network: Executable) -> list[npt.NDArray[Any]]:
    """Bytes of all kinds; zeros where they might be no numbers."""
    random = np.random.default_rng(0)
    arrays = []
    for info in network.inputs:
        if info.dtype.kind in "iu":
            bounds = np.iinfo(info.dtype)
            arrays.append(random.integers(bounds.min, bounds.max, info.shape, info.dtype, endpoint=True))
        else:
            arrays.append(np.zeros(info.shape, info.dtype))
    return arrays


def _fastest(ways: Sequence[Way], steps: Sequence[int], times: Seconds) -> Way:
    """The network of number i has way i of each problem, and way i modulo their number where it has fewer."""
    sums = times[:, steps].sum(axis=1)
    least = [float(sums[number :: len(ways)].min()) for number in range(len(ways))]
    best = int(np.argmin(least))
    return ways[best] if least[best] < (1 - _LEAST_GAIN) * least[0] else ways[0]


def _confirmed(
    problem: Problem,
    ways: Sequence[Way],
    best: Way,
    steps: Sequence[int],
    program: Program,
    pair: Seconds,
) -> TunedProblem:
    """``pair``: times with the cost model's choices, and with the best."""
    usual, tuned = (float(times[steps].sum()) for times in pair)
    keeps = best == ways[0] or tuned >= (1 - _LEAST_GAIN) * usual
    chosen, seconds = (ways[0], usual) if keeps else (best, tuned)
    source = ", ".join(program.steps[steps[0]].source)
    return TunedProblem(problem, len(steps), source, len(ways), ways[0], chosen, usual, seconds)


def _recorder(found: dict[Problem, Sequence[Way]]) -> Chooser:
    """Takes what the cost model does, and notes all ways there are."""

    def choose(problem: Problem, ways: Ways) -> None:
        if problem not in found:
            found[problem] = ways()

    return choose


def _numbered(several: Mapping[Problem, Sequence[Way]], number: int) -> Chooser:
    def choose(problem: Problem, _: Ways) -> Way | None:
        ways = several.get(problem)
        return ways[number % len(ways)] if ways else None

    return choose


def fixed(chosen: Mapping[Problem, Way]) -> Chooser:
    """Takes what is chosen, elsewhere what the cost model does."""
    return lambda problem, _: chosen.get(problem)
