"""Whatever a caller passed, as flat scalars: nested values become JSON text and are marked. Never raises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import json_text, utf16

MAX_ATTRIBUTES = 128
MAX_ATTRIBUTE_NAME = 256
MAX_ATTRIBUTE_TEXT = 4096

Scalar = str | int | float | bool | None


class FlatAttributes:
    __slots__ = ("attributes", "dropped", "marks")

    def __init__(self, attributes: dict[str, Scalar], marks: dict[str, str] | None, dropped: int) -> None:
        self.attributes = attributes
        self.marks = marks
        self.dropped = dropped


_FLAT = frozenset((str, int, bool, type(None)))


def flatten_attributes(given: object, stringify: Callable[[object], str]) -> FlatAttributes | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        given = {"value": given}
    try:
        names = list(given)
    except Exception:
        return FlatAttributes({}, {"*": "unreadable"}, 0)
    dropped = max(0, len(names) - MAX_ATTRIBUTES)
    del names[MAX_ATTRIBUTES:]
    attributes: dict[str, Scalar] = {}
    marks: dict[str, str] = {}
    for key in names:
        name = key if type(key) is str else str(key)
        if len(name) > MAX_ATTRIBUTE_NAME // 2 and utf16.length(name) > MAX_ATTRIBUTE_NAME:
            name = _cut(name, MAX_ATTRIBUTE_NAME)
            if name in attributes:
                dropped += 1
                continue
            marks[name] = "truncated"
        flat: Scalar
        try:
            value: Any = given[key]
            kind = type(value)
            if kind in _FLAT:
                flat = value
            elif kind is float and value == value and abs(value) != float("inf"):
                flat = value
            elif isinstance(value, (float, complex)):
                flat, marks[name] = _spelled(value), "text"
            elif callable(value):
                flat, marks[name] = "[function]", "text"
            else:
                flat, marks[name] = stringify(value), "json"
        except Exception:
            flat, marks[name] = None, "unreadable"
        if type(flat) is str and len(flat) > MAX_ATTRIBUTE_TEXT // 2 and utf16.length(flat) > MAX_ATTRIBUTE_TEXT:
            flat, marks[name] = _cut(flat, MAX_ATTRIBUTE_TEXT), "truncated"
        attributes[name] = flat
    return FlatAttributes(attributes, marks or None, dropped)


def _spelled(value: object) -> str:
    """A number that JSON has not, by the name JavaScript gives it."""
    return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), str(value))


def _cut(text: str, most: int) -> str:
    """The first units, without half a surrogate pair at the end."""
    cut = utf16.units(text)[:most]
    return utf16.whole(cut[:-1] if "\ud800" <= cut[-1] <= "\udbff" else cut)


def json_of_attributes(flat: FlatAttributes) -> str:
    json = f',"attributes":{json_text.flat(flat.attributes)}' if flat.attributes else ""  # type: ignore[arg-type]
    if flat.marks is not None:
        json += f',"attribute_marks":{json_text.flat(flat.marks)}'  # type: ignore[arg-type]
    if flat.dropped > 0:
        json += f',"attributes_dropped":{flat.dropped}'
    return json
