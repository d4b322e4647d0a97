"""Profiles for programs: JSON, CSV, and the trace format of Chrome and Perfetto."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..kernels.launch import Code
    from .profile import KernelProfile, Profile, StepProfile, Work

SCHEMA = 1
"""Of :func:`document`; changes when a field goes or means something else."""
_CSV_FIRST = ("index", "kind", "label", "family", "isa", "kernel", "tensors")


def document(profile: Profile) -> dict[str, Any]:
    """Everything in a profile. Times are in microseconds; what is not known is None."""
    limits = profile.ceilings
    return {
        "schema": SCHEMA,
        "network": profile.network,
        "instructions": list(profile.instructions),
        "threads": profile.threads,
        "repeats": profile.repeats,
        "run_us": profile.run_seconds * 1e6,
        "run_median_us": profile.run_median_seconds * 1e6,
        "arena_bytes": profile.arena_bytes,
        "least_arena_bytes": profile.least_arena_bytes,
        "constant_bytes": profile.constant_bytes,
        "ceilings": {
            "gmac_per_second": None if limits.dot_product is None else limits.dot_product / 1e9,
            "read_gb_per_second": [[size, speed / 1e9] for size, speed in limits.reads],
        },
        "total": _work(profile.total),
        "steps": [_step(step) for step in profile.steps],
        "kernels": [_kernel(kernel) for kernel in profile.by_kernel()],
    }


def _work(work: Work) -> dict[str, Any]:
    rate = work.macs_per_second
    return {
        "us": work.seconds * 1e6,
        "median_us": work.median_seconds * 1e6,
        "share": work.share,
        "macs": work.macs,
        "gmac_per_second": None if rate is None else rate / 1e9,
        "bytes": work.bytes,
        "constant_bytes": work.constant_bytes,
        "least_us": None if work.least_seconds is None else work.least_seconds * 1e6,
        "bound": work.bound,
        "ceiling_share": work.ceiling_share,
    }


def _code(code: Code | None) -> dict[str, Any]:
    return {
        "family": None if code is None else code.family,
        "isa": None if code is None else code.isa,
        "options": None if code is None else dict(code.options),
    }


def _step(step: StepProfile) -> dict[str, Any]:
    return {
        "index": step.index,
        "kernel": step.kernel,
        "label": step.label,
        "kind": step.kind,
        **_code(step.code),
        "units": step.units,
        "tensors": list(step.tensors),
        "reason": step.reason,
        **_work(step.work),
    }


def _kernel(kernel: KernelProfile) -> dict[str, Any]:
    return {
        "label": kernel.label,
        "isa": kernel.isa or None,
        "kind": kernel.kind,
        "kernels": list(kernel.kernels),
        "calls": kernel.calls,
        **_work(kernel.work),
    }


def csv_text(profile: Profile) -> str:
    """A line per step; columns are those of the JSON, but for the kernel's options."""
    rows = []
    for step in profile.steps:
        row = {**_step(step), "tensors": ";".join(step.tensors)}
        del row["options"]
        rows.append(row)
    names = list(dict.fromkeys([*_CSV_FIRST, *(rows[0] if rows else ())]))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def trace(profile: Profile) -> dict[str, Any]:
    """One inference in Chrome's trace event format: each step with its least time, one after the other."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": name, "pid": 1, "tid": 1, "args": {"name": text}}
        for name, text in (("process_name", profile.network), ("thread_name", "steps"))
    ]
    start = 0.0
    for step in profile.steps:
        details = {name: value for name, value in _step(step).items() if value not in (None, "", [])}
        duration = step.work.seconds * 1e6
        events.append(
            {
                "ph": "X",
                "name": step.label,
                "cat": step.kind,
                "ts": start,
                "dur": duration,
                "pid": 1,
                "tid": 1,
                "args": details,
            }
        )
        start += duration
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def json_text(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, allow_nan=False)
