"""``--verify-diagnostics``: comments that say which diagnostics must appear, with mlir-opt's meaning.

``// expected-error@+1 {{part of the message}}``. The kind is ``error``, ``warning``, ``remark`` or ``note``;
the place is the comment's own line, ``@+N``/``@-N`` lines from it, ``@N`` line N, ``@above``/``@below`` the
nearest line without such comments, ``@unknown`` no position, ``@*`` anywhere. ``-re`` after the kind allows
regular expressions between ``{{`` and ``}}`` inside the text. A diagnostic that no comment expects fails, and
so does a comment that no diagnostic meets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .diagnostics import CURRENT_OPERATION, Finding

_COMMENT = re.compile(
    r"expected-(?P<kind>error|note|remark|warning)(?P<regex>-re)? *"
    r"(?:@(?P<place>[+-]?\d+|above|below|unknown|\*))? *\{\{(?P<text>.*)\}\}\s*$"
)
_LOOKS_LIKE_ONE = re.compile(r"//.*\bexpected-(error|note|remark|warning)")
ANYWHERE, UNKNOWN = -1, 0


@dataclass
class Expected:
    """One comment: ``line`` is where the diagnostic must be, ``comment_line`` where the comment is."""

    kind: str
    text: str
    pattern: re.Pattern[str]
    line: int
    comment_line: int
    met: bool = False


@dataclass(frozen=True)
class Mismatch:
    """Why a file fails, with the line to show."""

    line: int
    message: str
    column: int = 1


def expectations(lines: Sequence[str], first: int = 1) -> tuple[list[Expected], list[Mismatch]]:
    """The comments in ``lines`` (their numbers start at ``first``), and comments that cannot be read."""
    found: list[Expected] = []
    malformed: list[Mismatch] = []
    waiting: list[Expected] = []  # @below, until a line without a comment comes
    plain_line = first - 1
    for number, line in enumerate(lines, first):
        match = _COMMENT.search(line)
        if match is None:
            if _LOOKS_LIKE_ONE.search(line):
                malformed.append(
                    Mismatch(number, "expected-... comment is malformed: write expected-error@+1 {{text}}")
                )
                continue
            for expected in waiting:
                expected.line = number
            waiting.clear()
            plain_line = number
            continue
        try:
            pattern = _pattern(match["text"], match["regex"] is not None)
        except re.error as error:
            malformed.append(Mismatch(number, f"invalid regular expression: {error}"))
            continue
        place = match["place"] or "+0"
        expected = Expected(match["kind"], match["text"], pattern, _line(place, number, plain_line), number)
        found.append(expected)
        if place == "below":
            waiting.append(expected)
    malformed += [Mismatch(e.comment_line, "expected-... @below has no line below it") for e in waiting]
    return found, malformed


def compare(
    expected: Sequence[Expected], findings: Sequence[Finding], only_expected: bool = False
) -> list[Mismatch]:
    """What is missing and (unless ``only_expected``) what came unexpected."""
    mismatches = []
    for finding in _flat(findings):
        near = _meet(expected, finding)
        if near is None or (only_expected and near == ""):
            continue
        message = near or f"unexpected {finding.severity}: {finding.message}"
        mismatches.append(Mismatch(finding.place.line, message, finding.place.column))
    mismatches += [
        Mismatch(e.comment_line, f'expected {e.kind} "{e.text}" was not produced')
        for e in expected
        if not e.met
    ]
    return sorted(mismatches, key=lambda m: m.line)


def _meet(expected: Sequence[Expected], finding: Finding) -> str | None:
    """None if a comment expects the finding (it is then met); else why one nearly does, or ``""``."""
    near = ""
    for e in expected:
        if e.line not in (ANYWHERE, finding.place.line) or not e.pattern.search(finding.message):
            continue
        if e.kind == finding.severity:
            e.met = True
            return None
        near = f"'{finding.severity}' emitted where '{e.kind}' is expected: {finding.message}"
    return near


def _flat(findings: Sequence[Finding]) -> list[Finding]:
    """Findings and their notes; the note that only prints the operation is never to be expected."""
    flat = []
    for finding in findings:
        flat.append(finding)
        flat += [note for note in finding.notes if not note.message.startswith(CURRENT_OPERATION)]
    return flat


def _pattern(text: str, is_regex: bool) -> re.Pattern[str]:
    if not is_regex:
        return re.compile(re.escape(text))
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return re.compile("".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts)))


def _line(place: str, here: int, plain_line: int) -> int:
    if place == "*":
        return ANYWHERE
    if place in ("unknown", "below"):  # the line below is not known yet
        return UNKNOWN
    if place == "above":
        return plain_line
    return here + int(place) if place[0] in "+-" else int(place)
