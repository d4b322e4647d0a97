"""Passes over modules: one file (or folder) per pass, listed here, imported only when used.

A pass ``fold-requantize`` lives in ``fold_requantize.py`` and is class ``FoldRequantizePass``, decorated with
``@registry.register``. Adding a pass = adding the file and one line here.
"""

PASS_NAMES = (
    "annotate-kernels",
    "convert-qnn-to-linalg",
    "destination-style",
    "externalize-constants",
    "fuse-elementwise",
    "isolate-unsupported",
    "keep-intermediates",
    "legalize-params",
    "legalize-storage",
    "outline-kernels",
    "plan-memory",
    "verify-params",
)
"""Every pass of ours, in alphabetical order; the module's name is the pass's with ``_`` for ``-``."""
