"""
Of what was found in a text that is JSON, what can be masked without harm to the JSON: brackets and commas between strings stay, and so does
a key that only stands behind a text which ends in a telling word. A number that is a secret becomes a string.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .find_secrets import find_secrets
from .js_regex import js
from .rule import Secret
from .text_edges import char

if TYPE_CHECKING:
    from .ruleset import Ruleset

_JSON = js(r"""^\s{0,64}(?:\{\s{0,64}["}]|\[\s{0,64}["{[\]])""")
_MAY_BECOME_JSON = js(r"^\s{0,64}[{[]?\s{0,64}$")
_DEEPEST = 2
_STRUCTURE = js(r"""^(?:[\s{}[\],:"\d.eE+-]|\\[nrt\\"]|true|false|null)*$""")
_NUMBER = js(r"^\s*(-?\d[\d.eE+-]*)\s*$")
_BEFORE_COLON = js(r"""\\{0,7}"?(?:\s|\\{1,7}[nrt]){0,16}:""")
_HOLDS_JSON = (
    js(r"""^(?:\s|\\[nrt])*(?:\{(?:\s|\\[nrt])*\\"|\[(?:\s|\\[nrt])*(?:\{|\\"))"""),
    js(r"""^(?:\s|\\\\[nrt])*(?:\{(?:\s|\\\\[nrt])*\\\\\\"|\[(?:\s|\\\\[nrt])*(?:\{|\\\\\\"))"""),
)


def looks_like_json(text: str) -> bool:
    return _JSON.test(text)


def may_become_json(text: str) -> bool:
    """Too little of a text to say whether it is JSON."""
    return _MAY_BECOME_JSON.test(text)


def sparing_structure(text: str, secrets: list[Secret], ruleset: Ruleset, starts_in_string: bool = False) -> list[Secret]:
    """`starts_in_string`: the text is a piece from the middle of the JSON."""
    return _sparing(text, 0, len(text), 0, starts_in_string, secrets, ruleset) if secrets else secrets


def ends_in_string(text: str, starts_in_string: bool) -> bool:
    """Whether a string is open behind a piece of JSON text."""
    is_open = starts_in_string
    at = text.find('"')
    while at >= 0:
        if _is_delimiter(text, at, 0):
            is_open = not is_open
        at = text.find('"', at + 1)
    return is_open


def _sparing(
    text: str, region_start: int, region_end: int, depth: int, starts_in_string: bool, secrets: list[Secret], ruleset: Ruleset
) -> list[Secret]:
    kept: list[Secret] = []
    strings = _strings_in(text, region_start, region_end, depth, starts_in_string)
    string = next(strings, None)
    for secret in secrets:
        at = secret.start
        while at < secret.end:
            while string is not None and string[1] <= at:
                string = next(strings, None)
            if string is not None and string[0] <= at:
                end = min(secret.end, string[1])
                is_from_before = secret.rule == "assignment" or secret.start < string[0]
                kept += _in_string(text, depth, string, secret.at(at, end), is_from_before, ruleset)
                at = max(end, end + 1 if string[1] == end else end)
                continue
            end = min(secret.end, region_end if string is None else string[0])
            kept += _between(text, depth, secret.at(at, end))
            at = end
    return kept


def _in_string(
    text: str, depth: int, string: tuple[int, int], secret: Secret, is_from_before: bool, ruleset: Ruleset
) -> list[Secret]:
    start, end = string
    if is_from_before and _BEFORE_COLON.after(text, end) is not None:
        # A key, unless it is a secret by itself.
        return [secret] if find_secrets(text[start:end], ruleset).secrets else []
    if depth == _DEEPEST or not _HOLDS_JSON[depth].test(text[start : start + 80]):
        return [secret]
    return _sparing(text, start, end, depth + 1, False, [secret], ruleset)


def _between(text: str, depth: int, secret: Secret) -> list[Secret]:
    """What stands between strings: brackets are no secret, a number may be one."""
    found = text[secret.start : secret.end]
    number = _NUMBER.find(found)
    if number is None and _STRUCTURE.test(found):
        return []
    if number is None or depth > 0:
        return [secret]
    start = secret.start + found.find(number[1])
    return [Secret(start, start + len(number[1]), secret.rule, secret.plain, secret.is_loose, is_number=True)]


def _strings_in(text: str, start: int, end: int, depth: int, starts_in_string: bool) -> Iterator[tuple[int, int]]:
    """The contents of the strings of a region, without their quotes, in order."""
    opened = start if starts_in_string else -1
    at = text.find('"', start)
    while 0 <= at < end:
        if _is_delimiter(text, at, depth):
            if opened < 0:
                opened = at + 1
            else:
                # The backslashes of its closing quote are no part of it.
                yield opened, at - (1 << depth) + 1
                opened = -1
        at = text.find('"', at + 1)
    if opened >= 0:
        yield opened, end


def _is_delimiter(text: str, at: int, depth: int) -> bool:
    """Whether a quote begins or ends a string that is so deep: each string around it doubles its backslashes and adds one."""
    backslashes = 0
    while backslashes < at and char(text, at - backslashes - 1) == "\\":
        backslashes += 1
    for _ in range(depth):
        if backslashes % 2 == 0:
            return False
        backslashes = (backslashes - 1) // 2
    return backslashes % 2 == 0
