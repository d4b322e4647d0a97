"""arg_max."""

from __future__ import annotations

import numpy as np

from .call import Array, Call


def arg_max(call: Call) -> Array:
    """The index of the largest value along ``axis`` (removed from the shape); the first one wins a tie."""
    result: Array = np.argmax(call.inputs[0], axis=call["axis"]).astype(call.result.dtype)
    return result
