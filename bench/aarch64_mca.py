"""Cycles of a loop as LLVM's models of processors predict them (``llvm-mca``)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .aarch64_decode import ToolError, llvm_tool, run_tool

PROCESSORS = ("neoverse-n1", "neoverse-v1", "cortex-a55", "cortex-a76")
ITERATIONS = 100
_WITH_I8MM = frozenset({"neoverse-v1"})
_FEATURES = "-mattr=+dotprod,+i8mm,+fullfp16"


def runs(assembly: Sequence[str], processor: str) -> bool:
    """Whether the processor has the loop's matrix products; all have dot products."""
    needs_i8mm = any(re.match(r"[us]+mmla|usdot|sudot", line) for line in assembly)
    return not needs_i8mm or processor in _WITH_I8MM


def cycles_per_iteration(loops: Sequence[Sequence[str]], processor: str) -> list[float]:
    """Of each loop's body, run over and over with all data in the first cache. Raises ToolError."""
    command = [llvm_tool("llvm-mca"), "-mtriple=aarch64", f"-mcpu={processor}", _FEATURES]
    command += [f"--iterations={ITERATIONS}", "--instruction-info=0", "--resource-pressure=0"]
    regions = [["# LLVM-MCA-BEGIN", *body, "# LLVM-MCA-END", ""] for body in loops]
    report = run_tool(command, "\n".join(line for region in regions for line in region)) if loops else ""
    totals = total_cycles(report)
    if len(totals) != len(loops):
        raise ToolError(f"llvm-mca: got {len(totals)} reports, expected {len(loops)}, one per loop")
    return [total / ITERATIONS for total in totals]


def total_cycles(report: str) -> list[int]:
    """From llvm-mca's summaries, in the order of its input."""
    return [int(total) for total in re.findall(r"^Total Cycles:\s+(\d+)$", report, re.MULTILINE)]


def version() -> str:
    """LLVM's. It says which models there are: before 17, a Cortex-A57 stood for neoverse-n1 and -v1."""
    found = re.search(r"LLVM version (\S+)", run_tool([llvm_tool("llvm-mca"), "--version"]))
    return found[1] if found else "unknown"
