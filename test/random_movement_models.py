"""Random one-operator models of TFLite's operators that move, choose, order and convert values."""

from __future__ import annotations

from drawn_model import Drawn
from random_index_models import INDICES
from random_shape_models import SHAPES

__all__ = ["MODELS", "Drawn"]

MODELS = {**INDICES, **SHAPES}
"""Name -> a function that draws a model with inputs."""
