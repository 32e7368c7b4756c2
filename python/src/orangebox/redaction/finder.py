"""What a rule of `rules.json` does where one of its keywords stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .built_ins import BUILT_INS, Find, decode_base64
from .gap import read_gaps
from .js_regex import js
from .mask import is_end_of_mask, is_mask
from .rule import Found
from .secret_values import (
    count_letter_pairs,
    is_mostly_one,
    is_placeholder,
    is_published_example,
    is_secret_value,
    looks_random,
    spells_alphabet,
)
from .text_edges import begins_word, char, ends_word

Accepts = Callable[[str], bool]


def finder_of(data: dict[str, Any]) -> Find:
    kind = data["kind"]
    if kind == "form":
        return _form_finder(data)
    if kind == "phrase":
        return _phrase_finder(data)
    return _named_finder(data) if kind == "named" else BUILT_INS[data["id"]]


def _compiled(source: str, ignore_case: bool = False) -> re.Pattern[str]:
    return re.compile(source, re.ASCII | (re.IGNORECASE if ignore_case else 0))


_FILLER = re.compile("[xX]{6,}")
_PLAIN_KEYWORD = re.compile(r"[A-Za-z0-9+/]{1,8}\Z")
_GLUED_KEYWORD = re.compile(r"[a-z][_-]\Z", re.I | re.A)
_KEY_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
_LONGEST_GLUED = 32


def _form_finder(data: dict[str, Any]) -> Find:
    begin = _beginning(data.get("start"))
    pattern = _compiled(data["pattern"], data.get("ignoreCase", False))
    accepts = accepts_all(data.get("accept", []))
    filler_is_secret = data.get("fillerIsSecret", False)
    loose = None if data.get("exact") or "start" in data else _loose_form(data["pattern"])

    def whole_form(text: str, at: int) -> Found | None:
        match = pattern.match(text, at)
        if match is None or not ends_word(text, match.end()):
            return None
        secret = match[0]
        if is_placeholder(_FILLER.sub("", secret) if filler_is_secret else secret) or not accepts(secret) or is_published_example(secret):
            return None
        return Found(at, match.end())

    def find(text: str, keyword_at: int, keyword: str) -> Found | None:
        at = begin(text, keyword_at)
        if at < 0:
            return None
        if not begins_word(text, at):
            return _drawn_behind(text, keyword, whole_form(text, at)) if _is_glued(text, at, keyword) else None
        found = whole_form(text, at)
        if found is None and loose is not None:
            found = loose(text, at, text[at : at + len(keyword)])
        if found is None or (_PLAIN_KEYWORD.match(keyword) and _is_inside_base64(text, found.start, found.end)):
            return None
        return found

    return find


def _is_glued(text: str, at: int, keyword: str) -> bool:
    """`tokenghp_…`: a prefix that no word holds by chance counts behind other letters too, where they are a word and no long run of base64."""
    if len(keyword) < 4 or _GLUED_KEYWORD.search(keyword) is None or is_end_of_mask(text, at):
        return False
    start = at
    while start > at - _LONGEST_GLUED and char(text, start - 1) in _KEY_CHARACTERS:
        start -= 1
    return start > at - _LONGEST_GLUED


def _drawn_behind(text: str, keyword: str, found: Found | None) -> Found | None:
    return found if found is not None and looks_random(text[found.start + len(keyword) : found.end], 16) else None


_CONTEXT = 24
_BASE64_BEFORE = js(r"^[\w+/-]{23}[+/_-]$")
_BASE64_BEHIND = js(r"^[+/_-][\w+/-]{23}$")
_SMALL, _CAPITAL, _DIGIT = js("[a-z]"), js("[A-Z]"), js(r"\d")


def _is_inside_base64(text: str, start: int, end: int) -> bool:
    """Whether what stands here is cut out of a longer run of base64, such as a picture."""
    before = text[max(0, start - _CONTEXT) : start]
    behind = text[end : end + _CONTEXT]
    return (_BASE64_BEFORE.test(before) and _is_mixed(before)) or (_BASE64_BEHIND.test(behind) and _is_mixed(behind))


def _is_mixed(run: str) -> bool:
    return _SMALL.test(run) and _CAPITAL.test(run) and _DIGIT.test(run)


def _phrase_finder(data: dict[str, Any]) -> Find:
    begin = _beginning(data.get("start"))
    pattern = _compiled(data["pattern"], data.get("ignoreCase", False))
    accepts = accepts_all(data.get("accept", []))
    at_word = data.get("beginsWord", False)

    def find(text: str, keyword_at: int, keyword: str) -> Found | None:
        at = begin(text, keyword_at)
        if at < 0 or (at_word and not begins_word(text, at)):
            return None
        match = pattern.match(text, at)
        if match is None:
            return None
        secret = next((group for group in reversed(match.groups()) if group is not None), match[0])
        return Found(match.end() - len(secret), match.end()) if accepts(secret) else None

    return find


def _named_finder(data: dict[str, Any]) -> Find:
    name = _compiled(data["name"], data.get("nameIgnoresCase", False))
    value = _compiled(data["pattern"] + r"(?![\w-])", data.get("ignoreCase", False))

    def find(text: str, keyword_at: int, keyword: str) -> list[Found] | None:
        named = name.match(text, keyword_at)
        if named is None:
            return None
        found: list[Found] = []
        for gap in read_gaps(text, keyword_at, named.end())[0]:
            match = value.match(text, gap.value_at)
            if match is not None and not is_mask(match[0]) and not is_placeholder(match[0]):
                found.append(Found(gap.value_at, match.end()))
        return found

    return find


def _beginning(start: dict[str, Any] | None) -> Callable[[str, int], int]:
    """Where the match begins; below zero where it cannot."""
    if start is None:
        return lambda text, keyword_at: keyword_at
    if "offset" in start:
        return lambda text, keyword_at: keyword_at + start["offset"]
    if "behind" in start:
        lead = _compiled(start["behind"], start.get("ignoreCase", False))

        def behind(text: str, keyword_at: int) -> int:
            match = lead.match(text, keyword_at)
            return -1 if match is None else match.end()

        return behind
    one = _compiled(start["back"])
    most = start["most"]

    def back(text: str, keyword_at: int) -> int:
        at = keyword_at
        while at > 0 and keyword_at - at < most and one.search(text[at - 1]):
            at -= 1
        return at

    return back


# A vendor's prefix and what follows it, as far as it goes: whatever its length or ending.

_LONGEST_BODY = 1024
_JUDGED = 128
_SHORTEST_LOOSE = 16
_INSIDE_WORD = js(r"[-_.\\]")
_SENTENCE_SIGN = js(r"[.\-=/+]")
_FAKE = js(r"fake|example|sample|test[_-]?(?:key|token)|your|(.)\1{5}", "i")
_TEXT_BEGINS = re.compile(rb"\A[\t\n\r -~]{12}")
_DIGIT_BETWEEN = js(r"[A-Za-z]\d+[A-Za-z]")
_HAS_SIGNS = re.compile(r"\+/")
_HAS_DOT = re.compile(r"\\\.|[\w\]]\.[\w=-]{0,4}\]", re.ASCII)


def _loose_form(pattern: str) -> Callable[[str, int, str], Found | None]:
    signs = ("+/" if _HAS_SIGNS.search(pattern) else "") + ("=" if "=" in pattern else "") + ("." if _HAS_DOT.search(pattern) else "")
    body_run = re.compile(f"[A-Za-z0-9_{re.escape(signs)}-]{{0,{_LONGEST_BODY}}}")

    def find(text: str, start: int, prefix: str) -> Found | None:
        # Inside a longer word, such as the name of a file, or behind the backslash of an escape it is no prefix.
        if _INSIDE_WORD.test(char(text, start - 1)):
            return None
        body_start = start + len(prefix)
        match = body_run.match(text, body_start)
        assert match is not None
        end = match.end()
        # A full stop or a dash at the end is the sentence's.
        while end > body_start and _SENTENCE_SIGN.test(text[end - 1]) and not text.startswith("==", max(0, end - 2)):
            end -= 1
        body = text[body_start:end]
        if len(body) < _SHORTEST_LOOSE or not _is_key_body(body[:_JUDGED], prefix) or is_published_example(prefix + body):
            return None
        return Found(start, end, is_loose=True)

    return find


def _is_key_body(body: str, prefix: str) -> bool:
    if is_placeholder(body) or _FAKE.test(body) or spells_alphabet(body) or is_mostly_one(body) or _is_encoded_text(body):
        return False
    if len(prefix) < 4:
        return looks_random(body, _SHORTEST_LOOSE)
    return not _reads_like_words(body) and len(set(body)) >= 6


def _is_encoded_text(body: str) -> bool:
    """Base64 of words is no secret by itself; it is searched for those it holds. Of JSON it may be a key."""
    return not body.startswith("eyJ") and _TEXT_BEGINS.match(decode_base64(body[:24])) is not None


def _reads_like_words(body: str) -> bool:
    if _DIGIT_BETWEEN.test(body):
        return False
    pairs, familiar = count_letter_pairs(body)
    return pairs >= 6 and familiar * 4 >= pairs * 3


# What has to hold of a secret: a closed list, so that each is written once in every language.


def accepts_all(predicates: list[dict[str, Any]]) -> Accepts:
    every = [_predicate(one) for one in predicates]
    return lambda secret: all(accepts(secret) for accepts in every)


def _predicate(one: dict[str, Any]) -> Accepts:
    if "matches" in one:
        matches, start = _compiled(one["matches"]), one.get("from", 0)
        return lambda secret: matches.search(secret[start:]) is not None
    if "lacks" in one:
        lacks, start = _compiled(one["lacks"]), one.get("from", 0)
        return lambda secret: lacks.search(secret[start:]) is None
    if "digits" in one:
        least, most = one["digits"]
        return lambda secret: least <= sum("0" <= character <= "9" for character in secret) <= most
    if "length" in one:
        shortest, longest = one["length"]
        return lambda secret: shortest <= len(secret) <= longest
    if "is" in one:
        return _CLAIMS[one["is"]]
    if "not" in one:
        claim = is_mask if one["not"] == "mask" else is_placeholder
        return lambda secret: not claim(secret)
    if "random" in one:
        return lambda secret: looks_random(secret, one["random"])
    if "value" in one:
        return lambda secret: is_secret_value(secret, one["value"], one["written"])
    if "decodes" in one:
        decodes = _compiled(one["decodes"])
        return lambda secret: decodes.search(decode_base64(secret).decode("latin-1")) is not None
    lists = [accepts_all(inner) for inner in one["any"]]
    return lambda secret: any(accepts(secret) for accepts in lists)


def _is_mixed_case(secret: str) -> bool:
    """Behind the prefix, which may have capitals of its own."""
    return _SMALL.test(secret[4:]) and _CAPITAL.test(secret[4:])


def _is_unlike_words(secret: str) -> bool:
    pairs, familiar = count_letter_pairs(secret)
    return familiar * 2 <= pairs


def _is_luhn(number: str) -> bool:
    digits = [int(character) for character in reversed(number) if "0" <= character <= "9"]
    weighted = (digit if at % 2 == 0 else digit * 2 for at, digit in enumerate(digits))
    return sum(digit - 9 if digit > 9 else digit for digit in weighted) % 10 == 0


def _is_iban(written: str) -> bool:
    account = written.replace(" ", "")
    if not 15 <= len(account) <= 34:
        return False
    rest = 0
    for character in account[4:] + account[:4]:
        value = int(character, 36)
        rest = (rest * (100 if value > 9 else 10) + value) % 97
    return rest == 1


def _is_ipv6(address: str) -> bool:
    halves = address.split("::")
    groups = [group for half in halves if half != "" for group in half.split(":")]
    if len(halves) > 2 or "" in groups:
        return False
    return len(groups) == 8 if len(halves) == 1 else len(groups) < 8


_CLAIMS: dict[str, Accepts] = {
    "mixed-case": _is_mixed_case,
    "drawn": lambda secret: _DIGIT.test(secret[4:]) and _is_mixed_case(secret),
    "unlike-words": _is_unlike_words,
    "luhn": _is_luhn,
    "iban": _is_iban,
    "ipv6": _is_ipv6,
}
