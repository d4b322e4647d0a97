"""The C header of a network. It is plain C99 and C++, and needs nothing but stddef.h and stdint.h."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import numpy as np

from ...version import __version__
from .interface import DTYPES, ERRORS, MACRO_ENDINGS, CTensor, Interface


def header_text(interface: Interface, target: str, needs: Sequence[str]) -> str:
    """``target`` says what the code is for, ``needs`` which functions it calls: for the comment on top."""
    name, macro = interface.name, interface.name.upper()
    lines = [
        *_title(interface, target, needs),
        f"#ifndef {macro}_H",
        f"#define {macro}_H",
        "",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "/* Memory that the network works in. One arena serves one inference at a time. */",
        f"#define {macro}_ARENA_BYTES {interface.arena_bytes}u",
        f"#define {macro}_ARENA_ALIGNMENT 64u",
        "",
        *_tensor_macros(interface),
        *_descriptions(interface),
        *_struct("inputs", "const ", interface.inputs, interface),
        *_struct("outputs", "", interface.outputs, interface),
        *_errors(macro, name),
        *_functions(interface),
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif /* {macro}_H */",
    ]
    return "\n".join([*lines, ""])


def _title(interface: Interface, target: str, needs: Sequence[str]) -> Iterator[str]:
    name = interface.name
    yield f"/* {name}: a quantized network, compiled by Zeropoint {__version__} for {_comment(target)}."
    yield " *"
    yield " * No memory is allocated, no thread started, nothing written but the arena and the outputs."
    yield from _folded(f"Functions called: {', '.join(needs) or 'none'}.", " * ")
    yield " *"
    yield f" *     {name}_model model;"
    yield f" *     int error = {name}_init(&model, arena, sizeof arena);"
    yield f" *     if (!error) error = {name}_run(&model, &inputs, &outputs);"
    yield f" *     if (error) puts({name}_error_text(error));"
    yield " */"


def _tensor_macros(interface: Interface) -> Iterator[str]:
    for kind, tensors in (("input", interface.inputs), ("output", interface.outputs)):
        yield f"#define {interface.name.upper()}_{kind.upper()}S {len(tensors)}"
        for number, tensor in enumerate(tensors):
            macro = f"{interface.name.upper()}_{kind.upper()}_{tensor.field.upper()}"
            yield f"/* {kind} '{_comment(tensor.info.name)}': {_described(tensor)} */"
            yield f"#define {macro} {number}"
            values = [f"{tensor.elements}u", f"{tensor.bytes}u"]
            if len(tensor.scales) == 1:
                values += [_real(tensor.scales[0]), _integer(tensor.zero_points[0])]
            yield from (
                f"#define {macro}{e} {value}" for e, value in zip(MACRO_ENDINGS, values, strict=False)
            )
        yield ""


def _described(tensor: CTensor) -> str:
    extents = [str(extent) for extent in tensor.info.shape]
    if tensor.info.length:
        extents[0] = f"up to {extents[0]}, see '{_comment(tensor.info.length)}'"
    text = f"{tensor.info.dtype}[{', '.join(extents)}]"
    if len(tensor.scales) == 1:
        zero = tensor.zero_points[0]
        stored = f"stored {'-' if zero >= 0 else '+'} {abs(zero)}" if zero else "stored"
        return f"{text}, real = {tensor.scales[0]:.9g} * ({stored})"
    if tensor.scales:
        return f"{text}, {len(tensor.scales)} scales"
    return text


def _descriptions(interface: Interface) -> Iterator[str]:
    name, macro = interface.name, interface.name.upper()
    yield f"typedef enum {name}_dtype {{"
    yield from (f"    {macro}_{dtype.upper()} = {number}," for dtype, number in _but_last(DTYPES))
    dtype, number = list(DTYPES.items())[-1]
    yield f"    {macro}_{dtype.upper()} = {number}"
    yield f"}} {name}_dtype; /* {macro}_FLOAT16: the bits of a half precision number */"
    yield ""
    yield "/* What a tensor is. real = scale * (stored - zero_point), where it is quantized. */"
    yield f"typedef struct {name}_tensor {{"
    yield f"    double scale[{interface.most_scales}];"
    yield f"    int32_t zero_point[{interface.most_scales}];"
    yield "    uint32_t scales; /* 0: not quantized; 1: one for all elements; else one per index of axis */"
    yield "    int32_t axis; /* -1 unless there are several scales along one */"
    yield "    int32_t length; /* the output that says how many of shape[0] a run has filled; -1: all */"
    yield f"    uint32_t dtype; /* a {name}_dtype */"
    yield "    uint32_t rank;"
    yield f"    uint32_t shape[{interface.most_dimensions}];"
    yield "    uint32_t elements;"
    yield "    uint32_t bytes;"
    yield f"    char name[{interface.name_bytes}]; /* in the model file */"
    yield f"}} {name}_tensor;"
    yield ""
    for kind, tensors in (("input", interface.inputs), ("output", interface.outputs)):
        if tensors:
            yield f"extern const {name}_tensor {name}_{kind}_tensors[{len(tensors)}];"
    yield ""


def _but_last(items: dict[str, int]) -> list[tuple[str, int]]:
    return list(items.items())[:-1]


def _struct(kind: str, constant: str, tensors: Sequence[CTensor], interface: Interface) -> Iterator[str]:
    name = interface.name
    overlap = "; they must not overlap one another, the inputs or the arena" if kind == "outputs" else ""
    yield f"/* Pointers to the {kind}, C-contiguous{overlap}. */"
    yield f"typedef struct {name}_{kind} {{"
    for tensor in tensors:
        unread = " (not read: may be a null pointer)" if kind == "inputs" and not tensor.info.is_read else ""
        yield f"    {constant}{tensor.c_type} *{tensor.field}; /* {_described(tensor)}{unread} */"
    if not tensors:
        yield "    char unused; /* C has no empty struct */"
    yield f"}} {name}_{kind};"
    yield ""


def _errors(macro: str, name: str) -> Iterator[str]:
    yield f"enum {name}_error {{"
    for number, (error, meaning) in enumerate(ERRORS):
        comma = "," if number < len(ERRORS) - 1 else ""
        yield f"    {macro}_{error} = {number}{comma} /* {meaning} */"
    yield "};"
    yield ""


def _functions(interface: Interface) -> Iterator[str]:
    name, macro = interface.name, interface.name.upper()
    yield f"typedef struct {name}_model {{"
    yield "    void *arena;"
    yield "    size_t check;"
    yield f"}} {name}_model; /* set by {name}_init */"
    yield ""
    yield from _folded(
        f"Check this CPU, and give a network its memory: {macro}_ARENA_BYTES or more on a boundary of "
        f"{macro}_ARENA_ALIGNMENT bytes, which nobody else may write to until the last run. Returns "
        f"{macro}_OK or an error of enum {name}_error, as all functions do. */",
        "/* ",
    )
    yield f"int {name}_init({name}_model *model, void *arena, size_t arena_bytes);"
    yield ""
    yield "/* One inference. Nothing is computed if an error is returned. */"
    yield (
        f"int {name}_run({name}_model *model, const {name}_inputs *inputs, const {name}_outputs *outputs);"
    )
    yield ""
    if interface.variables:
        names = ", ".join(f"'{_comment(variable.name)}'" for variable in interface.variables)
        yield from _folded(
            f"Forget everything: the next run is as the first one after {name}_init. What is remembered in "
            f"the arena from run to run: {names}. */",
            "/* ",
        )
        yield f"int {name}_reset({name}_model *model);"
        yield ""
    yield "/* What an error means, as English text that stays. */"
    yield f"const char *{name}_error_text(int error);"
    yield ""


def _folded(text: str, start: str) -> list[str]:
    """A comment's text in lines that are not too long."""
    return textwrap.wrap(
        text,
        100,
        initial_indent=start,
        subsequent_indent=" * ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _real(value: float) -> str:
    """A C constant of the same value: of type float where that has it."""
    text = repr(value)
    text = text if set(text) & set(".en") else f"{text}.0"
    if float(np.float32(value)) == value:
        short = str(np.float32(value))
        return f"{short if set(short) & set('.en') else f'{short}.0'}f"
    return text


def _integer(value: int) -> str:
    return f"({value})" if value < 0 else str(value)


def _comment(text: str) -> str:
    """Text of a model inside a comment, which it must not end; and it stays on its line."""
    plain = "".join(c if c.isprintable() and c.isascii() else "?" for c in text)
    return plain.replace("*/", "* /").replace("/*", "/ *").replace("??/", "?? /")
