"""
JSON to the byte as `JSON.stringify` writes it, and for whatever a caller passes: cycles, objects of any class and nesting a thousand deep
become text with a marker where something could not be kept. Nothing raises, and the work is bounded.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring

from . import utf16

_plain = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode
_SURROGATE = re.compile("[\ud800-\udfff]")

MAX_DEPTH = 96
MAX_NODES = 200_000
MAX_LIST = 100_000


def quoted(text: str) -> str:
    return _escaped(encode_basestring(text))


def _escaped(written: str) -> str:
    """Halves of surrogate pairs have no UTF-8 form and stand as escapes."""
    if written.isascii() or _SURROGATE.search(written) is None:
        return written
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", utf16.whole(written))


def number(value: int | float) -> str:
    """As JavaScript spells it."""
    if type(value) is int:
        return str(value)
    if value != value or value in (_INFINITE, -_INFINITE):
        return "null"
    if value == int(value) and abs(value) < 1e21:
        return str(int(value)) if abs(value) <= _EXACT else _written_out(repr(float(value)))
    text = repr(float(value))
    if "e-" not in text:
        return text
    mantissa, exponent = text.split("e-")
    places = int(exponent)
    if places > 6:
        return f"{mantissa}e-{places}"
    sign, mantissa = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    return f"{sign}0.{'0' * (places - 1)}{mantissa.replace('.', '')}"


_INFINITE = float("inf")
_EXACT = 2**53


def _written_out(text: str) -> str:
    """`1.5e+20` in full, with the digits that tell the number from its neighbours and zeros for the rest."""
    mantissa, _, exponent = text.partition("e+")
    sign, mantissa = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    before, _, behind = mantissa.partition(".")
    digits = before + ("" if behind == "0" else behind)
    return sign + digits + "0" * (len(before) + int(exponent or 0) - len(digits))


_SCALARS = frozenset((str, int, bool, type(None)))


def flat(record: dict[str, object]) -> str:
    """JSON of a small object whose values are mostly scalars, which is what most events are made of."""
    types = set(map(type, record.values()))
    if types <= _SCALARS:
        return _escaped(_plain(record))
    return ours(record)


def ours(value: object) -> str:
    """Of values that this package made: plain containers with text keys, shallow and without cycles."""
    kind = type(value)
    if kind is str:
        return quoted(value)  # type: ignore[arg-type]
    if kind is float:
        return number(value)  # type: ignore[arg-type]
    if kind is dict:
        return "{" + ",".join(f"{quoted(key)}:{ours(item)}" for key, item in value.items()) + "}"  # type: ignore[attr-defined]
    if kind is list or kind is tuple:
        return "[" + ",".join(map(ours, value)) + "]"  # type: ignore[call-overload]
    return _escaped(_plain(value))


def safe(value: object) -> str:
    """Any value at all."""
    try:
        if (plain := _plain_copy(value)) is not _NOT_PLAIN:
            return _escaped(_plain(plain))
    except Exception:
        pass
    try:
        return ours(_safe_value(value, 0, _Limits()))
    except Exception:
        return '"[unreadable]"'


_NOT_PLAIN = object()


class _Walk:
    __slots__ = ("nodes", "open")

    def __init__(self) -> None:
        self.nodes = 0
        self.open: set[int] = set()


def _plain_copy(value: object) -> object:
    """
    The value itself where the encoder of the standard library writes it as JavaScript would, a copy where whole floats have to become
    integers for that, and `_NOT_PLAIN` where it takes more care.
    """
    return _plain_of(value, 0, _Walk())


def _plain_of(value: object, depth: int, walk: _Walk) -> object:
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is float:
        if value != value or value in (_INFINITE, -_INFINITE):
            return None
        if value == int(value) and abs(value) <= _EXACT:  # type: ignore[call-overload,arg-type]
            return int(value)  # type: ignore[call-overload]
        if _EXACT < abs(value) < 1e21:  # type: ignore[arg-type]
            return _NOT_PLAIN
        return value if abs(value) >= 1e-4 else _NOT_PLAIN  # type: ignore[arg-type]
    walk.nodes += 1
    if depth > MAX_DEPTH or walk.nodes > MAX_NODES or id(value) in walk.open:
        return _NOT_PLAIN
    if kind is dict:
        walk.open.add(id(value))
        copy: dict[str, object] | None = None
        for key, item in value.items():  # type: ignore[attr-defined]
            if type(key) is not str:
                return _NOT_PLAIN
            plain = _plain_of(item, depth + 1, walk)
            if plain is _NOT_PLAIN:
                return _NOT_PLAIN
            if plain is not item:
                if copy is None:
                    copy = dict(value)  # type: ignore[call-overload]
                copy[key] = plain
        walk.open.discard(id(value))
        return value if copy is None else copy
    if kind is list or kind is tuple:
        if len(value) > MAX_LIST:  # type: ignore[arg-type]
            return _NOT_PLAIN
        walk.open.add(id(value))
        items: list[object] | None = None
        for at, item in enumerate(value):  # type: ignore[arg-type,var-annotated]
            plain = _plain_of(item, depth + 1, walk)
            if plain is _NOT_PLAIN:
                return _NOT_PLAIN
            if plain is not item:
                if items is None:
                    items = list(value)  # type: ignore[call-overload]
                items[at] = plain
        walk.open.discard(id(value))
        return value if items is None else items
    return _NOT_PLAIN


class _Limits:
    __slots__ = ("nodes", "open")

    def __init__(self) -> None:
        self.nodes = MAX_NODES
        self.open: set[int] = set()


def _safe_value(value: object, depth: int, limits: _Limits) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value) if type(value) is not str else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value == value and value not in (_INFINITE, -_INFINITE) else str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"[{len(value)} bytes]"
    if id(value) in limits.open:
        return "[circular]"
    if depth > MAX_DEPTH:
        return "[deeper values left out]"
    limits.nodes -= 1
    if limits.nodes < 0:
        return "[more values left out]"
    limits.open.add(id(value))
    try:
        return _safe_container(value, depth, limits)
    except Exception:
        return "[unreadable]"
    finally:
        limits.open.discard(id(value))


def _safe_container(value: object, depth: int, limits: _Limits) -> object:
    if isinstance(value, dict):
        return _safe_object(value.items(), depth, limits)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_asdict"):
        return _safe_list(value, depth, limits)
    if isinstance(value, (set, frozenset)):
        return _safe_list(sorted(value, key=repr), depth, limits)
    if isinstance(value, BaseException):
        from ..described_error import message_of

        return {"name": type(value).__name__, "message": message_of(value)}
    for name in ("model_dump", "to_dict", "_asdict"):
        dump = getattr(value, name, None)
        if callable(dump) and not isinstance(value, type):
            # A client library's own objects: pydantic models first of all.
            dumped = dump(mode="json") if name == "model_dump" else dump()
            return _safe_value(dumped, depth + 1, limits)
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is not None and not isinstance(value, type):
        return _safe_object(((name, getattr(value, name)) for name in fields), depth, limits)
    isoformat = getattr(value, "isoformat", None)
    if callable(isoformat):
        return isoformat()
    if callable(value):
        return "[function]"
    if type(value).__str__ is not object.__str__:
        return str(value)
    inner = getattr(value, "__dict__", None)
    if isinstance(inner, dict):
        public = ((name, item) for name, item in inner.items() if not str(name).startswith("_"))
        return _safe_object(public, depth, limits)
    return repr(value)


def _safe_object(items: object, depth: int, limits: _Limits) -> dict[str, object]:
    copy: dict[str, object] = {}
    for key, item in items:  # type: ignore[attr-defined]
        if limits.nodes < 0:
            copy["…"] = "[more values left out]"
            break
        copy[_key_text(key)] = _safe_value(item, depth + 1, limits)
    return copy


def _key_text(key: object) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return number(key) if isinstance(key, (int, float)) else str(key)


def _safe_list(items: object, depth: int, limits: _Limits) -> list[object]:
    kept: list[object] = []
    size = len(items)  # type: ignore[arg-type]
    for item in items:  # type: ignore[attr-defined]
        if len(kept) >= MAX_LIST or limits.nodes < 0:
            break
        kept.append(_safe_value(item, depth + 1, limits))
    if len(kept) < size:
        kept.append(f"[{size - len(kept)} more left out]")
    return kept
