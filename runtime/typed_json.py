"""JSON to data classes and back, with the standard library alone: what it holds must be what the classes say.

Nothing is cast, no field may be missing unless it has a default, and none may be unknown. Understood are
``int``, ``float``, ``str``, ``bool``, None, literals, tuples, mappings from text, data classes, and unions in
which the kind of JSON value tells members apart.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
_Decoder = Callable[[Any], Any]
_JSON_NAMES = {
    int: "int",
    float: "float",
    str: "str",
    bool: "bool",
    type(None): "null",
    list: "array",
    dict: "object",
}


class JsonError(ValueError):
    """A value is not what was expected; the message says where it stands."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.path: list[str] = []

    def __str__(self) -> str:
        return f"{self.message} - at `${''.join(reversed(self.path))}`"


def encode(value: Any) -> bytes:
    """The JSON text of a data class: the same value gives the same bytes."""
    return json.dumps(
        value, default=_plain, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return {field.name: getattr(value, field.name) for field in fields(value)}


def decode(text: bytes, cls: type[T]) -> T:
    """The ``cls``, a data class, that ``text`` holds.

    Raises:
        JsonError: it holds something else.
        ValueError: it is no JSON (in UTF-8).
    """
    result: T = _Decoders().of(cls)(json.loads(text.decode(), parse_constant=_no_number))
    return result


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


class _Decoders:
    """Makes a function of each type, once."""

    def __init__(self) -> None:
        self._known: dict[Any, _Decoder] = {}

    def of(self, kind: Any) -> _Decoder:
        decoder = self._known.get(kind)
        if decoder is None:
            # A class may have fields of its own kind.
            self._known[kind] = lambda value: self._known[kind](value)
            decoder = self._known[kind] = self._made(kind)
        return decoder

    def _made(self, kind: Any) -> _Decoder:
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Literal:
            return _literal(arguments)
        if origin in (Union, types.UnionType):
            return self._union(arguments)
        if origin is tuple and len(arguments) == 2 and arguments[1] is ...:
            return _sequence(self.of(arguments[0]))
        if origin is tuple:
            return _tuple([self.of(each) for each in arguments])
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return _mapping(self.of(arguments[1]))
        if is_dataclass(kind):
            return self._object(kind)
        return _scalar(kind)

    def _union(self, members: tuple[Any, ...]) -> _Decoder:
        decoders = {}
        for member in members:
            decoders[_json_kind(member)] = self.of(member)
        wanted = " | ".join(_JSON_NAMES[kind] for kind in decoders)

        def union(value: Any) -> Any:
            decoder = decoders.get(type(value))
            if decoder is None:
                raise _unexpected(wanted, value)
            return decoder(value)

        return union

    def _object(self, cls: Any) -> _Decoder:
        hints = get_type_hints(cls)
        decoders = {field.name: self.of(hints[field.name]) for field in fields(cls)}
        needed = [f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING]

        def decode_object(value: Any) -> Any:
            if type(value) is not dict:
                raise _unexpected("object", value)
            given = {}
            name = ""
            try:
                for name, item in value.items():
                    decoder = decoders.get(name)
                    if decoder is None:
                        break
                    given[name] = decoder(item)
            except JsonError as error:
                error.path.append(f".{name}")
                raise
            if len(given) != len(value):
                raise JsonError(f"Object contains unknown field `{name}`")
            for name in needed:
                if name not in given:
                    raise JsonError(f"Object missing required field `{name}`")
            return cls(**given)

        return decode_object


def _json_kind(member: Any) -> type:
    """What JSON has for a member of a union."""
    origin = get_origin(member)
    if origin is tuple:
        return list
    if is_dataclass(member) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return dict
    kind: type = member
    return kind


def _unexpected(wanted: str, value: Any) -> JsonError:
    return JsonError(f"Expected `{wanted}`, got `{_JSON_NAMES[type(value)]}`")


def _scalar(kind: Any) -> _Decoder:
    name = _JSON_NAMES[kind]

    def scalar(value: Any) -> Any:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:  # 1.0 may be written as 1
            return float(value)
        raise _unexpected(name, value)

    return scalar


def _literal(values: tuple[Any, ...]) -> _Decoder:
    def literal(value: Any) -> Any:
        if value not in values or type(value) is not str:
            raise JsonError(f"Invalid value {value!r}, expected one of {', '.join(map(str, values))}")
        return value

    return literal


def _sequence(decoder: _Decoder) -> _Decoder:
    def sequence(value: Any) -> Any:
        if type(value) is not list:
            raise _unexpected("array", value)
        done: list[Any] = []
        try:
            for item in value:
                done.append(decoder(item))  # noqa: PERF401 - how many are done says where it went wrong
        except JsonError as error:
            error.path.append(f"[{len(done)}]")
            raise
        return tuple(done)

    return sequence


def _tuple(decoders: list[_Decoder]) -> _Decoder:
    def fixed(value: Any) -> Any:
        if type(value) is not list:
            raise _unexpected("array", value)
        if len(value) != len(decoders):
            raise JsonError(f"Expected `array` of length {len(decoders)}, got {len(value)}")
        return tuple(decoder(item) for decoder, item in zip(decoders, value, strict=True))

    return fixed


def _mapping(decoder: _Decoder) -> _Decoder:
    def mapping(value: Any) -> Any:
        if type(value) is not dict:
            raise _unexpected("object", value)
        done: dict[str, Any] = {}
        key = ""
        try:
            for key, item in value.items():
                done[key] = decoder(item)
        except JsonError as error:
            error.path.append(f"[{key!r}]")
            raise
        return done

    return mapping
