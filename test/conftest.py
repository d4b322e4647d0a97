"""Shared by all tests: pytest puts this folder on ``sys.path``, so that tests import ``tflite_builder`` and
``random_tensors``.
"""

from hypothesis import settings

# Models are compiled by outside runtimes inside the tests: no per-example deadline; reproducible runs.
settings.register_profile("zeropoint", deadline=None, derandomize=True)
settings.load_profile("zeropoint")
