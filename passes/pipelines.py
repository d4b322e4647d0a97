"""The named pipelines, to be read top-down: from the imported model to the LLVM dialect."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..errors import PipelineError, did_you_mean
from .pipeline_text import quoted


@dataclass(frozen=True)
class Stage:
    """The passes that bring a module from the level before to ``level``.

    ``for_target`` come first if there is a target, and are left out if there is none.
    """

    level: str
    passes: tuple[str, ...]
    for_target: tuple[str, ...] = ()


TARGET = "{target=TARGET}"
"""Options of passes that need a target."""

ISA = "{isa=ISA}"
"""Options of passes that write code for an instruction set; they are left out of a pipeline that has none."""

REQUANTIZE_ALGEBRA = (
    "merge-requantizes",
    "share-requantizes",
    "hoist-requantize",
    "fold-requantize-into-constant",
    "fold-requantize-into-producer",
    "fold-concat-rescales",
    "sink-requantize",
    "merge-requantizes",
    "fold-requantize",
)
"""What is left of the requantizes that rules forced. One of the model's own is never folded if that changes a
number.
"""

LEGALIZE = (
    f"isolate-unsupported{TARGET}",
    f"legalize-params{TARGET}",
    "canonicalize",
    "cse",
    *REQUANTIZE_ALGEBRA,
    f"verify-params{TARGET}",
)

OPTIMIZED = (
    # What the network means, as the frontend wrote it.
    Stage("qnn", ()),
    # Parameters obey the target's rules, if there is a target: ops that it lacks in float, requantizes where
    # others need them. A model that satisfies the rules is only tidied up.
    # Variables are arguments and results from here on, branches and loops modules of their own.
    Stage(
        "legalized",
        ("globals-to-arguments", "outline-control-flow", "canonicalize", "cse"),
        for_target=("globals-to-arguments", "outline-control-flow", *LEGALIZE),
    ),
    # Groups of ops that kernels of the instruction set compute, as launches of these, on bytes.
    Stage("formed", ("fold-pad", f"form-kernels{ISA}")),
    # What is left, as integer arithmetic spelled out; contractions stay recognizable.
    Stage("linalg", ("symbol-dce", "convert-qnn-to-linalg", "canonicalize", "cse")),
    Stage(
        "kernels",
        (
            # Kernels. First those that elementwise fusion would spoil.
            "outline-kernels{before-fusion=true}",
            "fuse-elementwise",
            "canonicalize",
            "destination-style",
            "outline-kernels",
            # Buffers: kernels write to their arguments, @main allocates.
            "detach-launch-results",
            "one-shot-bufferize{bufferize-function-boundaries "
            "function-boundary-type-conversion=identity-layout-map}",
            "cse",
            "canonicalize",
            # What a loop leaves of a buffer is seen to be that buffer by now.
            "drop-equivalent-buffer-results",
            "allocate-launch-results",
            "merge-kernels",
            "externalize-constants",
            "plan-memory",
            "annotate-kernels",
        ),
    ),
    # Kernels that are functions here, each in a module of its own: loops, then the LLVM dialect with bare
    # pointers. @main is not lowered but read: see codegen/split.py.
    Stage(
        "llvm",
        (
            "convert-linalg-to-loops",
            "expand-strided-metadata",
            "lower-affine",
            "convert-scf-to-cf",
            "canonicalize",
            "cse",
            "convert-math-to-llvm",
            "convert-math-to-libm",
            "convert-func-to-llvm{use-bare-ptr-memref-call-conv}",
            "convert-to-llvm",
            "reconcile-unrealized-casts",
            "canonicalize",
            "cse",
        ),
    ),
)

PIPELINES: dict[str, tuple[Stage, ...]] = {
    # Loops alone.
    "reference": tuple(
        replace(stage, passes=tuple(p for p in stage.passes if ISA not in p)) for stage in OPTIMIZED
    ),
    "optimized": OPTIMIZED,
}
LEVELS = tuple(stage.level for stage in OPTIMIZED)


def passes_to(
    level: str,
    pipeline: str = "optimized",
    start: str | None = None,
    target: str | None = None,
    isa: str = "",
) -> tuple[str, ...]:
    """The passes that bring a module to ``level``: from the beginning, or from level ``start`` on.

    ``target`` (a name or a path) is whose parameter rules the module will obey. Without one parameters stay
    as they are: every op changes them by itself where they differ. ``isa`` is the instruction set that the
    optimized pipeline takes kernels for (see ``form-kernels``), if any.

    Raises:
        PipelineError: no such pipeline or level.
    """
    stages = PIPELINES.get(pipeline)
    if stages is None:
        hint = did_you_mean(pipeline, PIPELINES) or f", expected {' or '.join(PIPELINES)}"
        raise PipelineError(f"unknown pipeline '{pipeline}'{hint}")
    levels = [stage.level for stage in stages]
    for wanted in (level, start):
        if wanted is not None and wanted not in levels:
            hint = did_you_mean(wanted, levels) or f", expected one of {', '.join(levels)}"
            raise PipelineError(f"unknown level '{wanted}'{hint}")
    first = 0 if start is None else levels.index(start) + 1
    chosen = stages[first : levels.index(level) + 1]
    targeted = [(*(() if target is None else stage.for_target), *stage.passes) for stage in chosen]
    passes = [p for stage_passes in targeted for p in stage_passes if isa or ISA not in p]
    target_options = f"{{target={quoted(target or '')}}}"
    return tuple(p.replace(TARGET, target_options).replace(ISA, f"{{isa={isa}}}") for p in passes)
