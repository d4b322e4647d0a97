"""``zeropoint run``: compile a model, run it once or more, and show its outputs."""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dialect.tensor_info import TensorInfo
from ..errors import InputError
from ..passes.pipelines import PIPELINES
from ..targets import load_target
from .cli_arguments import add_model_arguments, load_model, whole_number
from .cli_profile import add_profile_arguments, show_profile, wants_profile
from .cli_tuning import add_tune_argument, print_tuning
from .progress import ProgressLine
from .tables import print_table

Array = npt.NDArray[Any]

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp")


def register(commands: Any) -> None:
    """Add the subcommand to ``commands`` (argparse's subparsers)."""
    command: argparse.ArgumentParser = commands.add_parser(
        "run",
        help="run a model on files or random data",
        description="Compile a model for this machine and run it. Inputs are .npy files in the model's "
        "own dtype, or images, which are scaled to the input's height and width, and whose pixels 0..255 are "
        "stored as they are (uint8) or less 128 (int8). Inputs that are not given are random. Of each output "
        "the least, largest and mean stored value are shown, with --top or --labels the largest real values; "
        "--output-dir saves them.",
    )
    add_model_arguments(command)
    command.add_argument(
        "--input", action="append", default=[], metavar="[NAME=]FILE", help="an input (repeatable)"
    )
    command.add_argument(
        "--quantize", action="store_true", help="float .npy inputs hold real values: quantize them"
    )
    command.add_argument("--seed", type=whole_number(0), default=0, help="of random inputs (default 0)")
    command.add_argument("--output-dir", metavar="DIR", help="save every output as DIR/NAME.npy")
    command.add_argument(
        "--top",
        type=whole_number(0),
        default=0,
        metavar="N",
        help="show the N largest entries of each output; of a profile, the N slowest kernels",
    )
    command.add_argument("--labels", metavar="FILE", help="names for --top (5 if not given), one per line")
    command.add_argument(
        "--repeat", type=whole_number(1), metavar="N", help="run N times and show the times (default 1)"
    )
    command.add_argument(
        "--threads", type=whole_number(1), default=1, metavar="N", help="for one inference (default 1)"
    )
    command.add_argument("--pipeline", choices=sorted(PIPELINES), default="optimized", help="how to compile")
    command.add_argument(
        "--target",
        default="host",
        metavar="TARGET",
        help="the name or .toml file of a target whose parameter rules the model shall obey (see `zeropoint "
        "targets`). The code is for this machine, which must be able to run the target's; without this, the "
        "model runs as it is",
    )
    add_tune_argument(command)
    command.add_argument("--json", action="store_true", help="the summary as JSON, for scripts")
    add_profile_arguments(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from ..runtime import compile

    is_profile = wants_profile(arguments)
    labels = _labels(arguments.labels)
    load_target(arguments.target)  # a mistake in its file is said before a large model is read
    model = load_model(arguments)
    inputs = read_inputs(model, arguments)
    _check_shapes(model.inputs, inputs)
    with ProgressLine() as progress:
        executable = compile(
            model,
            arguments.target,
            threads=arguments.threads,
            pipeline=arguments.pipeline,
            tune=arguments.tune,
            progress=progress.show,
        )
    if is_profile:
        show_profile(executable, inputs, arguments)
        if not arguments.json:
            print_tuning(executable.tuning)
        if arguments.output_dir:
            _save(arguments.output_dir, model, executable.run(*inputs))
        return 0
    seconds = []
    outputs: list[Array] = []
    for _ in range(arguments.repeat or 1):
        start = time.perf_counter()
        outputs = executable.run(*inputs)
        seconds.append(time.perf_counter() - start)
    if arguments.output_dir:
        _save(arguments.output_dir, model, outputs)
    rows = [_summary(info, value) for info, value in zip(model.outputs, outputs, strict=True)]
    if arguments.json:
        document: dict[str, Any] = {"outputs": rows, "milliseconds": [s * 1e3 for s in seconds]}
        if executable.tuning is not None:
            document["tuning"] = executable.tuning.to_json()
        print(json.dumps(document, indent=1))
        return 0
    columns = ("output", "dtype", "shape", "scale", "zero point", "min", "max", "mean")
    print_table(columns, [tuple(str(row[c]) for c in columns) for row in rows], right=("min", "max", "mean"))
    for info, value in zip(model.outputs, outputs, strict=True):
        if arguments.top or labels:
            _print_top(info, value, arguments.top or 5, labels)
    if len(seconds) > 1:
        print(
            f"\n{len(seconds)} runs: median {statistics.median(seconds) * 1e3:.3f} ms, least "
            f"{min(seconds) * 1e3:.3f} ms"
        )
    print_tuning(executable.tuning)
    return 0


def read_inputs(model: Any, arguments: argparse.Namespace) -> list[Array]:
    """What ``--input``, ``--quantize`` and ``--seed`` ask for, one array per input of the model, in order."""
    names = [info.name for info in model.inputs]
    given: dict[str, str] = {}
    for text in arguments.input:
        name, file = _split_input(text, names)
        if name is None:
            free = [n for n in names if n not in given]
            if not free:
                raise InputError(
                    f"--input {text}: more files than inputs; the model has {len(names)}: {', '.join(names)}"
                )
            name = free[0]
        if name in given:
            raise InputError(f"--input {text}: input '{name}' was already given as {given[name]}")
        given[name] = file
    random = np.random.default_rng(arguments.seed)
    return [
        _read(given[info.name], info, arguments.quantize) if info.name in given else _random(info, random)
        for info in model.inputs
    ]


def _split_input(text: str, names: Sequence[str]) -> tuple[str | None, str]:
    for name in names:
        if text.startswith(f"{name}="):
            return name, text[len(name) + 1 :]
    head, equals, _ = text.partition("=")
    if equals and not Path(text).exists():
        raise InputError(f"--input {text}: no input is called '{head}'; the model has {', '.join(names)}")
    return None, text


def _read(file: str, info: TensorInfo, quantize: bool) -> Array:
    if file.lower().endswith(IMAGE_SUFFIXES):
        return _read_image(file, info)
    try:
        array = np.load(file, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{file}: error: cannot be read: {error.strerror}") from error
    except (ValueError, EOFError):  # numpy's own message would advise to unpickle it
        expected = "expected a .npy file of numbers (numpy.save) or an image"
        raise InputError(f"{file}: error: not an input: {expected}") from None
    if not isinstance(array, np.ndarray):
        raise InputError(
            f"{file}: error: got an archive of arrays (.npz), expected a .npy file of one (numpy.save)"
        )
    if quantize and array.dtype.kind == "f" and info.type.is_quantized:
        storage = info.type.params.storage
        steps = np.rint(array / info.scale) + info.zero_point
        return np.clip(steps, storage.minimum, storage.maximum).astype(info.dtype)
    if array.dtype != info.dtype:
        is_real = array.dtype.kind == "f" and info.type.is_quantized
        hint = "--quantize takes real values" if is_real else f"save it as .astype(np.{info.dtype})"
        raise InputError(
            f"{file}: error: input '{info.name}': dtype: got {array.dtype}, expected {info.dtype}; {hint}"
        )
    return array


def _check_shapes(infos: Sequence[TensorInfo], arrays: Sequence[Array]) -> None:
    """The inputs have the model's shapes; the advice is for the command line."""
    for info, array in zip(infos, arrays, strict=True):
        if array.shape == tuple(info.shape) or not info.type.is_static:
            continue
        hint = ""
        if array.size == info.type.elements:
            hint = f"; if the order of the elements is right, save it as .reshape({list(info.shape)})"
        elif array.ndim == len(info.shape) and array.size:
            extents = ",".join(map(str, array.shape))
            hint = f"; a .tflite model can take another size: --shape {info.name}={extents}"
        raise InputError(
            f"input '{info.name}': shape: got {list(array.shape)}, expected {list(info.shape)}{hint}"
        )


def _read_image(file: str, info: TensorInfo) -> Array:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise InputError(f"{file}: error: reading images needs Pillow; pip install pillow") from None
    shape = tuple(info.shape)
    if len(shape) != 4 or shape[0] != 1 or shape[3] not in (1, 3) or info.dtype not in (np.uint8, np.int8):
        raise InputError(
            f"{file}: input '{info.name}' is {info.dtype}{list(shape)}; an image fits uint8 or int8 [1, "
            f"height, width, 1 or 3]"
        )
    try:
        with Image.open(file) as image:
            image = image.convert("L" if shape[3] == 1 else "RGB").resize(
                (shape[2], shape[1]), Image.Resampling.BILINEAR
            )
            pixels = np.asarray(image, np.uint8).reshape(shape)
    except (OSError, UnidentifiedImageError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"{file}: error: cannot read the image: {reason}") from error
    return pixels if info.dtype == np.uint8 else (pixels ^ 0x80).view(np.int8)


def _random(info: TensorInfo, random: np.random.Generator) -> Array:
    if info.dtype.kind == "f":
        return random.standard_normal(info.shape).astype(info.dtype)
    if info.dtype.kind == "b":
        return random.integers(0, 2, info.shape).astype(info.dtype)
    bounds = np.iinfo(info.dtype)
    return random.integers(bounds.min, bounds.max, info.shape, dtype=info.dtype, endpoint=True)


def _summary(info: TensorInfo, value: Array) -> dict[str, Any]:
    empty = value.size == 0
    return {
        "output": info.name,
        "dtype": str(value.dtype),
        "shape": list(value.shape),
        "scale": info.scale,
        "zero point": info.zero_point,
        "min": None if empty else value.min().item(),
        "max": None if empty else value.max().item(),
        "mean": None if empty else round(float(value.mean()), 4),
    }


def _save(directory: str, model: Any, outputs: Sequence[Array]) -> None:
    try:
        Path(directory).mkdir(parents=True, exist_ok=True)
        taken: set[str] = set()
        for index, (info, value) in enumerate(zip(model.outputs, outputs, strict=True)):
            stem = re.sub(r"[^A-Za-z0-9_.-]", "_", info.name) or f"output_{index}"
            stem = f"{stem}_{index}" if stem in taken else stem
            taken.add(stem)
            np.save(Path(directory) / f"{stem}.npy", value)
    except OSError as error:
        raise InputError(f"{directory}: cannot write: {error.strerror}") from error


def _labels(file: str | None) -> list[str]:
    if file is None:
        return []
    try:
        return Path(file).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{file}: error: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise InputError(
            f"{file}: error: got bytes that are no UTF-8, expected labels, one per line"
        ) from None


def _print_top(info: TensorInfo, value: Array, count: int, labels: Sequence[str]) -> None:
    params = info.type.params if info.type.is_quantized and info.type.params.is_per_tensor else None
    flat = value.reshape(-1).astype(np.float64)
    real = (flat - params.zero_point) * params.scale if params else flat
    order = np.argsort(-real, kind="stable")[:count]
    print(f"\nlargest of {info.name}:")
    for index in order:
        label = f"  {labels[index]}" if index < len(labels) else ""
        print(f"  {index:5d}  {real[index]:.4f}{label}")
