"""Zeropoint compiles quantized neural networks to machine code, with the bits of the reference kernels.

>>> import zeropoint as zp
>>> exe = zp.compile("mobilenet_v2.tflite")
>>> (scores,) = exe.run(image)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .dialect.model import Model, TensorInfo
    from .errors import (
        ImportModelError,
        InputError,
        PipelineError,
        TargetError,
        UnsupportedOpError,
        ZeropointError,
    )
    from .frontends import load
    from .runtime.compiler import compile
    from .runtime.executable import Executable
    from .runtime.export import export
    from .runtime.interpreter import Interpreter
    from .runtime.saved import load_executable

# Name -> module; imported on first use, so that `import zeropoint` and the command-line tools start fast.
_HOMES = {
    "Executable": "runtime.executable",
    "ImportModelError": "errors",
    "InputError": "errors",
    "Interpreter": "runtime.interpreter",
    "Model": "dialect.model",
    "PipelineError": "errors",
    "TargetError": "errors",
    "TensorInfo": "dialect.model",
    "UnsupportedOpError": "errors",
    "ZeropointError": "errors",
    "compile": "runtime.compiler",
    "export": "runtime.export",
    "load": "frontends",
    "load_executable": "runtime.saved",
}

__all__ = [
    "Executable",
    "ImportModelError",
    "InputError",
    "Interpreter",
    "Model",
    "PipelineError",
    "TargetError",
    "TensorInfo",
    "UnsupportedOpError",
    "ZeropointError",
    "__version__",
    "compile",
    "export",
    "load",
    "load_executable",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
