"""The named pipelines, to be read top-down: from the imported model to the LLVM dialect."""

from __future__ import annotations

from dataclasses import dataclass

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

REFERENCE = (
    # What the network means, as the frontend wrote it.
    Stage("qnn", ()),
    # Parameters obey the target's rules, if there is a target: ops that it lacks in float, requantizes where
    # others need them. A model that satisfies the rules is only tidied up.
    Stage("legalized", ("canonicalize", "cse"), for_target=LEGALIZE),
    # Integer arithmetic spelled out; contractions stay recognizable.
    Stage("linalg", ("convert-qnn-to-linalg", "canonicalize", "cse")),
    Stage(
        "llvm",
        (
            # Kernels. First those that elementwise fusion would spoil.
            "outline-kernels{before-fusion=true}",
            "fuse-elementwise",
            "canonicalize",
            "destination-style",
            "outline-kernels",
            # Buffers: kernels write to their arguments, @main allocates.
            "one-shot-bufferize{bufferize-function-boundaries "
            "function-boundary-type-conversion=identity-layout-map}",
            "drop-equivalent-buffer-results",
            "cse",
            "canonicalize",
            "merge-kernels",
            "externalize-constants",
            "plan-memory",
            "annotate-kernels",
            # Loops, then the LLVM dialect with bare pointers.
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
    "reference": REFERENCE,
    # The same list until there are kernels to choose.
    "optimized": REFERENCE,
}
LEVELS = tuple(stage.level for stage in REFERENCE)


def passes_to(
    level: str, pipeline: str = "optimized", start: str | None = None, target: str | None = None
) -> tuple[str, ...]:
    """The passes that bring a module to ``level``: from the beginning, or from level ``start`` on.

    ``target`` (a name or a path) is whose parameter rules the module will obey. Without one parameters stay
    as they are: every op changes them by itself where they differ.

    Raises:
        PipelineError: no such pipeline or level.
    """
    stages = PIPELINES.get(pipeline)
    if stages is None:
        raise PipelineError(f"unknown pipeline '{pipeline}'{did_you_mean(pipeline, PIPELINES)}")
    levels = [stage.level for stage in stages]
    for wanted in (level, start):
        if wanted is not None and wanted not in levels:
            raise PipelineError(f"unknown level '{wanted}'{did_you_mean(wanted, levels)}")
    first = 0 if start is None else levels.index(start) + 1
    chosen = stages[first : levels.index(level) + 1]
    if target is None:
        return tuple(p for stage in chosen for p in stage.passes)
    passes = [p for stage in chosen for p in (*stage.for_target, *stage.passes)]
    return tuple(p.replace(TARGET, f"{{target={quoted(target)}}}") for p in passes)
