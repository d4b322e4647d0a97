"""What ``zeropoint demo`` runs: a small int8 network for handwritten digits and 200 images it never saw.

Both files were written by ``examples/train_digits.py``. The images are scikit-learn's copy of the UCI test
set "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, 1998, CC BY 4.0).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

NETWORK = Path(__file__).with_name("digits_int8.tflite")
"""int8 network: pixels [1, 8, 8, 1], scale 16/255 -> probabilities [1, 10], scale 1/256; zero points -128."""

TEST_SET = Path(__file__).with_name("digits_test.npz")
"""The held-out images: arrays ``images`` and ``labels``, see `load_test_set`."""


def load_test_set() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """The held-out images, uint8 [200, 8, 8] with values 0..16, and their labels 0..9, uint8 [200].

    An image becomes the network's input by quantizing its pixels with the input's own parameters:
    ``clip(rint(image / scale) + zero_point, -128, 127)``, as int8 [1, 8, 8, 1].
    """
    with np.load(TEST_SET) as arrays:
        return arrays["images"], arrays["labels"]
