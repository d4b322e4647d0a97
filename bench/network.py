"""A model file as the comparison needs it: inputs, and how much work one inference is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import zeropoint as zp
from zeropoint.dialect.describe import describe

from .networks import onnx_path, sample_input

SEED = 0


@dataclass(frozen=True)
class Network:
    """``macs`` and ``weight_bytes`` are those of one inference; ``inputs`` stand in the model's order."""

    name: str
    path: Path
    onnx: Path | None
    """The same network as ONNX, where it has been converted."""
    macs: int
    weight_bytes: int
    input_names: Sequence[str]
    inputs: Sequence[npt.NDArray[Any]]


def load_network(path: Path, folder: Path) -> Network:
    """Read ``path``; its ONNX conversion is looked for in ``folder``. Raises ZeropointError."""
    model = zp.load(path)
    with model.context:
        rows = describe(model.module)
    random = np.random.default_rng(SEED)
    onnx = onnx_path(path, folder)
    return Network(
        path.stem,
        path.resolve(),
        onnx.resolve() if onnx.is_file() else None,
        sum(row.macs for row in rows),
        sum(row.constant_bytes for row in rows),
        [info.name for info in model.inputs],
        [sample_input(info.shape, info.dtype, random) for info in model.inputs],
    )
