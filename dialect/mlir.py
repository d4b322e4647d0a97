"""The only import of the MLIR Python bindings.

Upstream's own ``mlir`` package is taken if it is installed and knows Python-defined dialects
(``dialects.ext``); otherwise ``torch_mlir``, whose wheels carry the same bindings. Everything else in
Zeropoint imports names from here.
"""

import importlib
import importlib.util
from types import ModuleType
from typing import Any


def _bindings_package() -> str:
    if importlib.util.find_spec("mlir") is not None:
        try:
            if importlib.util.find_spec("mlir.dialects.ext") is not None:
                return "mlir"
        except ModuleNotFoundError:  # an empty placeholder package named mlir
            pass
    return "torch_mlir"


_PACKAGE = _bindings_package()


def _load(name: str) -> ModuleType:
    return importlib.import_module(f"{_PACKAGE}.{name}")


ir = _load("ir")
passmanager = _load("passmanager")
PassManager = passmanager.PassManager
rewrite = _load("rewrite")
ext = _load("dialects.ext")
MLIRError = ir.MLIRError
# Where the Python side of dialect "qnn" is; else the bindings look for it in vain at every op they meet.
_load("_mlir_libs._mlir").globals.append_dialect_search_prefix(__name__.rpartition(".")[0])

_DIALECTS = ("arith", "func", "linalg", "llvm", "math", "memref", "quant", "scf", "tensor")


def __getattr__(name: str) -> Any:
    """The bindings of a dialect, imported when first asked for: all of them are a third of a start."""
    if name not in _DIALECTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = module = _load(f"dialects.{name}")
    return module
