"""Shared by all tests: pytest puts this folder on ``sys.path``, so that tests import ``tflite_builder`` and
``random_tensors``.
"""

import os

import pytest
from hypothesis import settings

# Models are compiled by outside runtimes inside the tests: no per-example deadline; reproducible runs.
settings.register_profile("zeropoint", deadline=None, derandomize=True)
settings.load_profile("zeropoint")


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled code of tests stays out of the user's cache."""
    os.environ["ZEROPOINT_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
