"""On which line of a TOML text each key stands; ``tomllib`` does not say.

The text must have been read by ``tomllib`` already: this scanner takes it for valid.
"""

from __future__ import annotations

Path = tuple[str | int, ...]
"""Keys from the root: ``("rules", "softmax", "i8")``, ``("machine", "dot", 0, "lhs")``."""


def locate(text: str) -> dict[Path, int]:
    """Path of every table, key and array element -> the line, counted from 1, that first mentions it."""
    scanner = _Scanner(text)
    scanner.document()
    return scanner.lines


def line_of(lines: dict[Path, int], path: Path) -> int:
    """The line of ``path``, or of the nearest part of it that was written; 1 for none."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self._counts: dict[Path, int] = {}

    def document(self) -> None:
        table: Path = ()
        while self._skip_blank(newlines=True):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._assignment(table)

    def _header(self) -> Path:
        """``[a.b]`` or ``[[a.b]]``: the path that the following keys belong to."""
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        line = self._line()
        path = self._resolve((), self._keys("]"))
        self.at += 2 if is_array else 1
        if is_array:
            self._counts[path] = self._counts.get(path, -1) + 1
            path = (*path, self._counts[path])
        self._record(path, line)
        return path

    def _assignment(self, table: Path) -> None:
        line = self._line()
        path = self._resolve(table, self._keys("="))
        self._record(path, line)
        self.at += 1
        self._value(path)

    def _resolve(self, table: Path, keys: list[str]) -> Path:
        """``keys`` below ``table``; an array of tables means its last element, unless it is the last key."""
        path = table
        for i, key in enumerate(keys):
            path = (*path, key)
            if i < len(keys) - 1 and path in self._counts:
                path = (*path, self._counts[path])
        return path

    def _value(self, path: Path) -> None:
        self._skip_blank(newlines=False)
        character = self.text[self.at]
        if character in "\"'":
            self._string()
        elif character == "[":
            self._array(path)
        elif character == "{":
            self._inline_table(path)
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self.at += 1

    def _array(self, path: Path) -> None:
        self.at += 1
        index = 0
        while self._skip_blank(newlines=True) and self.text[self.at] != "]":
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self._record((*path, index), self._line())
            self._value((*path, index))
            index += 1
        self.at += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        while self._skip_blank(newlines=True) and self.text[self.at] != "}":
            if self.text[self.at] == ",":
                self.at += 1
                continue
            self._assignment(path)
        self.at += 1

    def _keys(self, end: str) -> list[str]:
        """Dotted keys up to ``end``, which is not consumed."""
        keys: list[str] = []
        while self._skip_blank(newlines=False) and self.text[self.at] != end:
            start = self.at
            if self.text[self.at] == ".":
                self.at += 1
            elif self.text[self.at] in "\"'":
                keys.append(self._string())
            else:
                while self.text[self.at] not in f". \t{end}":
                    self.at += 1
                keys.append(self.text[start : self.at])
        return keys

    def _string(self) -> str:
        """Skip a string; its content, which only keys need (so escapes are left as they are)."""
        quote, start = self.text[self.at], self.at
        if self.text.startswith(quote * 3, self.at):
            self.at = self._closing(quote * 3, self.at + 3)
            while self.text.startswith(quote, self.at):  # `""""`: quotes may touch the closing ones
                self.at += 1
            return ""
        self.at = self._closing(quote, self.at + 1)
        return self.text[start + 1 : self.at - 1]

    def _closing(self, quotes: str, at: int) -> int:
        while not self.text.startswith(quotes, at):
            at += 2 if quotes[0] == '"' and self.text[at] == "\\" else 1
        return at + len(quotes)

    def _skip_blank(self, *, newlines: bool) -> bool:
        """Move to the next character that says something; False at the end."""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif character in " \t" or (newlines and character in "\r\n"):
                self.at += 1
            else:
                return True
        return False

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _record(self, path: Path, line: int) -> None:
        for length in range(1, len(path) + 1):
            self.lines.setdefault(path[:length], line)
