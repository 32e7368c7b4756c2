"""
Remembers what was searched before. Agents send their whole history with every call: comparing a message with the one that stood at its place
in the last body costs a hundredth of searching it. A memory belongs to one ruleset.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from .redact_bytes import RedactedBytes

_SHORTEST_WORTH_IT = 256
_MOST_PLACES = 4096
# About what a key and its place in the map take.
_PER_ENTRY = 160


class SeenText:
    def __init__(self, max_bytes: int = 8 * 1024 * 1024) -> None:
        self._max_bytes = max_bytes
        # None: nothing was found in it.
        self._young: dict[bytes, RedactedBytes | None] = {}
        self._old: dict[bytes, RedactedBytes | None] = {}
        self._young_bytes = 0
        self._last: dict[int, tuple[bytes, RedactedBytes | None]] = {}
        self._last_bytes = 0

    def once(self, segment: bytes, place: int, redact: Callable[[bytes], RedactedBytes]) -> RedactedBytes:
        """What `redact` makes of a segment, or what it made of the same bytes before. `place` counts the segments of a body."""
        if len(segment) < _SHORTEST_WORTH_IT:
            return redact(segment)
        last = self._last.get(place)
        if last is not None and last[0] == segment:
            return _given(last[1], segment)
        # Cryptographic, because an attacker who makes two messages collide could walk a secret past the rules.
        key = hashlib.sha256(segment).digest()
        for generation in (self._young, self._old):
            if key in generation:
                known = generation[key]
                self._keep(key, known)
                self._keep_place(place, segment, known)
                return _given(known, segment)
        redacted = redact(segment)
        if redacted.failed is not None:
            return redacted
        outcome = redacted if redacted.masks else None
        self._keep(key, outcome)
        self._keep_place(place, segment, outcome)
        return redacted

    def _keep_place(self, place: int, segment: bytes, outcome: RedactedBytes | None) -> None:
        last = self._last.get(place)
        before = 0 if last is None else len(last[0])
        if self._last_bytes - before + len(segment) > self._max_bytes or place > _MOST_PLACES:
            return
        self._last_bytes += len(segment) - before
        self._last[place] = (segment, outcome)

    def _keep(self, key: bytes, outcome: RedactedBytes | None) -> None:
        if key in self._young:
            return
        self._young[key] = outcome
        self._young_bytes += _PER_ENTRY + (0 if outcome is None else len(outcome.data))
        if self._young_bytes > self._max_bytes / 2:
            self._old = self._young
            self._young = {}
            self._young_bytes = 0


def _given(outcome: RedactedBytes | None, segment: bytes) -> RedactedBytes:
    return RedactedBytes(segment, []) if outcome is None else outcome
