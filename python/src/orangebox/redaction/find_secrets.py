"""
Every secret in a text: normalise, match, map back. Each rule looks for itself, in the text as it is and in what it says once its dress is
taken off, and what overlaps is joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from .encoded_text import encoded_texts
from .gutters import without_gutters
from .keyword_index import KeywordIndex, SweepRule
from .mask import MASK_MIDDLE, is_end_of_mask
from .open_pattern import start_of_open_match
from .rule import LONGEST_SECRET, Found, Secret, joined
from .text_edges import WHITE
from .undressed import marks_of, undressed, worn_by
from .view import View, view_through
from .wrapped_words import start_of_broken_word, unwrapped

if TYPE_CHECKING:
    from .ruleset import Ruleset

# About what a search costs, in characters passed over without a thought. Counted, so that it is the same every time.
_PER_CHARACTER = 4
_PER_WORN_CHARACTER = 10
_PER_RULE = 600
_PER_RULE_OF_LINES = 1500
_PER_SECRET = 200
# Base64 in base64 is looked into once more, and no further.
_DEEPEST = 2
NEVER = 1 << 60

_Keep = Callable[[str, Found, str], None]
_LONGEST_DRESS = 256
_BEGUN_DRESS = re.compile(r"[\x00\x1b%^&\\]+[^\x00\x1b%^&\\]*\Z")


class Search:
    """`open_at`: from here on more text could change what is found, `NEVER` if nothing is open."""

    __slots__ = ("asked", "cost", "open_at", "secrets", "views")

    def __init__(self, secrets: list[Secret], open_at: int, asked: int, cost: int, views: list[View]) -> None:
        self.secrets = secrets
        self.open_at = open_at
        self.asked = asked
        self.cost = cost
        self.views = views


def find_secrets(text: str, ruleset: Ruleset) -> Search:
    findings = _Findings()
    _search_all(text, None, ruleset, findings, 0)
    broken = start_of_broken_word(text)
    if broken is not None:
        findings.open(broken)
    cost = findings.cost + _PER_SECRET * len(findings.secrets)
    return Search(joined(findings.secrets), findings.open_at, findings.asked, cost, findings.views)


class _Findings:
    def __init__(self) -> None:
        self.secrets: list[Secret] = []
        self.views: list[View] = []
        self.open_at = NEVER
        self.asked = 0
        self.cost = 0

    def open(self, at: int) -> None:
        if at < self.open_at:
            self.open_at = at

    def through(self, view: View | None) -> _Keep:
        """Keeps what is found in a view where it stands in the text."""

        def keep(rule: str, found: Found, text: str) -> None:
            start, end = (found.start, found.end) if view is None else view.original(found.start, found.end)
            if end > start:
                plain = None if view is None else text[found.start : found.end]
                self.secrets.append(Secret(start, end, rule, plain, found.is_loose))
            if found.is_open:
                self.open(start)

        return keep


def _search_all(text: str, outer: View | None, ruleset: Ruleset, findings: _Findings, depth: int) -> None:
    def look(text: str, index: KeywordIndex, sweeps: list[SweepRule], keep: _Keep) -> tuple[list[int], list[int]]:
        places, of_lines = _search(text, index, sweeps, keep)
        findings.asked += len(places)
        findings.cost += _PER_CHARACTER * len(text) + _PER_RULE * len(places) + _PER_RULE_OF_LINES * len(of_lines)
        return places, of_lines

    if outer is not None:
        findings.views.append(outer)
    places, of_lines = look(text, ruleset.keywords, ruleset.sweeps, findings.through(outer))
    inner = outer
    bare = text
    # Colours come off before escapes are read, for they may stand inside of one, and what was read may be an escape again.
    worn = worn_by(text)
    if worn != 0:
        findings.cost += _PER_WORN_CHARACTER * len(text)
        for what in (marks_of, None, None):
            now = worn if bare is text else worn_by(bare)
            view = undressed(bare, now if what is None else what(now))
            if view is None:
                continue
            inner = view_through(inner, view)
            bare = view.text
            places, of_lines = look(bare, ruleset.keywords, ruleset.sweeps, findings.through(inner))
            findings.views.append(inner)
    if depth == 0 and ruleset.open_sweeps:
        _open_sweeps(text, inner, ruleset, findings)
    for whole in unwrapped(bare, places):
        keep_whole = findings.through(view_through(inner, whole))

        def keep_across(rule: str, found: Found, text: str, whole: View = whole, keep: _Keep = keep_whole) -> None:
            # A stream waits for the end of a word, and for no more; a line that a mask made as wide as a terminal broke no word.
            if WHITE.test(text[found.start : found.end]):
                return
            start, end = whole.original(found.start, found.end)
            if end - start <= found.end - found.start:
                return
            if not is_end_of_mask(text, found.start) and MASK_MIDDLE not in text[found.start : found.end]:
                keep(rule, found, text)

        look(whole.text, ruleset.keywords, ruleset.sweeps, keep_across)
    for lines in without_gutters(bare, of_lines):
        look(lines.text, ruleset.multi_line, [], findings.through(view_through(inner, lines)))
    if depth == _DEEPEST:
        return
    for encoded in encoded_texts(bare):
        view = view_through(inner, encoded)
        _search_all(encoded.text, view, ruleset, findings, depth + 1)
        if encoded.is_open and len(encoded.text) < LONGEST_SECRET / 2:
            findings.open(view.original(0, 0)[0])


def _open_sweeps(text: str, plain: View | None, ruleset: Ruleset, findings: _Findings) -> None:
    """Only of the text itself: what is encoded in it ends somewhere before its end."""

    def look(text: str, plain: View | None) -> None:
        findings.open(start_of_open_match(text, ruleset.open_sweeps))
        start = len(text) if plain is None else start_of_open_match(plain.text, ruleset.open_sweeps)
        if plain is not None and start < len(plain.text):
            findings.open(plain.original(start, len(plain.text))[0])

    look(text, plain)
    # A dress that has begun and not ended is no part of what it stands in.
    begun = _BEGUN_DRESS.search(text[-_LONGEST_DRESS:])
    if begun is not None:
        before = text[: len(text) - len(begun[0])]
        look(before, undressed(before))


def _search(text: str, keywords: KeywordIndex, sweeps: list[SweepRule], keep: _Keep) -> tuple[list[int], list[int]]:
    """Where keywords stood, and those of rules that reach over lines."""
    places: list[int] = []
    of_lines: list[int] = []
    for rule, at, keyword in keywords.scan(text):
        places.append(at)
        if rule.is_multi_line:
            of_lines.append(at)
        result = rule.find(text, at, keyword)
        if result is None:
            continue
        if isinstance(result, list):
            for one in result:
                keep(rule.id, one, text)
        else:
            keep(rule.id, result, text)
    for sweep in sweeps:
        match = sweep.pattern.search(text)
        while match is not None:
            if sweep.accepts(match[0]):
                keep(sweep.id, Found(match.start(), match.end()), text)
            # Also those that overlap: which of them a search meets first depends on where it began.
            match = sweep.pattern.search(text, match.start() + 1)
    return places, of_lines
