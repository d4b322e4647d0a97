"""Measurements: always a ratio to a peer, in one interleaved run."""
