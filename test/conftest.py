"""Shared by all tests: pytest puts this folder on ``sys.path``, so that tests import ``tflite_builder`` and
``random_tensors``.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Models are compiled by outside runtimes inside the tests: no per-example deadline; reproducible runs.
settings.register_profile("zeropoint", deadline=None, derandomize=True)
settings.load_profile("zeropoint")


class _RootIsAFolder:
    """The repository's root is the package, but none of tests: pytest would import its ``__init__.py`` under
    the name of the folder, which fails where that is no identifier (``zeropoint-main``).
    """

    @pytest.hookimpl
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        is_root = path == parent.config.rootpath
        return pytest.Dir.from_parent(parent, path=path) if is_root else None


def pytest_configure(config: pytest.Config) -> None:
    # As a plugin of its own, since the hooks of this file are not asked about the folders above it.
    config.pluginmanager.register(_RootIsAFolder())


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled code of tests stays out of the user's cache."""
    os.environ["ZEROPOINT_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))
