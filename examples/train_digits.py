"""Train the small quantized network that ``zeropoint demo`` runs.

A residual CNN for scikit-learn's 8x8 handwritten digits, trained with Keras and converted by TensorFlow to a
full-integer int8 TFLite file (per-channel weights)::

    image [1, 8, 8, 1], pixels 0..16
      -> conv 3x3, 16 -> separable 3x3, 32 -> max pool 2x2
      -> separable 3x3, 32 + shortcut (ADD) -> separable 3x3 stride 2, 64
      -> mean over height and width -> dense, 10 -> softmax

"Separable" is a depthwise convolution, then a pointwise (1x1) one. The script holds 200 images out before
training, and writes two files:

* ``digits_int8.tflite``: the network, int8 in and out.
* ``digits_test.npz``: ``images`` uint8 [200, 8, 8] (0..16) and ``labels`` uint8 [200] of the held-out images.

Requirements: ``pip install tensorflow scikit-learn`` (Zeropoint itself needs neither of them).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

CLASSES = 10
HELD_OUT = 200
CALIBRATION_IMAGES = 400
DEFAULT_OUTPUT = Path(__file__).resolve().parent.parent / "tools" / "demo"

EPILOG = """\
examples:
  python train_digits.py                        rebuild the files of `zeropoint demo`, about a minute
  python train_digits.py --output-dir digits    leave the packaged files alone
  python train_digits.py --output-dir digits --epochs 2
                                                see the whole path once, quickly, for some accuracy

The seed fixes the split, the initial weights and the order of the images: the same seed, TensorFlow
version and kind of processor give the same files. Needs `pip install tensorflow scikit-learn`.
"""


@dataclass(frozen=True)
class Digits:
    """The data set, split: images float32 [N, 8, 8, 1] with values 0..16, labels int64 [N]."""

    train_images: npt.NDArray[np.float32]
    train_labels: npt.NDArray[np.int64]
    test_images: npt.NDArray[np.float32]
    test_labels: npt.NDArray[np.int64]


def load_data(seed: int) -> Digits:
    """Read the 1,797 digits and hold 200 of them out, every class in its share (stratified)."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    data = load_digits()
    images = data.images.astype("float32")[..., None]
    train_images, test_images, train_labels, test_labels = train_test_split(
        images, data.target, test_size=HELD_OUT, stratify=data.target, random_state=seed
    )
    return Digits(train_images, train_labels, test_images, test_labels)


def shifted_copies(
    images: npt.NDArray[np.float32], labels: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """The images, and each of them moved by one pixel up, down, left and right (five times as many)."""
    import numpy as np

    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    offsets = ((1, 1), (0, 1), (2, 1), (1, 0), (1, 2))
    moved = [padded[:, y : y + 8, x : x + 8] for y, x in offsets]
    return np.concatenate(moved), np.tile(labels, len(offsets))


def build_network() -> Any:
    """The untrained Keras model: pixels [N, 8, 8, 1] -> probabilities [N, 10].

    It takes the raw 0..16 pixels, so a user of the int8 file need not know of any preprocessing: batch
    normalization makes the first convolution indifferent to their scale, and the converter folds it into the
    weights.
    """
    import keras
    from keras import layers

    def normalize(x: Any, name: str) -> Any:
        return layers.BatchNormalization(momentum=0.9, name=f"{name}_norm")(x)

    def relu(x: Any, name: str) -> Any:
        return layers.ReLU(name=f"{name}_relu")(x)

    def separable(x: Any, channels: int, name: str, stride: int = 1) -> Any:
        depthwise, pointwise = f"{name}_depthwise", f"{name}_pointwise"
        x = layers.DepthwiseConv2D(3, strides=stride, padding="same", use_bias=False, name=depthwise)(x)
        x = relu(normalize(x, depthwise), depthwise)
        x = layers.Conv2D(channels, 1, use_bias=False, name=pointwise)(x)
        return normalize(x, pointwise)

    image = keras.Input((8, 8, 1), name="image")
    x = layers.Conv2D(16, 3, padding="same", use_bias=False, name="stem")(image)
    x = relu(normalize(x, "stem"), "stem")
    x = relu(separable(x, 32, "widen"), "widen")
    x = layers.MaxPooling2D(2, name="max_pool")(x)
    x = relu(layers.Add(name="shortcut")([x, separable(x, 32, "residual")]), "shortcut")
    x = relu(separable(x, 64, "reduce", stride=2), "reduce")
    x = layers.GlobalAveragePooling2D(name="mean")(x)
    x = layers.Dropout(0.2, name="dropout")(x)
    x = layers.Dense(CLASSES, name="dense")(x)
    probabilities = layers.Softmax(name="probabilities")(x)
    return keras.Model(image, probabilities, name="digits")


def train(model: Any, data: Digits, epochs: int) -> None:
    """Fit ``model`` in place. The learning rate falls to zero, so the last weights are the ones to keep."""
    import keras

    images, labels = shifted_copies(data.train_images, data.train_labels)
    batch = 64
    steps = epochs * -(-len(images) // batch)
    model.compile(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(2e-3, steps)),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(images, labels, batch_size=batch, epochs=epochs, verbose=2)


def convert(model: Any, calibration: npt.NDArray[np.float32]) -> bytes:
    """Quantize ``model`` to int8 (weights per channel, activations per tensor); returns the TFLite file.

    ``calibration`` float32 [N, 8, 8, 1]: the converter runs these through the float network to learn the
    range of every activation, hence its scale and zero point. They must not be test images.
    """
    import tensorflow as tf

    # A batch of 1, so that every shape in the file is static.
    signature = tf.TensorSpec([1, 8, 8, 1], tf.float32, name="image")
    with tempfile.TemporaryDirectory() as folder:
        model.export(folder, format="tf_saved_model", verbose=False, input_signature=[signature])
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image[None]] for image in calibration)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = tf.int8
        converter.inference_output_type = tf.int8
        return bytes(converter.convert())


def interpreter_class() -> Any:
    """LiteRT's interpreter: the package ``ai-edge-litert`` if it is there, else TensorFlow's own copy."""
    try:
        from ai_edge_litert.interpreter import Interpreter
    except ImportError:
        import tensorflow as tf

        return tf.lite.Interpreter
    return Interpreter


def predict_int8(tflite: bytes, images: npt.NDArray[np.float32]) -> npt.NDArray[np.int64]:
    """Run ``images`` [N, 8, 8, 1] (0..16) one by one through the file; returns the classes, int64 [N]."""
    import numpy as np

    interpreter = interpreter_class()(model_content=tflite)
    interpreter.allocate_tensors()
    [source], [result] = interpreter.get_input_details(), interpreter.get_output_details()
    scale, zero_point = source["quantization"]
    quantized = np.clip(np.rint(images / np.float32(scale)) + zero_point, -128, 127).astype(np.int8)
    classes = []
    for image in quantized:
        interpreter.set_tensor(source["index"], image[None])
        interpreter.invoke()
        classes.append(int(interpreter.get_tensor(result["index"])[0].argmax()))
    return np.array(classes, dtype=np.int64)


def write_files(folder: Path, tflite: bytes, data: Digits) -> list[Path]:
    """Write the network and the held-out images to ``folder`` (made if absent); returns the two paths."""
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    network, test_set = folder / "digits_int8.tflite", folder / "digits_test.npz"
    network.write_bytes(tflite)
    np.savez_compressed(
        test_set,
        images=data.test_images[..., 0].astype(np.uint8),
        labels=data.test_labels.astype(np.uint8),
    )
    return [network, test_set]


def check_requirements() -> None:
    """Import the two big packages, or leave with exit status 1 and a message that says what to install."""
    # Both must be set before TensorFlow is imported. Its C++ log is of no interest here (what goes wrong
    # arrives as a Python exception), and oneDNN's sums depend on the processor.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    try:
        import sklearn  # noqa: F401 - only to see whether it is there
        import tensorflow  # noqa: F401 - likewise
    except ImportError as error:
        sys.exit(
            f"train_digits.py: error: cannot import {error.name or error}; "
            "this script needs `pip install tensorflow scikit-learn`"
        )


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Train a small CNN on scikit-learn's 8x8 digits, convert it to an int8 per-channel "
        "TFLite file, and write it together with 200 held-out test images.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--output-dir",
        type=Path,
        default=DEFAULT_OUTPUT,
        help="folder for digits_int8.tflite and digits_test.npz (default: tools/demo of this tree)",
    )
    parser.add_argument(
        "--epochs",
        type=int,
        default=30,
        help="passes over the training images and their shifted copies (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="fixes everything that is random (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    if options.epochs < 1:
        parser.error(f"--epochs: got {options.epochs}, expected at least 1")
    if options.output_dir.exists() and not options.output_dir.is_dir():
        parser.error(f"--output-dir: '{options.output_dir}' is a file, expected a folder")
    if not 0 <= options.seed < 2**32:
        parser.error(f"--seed: got {options.seed}, expected 0 to {2**32 - 1}")
    return options


def main() -> None:
    options = parse_arguments()
    check_requirements()
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(options.seed)
    tf.config.experimental.enable_op_determinism()

    data = load_data(options.seed)
    model = build_network()
    print(f"{model.name}: {model.count_params():,} parameters", file=sys.stderr)
    train(model, data, options.epochs)
    tflite = convert(model, data.train_images[:CALIBRATION_IMAGES])

    float_classes = model.predict(data.test_images, verbose=0).argmax(axis=1)
    int8_classes = predict_int8(tflite, data.test_images)
    print(f"held-out accuracy, float: {(float_classes == data.test_labels).mean():.1%}")
    print(f"held-out accuracy, int8:  {(int8_classes == data.test_labels).mean():.1%}")
    for path in write_files(options.output_dir, tflite, data):
        print(f"wrote {path} ({path.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
