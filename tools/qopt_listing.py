"""What qopt tells about itself: its passes and dialects."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from ..dialect import qnn
from ..dialect.context import new_context
from ..passes import registry
from ..passes.upstream import RECOMMENDED

_UPSTREAM_DIALECTS = (
    *(
        "affine",
        "arith",
        "async",
        "bufferization",
        "builtin",
        "cf",
        "complex",
        "dlti",
        "emitc",
        "func",
        "gpu",
    ),
    *(
        "index",
        "irdl",
        "linalg",
        "llvm",
        "math",
        "memref",
        "ml_program",
        "nvvm",
        "omp",
        "pdl",
        "quant",
        "scf",
    ),
    *("shape", "sparse_tensor", "spirv", "tensor", "tosa", "transform", "ub", "vector", "x86"),
)


def passes_listing() -> str:
    """Our passes with summaries and options, then upstream's that are worth knowing."""
    lines = ["Zeropoint's passes:"]
    for name, cls in registry.load_all().items():
        lines.append(f"  {name:<36} {cls.summary()}")
        for field, (option, type_) in zip(_fields(cls), cls.option_types(), strict=True):
            lines.append(f"    {option + '=' + _type_name(type_):<34} {field}")
    lines += ["", "Upstream's passes at our levels (all others run, too):"]
    lines += [f"  {name:<36} {what}" for name, what in RECOMMENDED.items()]
    return "\n".join(lines) + "\n"


def dialects_listing() -> str:
    """Our dialect with its ops, and the upstream dialects that these bindings have."""
    context = new_context()
    context.load_all_available_dialects()
    upstream = [name for name in _UPSTREAM_DIALECTS if context.is_dialect_loaded(name)]
    lines = [
        "Zeropoint's dialects:",
        f"  qnn: {' '.join(sorted(qnn.OPS))}",
        "Upstream's dialects:",
        f"  {' '.join(upstream)}",
    ]
    return "\n".join(lines) + "\n"


def _fields(cls: type[registry.ModulePass]) -> list[str]:
    """What to say of each option: its default."""
    return ["required" if d is None else f"default {d}" for d in cls.option_defaults()]


def _type_name(type_: Any) -> str:
    origin = get_origin(type_)
    if origin is Literal:
        return "|".join(get_args(type_))
    if origin is tuple:
        return f"{_type_name(get_args(type_)[0])},..."
    if origin is not None:  # T | None
        return _type_name(get_args(type_)[0])
    return str(type_.__name__)
