"""The systems that are compared, behind one interface. Each runs in a worker process of its own.

A contestant takes a model file and fixed inputs, and gives a :class:`Session`: how long loading and compiling
took, a function that runs one inference, and its outputs. Everybody gets the fastest call its public API has,
with inputs and outputs bound beforehand, so that a small network's row shows the runtime and not Python.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class RefusedError(Exception):
    """This contestant cannot take part; the message is a short reason."""


@dataclass(frozen=True)
class Task:
    """What a worker is to run: a ``.tflite`` file on ``inputs``, in the order of the model's."""

    model: Path
    onnx: Path | None
    """The same network as ONNX, where somebody has converted it."""
    names: Sequence[str]
    inputs: Sequence[Array]
    threads: int


@dataclass(frozen=True)
class Session:
    """A loaded network. ``load_seconds`` is None where the system loads and compiles in one call."""

    load_seconds: float | None
    compile_seconds: float
    run: Callable[[], Any]
    outputs: Callable[[], list[Array]]
    version: str
    recompile_seconds: float | None = None
    """Compiling once more, with what the first time left in the cache on disk."""


def zeropoint_session(task: Task, numerics: str, tune: bool = False) -> Session:
    """``numerics``: whose bits. Compiled with an empty cache, as a first user does, then once more."""
    import zeropoint as zp
    from zeropoint.runtime.cache import FOLDER_VARIABLE

    with tempfile.TemporaryDirectory(prefix="zeropoint-bench-cache-") as cache:
        os.environ[FOLDER_VARIABLE] = cache
        start = time.perf_counter()
        model = zp.load(task.model, numerics=numerics)
        loaded = time.perf_counter()
        zp.compile(model, threads=task.threads, tune=tune)
        compiled = time.perf_counter()
        executable = zp.compile(model, threads=task.threads)
        done = time.perf_counter()
    step = executable.bind(*task.inputs)
    return Session(
        loaded - start,
        compiled - loaded,
        step,
        lambda: list(step.outputs),
        zp.__version__,
        recompile_seconds=done - compiled,
    )


def litert_session(task: Task, kernels: str) -> Session:
    """``kernels``: ``BUILTIN``, as people run it, with XNNPACK; or ``BUILTIN_REF``, the reference kernels."""
    import ai_edge_litert
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    start = time.perf_counter()
    resolver = OpResolverType[kernels]
    interpreter = Interpreter(
        str(task.model), num_threads=task.threads, experimental_op_resolver_type=resolver
    )
    loaded = time.perf_counter()
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), task.inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    done = time.perf_counter()
    indices = [detail["index"] for detail in interpreter.get_output_details()]
    return Session(
        loaded - start,
        done - loaded,
        interpreter.invoke,
        lambda: [interpreter.get_tensor(index) for index in indices],
        ai_edge_litert.__version__,
    )


def openvino_session(task: Task) -> Session:
    """Latency hint, one stream, so many threads; everything else as OpenVINO chooses."""
    import openvino

    start = time.perf_counter()
    core = openvino.Core()
    model = core.read_model(str(task.model))
    if model.is_dynamic():  # the signature's batch; the file's own shape is static
        model.reshape(
            {
                port: list(value.shape)
                for port, value in zip(model.inputs, by_name(task, model.inputs), strict=True)
            }
        )
    loaded = time.perf_counter()
    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": task.threads,
    }
    compiled = core.compile_model(model, "CPU", settings)
    request = compiled.create_infer_request()
    for index, value in enumerate(by_name(task, compiled.inputs)):
        request.get_input_tensor(index).data[...] = value
    done = time.perf_counter()

    def run() -> None:  # in this thread; start_async() and wait() would hand it to another one
        request.infer(share_outputs=True)

    def outputs() -> list[Array]:
        return [request.get_output_tensor(i).data.copy() for i in range(len(compiled.outputs))]

    return Session(loaded - start, done - loaded, run, outputs, openvino.__version__.partition("-")[0])


def by_name(task: Task, ports: Sequence[Any]) -> list[Array]:
    """The inputs in the order of OpenVINO's ports; where it has another name, the file's order is taken."""
    given = dict(zip(task.names, task.inputs, strict=True))
    found = []
    for port, value in zip(ports, task.inputs, strict=True):
        names = [name for name in port.names if name in given]
        found.append(given[names[0]] if names else value)
    return found


def onnxruntime_session(task: Task) -> Session:
    """The model as tf2onnx converts it (operators between QuantizeLinear and DequantizeLinear)."""
    import onnxruntime

    if task.onnx is None:
        raise RefusedError("no ONNX conversion of it (see docs/benchmarks.md)")
    start = time.perf_counter()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = task.threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(task.onnx), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    given = dict(zip(task.names, task.inputs, strict=True))
    for port, value in zip(session.get_inputs(), task.inputs, strict=True):
        array = given.get(port.name, value)
        binding.bind_ortvalue_input(port.name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
    for port in session.get_outputs():
        binding.bind_output(port.name)
    done = time.perf_counter()
    return Session(
        None,
        done - start,
        lambda: session.run_with_iobinding(binding),
        lambda: [np.asarray(array) for array in binding.copy_outputs_to_cpu()],
        onnxruntime.__version__,
    )


PACKAGES = {
    "litert": "ai_edge_litert",
    "litert-reference": "ai_edge_litert",
    "onnxruntime": "onnxruntime",
    "openvino": "openvino",
}
"""What a contestant needs that may be absent; the extra ``bench`` installs them."""

CONTESTANTS: Mapping[str, Callable[[Task], Session]] = {
    "zeropoint": lambda task: zeropoint_session(task, "reference"),
    "zeropoint-xnnpack": lambda task: zeropoint_session(task, "xnnpack"),
    "zeropoint-tuned": lambda task: zeropoint_session(task, "reference", tune=True),
    "litert": lambda task: litert_session(task, "BUILTIN"),
    "onnxruntime": onnxruntime_session,
    "openvino": openvino_session,
    "litert-reference": lambda task: litert_session(task, "BUILTIN_REF"),
}

OURS = ("zeropoint", "zeropoint-xnnpack")
TUNED = ("zeropoint-tuned",)
"""Only where they are asked for: tuning takes its time."""
PEERS = ("litert", "onnxruntime", "openvino")
JUDGE = "litert-reference"
"""Runs once, not timed: its outputs are the bits that the reference mode promises."""


def open_session(name: str, task: Task) -> Session:
    """A session of the contestant ``name``. Raises RefusedError, or whatever its library raises."""
    package = PACKAGES.get(name)
    if package and importlib.util.find_spec(package) is None:
        raise RefusedError("not installed (pip install -e '.[bench]')")
    return CONTESTANTS[name](task)
