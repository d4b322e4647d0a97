"""The real networks of the shared models folder, with real and random inputs for each."""

from __future__ import annotations

import wave
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "models"
"""Beside the project, if it is there at all."""


@dataclass(frozen=True)
class Network:
    """A model file, how to make real inputs for it, and whether LiteRT can judge it."""

    file: str
    real_inputs: Callable[[Any], Iterator[Array]]
    """From the input's TensorInfo to stored input arrays."""
    judged_by_litert: bool = True

    @property
    def path(self) -> Path:
        return FOLDER / self.file

    @property
    def name(self) -> str:
        return self.file.removesuffix(".tflite")


def photos(*names: str) -> Callable[[Any], Iterator[Array]]:
    """Photographs scaled to the input; a pixel p becomes p (uint8), p - 128 (int8) or p / 255 (float)."""

    def make(info: Any) -> Iterator[Array]:
        from PIL import Image

        _, height, width, channels = info.shape
        for name in names:
            with Image.open(FOLDER / "data" / name) as image:
                mode = "RGB" if channels == 3 else "L"
                pixels = np.asarray(image.convert(mode).resize((width, height)), np.uint8).reshape(info.shape)
            if info.dtype == np.float32:
                yield (pixels / np.float32(255)).astype(np.float32)
            else:
                yield pixels if info.dtype == np.uint8 else (pixels ^ 0x80).view(np.int8)

    return make


def windows(name: str) -> Callable[[Any], Iterator[Array]]:
    """Windows of real log-mel features, quantized by the input's parameters."""

    def make(info: Any) -> Iterator[Array]:
        features = np.load(FOLDER / "data" / name).reshape(-1, info.shape[1])
        for window in features[::10]:
            yield quantize(window.reshape(info.shape), info)

    return make


def spectrograms(*names: str) -> Callable[[Any], Iterator[Array]]:
    """Log spectrograms of one-second recordings: 49 frames of 40 bands, spread over the input's range.

    Real sound through our own features, not those the network was trained on: its answer may be wrong, its
    bits not.
    """

    def make(info: Any) -> Iterator[Array]:
        for name in names:
            with wave.open(str(FOLDER / "data" / name)) as recording:
                samples = np.frombuffer(recording.readframes(recording.getnframes()), np.int16).astype(
                    np.float64
                )
            frames = np.stack([samples[i * 320 : i * 320 + 480] for i in range(49)]) * np.hanning(480)
            bands = np.abs(np.fft.rfft(frames, 512))[:, 1:241].reshape(49, 40, 6).sum(-1)
            loudness = np.log1p(bands)
            spread = (loudness - loudness.min()) / np.ptp(loudness)
            stored = np.rint(spread * 255 - 128).astype(np.int8)
            yield stored.reshape(-1)[: int(np.prod(info.shape))].reshape(info.shape)

    return make


def quantize(values: Array, info: Any) -> Array:
    """Reals as stored integers of ``info``'s type, saturated."""
    bounds = np.iinfo(info.dtype)
    return np.clip(np.rint(values / info.scale) + info.zero_point, bounds.min, bounds.max).astype(info.dtype)


def random_inputs(info: Any, count: int, seed: int = 0) -> Iterator[Array]:
    """Stored integers drawn uniformly from the whole range; floats from -1 to 1."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        if info.dtype == np.float32:
            yield random.uniform(-1, 1, info.shape).astype(np.float32)
            continue
        bounds = np.iinfo(info.dtype)
        yield random.integers(bounds.min, bounds.max, info.shape, dtype=info.dtype, endpoint=True)


PHOTOS = ("images/cat.png", "images/parrot.jpg", "images/grace_hopper.png")
SOUNDS = ("tflm_yes_1000ms.wav", "tflm_no_1000ms.wav", "tflm_silence_1000ms.wav", "tflm_noise_1000ms.wav")
PERSONS = ("tflm_person.bmp", "tflm_no_person.bmp")

NETWORKS = (
    Network("mobilenet_v1_1.0_224_quant_embedding_extractor.tflite", photos(*PHOTOS)),
    Network("mobilenet_v1_0.75_192_quant.tflite", photos(*PHOTOS)),
    Network("mobilenet_v1_0.25_128_quant.tflite", photos(*PHOTOS)),
    Network("mobilenet_v2_1.0_224_quant.tflite", photos(*PHOTOS)),
    Network("tf2_mobilenet_v2_1.0_224_ptq.tflite", photos(*PHOTOS)),
    Network("mlperftiny_resnet8_int8.tflite", photos(*PHOTOS)),
    Network("mlperftiny_vww96_int8.tflite", photos(*PERSONS)),
    Network("mlperftiny_kws_int8.tflite", spectrograms(*SOUNDS)),
    Network("mlperftiny_ad01_int8.tflite", windows("ad01_normal_id_01_00000000.npy")),
    Network("tflm_person_detect_int8.tflite", photos(*PERSONS), judged_by_litert=False),
    Network("tflm_micro_speech_int8.tflite", spectrograms(*SOUNDS)),
    Network("deeplabv3_mnv2_dm05_pascal_quant.tflite", photos(*PHOTOS)),
    Network("tinyengine_person_detection.tflite", photos(*PERSONS)),
)
