"""The only import of the MLIR Python bindings.

Upstream's own ``mlir`` package is taken if it is installed and knows Python-defined dialects (``dialects.ext``);
otherwise ``torch_mlir``, whose wheels carry the same bindings. Everything else in Zeropoint imports names from here.
"""

import importlib
import importlib.util
from types import ModuleType


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
arith = _load("dialects.arith")
func = _load("dialects.func")
linalg = _load("dialects.linalg")
math = _load("dialects.math")
memref = _load("dialects.memref")
quant = _load("dialects.quant")
scf = _load("dialects.scf")
tensor = _load("dialects.tensor")
llvm = _load("dialects.llvm")
MLIRError = ir.MLIRError
