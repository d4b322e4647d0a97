"""What C code has to know of a network: the data that the header and the machine code agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...dialect.buffers import ALIGNMENT, OVERREAD_BYTES
from ...dialect.tensor_info import TensorInfo
from ...errors import InputError
from ..program import Program, Variable
from .names import distinct, field_name

C_TYPES = {
    "bool": "uint8_t",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "uint32": "uint32_t",
    "int64": "int64_t",
    "uint64": "uint64_t",
    "float16": "uint16_t",
    "float32": "float",
    "float64": "double",
}
"""numpy's name of a type -> C's for an element in memory. Half precision is handed over as its bits."""
DTYPES = {name: number for number, name in enumerate(C_TYPES)}
"""The numbers of the header's ``NAME_dtype``."""

ERRORS = (
    ("OK", "no error"),
    ("ERROR_MODEL_NULL", "the model is a null pointer"),
    ("ERROR_NOT_INITIALIZED", "the model is not initialized: call init first"),
    ("ERROR_ARENA_NULL", "the arena is a null pointer"),
    ("ERROR_ARENA_TOO_SMALL", "the arena is too small"),
    ("ERROR_ARENA_MISALIGNED", "the arena does not start on a boundary of its alignment"),
    ("ERROR_CPU", "this CPU lacks instructions that the code was compiled for"),
    ("ERROR_INPUT_NULL", "an input, or the struct of all inputs, is a null pointer"),
    ("ERROR_INPUT_MISALIGNED", "an input does not start on a boundary of its element type"),
    ("ERROR_OUTPUT_NULL", "an output, or the struct of all outputs, is a null pointer"),
    ("ERROR_OUTPUT_MISALIGNED", "an output does not start on a boundary of its element type"),
)
"""What may go wrong, in the order of the numbers that functions return, from 0."""
ERROR_NUMBERS = {name: number for number, (name, _) in enumerate(ERRORS)}
MACRO_ENDINGS = ("_ELEMENTS", "_BYTES", "_SCALE", "_ZERO_POINT")
"""Of the macros that say something of a tensor, behind the one that is its number."""
_MOST_BYTES = (1 << 32) - 1


@dataclass(frozen=True)
class CTensor:
    """An input or output as C sees it."""

    info: TensorInfo
    field: str
    """Its name in the struct of pointers; the header's macros have it in upper case."""
    c_type: str

    @property
    def elements(self) -> int:
        return self.info.type.elements

    @property
    def bytes(self) -> int:
        return self.elements * self.info.dtype.itemsize

    @property
    def scales(self) -> tuple[float, ...]:
        """One per tensor, one per index of the axis, or none."""
        return self.info.type.params.scales if self.info.type.is_quantized else ()

    @property
    def zero_points(self) -> tuple[int, ...]:
        return self.info.type.params.zero_points if self.info.type.is_quantized else ()


@dataclass(frozen=True)
class Interface:
    """A network's functions, tensors and memory. The arena holds the variables, then the buffers."""

    name: str
    """The C name that every symbol starts with."""
    inputs: tuple[CTensor, ...]
    outputs: tuple[CTensor, ...]
    variables: tuple[Variable, ...]
    places: tuple[int, ...]
    """Where each variable lies in the arena."""
    buffers: int
    """Where the program's buffers start in the arena."""
    arena_bytes: int

    @property
    def tensors(self) -> tuple[CTensor, ...]:
        return (*self.inputs, *self.outputs)

    @property
    def most_scales(self) -> int:
        return max((len(tensor.scales) for tensor in self.tensors), default=0) or 1

    @property
    def most_dimensions(self) -> int:
        return max((len(tensor.info.shape) for tensor in self.tensors), default=0) or 1

    @property
    def name_bytes(self) -> int:
        """Of the longest name of a tensor, with the zero behind it."""
        return max((len(tensor.info.name.encode()) for tensor in self.tensors), default=0) + 1


def interface_of(
    name: str, inputs: Sequence[TensorInfo], outputs: Sequence[TensorInfo], program: Program
) -> Interface:
    """How a program is offered under a C name.

    Raises:
        InputError: a tensor has a type that C has none for, or 4 GiB or more.
    """
    places, end = [], 0
    for variable in program.variables:
        places.append(end)
        end += -(-variable.bytes // ALIGNMENT) * ALIGNMENT
    buffers = end
    if buffers + program.arena_bytes:
        end = buffers + program.arena_bytes + OVERREAD_BYTES  # kernels may read past a buffer's end
    return Interface(
        name,
        _tensors("input", inputs),
        _tensors("output", outputs),
        program.variables,
        tuple(places),
        buffers,
        -(-max(end, ALIGNMENT) // ALIGNMENT) * ALIGNMENT,
    )


def _tensors(kind: str, infos: Sequence[TensorInfo]) -> tuple[CTensor, ...]:
    names = [field_name(info.name, f"{kind}_{number}") for number, info in enumerate(infos)]
    fields = distinct(names, MACRO_ENDINGS)
    tensors = []
    for info, field in zip(infos, fields, strict=True):
        c_type = C_TYPES.get(str(info.dtype))
        if c_type is None:
            known = ", ".join(C_TYPES)
            raise InputError(f"{kind} '{info.name}': got {info.dtype}, which C has no type for: {known}")
        tensor = CTensor(info, field, c_type)
        if tensor.bytes > _MOST_BYTES:
            raise InputError(f"{kind} '{info.name}': got {tensor.bytes} bytes, expected less than 4 GiB")
        tensors.append(tensor)
    return tuple(tensors)
