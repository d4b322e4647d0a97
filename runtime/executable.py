"""A compiled network that runs."""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..codegen import amx_permission
from ..codegen.driver import DRIVER, RUN
from ..codegen.loader import LoadedCode
from ..codegen.program import Program
from ..codegen.table import TableLayout, Workspace
from ..codegen.team import Team
from ..dialect.tensor_info import TensorInfo
from ..errors import InputError, ZeropointError
from .inputs import Array, arrange, check_array
from .lengths import cut, has_lengths
from .variables import Variables

if TYPE_CHECKING:
    from .profile import Profile
    from .tuning import Tuning


class Executable:
    """Machine code, weights and memory plan of one network. Made by :func:`zeropoint.compile`.

    ``inputs`` and ``outputs`` describe the tensors (name, shape, dtype, scale, zero_point). Several threads
    may call :meth:`run` at once: each run works in a memory arena of its own, and the interpreter lock is
    released. A network with variables remembers: its runs go one after the other.
    """

    def __init__(
        self,
        program: Program,
        code: LoadedCode,
        constants: npt.NDArray[np.uint8],
        inputs: Sequence[TensorInfo],
        outputs: Sequence[TensorInfo],
        intermediates: Sequence[TensorInfo] | None = None,
        name: str = "network",
        threads: int = 1,
        instructions: Collection[str] = (),
        variables: Variables | None = None,
    ) -> None:
        self.name = name
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.arena_bytes = program.arena_bytes
        """Memory for intermediate values; one arena per concurrent run."""
        self.least_arena_bytes = program.least_arena_bytes
        """The largest sum of intermediate values that are needed at one time."""
        self.constant_bytes = constants.nbytes
        self.threads = threads
        """How many threads one run may use."""
        self.instructions = sorted(instructions)
        """LLVM's names of the CPU features that the machine code may use."""
        if any(name.startswith("amx") for name in self.instructions):
            amx_permission.request()
        self.tuning: Tuning | None = None
        """What was measured while it was compiled with ``tune=True``."""
        self._program = program
        self._code = code
        self._constants = constants
        self._kept = None if intermediates is None else list(intermediates)
        self._results = [*self.outputs, *(self._kept or [])]
        self._wanted = [(info.shape, info.dtype) for info in self.inputs]
        self._made = [(info.shape, info.dtype) for info in self._results]
        self._is_cut = has_lengths(self.outputs)
        self._last: list[Array] | None = None
        self.variables = Variables() if variables is None else variables
        """What the network remembers between runs, by name."""
        places = self.variables.place(program.variables, constants)
        self._lock = self.variables.lock if places else None
        self._layout = TableLayout(program, code, constants.ctypes.data, threads, places)
        self._team = Team(code, threads) if threads > 1 else None
        self._call: Any = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address(DRIVER, RUN))
        self._idle: deque[Workspace] = deque()

    def __repr__(self) -> str:
        def described(infos: Sequence[TensorInfo]) -> str:
            return ", ".join(f"{info.name}: {info.dtype}{list(info.shape)}" for info in infos)

        return f"<Executable {self.name} ({described(self.inputs)}) -> ({described(self.outputs)})>"

    def run(self, *inputs: Any) -> list[Array]:
        """One inference. Takes arrays in the order of ``inputs``, or one dict by name; returns fresh arrays.

        An output with a :attr:`~TensorInfo.length` has as many elements as that says.

        Raises:
            InputError: an input's name, dtype or shape is wrong; nothing has been computed.
        """
        arrays = inputs if self._fit(inputs) else arrange(self.inputs, inputs)
        results = self._new_results()
        try:
            workspace = self._idle.pop()
        except IndexError:
            workspace = self._new_workspace()
        if self._team is not None:
            self._team.start()
        workspace.point_at(addresses([*arrays, *results]))
        self._run(workspace.address)
        self._idle.append(workspace)
        if self._kept is not None:
            self._last = results
        outputs = results[: len(self.outputs)]
        return cut(self.outputs, outputs) if self._is_cut else outputs

    def reset(self) -> None:
        """Give every variable its first value: the next :meth:`run` is as the first one."""
        self.variables.reset()

    def bind(self, *inputs: Any) -> BoundStep:
        """Fix the buffers for a hot loop: ``step = exe.bind(x)``; every ``step()`` reads ``x`` as it is then.

        Raises:
            InputError: as :meth:`run`; also if an input is not C-contiguous, since it would have to be
            copied.
        """
        if len(inputs) == 1 and isinstance(inputs[0], dict):
            given = [inputs[0][info.name] for info in self.inputs if info.name in inputs[0]]
        else:
            given = list(inputs)
        arrays = arrange(self.inputs, inputs)
        for info, original, array in zip(self.inputs, given, arrays, strict=True):
            if not np.shares_memory(array, check_array(info, original)):
                raise InputError(
                    f"input '{info.name}': a bound array must be C-contiguous and aligned; "
                    "bind np.ascontiguousarray(x) and write into that"
                )
        return BoundStep(self, arrays)

    def intermediates(self) -> dict[str, Array]:
        """Every value of the network by tensor name, from the latest finished :meth:`run`.

        Raises:
            ZeropointError: compiled without ``keep_intermediates=True``, or not run yet.
        """
        if self._kept is not None and self._last is None:
            raise ZeropointError("no intermediate values: call run first")
        return self._named(self._last or [])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file (``.zpx``) that :func:`zeropoint.load_executable` reads in no time, on
        a machine of this kind.

        Raises:
            ZeropointError: the file cannot be written.
        """
        from .saved import save_executable

        save_executable(self, path)

    def profile(self, *inputs: Any, repeats: int = 100) -> Profile:
        """Where the time of an inference goes, kernel by kernel, and what this machine could do at best.

        Kernels are timed among the others, on one thread; between the ``repeats`` runs of that, whole
        inferences are, on as many as :attr:`threads`.

        Raises:
            InputError: as :meth:`run`, or ``repeats`` is no positive whole number.
            ZeropointError: this system has no clock that the driver knows.
        """
        from .profiler import profile

        with self.variables.kept():
            return profile(self, inputs, repeats)

    def _run(self, address: int) -> None:
        """Run the table at an address; nobody else does meanwhile, if it has variables."""
        if self._lock is None:
            self._call(address)
        else:
            with self._lock:
                self._call(address)

    def _workspace_at(self, inputs: Sequence[Any]) -> Workspace:
        """A workspace of its own, with everything that it points at."""
        arrays, results = arrange(self.inputs, inputs), self._new_results()
        workspace = Workspace(self._layout, 0)
        workspace.point_at(addresses([*arrays, *results]))
        workspace.owned = [arrays, results]
        return workspace

    def _named(self, results: list[Array]) -> dict[str, Array]:
        if self._kept is None:
            raise ZeropointError("no intermediate values: compile with keep_intermediates=True")
        return {info.name: array for info, array in zip(self._results, results, strict=True)}

    def _fit(self, values: Sequence[Any]) -> bool:
        """Whether these are arrays just as the network wants them; the usual case, found out in no time."""
        if len(values) != len(self._wanted):
            return False
        for value, (shape, dtype) in zip(values, self._wanted, strict=True):
            if type(value) is not np.ndarray or value.dtype != dtype or value.shape != shape:
                return False
            flags = value.flags
            if not flags.c_contiguous or not flags.aligned:
                return False
        return True

    def _new_results(self) -> list[Array]:
        return [np.empty(shape, dtype) for shape, dtype in self._made]

    def _new_workspace(self) -> Workspace:
        return Workspace(self._layout, self._team.address if self._team is not None else 0)


class BoundStep:
    """A network with fixed buffers: calling it runs one inference and returns the same output arrays,
    rewritten (of outputs with a length the part that it says).

    Not for several threads at once; bind once per thread.
    """

    def __init__(self, executable: Executable, inputs: list[Array]) -> None:
        self.inputs = inputs
        results = executable._new_results()
        self.outputs = results[: len(executable.outputs)]
        # What the raw pointers point at must live as long as this object.
        self._workspace = executable._new_workspace()
        self._workspace.point_at(addresses([*inputs, *results]))
        if executable._team is not None:
            executable._team.start()
        self._executable = executable
        self._results = results
        self._call = executable._call if executable._lock is None else executable._run
        self._address = self._workspace.address

    def intermediates(self) -> dict[str, Array]:
        """Every value of the network by tensor name, in buffers that each step rewrites.

        Raises:
            ZeropointError: compiled without ``keep_intermediates=True``.
        """
        return self._executable._named(self._results)

    def __call__(self) -> list[Array]:
        self._call(self._address)
        return cut(self._executable.outputs, self.outputs) if self._executable._is_cut else self.outputs


def addresses(arrays: Sequence[Array]) -> list[int]:
    """Where arrays start. Their owner keeps them alive during the call."""
    return [_address(array) for array in arrays]


def _address(array: Any) -> int:
    try:
        return ctypes.addressof(
            ctypes.c_char.from_buffer(array)
        )  # four times as fast as the array's own word
    except (TypeError, ValueError):  # read-only, or empty
        return int(array.ctypes.data)
