"""The target that a pass works for: its option, or what the module remembers."""

from __future__ import annotations

from typing import Any

from ..dialect.mlir import ir
from ..errors import PipelineError
from ..targets import Target, load_target

TARGET_ATTRIBUTE = "qnn.target"
"""Attribute of the module: the name or path of the target it was legalized for."""


def remembered_target(module: Any) -> str | None:
    """The name or path in the module's attribute, None if there is none."""
    attributes = module.operation.attributes
    return str(ir.StringAttr(attributes[TARGET_ATTRIBUTE]).value) if TARGET_ATTRIBUTE in attributes else None


def remember_target(module: Any, name: str) -> None:
    """Note in the module which target (name or path) it was legalized for."""
    module.operation.attributes[TARGET_ATTRIBUTE] = ir.StringAttr.get(name, module.operation.context)


def chosen_target(module: Any, option: str | None, pass_name: str) -> tuple[str, Target]:
    """The target of the pass's option, else of the module: as it was called, and read.

    Raises:
        PipelineError: neither names one.
        TargetError: there is no such target, or its file is wrong.
    """
    name = option or remembered_target(module)
    if name is None:
        raise PipelineError(
            f"pass '{pass_name}': no target; write {pass_name}{{target=NAME}}, or run legalize-params before"
        )
    return name, load_target(name)
