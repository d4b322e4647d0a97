"""lit configuration: the IR tests. Run `lit test` (or one file) from the root of the repository."""

import importlib.util
import os
import sys
from pathlib import Path

import lit.formats

config.name = "zeropoint"  # type: ignore[name-defined]  # noqa: F821
config = config  # type: ignore[name-defined] # noqa: F821

if importlib.util.find_spec("zeropoint") is None:
    lit_config.fatal("zeropoint is not installed: pip install --editable '.[test]'")  # type: ignore[name-defined] # noqa: F821

config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "models", "data", "Inputs"]
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = os.environ.get("ZEROPOINT_LIT_OUTPUT", str(Path(__file__).parent / "Output"))

for variable in ("PYTHONPATH", "HOME", "XDG_CACHE_HOME", "TMPDIR"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

# A command, not part of a path or of another word.
_COMMAND = r"(?<![\w./%-]){}(?=\s|$)"
config.substitutions += [
    (_COMMAND.format("qopt"), f"{sys.executable} -m zeropoint.tools.qopt"),
    (_COMMAND.format("zeropoint"), f"{sys.executable} -m zeropoint.tools.cli"),
    # PyPI's filecheck: undefined variables and empty patterns are errors only if asked.
    ("%filecheck", "filecheck --enable-var-scope --reject-empty-vars %s"),
    ("%python", sys.executable),
    ("%test_data", str(Path(__file__).parent / "data")),
]

# Tests of vector code need a CPU that has the instructions: `REQUIRES: avx512vnni`.
from zeropoint.codegen.machine import host  # noqa: E402 - zeropoint may not be installed, see above
from zeropoint.kernels.instruction_set import INSTRUCTION_SETS  # noqa: E402

features = set(host().features.split(","))
config.available_features |= {isa.name for isa in INSTRUCTION_SETS.values() if isa.features <= features}
