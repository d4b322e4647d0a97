"""A TFLite file's bytes to plain dataclasses, everything checked.

Whatever is wrong with a file is found here or by the operator's importer and is an ImportModelError that
names file, operator and tensor; later stages may trust what they get.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from ...errors import ImportModelError
from .flatbuffer import FlatBuffer, Table
from .graph import Graph, ModelFile, Operator, Signature, Tensor, short
from .schema import (
    BUILTINS,
    ENUMS,
    IDENTIFIER,
    OPTION_FIELDS,
    OPTION_TABLES,
    OPTIONS_OF,
    VERSION,
    Field,
)
from .tensors import TensorReader
from .topology import Fail, check_graph_ends, check_indices, describe, first_users, sort_operators

LIMIT_VARIABLE = "ZEROPOINT_TENSOR_LIMIT_BYTES"
DEFAULT_LIMIT_BYTES = 1 << 30
TOTAL_VARIABLE = "ZEROPOINT_MODEL_LIMIT_BYTES"
DEFAULT_TOTAL_BYTES = 1 << 34


def tensor_limit_bytes() -> int:
    """The largest tensor a model may have: 1 GiB, or what the environment variable
    ``ZEROPOINT_TENSOR_LIMIT_BYTES`` says.

    Raises:
        ImportModelError: the variable is not a positive whole number.
    """
    return _limit(LIMIT_VARIABLE, DEFAULT_LIMIT_BYTES)


def model_limit_bytes() -> int:
    """The most memory that all tensors of a model may need together, as if none shared any: 16 GiB, or what
    the environment variable ``ZEROPOINT_MODEL_LIMIT_BYTES`` says.

    Raises:
        ImportModelError: the variable is not a positive whole number.
    """
    return _limit(TOTAL_VARIABLE, DEFAULT_TOTAL_BYTES)


def _limit(variable: str, default: int) -> int:
    text = os.environ.get(variable, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) == 0:
        raise ImportModelError(f"{variable}: error: got '{text}', expected a positive number of bytes")
    return int(text)


def read_model(
    data: bytes, name: str, limit_bytes: int | None = None, total_bytes: int | None = None
) -> ModelFile:
    """Read a file.

    Args:
        data: the file's bytes; constants of the result refer to them.
        name: the file's name, for messages.
        limit_bytes: the most memory one tensor may need; default :func:`tensor_limit_bytes`.
        total_bytes: the most memory all tensors may need; default :func:`model_limit_bytes`.

    Raises:
        ImportModelError: the file is damaged, or says something that TFLite does not allow.
    """
    limit = tensor_limit_bytes() if limit_bytes is None else limit_bytes
    total = model_limit_bytes() if total_bytes is None else total_bytes
    return _ModelReader(FlatBuffer(data, name), limit, total).read()


class _ModelReader:
    def __init__(self, file: FlatBuffer, limit_bytes: int, total_bytes: int) -> None:
        self.file = file
        self.root = file.root(IDENTIFIER)
        self.limit_bytes = limit_bytes
        self.total_bytes = total_bytes

    def read(self) -> ModelFile:
        version = self.root.integer(0, "u32")
        if version != VERSION:
            self.file.fail(f"schema version {version}, expected {VERSION}")
        self.opcodes = [
            self._opcode(table, i) for i, table in enumerate(self.root.tables(1, "operator code"))
        ]
        buffers = [self._buffer(table, i) for i, table in enumerate(self.root.tables(4, "buffer"))]
        self.tensor_reader = TensorReader(self.file, buffers, self.limit_bytes, self.total_bytes)
        graphs = tuple(self._graph(table, i) for i, table in enumerate(self.root.tables(2, "subgraph")))
        if not graphs:
            self.file.fail("the model has no subgraph")
        signatures = tuple(self._signature(table, graphs) for table in self.root.tables(7, "signature"))
        return ModelFile(self.file.name, self.root.text(3), graphs, signatures)

    def _opcode(self, table: Table, index: int) -> tuple[str, str]:
        """(builtin name, custom code). Old files have only the byte field, new ones both: the larger one
        counts.
        """
        code = max(table.integer(0, "i8"), table.integer(3, "i32"))
        if not 0 <= code < len(BUILTINS):
            self.file.fail(
                f"operator code {index}: unknown builtin operator {code}, "
                f"expected 0 to {len(BUILTINS) - 1}; the file may follow a newer schema"
            )
        return BUILTINS[code], table.text(1)

    def _buffer(self, table: Table, index: int) -> memoryview | None:
        """Constant data: inline, or (files over 2 GB) behind the flatbuffer at an absolute offset. Buffer 0
        means no data.
        """
        offset, size = table.integer(1, "u64"), table.integer(2, "u64")
        if index and offset > 1:
            self.file.demand(offset, size, f"buffer {index}")
            return memoryview(self.file.data)[offset : offset + size]
        return table.blob(0) if index else None

    def _graph(self, table: Table, number: int) -> Graph:
        def fail(what: str) -> NoReturn:
            self.file.fail(what if number == 0 else f"subgraph {number}: {what}")

        tables = table.tables(3, "operator")
        operators = [self._operator(t, i, fail) for i, t in enumerate(tables)]
        users = first_users(operators)
        tensors = tuple(
            self.tensor_reader.read(t, i, users.get(i, "")) for i, t in enumerate(table.tables(0, "tensor"))
        )
        inputs, outputs = table.integers(1), table.integers(2)
        written = {index for operator in operators for index in operator.outputs}.union(inputs)
        tensors = tuple(t if t.index in written else without_elements(t) for t in tensors)
        check_graph_ends(inputs, outputs, tensors, fail)
        for operator in operators:
            check_indices(operator, tensors, fail)
        with_options = [
            replace(
                operator, options=self._options(t, operator.name, prefixed(fail, describe(operator, tensors)))
            )
            for operator, t in zip(operators, tables, strict=True)
        ]
        ordered = sort_operators(with_options, tensors, inputs, outputs, fail)
        return Graph(table.text(4), tensors, ordered, inputs, outputs)

    def _operator(self, table: Table, index: int, fail: Fail) -> Operator:
        """An operator without its options."""
        opcode = table.integer(0, "u32")
        if opcode >= len(self.opcodes):
            fail(f"op {index}: operator code {opcode} does not exist, the file has {len(self.opcodes)}")
        name, custom_code = self.opcodes[opcode]
        inputs, outputs, intermediates = (table.integers(slot) for slot in (1, 2, 8))
        blob = table.blob(5) if name == "CUSTOM" else None
        options = b"" if blob is None else bytes(blob)
        self.file.charge(len(options))
        return Operator(index, name, custom_code, inputs, outputs, {}, intermediates, options)

    def _options(self, table: Table, name: str, fail: Fail) -> Mapping[str, Any]:
        """The option fields of an operator we import; defaults where the table or a field is absent."""
        expected = OPTIONS_OF.get(name)
        if expected is None:
            return {}
        tag = table.integer(3, "u8")
        if tag and (tag >= len(OPTION_TABLES) or OPTION_TABLES[tag] != expected):
            found = OPTION_TABLES[tag] if tag < len(OPTION_TABLES) else f"unknown options {tag}"
            fail(f"carries {found}, expected {expected}")
        options = table.table(4, "operator options") if tag else None
        return {key: _option(options, key, field, fail) for key, field in OPTION_FIELDS[expected].items()}

    def _signature(self, table: Table, graphs: tuple[Graph, ...]) -> Signature:
        key, number = table.text(2), table.integer(4, "u32")
        where = f"signature '{short(key)}'"
        if number >= len(graphs):
            self.file.fail(f"{where}: subgraph {number} does not exist, the file has {len(graphs)}")
        graph = graphs[number]
        ends: list[dict[str, int]] = []
        for slot, what, allowed in ((0, "input", graph.inputs), (1, "output", graph.outputs)):
            names: dict[str, int] = {}
            known = frozenset(allowed)
            for entry in table.tables(slot, f"signature {what}"):
                index, name = entry.integer(1, "u32"), entry.text(0)
                if index not in known:
                    self.file.fail(
                        f"{where}: {what} '{short(name)}' is tensor {index}, not one of {list(allowed)}"
                    )
                if name in names:
                    self.file.fail(f"{where}: two {what}s are named '{short(name)}'")
                names[name] = index
            ends.append(names)
        inputs, outputs = ends
        return Signature(key, number, {index: name for name, index in inputs.items()}, outputs)


def without_elements(tensor: Tensor) -> Tensor:
    """A tensor that nobody writes and that has no elements is a constant, though no data says so: the axes of
    a reduction over none.
    """
    empty = 0 in tensor.shape and tensor.data is None and not tensor.obstacle and not tensor.is_variable
    return replace(tensor, data=np.empty(tensor.shape, tensor.type.dtype)) if empty else tensor


def prefixed(fail: Fail, where: str) -> Fail:
    """``fail`` with ``where`` before its message."""

    def fail_there(what: str) -> NoReturn:
        fail(f"{where}: {what}")

    return fail_there


def _option(table: Table | None, key: str, field: Field, fail: Fail) -> Any:
    """One option's value; enums become their name."""
    if field.kind in ENUMS:
        names = ENUMS[field.kind]
        code = table.integer(field.slot, "i8") if table else 0
        if not 0 <= code < len(names):
            fail(f"{key} {code} is unknown, expected 0 ({names[0]}) to {len(names) - 1} ({names[-1]})")
        return names[code]
    if table is None:
        return field.default
    if field.kind == "[i32]":
        return table.integers(field.slot)
    if field.kind == "text":
        return table.text(field.slot)
    assert not isinstance(field.default, tuple | str), "a scalar field has a scalar default"
    value = table.scalar(field.slot, field.kind, field.default)
    return value if field.kind == "f32" else bool(value) if field.kind == "bool" else int(value)
