"""``python -m bench.build_networks [NETWORK...]``: the networks of the benchmarks, and ONNX conversions.

Runs in an environment with TensorFlow, which nothing else of Zeropoint needs: the extra ``bench-build`` of
pyproject.toml lists what. ``keras.applications`` gives the architectures, the weights are random. The
statistics of each BatchNormalization are set from photos, layer by layer, so that activations neither vanish
nor saturate; then TensorFlow quantizes to int8, calibrated on those photos. Speed does not depend on the
weights, and no download is needed.

Every network also becomes ONNX with tf2onnx, for ONNX Runtime; ``--onnx MODEL...`` does that for other
models.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .networks import RECIPES, Recipe, generated_photo, networks_folder, onnx_path

SEED = 7
CROPS = 27
REPRESENTATIVE = 24
PHOTO_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp")
LOGIT_DEVIATION = 5.0
"""Of the classifier over the photos: with less, a softmax over 1000 classes would say nothing."""


def photo_crops(photos: Path | None, size: int) -> Any:
    """``CROPS`` images, float32 [n, size, size, 3] in -1..1: crops of photos in a folder, or generated."""
    import tensorflow as tf

    random = np.random.default_rng(SEED)
    files = sorted(p for p in photos.iterdir() if p.suffix.lower() in PHOTO_SUFFIXES) if photos else []
    if not files:
        return np.stack([generated_photo(random, size, size) for _ in range(CROPS)]) * 2 - 1
    crops: list[Any] = []
    while len(crops) < CROPS:
        for file in files:
            image = tf.image.decode_image(tf.io.read_file(str(file)), channels=3, expand_animations=False)
            height, width = image.shape[:2]
            side = int(min(height, width) * random.uniform(0.5, 1.0))
            y, x = random.integers(0, height - side + 1), random.integers(0, width - side + 1)
            crop = tf.image.resize(image[y : y + side, x : x + side], (size, size), antialias=True)
            crops.append(crop.numpy() / 127.5 - 1)
    return np.stack(crops[:CROPS]).astype(np.float32)


def float_network(recipe: Recipe, images: Any) -> Any:
    """The Keras model with random weights whose activations on ``images`` are as a trained network's."""
    import keras

    keras.utils.set_random_seed(SEED)
    random = np.random.default_rng(SEED)
    make = getattr(keras.applications, recipe.application)
    model = make(input_shape=(recipe.size, recipe.size, 3), weights=None)
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            channels = layer.moving_mean.shape[0]
            if layer.scale:
                layer.gamma.assign(random.uniform(0.5, 1.5, channels))
            if layer.center:
                layer.beta.assign(random.normal(0, 0.5, channels))
            layer.momentum = 0.0  # one pass in training mode makes the statistics those of the images
    model(images, training=True)
    classifier = [layer for layer in model.layers if layer.weights][-1]
    kernel, bias = classifier.get_weights()
    features = keras.Model(model.input, classifier.input).predict(images, verbose=0, batch_size=9)
    features = features.reshape(len(images), -1)
    logits = features @ kernel.reshape(features.shape[1], -1)
    factor = LOGIT_DEVIATION / (logits - logits.mean(0)).std()
    classifier.set_weights([kernel * factor, bias - logits.mean(0) * factor])
    return model


def quantized(model: Any, images: Any) -> bytes:
    """The model as .tflite: int8, batch 1, weights per channel, calibrated on ``images``."""
    import keras
    import tensorflow as tf

    image = keras.Input(batch_shape=(1, *images.shape[1:]), name="image")
    with tempfile.TemporaryDirectory() as folder:
        keras.Model(image, model(image)).export(folder, format="tf_saved_model", verbose=False)
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image[None]] for image in images[:REPRESENTATIVE])
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
        blob: bytes = converter.convert()
    return blob


def constant_tensors(blob: bytes, image: Any) -> list[str]:
    """Layers whose output is one value everywhere: a network with such a layer computes nothing after it."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=blob, experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    (detail,) = interpreter.get_input_details()
    scale, zero_point = detail["quantization"]
    stored = np.clip(np.rint(image / scale) + zero_point, -128, 127).astype(np.int8)
    interpreter.set_tensor(detail["index"], stored[None])
    interpreter.invoke()
    found = []
    for detail in interpreter.get_tensor_details():
        try:
            value = interpreter.get_tensor(detail["index"])
        except ValueError:  # not kept: it was fused away
            continue
        if detail["dtype"] == np.int8 and value.shape[:1] == (1,) and value.size > 1 and np.ptp(value) == 0:
            found.append(detail["name"])
    return found


def build(name: str, folder: Path, photos: Path | None) -> Path:
    """Build a network of ``RECIPES`` into ``folder``; raises ValueError if its activations collapse."""
    recipe = RECIPES[name]
    images = photo_crops(photos, recipe.size)
    blob = quantized(float_network(recipe, images), images)
    if constant := constant_tensors(blob, images[0]):
        raise ValueError(f"{name}: outputs that are constant: {', '.join(constant[:3])}")
    return _write(folder / f"{name}.tflite", blob)


def convert_to_onnx(model: Path, folder: Path) -> Path:
    """tf2onnx's conversion of ``model``, kept under its content's name; raises CalledProcessError."""
    path = onnx_path(model, folder)
    if not path.is_file():
        with tempfile.TemporaryDirectory() as temporary:
            made = Path(temporary) / "model.onnx"
            command = [sys.executable, "-m", "tf2onnx.convert", "--tflite", str(model), "--output", str(made)]
            subprocess.run(command, check=True, capture_output=True, text=True)
            _write(path, made.read_bytes())
    return path


def _write(path: Path, data: bytes) -> Path:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_bytes(data)
    return temporary.replace(path)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.build_networks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(RECIPES)}; default all"
    )
    parser.add_argument(
        "--onnx", nargs="+", type=Path, default=[], metavar="MODEL", help="convert only these"
    )
    parser.add_argument("--photos", type=Path, help="folder of photos to calibrate on; else generated images")
    parser.add_argument("--networks-dir", type=Path, default=networks_folder(), help="default: %(default)s")
    parser.add_argument("--force", action="store_true", help="build networks that exist already, too")
    arguments = parser.parse_args(argv)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if unknown := [name for name in arguments.networks if name not in RECIPES]:
        parser.error(f"no network '{unknown[0]}', expected one of {', '.join(RECIPES)}")
    folder: Path = arguments.networks_dir
    models: list[Path] = list(arguments.onnx)
    if not models:
        for name in arguments.networks or RECIPES:
            path = folder / f"{name}.tflite"
            if arguments.force or not path.is_file():
                build(name, folder, arguments.photos)
            print(path, flush=True)
            models.append(path)
    status = 0
    for model in models:
        try:
            print(convert_to_onnx(model, folder), flush=True)
        except subprocess.CalledProcessError as error:
            last = error.stderr.strip().splitlines()[-1:] or ["no message"]
            print(f"{model}: tf2onnx refuses it: {last[0]}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
