"""Targets: hardware and its parameter rules, as data.

``load_target`` reads one by name or path; ``target.rule(op, storage)`` is what the legalization passes ask.
"""

from .comparison import Difference, diff_targets, to_plain
from .host import detect_host
from .loading import list_targets, load_target
from .rules import Origin, Rule
from .target import Cache, Dot, Machine, Target

__all__ = [
    "Cache",
    "Difference",
    "Dot",
    "Machine",
    "Origin",
    "Rule",
    "Target",
    "detect_host",
    "diff_targets",
    "list_targets",
    "load_target",
    "to_plain",
]
