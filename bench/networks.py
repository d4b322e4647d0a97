"""Which networks the benchmarks run, where the built ones are kept, and inputs for them.

Nothing here needs Zeropoint or TensorFlow: the build script, which runs in TensorFlow's environment, and the
comparison share it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

FOLDER_VARIABLE = "ZEROPOINT_NETWORKS_DIR"


@dataclass(frozen=True)
class Recipe:
    """A network of ``keras.applications`` that is built with random weights and quantized to int8."""

    application: str
    size: int
    """Height and width of its images."""


RECIPES = {
    "mobilenetv1_224_int8": Recipe("MobileNet", 224),
    "mobilenetv2_224_int8": Recipe("MobileNetV2", 224),
    "resnet50_224_int8": Recipe("ResNet50", 224),
    "inceptionv3_299_int8": Recipe("InceptionV3", 299),
}


def networks_folder() -> Path:
    """``$ZEROPOINT_NETWORKS_DIR``, or ``zeropoint-networks`` in the user's cache folder."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/zeropoint-networks"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zeropoint-networks"


def find_models(arguments: Sequence[str], folder: Path) -> list[Path]:
    """The model files that ``arguments`` name: files, folders of them, or networks built into ``folder``.

    Without arguments: all of ``folder``.

    Raises:
        FileNotFoundError: with a message for the user.
    """
    found: list[Path] = []
    for argument in arguments or [str(folder)]:
        path = Path(argument)
        if argument in RECIPES and not path.exists():
            path = folder / f"{argument}.tflite"
            if not path.is_file():
                raise FileNotFoundError(
                    f"network '{argument}' is not in {folder}; python -m bench.build_networks {argument}"
                )
        inside = sorted(path.glob("*.tflite")) if path.is_dir() else [path]
        if not inside or not all(file.is_file() for file in inside):
            hint = "; python -m bench.build_networks makes some" if path == folder else ""
            raise FileNotFoundError(
                f"{path}: expected a .tflite file, a folder of them, or one of {', '.join(RECIPES)}{hint}"
            )
        found += [file for file in inside if file not in found]
    return found


def onnx_path(model: Path, folder: Path) -> Path:
    """Where the ONNX conversion of ``model`` is kept: its name says what it was made of."""
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    return folder / "onnx" / f"{model.stem}-{digest[:16]}.onnx"


def generated_photo(
    random: np.random.Generator, height: int, width: int, channels: int = 3
) -> npt.NDArray[np.float32]:
    """An image with the statistics of a photo, float32 [height, width, channels] in 0..1.

    Noise at every scale, each octave half as strong as the coarser one: the 1/f spectrum of natural images.
    """
    image: npt.NDArray[np.float32] = np.zeros((height, width, channels), np.float32)
    cells, strength = 2, 1.0
    while cells < max(height, width):
        # Colours are alike: most of the contrast is common to the channels.
        grid = random.standard_normal((cells, cells, 1)) + 0.3 * random.standard_normal(
            (cells, cells, channels)
        )
        rows, columns = np.arange(height) * cells // height, np.arange(width) * cells // width
        image += np.float32(strength) * grid[rows][:, columns].astype(np.float32)
        cells, strength = cells * 2, strength / 2
    low, high = np.percentile(image, (1, 99))
    scaled: npt.NDArray[np.float32] = np.clip((image - low) / max(high - low, 1e-6), 0, 1).astype(np.float32)
    return scaled


def sample_input(shape: Sequence[int], dtype: Any, random: np.random.Generator) -> npt.NDArray[Any]:
    """An input for any network: a generated photo where the shape is an image's, random values elsewhere."""
    dtype = np.dtype(dtype)
    if len(shape) == 4 and shape[3] in (1, 3) and min(shape[1:3]) >= 16:
        photos = [generated_photo(random, *shape[1:]) for _ in range(shape[0])]
        image: npt.NDArray[np.float32] = np.stack(photos)
        if dtype.kind == "f":
            return (image * 2 - 1).astype(dtype)
        if dtype.itemsize == 1:
            pixels = np.rint(image * 255).astype(np.uint8)
            return pixels if dtype == np.uint8 else (pixels ^ 0x80).view(np.int8)
    if dtype.kind == "f":
        return random.uniform(-1, 1, shape).astype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    bounds = np.iinfo(dtype)
    return random.integers(bounds.min, bounds.max, shape, dtype=dtype, endpoint=True)
