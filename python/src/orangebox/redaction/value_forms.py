"""
The ways a value may be written in recorded text: as it is, inside JSON (and JSON inside JSON), in a URL, in HTML, in UTF-16, in hex and in
base64, where it looks different at each of three alignments. Longest first.
"""

from __future__ import annotations

import base64
import re
from urllib.parse import quote

from ..contract import json_text, utf16
from .js_regex import js

_SHORTEST_ENCODED = 8
_PLAIN = js(r"^[\w.~-]*$")
_HEX_BYTE = re.compile("%[0-9A-F]{2}")
_BEYOND_ASCII = re.compile("[\u0080-\uffff]")


def value_forms(value: str) -> list[str]:
    """Takes and gives units."""
    forms = [value] if _PLAIN.test(value) else _written_forms(value)
    if len(value) >= _SHORTEST_ENCODED:
        data = utf16.to_bytes(utf16.whole(value))
        digits = data.hex()
        # Without the zero at either end it is the same in both byte orders.
        forms += [digits, digits.upper(), "\0".join(value), *_base64_forms(data)]
    return sorted(dict.fromkeys(forms), key=len, reverse=True)


def _written_forms(value: str) -> list[str]:
    once = _escaped(value)
    in_url = quote(utf16.well_formed(value), safe="!'()*~-_.")
    return [
        value,
        once,
        _escaped(once),
        _escaped(_escaped(once)),
        _BEYOND_ASCII.sub(lambda one: f"\\u{ord(one[0]):04x}", once),
        in_url,
        in_url.replace("%20", "+"),
        _HEX_BYTE.sub(lambda byte: byte[0].lower(), in_url),
        value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"),
    ]


def _escaped(text: str) -> str:
    return utf16.units(json_text.quoted(utf16.whole(text))[1:-1])


def _base64_forms(data: bytes) -> list[str]:
    """At each alignment the characters that hold nothing but bits of the value."""
    forms: list[str] = []
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data).decode("ascii")
        form = encoded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        forms.append(form)
        if "+" in form or "/" in form:
            forms.append(form.replace("+", "-").replace("/", "_"))
    return forms
