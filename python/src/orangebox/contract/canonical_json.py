"""
One text per value: keys sorted by UTF-16 unit, no space between tokens, one spelling per number, strings escaped as in `json_text`. What
is hashed to be compared is hashed in this form, and both recorders write it alike.
"""

from __future__ import annotations

import json
import re

from . import json_text, utf16
from .error import OrangeboxError


class Lexeme(str):
    """A number as it was written: digits that a float would lose stay."""

    __slots__ = ()


class Members(list):
    """An object as it was written: pairs in order, duplicate keys too."""

    __slots__ = ()


def canonical_json(value: object) -> str:
    return _emit(value)


def canonical_json_text(text: str) -> str:
    """The same form for JSON text, without losing digits or duplicate keys on the way. Raises `ValueError` for what is no JSON."""
    return _emit(read(text))


def read(text: str) -> object:
    return json.loads(text, parse_int=Lexeme, parse_float=Lexeme, parse_constant=_refuse, object_pairs_hook=Members)


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is no JSON")


_NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?:[eE]\+?(-?\d+))?\Z")
_PLAIN_INTEGER = re.compile(r"-?(?:0|[1-9]\d*)\Z")
_MOST_ZEROS_WRITTEN = 400


def canonical_number(lexeme: str) -> str:
    """Significant digits and the place of the decimal point, printed the way JavaScript does, whole numbers in full."""
    if len(lexeme) <= _MOST_ZEROS_WRITTEN and _PLAIN_INTEGER.match(lexeme):
        return "0" if lexeme == "-0" else str(lexeme)
    match = _NUMBER.match(lexeme)
    if match is None:
        return str(lexeme)
    sign, before, fraction, exponent = match[1], match[2], match[3] or "", match[4] or "0"
    digits = (before + fraction).lstrip("0")
    if digits == "":
        return "0"
    first = len(before) + len(fraction) - len(digits)
    digits = digits.rstrip("0")
    return sign + _spell(digits, int(exponent) + len(before) - first)


def _spell(digits: str, point: int) -> str:
    length = len(digits)
    if length <= point and point - length <= _MOST_ZEROS_WRITTEN:
        return digits + "0" * (point - length)
    if 0 < point < length and point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits if length == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1}"


def _by_unit(key: str) -> str:
    return key if key.isascii() else utf16.units(key)


def _emit(root: object) -> str:
    """The walk keeps its own stack: a body nested a hundred thousand deep must not end the process that hashes it."""
    out: list[str] = []
    stack: list[list[object]] = []
    open_ids: set[int] = set()

    def visit(value: object) -> None:
        if isinstance(value, Lexeme):
            out.append(canonical_number(value))
        elif isinstance(value, str):
            out.append(json_text.quoted(value))
        elif value is None or isinstance(value, bool):
            out.append("null" if value is None else "true" if value else "false")
        elif isinstance(value, int):
            out.append(canonical_number(str(int(value))))
        elif isinstance(value, float):
            if value != value or value in (float("inf"), float("-inf")):
                raise _not_json(str(value))
            out.append(canonical_number(repr(value)))
        elif isinstance(value, Members):
            members = sorted(value, key=lambda member: _by_unit(member[0]))
            begin(None, [key for key, _ in members], [item for _, item in members])
        elif isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                raise _not_json("a key that is no text")
            keys = sorted(value, key=_by_unit)
            begin(value, keys, [value[key] for key in keys])
        elif isinstance(value, (list, tuple)):
            begin(value, None, list(value))
        else:
            raise _not_json(f"a {type(value).__name__}")

    def begin(identity: object, keys: list[str] | None, values: list[object]) -> None:
        if identity is not None:
            if id(identity) in open_ids:
                raise OrangeboxError("CANONICAL_CYCLE", "a value that contains itself has no canonical JSON")
            open_ids.add(id(identity))
        out.append("[" if keys is None else "{")
        stack.append([keys, values, 0, identity])

    visit(root)
    while stack:
        frame = stack[-1]
        keys, values, at, identity = frame
        if at == len(values):  # type: ignore[arg-type]
            out.append("]" if keys is None else "}")
            open_ids.discard(id(identity))
            stack.pop()
            continue
        frame[2] = at + 1  # type: ignore[operator]
        if at > 0:  # type: ignore[operator]
            out.append(",")
        if keys is not None:
            out.append(json_text.quoted(keys[at]))  # type: ignore[index]
            out.append(":")
        visit(values[at])  # type: ignore[index]
    return "".join(out)


def _not_json(what: str) -> OrangeboxError:
    return OrangeboxError("CANONICAL_NOT_JSON", f"{what} has no JSON form", next="Convert it before hashing")
