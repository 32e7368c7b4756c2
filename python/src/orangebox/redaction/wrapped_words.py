"""Words that a fixed width broke: a break behind a full line, inside a word, is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .js_regex import js
from .rule import LONGEST_SECRET
from .rule_data import rules_file
from .text_edges import char, is_space, last_index
from .view import View, view_from, view_without

_LONGEST_LINE = 200
_REACH = 4096
_BREAK = re.compile(r"(?:\r?\n|\\{1,8}(?:r\\{1,8})?n)")
_WRITTEN = js(r"\\{1,8}(?:u[0-9a-f]{4}|.)", "i")
_IN_WORD = js(r"""[^\s\\"'`<>(){}[\],;|]""")
_NEVER = 1 << 60


@lru_cache(maxsize=1)
def _widths() -> frozenset[int]:
    return frozenset(rules_file()["normalise"]["widths"])


def unwrapped(text: str, places: list[int]) -> Iterator[View]:
    """The stretches of a text that begin where a word stands which a fixed width broke, with the breaks of full lines gone."""
    end = 0
    for place in _places_on_full_lines(text, places):
        if place < end - _REACH / 2:
            continue
        start = _start_of_line(text, place)
        end = min(len(text), place + _REACH)
        view = _without_breaks(text[start:end])
        if view is not None:
            yield view_from(start, view)


def _without_breaks(text: str) -> View | None:
    line_start = 0

    def replacement(match: re.Match[str]) -> tuple[int, int, str] | None:
        nonlocal line_start
        at = match.start()
        is_full = at - line_start <= 2 * _LONGEST_LINE and _is_full_line(text[line_start:at])
        line_start = match.end()
        return (at, line_start, "") if is_full and _is_in_word(text, at, line_start) else None

    return view_without(text, _BREAK, replacement)


def start_of_broken_word(text: str) -> int | None:
    """Where a last word begins that a full line broke and that may not have ended."""
    start = _start_of_word(text, len(text))
    found = None
    while start > 0 and text[start - 1] == "\n":
        line_end = start - 2 if char(text, start - 2) == "\r" else start - 1
        line = text[max(last_index(text, "\n", line_end - 1) + 1, line_end - 2 * _LONGEST_LINE) : line_end]
        if not _is_full_line(line) or not _IN_WORD.test(char(text, line_end - 1)):
            break
        start = _start_of_word(text, line_end)
        found = start
    return found


def _start_of_word(text: str, end: int) -> int:
    start = end
    while start > 0 and end - start < LONGEST_SECRET and not is_space(text[start - 1]):
        start -= 1
    return start


def _places_on_full_lines(text: str, places: list[int]) -> Iterator[int]:
    """Those of the places that stand near the end of a line, which ends where it does because it is full."""
    real = written = -1
    for at in places:
        # Each break is looked for once: this is asked of every text.
        if real < at:
            found = text.find("\n", at)
            real = _NEVER if found < 0 else found
        if written < at:
            found = text.find("\\n", at)
            written = _NEVER if found < 0 else found
        line_end = min(real, written)
        # A name, a sign with blanks around it, and a value that reaches to the end: no more words than that.
        if line_end - at <= _LONGEST_LINE and text.count(" ", at, line_end) <= 3 and _ends_full_line(text, at, line_end):
            yield at


def _ends_full_line(text: str, at: int, break_at: int) -> bool:
    line_end = break_at
    while line_end > at and text[line_end - 1] in "\\\r":
        line_end -= 1
    following = break_at + 1 if char(text, break_at) == "\n" else break_at + 2
    return _is_in_word(text, line_end, following) and _is_full_line(text[_start_of_line(text, at) : line_end])


def _start_of_line(text: str, at: int) -> int:
    first = max(0, at - 2 * _LONGEST_LINE)
    start = at
    while start > first:
        last = char(text, start - 1)
        if last == "\n" or (last == "n" and char(text, start - 2) == "\\"):
            break
        start -= 1
    return start


def _is_full_line(line: str) -> bool:
    """As the terminal saw it, to which an escape was one character."""
    return len(_WRITTEN.sub("x", line) if "\\" in line else line) in _widths()


def _is_in_word(text: str, line_end: int, following: int) -> bool:
    return _IN_WORD.test(char(text, line_end - 1)) and _IN_WORD.test(char(text, following))
