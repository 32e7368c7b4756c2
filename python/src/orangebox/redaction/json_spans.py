"""
JSON with the place of every string in its text: a frame of a stream is read for the text it carries, and that text is masked where it
stands. Strings are `Text`, objects `Members`, numbers `Lexeme`.
"""

from __future__ import annotations

import re
from json.decoder import scanstring  # type: ignore[attr-defined]

from ..contract import utf16
from ..contract.canonical_json import Lexeme, Members

_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LITERALS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_DEEPEST = 500
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_LAST_COMMA = re.compile(r",[ \t\n\r\v\f]*\Z")


class Text(str):
    """What a string says, in units, and where it stands, quotes included."""

    start: int
    end: int


def read_json(text: str) -> object:
    """Raises `ValueError` for what is no JSON."""
    value, at = _value(text, _skip(text, 0), 0)
    if _skip(text, at) != len(text):
        raise ValueError("more follows")
    return value


def read_cut_json(text: str) -> object:
    """
    JSON that was cut off, read as if it had been closed where it ends: a stream that dies in the middle of a frame leaves half a string, and
    that half may be half a secret. Raises `ValueError` where it cannot be read even so. Strings may reach beyond the text.
    """
    open_: list[str] = []
    is_in_string = False
    at = 0
    while at < len(text):
        character = text[at]
        if is_in_string:
            if character == "\\":
                at += 1
            elif character == '"':
                is_in_string = False
        elif character == '"':
            is_in_string = True
        elif character in "{[":
            open_.append("}" if character == "{" else "]")
        elif character in "}]" and open_:
            open_.pop()
        at += 1
    closing = "".join(reversed(open_))
    ending = f'{_CUT_ESCAPE.sub("", text)}"' if is_in_string else _LAST_COMMA.sub("", text)
    for missing in ("", ":null"):
        try:
            return read_json(ending + missing + closing)
        except ValueError:
            continue
    return read_json(f"{ending}null{closing}")


def _skip(text: str, at: int) -> int:
    return _SPACE.match(text, at).end()  # type: ignore[union-attr]


def _value(text: str, at: int, depth: int) -> tuple[object, int]:
    if depth > _DEEPEST:
        raise ValueError("too deep")
    character = text[at : at + 1]
    if character == '"':
        return _string(text, at)
    if character == "{":
        return _object(text, at, depth)
    if character == "[":
        return _array(text, at, depth)
    if character in _LITERALS:
        word, value = _LITERALS[character]
        if text.startswith(word, at):
            return value, at + len(word)
    number = _NUMBER.match(text, at)
    if number is None:
        raise ValueError(f"no value at {at}")
    return Lexeme(number[0]), number.end()


def _string(text: str, at: int) -> tuple[Text, int]:
    value, end = scanstring(text, at + 1, True)
    said = Text(utf16.units(value))
    said.start, said.end = at, end
    return said, end


def _object(text: str, at: int, depth: int) -> tuple[Members, int]:
    members = Members()
    at = _skip(text, at + 1)
    if text[at : at + 1] == "}":
        return members, at + 1
    while True:
        if text[at : at + 1] != '"':
            raise ValueError(f"no key at {at}")
        key, at = _string(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise ValueError(f"no colon at {at}")
        value, at = _value(text, _skip(text, at + 1), depth + 1)
        members.append((key, value))
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            return members, at + 1
        if text[at : at + 1] != ",":
            raise ValueError(f"no comma at {at}")
        at = _skip(text, at + 1)


def _array(text: str, at: int, depth: int) -> tuple[list[object], int]:
    items: list[object] = []
    at = _skip(text, at + 1)
    if text[at : at + 1] == "]":
        return items, at + 1
    while True:
        value, at = _value(text, _skip(text, at), depth + 1)
        items.append(value)
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            return items, at + 1
        if text[at : at + 1] != ",":
            raise ValueError(f"no comma at {at}")
        at += 1
