"""The memory of a network's variables: what it remembers from one run to the next."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ..codegen.program import Variable
from ..dialect.buffers import OVERREAD_BYTES, aligned_bytes
from ..errors import InputError
from .inputs import Array


class Variables(Mapping[str, Array]):
    """Variables by name: arrays of stored values, to be looked at and written to between runs.

    Executables made with the same ``Variables`` (:func:`zeropoint.compile`) share those of equal names: the
    signatures of one model. Runs of them all go one after the other (:attr:`lock`).
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._arrays: dict[str, Array] = {}
        self._initial: dict[str, Array] = {}

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def reset(self) -> None:
        """Give every variable its first value."""
        with self.lock:
            for name, array in self._arrays.items():
                array[...] = self._initial[name]

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Whatever runs inside leaves every variable as it was before."""
        with self.lock:
            before = {name: array.copy() for name, array in self._arrays.items()}
            try:
                yield
            finally:
                for name, array in before.items():
                    self._arrays[name][...] = array

    def place(self, variables: Sequence[Variable], constants: npt.NDArray[np.uint8]) -> list[int]:
        """The addresses of a program's variables; those that are new here get their first value.

        Raises:
            InputError: a variable of this name has another shape or type.
        """
        with self.lock:
            return [self._place(variable, constants) for variable in variables]

    def _place(self, variable: Variable, constants: npt.NDArray[np.uint8]) -> int:
        array = self._arrays.get(variable.name)
        if array is None:
            memory = aligned_bytes(variable.bytes + OVERREAD_BYTES)[: variable.bytes]
            array = memory.view(variable.dtype).reshape(variable.shape)
            initial = constants[variable.initial : variable.initial + variable.bytes]
            self._initial[variable.name] = initial.view(variable.dtype).reshape(variable.shape)
            array[...] = self._initial[variable.name]
            self._arrays[variable.name] = array
        elif array.shape != variable.shape or array.dtype != variable.dtype:
            raise InputError(
                f"variable '{variable.name}': it is {array.dtype}{list(array.shape)} already, "
                f"expected {variable.dtype}{list(variable.shape)}"
            )
        return int(array.ctypes.data)
