"""
Redacts a body that arrives in pieces and is one text. Pieces may end inside a character. From the first bytes that are no UTF-8 on, each
byte is taken as one character, so that whatever came is given back as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..contract import utf16
from .mask import MASK_MIDDLE, Mask
from .redact_bytes import masks_in_bytes, octets_with_masks
from .redact_text import apply_masks
from .rule import Secret
from .stream_search import SearchBudget, StreamSearch

if TYPE_CHECKING:
    from .ruleset import Ruleset


class Piece:
    """A stretch of a stream as it may be stored, and when it came. Offsets of masks from the start of the piece."""

    __slots__ = ("arrival", "data", "failed", "masks")

    def __init__(self, data: bytes, masks: list[Mask], arrival: object, failed: bool = False) -> None:
        self.data = data
        self.masks = masks
        self.arrival = arrival
        self.failed = failed


class ByteStreamRedactor:
    def __init__(self, ruleset: Ruleset) -> None:
        self._ruleset = ruleset
        self._search = StreamSearch(ruleset, SearchBudget())
        self._is_text = True
        # The beginning of a character whose end has not come.
        self._begun = b""
        self._has_failed = False

    def push(self, data: bytes, arrival: object) -> list[Piece]:
        buffer = self._begun + data
        whole = _end_of_whole_characters(buffer) if self._is_text else len(buffer)
        head = buffer[:whole]
        self._begun = buffer[whole:]
        if not self._is_text:
            return self._give("push", head.decode("latin-1"), arrival)
        try:
            text = head.decode()
        except UnicodeDecodeError:
            self._begun = b""
            return [*self._become_octets(arrival), *self.push(buffer, arrival)]
        return self._give("push", utf16.units(text), arrival)

    @property
    def held_bytes(self) -> int:
        if self._has_failed:
            return len(self._begun)
        return len(self._begun) + (self._search.held_bytes if self._is_text else self._search.held_length)

    def finish(self, arrival: object) -> list[Piece]:
        begun, self._begun = self._begun, b""
        if begun == b"":
            return self._give("settle", "", arrival)
        before = self._become_octets(arrival)
        return [*before, *self.push(begun, arrival), *self._give("settle", "", arrival)]

    def _become_octets(self, arrival: object) -> list[Piece]:
        before = self._give("settle", "", arrival)
        self._is_text = False
        self._search = StreamSearch(self._ruleset, SearchBudget())
        return before

    def _give(self, what: str, text: str, arrival: object) -> list[Piece]:
        if self._has_failed:
            return []
        searched: tuple[str, list[Secret]]
        try:
            searched = self._search.push(text) if what == "push" else self._search.settle()
            redacted = apply_masks(searched[0], searched[1], self._ruleset.key)
        except Exception:
            # The rest goes with it: it has not been searched.
            self._has_failed = True
            return [Piece(MASK_MIDDLE.encode(), [], arrival, failed=True)]
        if redacted.text == "":
            return []
        if self._is_text:
            data = utf16.to_bytes(utf16.whole(redacted.text))
            return [Piece(data, masks_in_bytes(redacted.text, redacted.masks), arrival)]
        return [Piece(*octets_with_masks(redacted.text, redacted.masks), arrival)]


def _end_of_whole_characters(data: bytes) -> int:
    """Where a text can be cut without cutting a character: before a last one that has begun and not ended."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return len(data) - back if length > back else len(data)
    return len(data)
