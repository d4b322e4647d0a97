"""The reference page of the dialect, rendered from the docstrings of its ops.

``python -m zeropoint.dialect.qnn.page > docs/dialect.md`` writes it; a unit test compares.
"""

import inspect
import re
import sys
from typing import Any

from . import OPS, QnnOp
from .core import attribute_names, operand_groups

ALIASES = {
    "q": "!quant.uniform<i8:f32, 0.5:3>",
    "r": "!quant.uniform<i8:f32, 0.25:-1>",
    "w": "!quant.uniform<i8:f32, 0.25>",
    "b": "!quant.uniform<i32:f32, 0.125>",
    "c": "!quant.uniform<i16:f32, 0.000244140625>",
}
"""Element types that the examples use."""

_INTRODUCTION = """\
# The qnn dialect

<!-- Generated from the docstrings by `python -m zeropoint.dialect.qnn.page`; do not edit. -->

A quantized network as ops on tensors. Scale and zero point live in the element types, upstream's `quant`
types: `real = (stored - zero_point) * scale`. Ops carry no parameters of their own, so a float model, a
partly quantized one and a fully quantized one are the same graph with other types.

* Activations are NHWC, convolution filters [O, KH, KW, I/groups], padding is [top, bottom, left, right].
* Every attribute is required. `clamp` (a fused activation) is empty or [low, high] in real values,
  infinities allowed.
* The parameters of inputs and result may differ on every op. Ops that only move values, and pools, compute
  in the input's parameters and requantize to the result's.
* A dynamic extent (`?`) agrees with any other.
* What an op computes, to the bit, is one numpy function in `dialect/meaning/`; how it rounds is a matter of
  the numerics mode, the module's attribute `qnn.numerics`.
* `qnn.create(name, operands, result_types, attributes)` builds an op from plain values.

The examples below use

```mlir
{aliases}
```

A violated constraint is an error that names it, such as `'qnn.add' op (C2) storage types must be equally
wide, got ...`; each has a test in `test/dialect/<op>-invalid.mlir`. All ops share

{common}
"""


def page() -> str:
    """The text of ``docs/dialect.md``."""
    aliases = "\n".join(f"!{name} = {type_}" for name, type_ in ALIASES.items())
    introduction = _INTRODUCTION.format(aliases=aliases, common=_constraints(QnnOp.check_form))
    return introduction + "\n" + "\n".join(_section(name, OPS[name]) for name in sorted(OPS))


def example(cls: type[QnnOp]) -> str:
    """The example in an op's docstring: one op in generic form."""
    found = re.search(r"Example: ``(.*?)``", inspect.getdoc(cls) or "", re.DOTALL)
    assert found is not None, f"{cls.__name__} has no example"
    return found[1]


def _section(name: str, cls: type[QnnOp]) -> str:
    doc = (inspect.getdoc(cls) or "").partition("Example: ")[0].strip().replace("``", "`")
    operands = [g.name + ("?" if g.variadicity.name == "optional" else "") for g in operand_groups(cls)]
    if len(operands) > 3:
        operands = [operands[0], "...", operands[-1]]
    attributes = [f"`{a}` (`{cls.kinds[a].value}`)" for a in attribute_names(cls)]
    lines = [f"## qnn.{name}", "", doc, "", "```mlir", example(cls), "```", ""]
    lines += [f"* operands: {', '.join(f'`{o}`' for o in operands) or 'none'}"]
    lines += [f"* attributes: {', '.join(attributes) or 'none'}"]
    return "\n".join([*lines, _constraints(cls.check), ""])


def _constraints(method: Any) -> str:
    """A list item for every numbered constraint in a docstring."""
    text = " ".join((inspect.getdoc(method) or "").split())
    return "\n".join(f"* {part.strip()}" for part in re.split(r"(?=\(C\d+\))", text) if part.strip())


if __name__ == "__main__":
    sys.stdout.write(page())
