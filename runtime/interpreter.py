"""The calls of LiteRT's Python interpreter, served by compiled code: a user switches by changing an
import.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..dialect.tensor_info import TensorInfo
from ..errors import ImportModelError, InputError, ZeropointError, did_you_mean
from ..frontends import load_bytes
from ..frontends.tflite.graph import Graph, Tensor
from ..frontends.tflite.reader import read_model
from .compiler import compile
from .executable import BoundStep, Executable
from .inputs import Array, check_array
from .lengths import cut
from .signature_runner import SignatureRunner
from .tensor_details import tensor_details
from .variables import Variables


class NotReadyError(ZeropointError, RuntimeError):
    """A call that needs ``allocate_tensors()`` came before it."""


class Interpreter:
    """Run a TFLite model through LiteRT's interpreter calls.

    Give ``model_path`` or ``model_content`` (bytes). ``allocate_tensors`` compiles.

    The bits are those of LiteRT's reference kernels by default, whereas LiteRT computes XNNPACK's by
    default: ``numerics="xnnpack"`` gives these.

    Args:
        num_threads: as ``threads`` of :func:`zeropoint.compile`.
        experimental_op_resolver_type: a member of LiteRT's ``OpResolverType``: ``BUILTIN_REF`` asks for
            ``reference``; ``AUTO`` and ``BUILTIN`` change nothing.
        experimental_preserve_all_tensors: keep every intermediate value readable by ``get_tensor``.
        numerics: whose bits to compute, ``reference`` (default) or ``xnnpack``.

    Raises:
        InputError: an argument is wrong. It is a ``ValueError``, as LiteRT's are.
        ImportModelError: the file cannot be loaded.
    """

    def __init__(
        self,
        model_path: str | os.PathLike[str] | None = None,
        model_content: bytes | None = None,
        experimental_delegates: Sequence[Any] | None = None,
        num_threads: int | None = None,
        *,
        experimental_op_resolver_type: Any = None,
        experimental_preserve_all_tensors: bool = False,
        numerics: str | None = None,
    ) -> None:
        if (model_path is None) == (model_content is None):
            raise InputError("model_path or model_content must be given, and only one of them")
        if experimental_delegates:
            raise InputError("experimental_delegates: there are no delegates; leave the argument out")
        if num_threads is not None and (not isinstance(num_threads, int) or num_threads < 1):
            raise InputError(f"num_threads: got {num_threads!r}, expected a positive whole number or None")
        self._name, self._data = _read(model_path, model_content)
        self._file = read_model(self._data, self._name)
        self._graph: Graph = self._file.graphs[0]
        self._threads = num_threads or 1
        self._preserve = experimental_preserve_all_tensors
        self._numerics = _numerics(numerics, experimental_op_resolver_type)
        self._shapes = {i: self._graph.tensors[i].shape for i in self._graph.inputs}
        self._variables = Variables()
        self._executable: Executable | None = None
        self._step: BoundStep | None = None
        self._inputs: dict[int, Array] = {}
        self._outputs: dict[int, TensorInfo] = {}
        self._preserved: dict[str, Array] = {}

    def allocate_tensors(self) -> None:
        """Compile for the present input shapes, and make the buffers; inputs are zeros until they are set."""
        if self._step is not None:
            return
        original = [self._graph.tensors[i].shape for i in self._graph.inputs]
        shapes = [self._shapes[i] for i in self._graph.inputs]
        model = load_bytes(
            self._data,
            name=self._name,
            shapes=None if shapes == original else shapes,
            numerics=self._numerics,
        )
        executable = compile(
            model,
            threads=self._threads,
            keep_intermediates=self._preserve,
            variables=self._variables,
        )
        arrays = [np.zeros(info.shape, info.dtype) for info in executable.inputs]
        step = executable.bind(*arrays)
        self._inputs = dict(zip(self._graph.inputs, arrays, strict=True))
        self._outputs = dict(zip(self._graph.outputs, executable.outputs, strict=False))
        self._preserved = step.intermediates() if self._preserve else {}
        self._executable, self._step = executable, step

    def invoke(self) -> None:
        """Compute the outputs of the present inputs.

        Raises:
            NotReadyError: ``allocate_tensors`` was not called, or not after a resize. It is a
                ``RuntimeError``.
        """
        if self._step is None:
            raise NotReadyError("invoke: the tensors are not allocated; call allocate_tensors() first")
        self._step()

    def set_tensor(self, tensor_index: int, value: Any) -> None:
        """Copy ``value`` into an input.

        Raises:
            InputError: no input has this index, the tensors are not allocated, or dtype or shape differ.
        """
        tensor = self._tensor(tensor_index)
        if tensor.index not in self._graph.inputs:
            raise InputError(f"set_tensor: tensor {tensor.index} ('{tensor.name}') is not an input")
        buffer = self._buffer(tensor)
        info = TensorInfo(tensor.name, type(tensor.type)(buffer.shape, tensor.element))
        buffer[...] = check_array(info, value)

    def get_tensor(self, tensor_index: int) -> Array:
        """A copy of the value of an input, an output, a constant, or (if preserved) an intermediate tensor.

        Raises:
            InputError: there is no such tensor, or its value is not kept.
        """
        value: Array = self._buffer(self._tensor(tensor_index)).copy()
        return value

    def tensor(self, tensor_index: int) -> Callable[[], Array]:
        """A function that returns the tensor's buffer itself, not a copy."""
        tensor = self._tensor(tensor_index)
        return lambda: self._buffer(tensor)

    def resize_tensor_input(self, input_index: int, tensor_size: Sequence[int], strict: bool = False) -> None:
        """Give an input another shape; ``allocate_tensors`` must be called again.

        With ``strict`` only extents that are -1 in ``shape_signature`` may change.
        """
        tensor = self._tensor(input_index)
        if tensor.index not in self._graph.inputs:
            raise InputError(f"resize_tensor_input: tensor {tensor.index} ('{tensor.name}') is not an input")
        shape = tuple(int(extent) for extent in tensor_size)
        if strict:
            _require_unknown(tensor, shape)
        if shape != self._shapes[tensor.index]:
            self._shapes[tensor.index] = shape
            self._executable = self._step = None
            self._inputs, self._outputs, self._preserved = {}, {}, {}

    def reset_all_variables(self) -> None:
        """Give every variable its first value."""
        self._variables.reset()

    def get_input_details(self) -> list[dict[str, Any]]:
        """One dict per input; keys as in LiteRT (name, index, shape, shape_signature, dtype, ...)."""
        return [self._details(index) for index in self._graph.inputs]

    def get_output_details(self) -> list[dict[str, Any]]:
        """One dict per output; see :meth:`get_input_details`."""
        return [self._details(index) for index in self._graph.outputs]

    def get_tensor_details(self) -> list[dict[str, Any]]:
        """One dict per tensor of the model; see :meth:`get_input_details`."""
        return [self._details(tensor.index) for tensor in self._graph.tensors]

    def get_signature_list(self) -> dict[str, dict[str, list[str]]]:
        """Signature key -> ``{"inputs": [names], "outputs": [names]}``, names sorted."""
        return {
            signature.key: {
                "inputs": sorted(signature.inputs.values()),
                "outputs": sorted(signature.outputs),
            }
            for signature in self._file.signatures
        }

    def get_signature_runner(self, signature_key: str | None = None) -> SignatureRunner:
        """A function of a signature's inputs (by keyword) that returns its outputs by name.

        Raises:
            InputError: no such signature; or no key given, and the model does not have exactly one.
        """
        keys = [signature.key for signature in self._file.signatures]
        if signature_key is None:
            if len(keys) != 1:
                raise InputError(f"signature_key: must be given, the model has {len(keys)} signatures")
            signature_key = keys[0]
        if signature_key not in keys:
            known = ", ".join(f"'{key}'" for key in keys) or "none"
            hint = did_you_mean(signature_key, keys) or f"; the model has {known}"
            raise InputError(f"no signature '{signature_key}'{hint}")
        return SignatureRunner(
            self._data, self._file, signature_key, self._threads, self._numerics, self._variables
        )

    def _tensor(self, index: int) -> Tensor:
        tensors = self._graph.tensors
        if not 0 <= index < len(tensors):
            raise InputError(f"tensor index {index} is out of range: the model has {len(tensors)} tensors")
        return tensors[index]

    def _results(self) -> dict[str, Array]:
        assert self._step is not None, "there are outputs"
        assert self._executable is not None, "there are outputs"
        infos = self._executable.outputs
        return {info.name: array for info, array in zip(infos, cut(infos, self._step.outputs), strict=True)}

    def _buffer(self, tensor: Tensor) -> Array:
        if tensor.index in self._inputs:
            return self._inputs[tensor.index]
        if tensor.index in self._outputs:
            return self._results()[self._outputs[tensor.index].name]
        if tensor.data is not None:
            return tensor.data
        if self._step is None:
            raise InputError(f"tensor '{tensor.name}' has no value yet; call allocate_tensors() first")
        if tensor.name in self._preserved:
            return self._preserved[tensor.name]
        hint = "" if self._preserve else "; set experimental_preserve_all_tensors=True to keep it"
        raise InputError(f"tensor '{tensor.name}' is an intermediate value and not kept{hint}")

    def _details(self, index: int) -> dict[str, Any]:
        tensor = self._graph.tensors[index]
        if index in self._shapes:
            return tensor_details(tensor, self._shapes[index])
        if index in self._outputs:
            return tensor_details(tensor, self._buffer(tensor).shape)
        return tensor_details(tensor)


def _read(path: str | os.PathLike[str] | None, content: bytes | None) -> tuple[str, bytes]:
    if path is None:
        return "<model_content>", bytes(content or b"")
    try:
        return Path(path).name, Path(path).read_bytes()
    except OSError as error:
        raise ImportModelError(f"{os.fspath(path)}: error: cannot be read: {error.strerror}") from error


def _numerics(numerics: str | None, resolver: Any) -> str | None:
    """The numerics that both arguments ask for; ``resolver`` is any enum with the names of LiteRT's."""
    if resolver is None:
        return numerics
    name = getattr(resolver, "name", resolver)
    if name not in ("AUTO", "BUILTIN", "BUILTIN_REF"):
        raise InputError(
            f"experimental_op_resolver_type: got {resolver!r}, expected AUTO, BUILTIN or BUILTIN_REF"
        )
    if name != "BUILTIN_REF":
        return numerics
    if numerics not in (None, "reference"):
        raise InputError(f"experimental_op_resolver_type: BUILTIN_REF contradicts numerics='{numerics}'")
    return "reference"


def _require_unknown(tensor: Tensor, shape: tuple[int, ...]) -> None:
    fits = len(shape) == len(tensor.shape_signature)
    if not fits or any(s not in (-1, n) for s, n in zip(tensor.shape_signature, shape, strict=True)):
        raise InputError(
            f"resize_tensor_input: tensor '{tensor.name}': got shape {list(shape)}, but only extents that "
            f"are -1 in its signature {list(tensor.shape_signature)} may change (strict=True)"
        )
