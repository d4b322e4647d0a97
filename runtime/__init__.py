"""Compiled networks at run time: compiling, running, and LiteRT's interpreter calls on top."""

from .compiler import compile
from .executable import BoundStep, Executable

__all__ = ["BoundStep", "Executable", "compile"]
