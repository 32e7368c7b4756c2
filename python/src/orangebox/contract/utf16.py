"""
Lengths, cuts and offsets of the contract count UTF-16 units, which is what the other recorder's language counts. Python counts code
points, and the two differ only for text with characters beyond U+FFFF. `units` gives such a text as one character for each unit, so that
everything behind it counts alike; all other text is its own form and costs one look.
"""

from __future__ import annotations

import re

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONE = re.compile("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]")


def units(text: str) -> str:
    """One character for each UTF-16 unit."""
    if text.isascii() or _ASTRAL.search(text) is None:
        return text
    return _ASTRAL.sub(_pair, text)


def _pair(match: re.Match[str]) -> str:
    code = ord(match[0]) - 0x10000
    return chr(0xD800 + (code >> 10)) + chr(0xDC00 + (code & 0x3FF))


def whole(text: str) -> str:
    """The inverse: pairs of surrogates are characters again."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def length(text: str) -> int:
    return len(text) if text.isascii() else len(units(text))


def beginning(text: str, most: int) -> str:
    """The first units, as text; half a pair stays half a pair."""
    if len(text) <= most // 2:
        return text
    if text.isascii():
        return text[:most]
    return whole(units(text)[:most])


def is_well_formed(text: str) -> bool:
    return text.isascii() or _SURROGATE.search(text) is None


def well_formed(text: str) -> str:
    """Without halves of pairs: each is one replacement character."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return whole(_LONE.sub("\ufffd", text))


def to_bytes(text: str) -> bytes:
    """UTF-8; halves of pairs, which have none, become replacement characters."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return well_formed(text).encode()
