"""
The secrets that are known by now, to be masked wherever they stand again, in every form they may be written in. In memory only, and only so
many: those that were found last stay.
"""

from __future__ import annotations

import json
import re

from ..contract import utf16
from .js_regex import js
from .mask import MASK_MIDDLE
from .pattern_index import PatternIndex
from .rule import KNOWN_VALUE, Secret, joined
from .secret_values import is_placeholder
from .text_edges import is_alphanumeric
from .value_forms import value_forms

_MOST_VALUES = 8192
# Longer ones have a window of twelve bytes to be known by; shorter ones a table of their own, and they count as whole words only.
_SHORT = 12
_SHORTEST = 6
_LONGEST = 4096
_MOST_SHORT = 1024
_MOST_SPACED = 64
_MOST_LINES = 64
_NEVER = 1 << 60

_OVER_WORDS = js(r"[\s\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3001-\u9fff\uf900-\ufaff]")
_WRITTEN_BREAK = re.compile(r"\\+n")
_BREAKS = re.compile(r"\\+[nr]|[\r\n]")
_KEY_LINE = re.compile(r"^[\w+/=-]{32,128}\Z", re.ASCII)
_PLACE = js(r"^(?:~|\.{1,2})?\/[^@=+]*$|^[A-Za-z]:\\|^[a-z][a-z0-9+.-]{1,15}:\/\/[^@]*$")
_COUNTED_WORD = js(r"^[A-Za-z]+[._-]?\d{1,4}$")
_NAME = js(r"^[A-Za-z]+(?:[._:/-][A-Za-z]+)*$")
_LETTER = js("[A-Za-z]")
_NO_LETTER = js(r"[^A-Za-z\s]")
_CASE_CHANGE = re.compile("[a-z][A-Z]")
_SPACE_AROUND = js(r"^\s+|\s+$")


class KnownValues:
    def __init__(self, most: int = _MOST_VALUES) -> None:
        self._most = most
        # Those found last stand last.
        self._values: dict[str, None] = {}
        self._pinned: set[str] = set()
        self._index = _Indexes()

    @property
    def size(self) -> int:
        return len(self._values)

    def learn(self, secret: str) -> None:
        for value in _values_of(secret):
            self._learn_one(value)

    def pin(self) -> None:
        """What is known by now is never forgotten."""
        self._pinned.update(self._values)

    def _learn_one(self, value: str) -> None:
        if value in self._values:
            del self._values[value]
            self._values[value] = None
            return
        if not _is_worth_knowing(value):
            return
        self._values[value] = None
        if len(self._values) > self._most:
            self._forget_some()
        else:
            self._index.add(value)

    def _forget_some(self) -> None:
        """A quarter at once: taking single values out of the index would cost more than building it again now and then."""
        count = len(self._values) / 4
        for value in list(self._values):
            if count <= 0:
                break
            if value not in self._pinned:
                del self._values[value]
                count -= 1
        self._index = _Indexes()
        for value in self._values:
            self._index.add(value)

    def find_in(self, text: str) -> list[Secret]:
        """Where known values stand in a text, in order and apart from each other."""
        return [] if len(text) < self._index.shortest else self._index.find_in(text)

    def find_in_bytes(self, data: bytes) -> list[Secret]:
        return [] if len(data) < self._index.shortest else self._index.find_in_bytes(data)

    def open_at(self, text: str) -> int:
        """From here on a known value of several words may have begun that the text does not end."""
        return self._index.open_at(text)


class _Indexes:
    def __init__(self) -> None:
        self.shortest = _NEVER
        self._long: PatternIndex | None = None
        self._short: PatternIndex | None = None
        self._spaced: list[str] = []

    def add(self, value: str) -> None:
        for form in value_forms(value):
            if len(form) < _SHORTEST:
                continue
            data = utf16.to_bytes(utf16.whole(form))
            if len(form) < _SHORT:
                if self._short is None:
                    self._short = PatternIndex(_SHORTEST, 16)
                if self._short.size >= _MOST_SHORT:
                    continue
                self._short.add(form, data, value)
            else:
                if self._long is None:
                    self._long = PatternIndex(_SHORT, 18)
                self._long.add(form, data, value)
            self.shortest = min(self.shortest, len(form))
        if _OVER_WORDS.test(value) and len(self._spaced) < _MOST_SPACED:
            self._spaced.append(value)

    def find_in(self, text: str) -> list[Secret]:
        found: list[Secret] = []

        def keep(start: int, end: int, plain: str) -> None:
            if end - start >= _SHORT or _is_whole_word(text[start - 1 : start] if start else "", text[end : end + 1]):
                found.append(Secret(start, end, KNOWN_VALUE, plain))

        for index in (self._long, self._short):
            if index is not None:
                index.scan_text(text, keep)
        return joined(found)

    def find_in_bytes(self, data: bytes) -> list[Secret]:
        found: list[Secret] = []

        def keep(start: int, end: int, plain: str) -> None:
            before = data[start - 1 : start] if start else b""
            if end - start >= _SHORT or _is_whole_word(before.decode("latin-1"), data[end : end + 1].decode("latin-1")):
                found.append(Secret(start, end, KNOWN_VALUE, plain))

        for index in (self._long, self._short):
            if index is not None:
                index.scan_bytes(data, keep)
        return joined(found)

    def open_at(self, text: str) -> int:
        open_at = _NEVER
        for value in self._spaced:
            at = text.find(value[0], max(0, len(text) - len(value) + 1))
            while 0 <= at < open_at:
                if value.startswith(text[at:]):
                    open_at = at
                at = text.find(value[0], at + 1)
        return open_at


def _is_whole_word(before: str, behind: str) -> bool:
    return not is_alphanumeric(before) and before != "_" and not is_alphanumeric(behind) and behind != "_"


def _values_of(secret: str) -> list[str]:
    """What of a secret would be known again: of a private key its lines, of text inside JSON what the JSON says."""
    if "\n" in secret or _WRITTEN_BREAK.search(secret):
        lines = [_SPACE_AROUND.sub("", line) for line in _BREAKS.split(secret)]
        # The first line of the block says what kind of key it is, and so do its first characters, alike for all.
        return [line for line in lines if _KEY_LINE.match(line)][1:_MOST_LINES]
    trimmed = _SPACE_AROUND.sub("", secret)
    if "\\" not in secret:
        return [trimmed]
    try:
        said = json.loads(f'"{utf16.whole(trimmed)}"')
        return [trimmed, utf16.units(said)]
    except ValueError:
        return [trimmed]


def _is_worth_knowing(value: str) -> bool:
    """A word that also stands for something else must not be masked everywhere because a user once chose it as a password."""
    if len(value) < _SHORTEST or len(value) > _LONGEST:
        return False
    if MASK_MIDDLE in value or is_placeholder(value) or _PLACE.test(value):
        return False
    if not _LETTER.test(value):
        return len(value) >= 16 and len(set(utf16.whole(value))) >= 6
    if len(value) < _SHORT:
        return not _COUNTED_WORD.test(value) and _NO_LETTER.test(value) and not _NAME.test(value)
    if _NAME.test(value):
        return len(_CASE_CHANGE.findall(value)) >= 4
    return True
