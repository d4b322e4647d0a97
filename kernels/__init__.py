"""Kernels: vector code for fused groups of ops, on instruction sets that are data.

A *spec* (``conv.py``, and a class in each other family) says in plain numbers what is computed; a *family*
(one module a kind) turns it into a *launch*: which code, on which constants, how much work; and writes that
code as MLIR text.
"""
