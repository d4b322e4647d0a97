"""Model files to :class:`~zeropoint.dialect.model.Model`."""

from __future__ import annotations

from .load import load, load_bytes

__all__ = ["load", "load_bytes"]
