"""What was measured on emulated processors as rows: plain data for JSON, and the cells of the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .aarch64_mca import PROCESSORS as MODELS
from .aarch64_mca import cycles_per_iteration, runs
from .aarch64_measure import Code, LoopShare, Measured, StepCode

Row = Mapping[str, Any]
_MNEMONICS = 12


def network_row(
    network: str, macs: int, processor: str, ours: Measured | str, litert: Measured | str, bits: str
) -> dict[str, Any]:
    """One network on one processor. A system that could not run it is its reason, a text, which is empty
    if it was not asked for.
    """
    found: dict[str, Any] = {"network": network, "macs": macs, "processor": processor, "bits": bits}
    for name, measured in (("zeropoint", ours), ("litert", litert)):
        found[name] = {"refused": measured} if isinstance(measured, str) else _system(measured, macs)
    both = [found[name].get("instructions") for name in ("zeropoint", "litert")]
    found["ratio"] = both[0] / both[1] if all(both) else None
    return found


def _system(measured: Measured, macs: int) -> dict[str, Any]:
    return {
        "version": measured.version,
        "interpreter_instructions": measured.interpreter,
        "varies_by": measured.varies,
        "threads": measured.threads,
        **_code(measured.code, macs),
        "steps": [_step(step) for step in measured.steps],
    }


def _code(code: Code, macs: int) -> dict[str, Any]:
    hottest = sorted(code.mnemonics.items(), key=lambda item: -item[1])[:_MNEMONICS]
    return {
        "instructions": code.instructions,
        "instructions_per_mac": code.instructions / macs if macs else None,
        "dot_share": code.dot / code.instructions if code.instructions else None,
        "product_share": code.product / code.instructions if code.instructions else None,
        "mnemonics": dict(hottest),
        "loops": [_loop(loop) for loop in code.loops],
    }


def _step(step: StepCode) -> dict[str, Any]:
    head = {"step": step.index, "kernel": step.kernel, "source": step.source, "macs": step.macs}
    return {**head, **_code(step.code, step.macs)}


def _loop(loop: LoopShare) -> dict[str, Any]:
    return {
        "share": loop.share,
        "address": loop.loop.begin,
        "iterations": loop.loop.iterations,
        "instructions": len(loop.assembly),
        "macs": loop.macs,
        "dot_share": loop.dot_share,
        "product_share": loop.product_share,
        "cycles": {},
        "assembly": list(loop.assembly),
    }


def predict_cycles(rows: Sequence[Row]) -> None:
    """Fill in the cycles of one iteration of every loop, on every model that has its instructions.

    Raises:
        ToolError: llvm-mca is missing or fails.
    """
    loops = [loop for row in rows for system in ("zeropoint", "litert") for loop in _loops(row[system])]
    for model in MODELS:
        known = [loop for loop in loops if runs(loop["assembly"], model)]
        distinct = list(dict.fromkeys(tuple(loop["assembly"]) for loop in known))
        predicted = dict(zip(distinct, cycles_per_iteration(distinct, model), strict=True))
        for loop in known:
            loop["cycles"][model] = predicted[tuple(loop["assembly"])]


def _loops(system: Row) -> Iterator[Any]:
    for part in (system, *system.get("steps", ())):
        yield from part.get("loops", ())


def by_kernel(steps: Sequence[Row], small: float = 0.0) -> list[dict[str, Any]]:
    """Steps of the same kernel together, the most instructions first, each with its hottest loop.
    Kernels with a share below ``small`` are one entry, the last.
    """
    total = sum(step["instructions"] for step in steps)
    groups: dict[str, list[Row]] = {}
    for step in steps:
        groups.setdefault(step["kernel"], []).append(step)
    found = [_group(kernel, group, total) for kernel, group in groups.items()]
    others = [entry["kernel"] for entry in found if entry["share"] < small]
    if len(others) > 1:
        found = [entry for entry in found if entry["share"] >= small]
        rest = [step for kernel in others for step in groups[kernel]]
        found.append({**_group(f"{len(others)} others", rest, total), "loop": None})
    return sorted(found, key=lambda entry: (entry["kernel"].endswith("others"), -entry["instructions"]))


def _group(kernel: str, steps: Sequence[Row], total: int) -> dict[str, Any]:
    instructions = sum(step["instructions"] for step in steps)
    macs = sum(step["macs"] for step in steps)
    loops = [(loop["share"] * step["instructions"], loop) for step in steps for loop in step["loops"]]
    return {
        "kernel": kernel,
        "steps": len(steps),
        "macs": macs,
        "instructions": instructions,
        "share": instructions / total if total else 0.0,
        "instructions_per_mac": instructions / macs if macs else None,
        "dot_share": _weighted(steps, "dot_share", instructions),
        "product_share": _weighted(steps, "product_share", instructions),
        "loop": max(loops, key=lambda pair: pair[0])[1] if loops else None,
    }


def _weighted(steps: Sequence[Row], kind: str, instructions: int) -> float | None:
    if not instructions:
        return None
    return float(sum((step[kind] or 0.0) * step["instructions"] for step in steps) / instructions)
