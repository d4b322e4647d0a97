"""Passes over modules: one file (or folder) per pass, listed here, imported only when used.

A pass ``fold-requantize`` lives in ``fold_requantize.py`` and is class ``FoldRequantizePass``, decorated with
``@registry.register``. Adding a pass = adding the file and one line here.
"""

PASS_NAMES = (
    "allocate-launch-results",
    "annotate-kernels",
    "convert-qnn-to-linalg",
    "destination-style",
    "detach-launch-results",
    "externalize-constants",
    "fold-batch-norm",
    "fold-concat-rescales",
    "fold-pad",
    "fold-requantize",
    "fold-requantize-into-constant",
    "fold-requantize-into-producer",
    "form-kernels",
    "fuse-elementwise",
    "fuse-matmul-bias",
    "globals-to-arguments",
    "hoist-requantize",
    "isolate-unsupported",
    "keep-intermediates",
    "legalize-params",
    "legalize-storage",
    "merge-clamps",
    "merge-kernels",
    "merge-requantizes",
    "outline-control-flow",
    "outline-kernels",
    "plan-memory",
    "share-requantizes",
    "sink-requantize",
    "verify-params",
)
"""Every pass of ours, in alphabetical order; the module's name is the pass's with ``_`` for ``-``."""
