"""
What secrets wear in recorded text comes off before any rule looks: terminal sequences, zero bytes and escapes here, `normalise` in
`rules.json`. The text itself is searched as well, so nothing that is taken off can hide anything.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .rule_data import rules_file
from .view import View, view_without

_ENTITIES = {"quot": '"', "amp": "&", "apos": "'", "lt": "<", "gt": ">"}


@lru_cache(maxsize=1)
def _signs() -> list[tuple[str, re.Pattern[str], dict[str, int], int]]:
    """What to look for, by its first character, and which dresses each is a sign of."""
    signs: dict[str, int] = {}
    for i, dress in enumerate(rules_file()["normalise"]["dresses"]):
        for needle in dress["where"]:
            signs[needle] = signs.get(needle, 0) | 1 << i
    # What begins with a shorter one has its dresses too, for the longer is found in its place.
    for needle in list(signs):
        for shorter, dresses in list(signs.items()):
            if needle.startswith(shorter):
                signs[needle] |= dresses
    by_first: list[tuple[str, re.Pattern[str], dict[str, int], int]] = []
    for first in dict.fromkeys(needle[0] for needle in signs):
        own = sorted((needle for needle in signs if needle[0] == first), key=len, reverse=True)
        every = 0
        for needle in own:
            every |= signs[needle]
        by_first.append((first, re.compile("|".join(map(re.escape, own))), signs, every))
    return by_first


def worn_by(text: str) -> int:
    """What a text may wear, as bits, one for each of `normalise.dresses`. Zero for most texts."""
    worn = 0
    for first, needles, signs, every in _signs():
        if first not in text:
            continue
        found = 0
        for match in needles.finditer(text):
            found |= signs[match[0]]
            worn |= found
            if found == every:
                break
    return worn


@lru_cache(maxsize=1)
def _marks() -> int:
    bits = 0
    for i, dress in enumerate(rules_file()["normalise"]["dresses"]):
        if dress["as"] == "nothing" and "[0-9;" in dress["pattern"]:
            bits |= 1 << i
    return bits


def marks_of(worn: int) -> int:
    """Of what is worn the terminal sequences, where something else is worn as well."""
    return 0 if worn & _marks() == worn else worn & _marks()


@lru_cache(maxsize=256)
def _pattern_of(worn: int) -> tuple[re.Pattern[str], list[str]]:
    dresses: list[dict[str, Any]] = [
        dress for i, dress in enumerate(rules_file()["normalise"]["dresses"]) if worn & 1 << i
    ]
    pattern = re.compile("|".join(dress["pattern"] for dress in dresses), re.ASCII)
    return pattern, [dress["as"] for dress in dresses if dress["as"] != "nothing"]


def undressed(text: str, worn: int | None = None) -> View | None:
    """None where a text wears nothing."""
    worn = worn_by(text) if worn is None else worn
    if worn == 0:
        return None
    pattern, meanings = _pattern_of(worn)

    def replacement(match: re.Match[str]) -> tuple[int, int, str]:
        return match.start(), match.end(), _character_of(match, meanings)

    return view_without(text, pattern, replacement)


def _character_of(match: re.Match[str], meanings: list[str]) -> str:
    group = match.lastindex
    if group is None:
        return ""
    written, meaning = match[group], meanings[group - 1]
    if meaning == "itself":
        return written
    if meaning == "entity":
        return _ENTITIES[written]
    return chr(int(written, 16 if meaning == "hexadecimal" else 10))
