"""A signature of a TFLite model as a function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError, did_you_mean
from ..frontends import load_bytes
from ..frontends.tflite.graph import ModelFile
from .compiler import compile
from .executable import Executable
from .inputs import Array
from .tensor_details import tensor_details
from .variables import Variables


class SignatureRunner:
    """``runner(name=array, ...)`` returns ``{output name: array}``; made by
    ``Interpreter.get_signature_runner``.

    Runners of one interpreter share its variables. One compiles on the first call, and again when the shapes
    of the inputs differ from the call before.
    """

    def __init__(
        self,
        data: bytes,
        file: ModelFile,
        key: str,
        threads: int,
        numerics: str | None,
        variables: Variables,
    ) -> None:
        (self._signature,) = (s for s in file.signatures if s.key == key)
        self._graph = file.graphs[self._signature.graph]
        self._data, self._name = data, file.name
        self._threads, self._numerics, self._variables = threads, numerics, variables
        self._shapes: dict[str, tuple[int, ...]] | None = None
        self._executable: Executable | None = None

    def __call__(self, **inputs: Any) -> dict[str, Array]:
        """One inference.

        Raises:
            InputError: a name is unknown or missing, or a dtype is wrong.
        """
        self._check_names(inputs)
        arrays = {name: np.asarray(value) for name, value in inputs.items()}
        executable = self._for_shapes({name: array.shape for name, array in arrays.items()})
        results = executable.run(arrays)
        places = {index: place for place, index in enumerate(self._graph.outputs)}
        return {name: results[places[index]] for name, index in self._signature.outputs.items()}

    def get_input_details(self) -> dict[str, dict[str, Any]]:
        """Input name -> details, as ``Interpreter.get_input_details`` gives them."""
        return self._details({name: index for index, name in self._signature.inputs.items()})

    def get_output_details(self) -> dict[str, dict[str, Any]]:
        """Output name -> details, as ``Interpreter.get_output_details`` gives them."""
        return self._details(self._signature.outputs)

    def _details(self, indices: Mapping[str, int]) -> dict[str, dict[str, Any]]:
        return {name: tensor_details(self._graph.tensors[index]) for name, index in indices.items()}

    def _check_names(self, inputs: dict[str, Any]) -> None:
        known = list(self._signature.inputs.values())
        for name in inputs:
            if name not in known:
                hint = did_you_mean(name, known) or f"; the inputs are {known}"
                raise InputError(f"signature '{self._signature.key}' has no input '{name}'{hint}")
        for name in known:
            if name not in inputs:
                raise InputError(f"signature '{self._signature.key}': input '{name}' is missing")

    def _for_shapes(self, shapes: dict[str, tuple[int, ...]]) -> Executable:
        if self._executable is None or shapes != self._shapes:
            model = load_bytes(
                self._data,
                name=self._name,
                signature=self._signature.key,
                shapes=shapes,
                numerics=self._numerics,
            )
            self._executable = compile(model, threads=self._threads, variables=self._variables)
            self._shapes = shapes
        return self._executable
