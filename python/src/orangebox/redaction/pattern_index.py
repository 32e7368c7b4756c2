"""
Finds any of thousands of texts in one pass (Wu and Manber 1994). Of each text one window of a fixed width is known by its last three bytes;
a table says for every three bytes how far the search may jump, so that most of what is searched is never looked at. The same windows and
the same limits as in TypeScript, so that both keep the same values where many are alike.
"""

from __future__ import annotations

from collections.abc import Callable

_BLOCK = 3
_FEW = 2
_MOST_ALIKE = 4
_REPEATING = 64

Found = Callable[[int, int, str], None]


class _Entry:
    __slots__ = ("about", "data", "end", "is_of_text", "text")

    def __init__(self, text: str, data: bytes, end: int, about: str, is_of_text: bool) -> None:
        self.text = text
        self.data = data
        self.end = end
        self.about = about
        self.is_of_text = is_of_text


def _repeats(data: bytes, start: int, end: int) -> bool:
    """Whether a window stands in its text once more: then a text that repeats it would have the whole compared at every turn."""
    window = data[start:end]
    return len(data) > _REPEATING and (data.find(window) < start or data.find(window, start + 1) >= 0)


def low_bytes(text: str) -> bytes:
    """The low byte of each unit, which is how a string is searched."""
    return text.encode("latin-1") if text.isascii() else text.encode("utf-16-le", "surrogatepass")[::2]


class PatternIndex:
    def __init__(self, width: int, table_bits: int) -> None:
        self._width = width
        self._mask = (1 << table_bits) - 1
        self._shifts = bytearray([width - _BLOCK + 1]) * (1 << table_bits)
        self._buckets: dict[bytes, list[_Entry]] = {}
        self.size = 0

    def add(self, text: str, data: bytes, about: str) -> None:
        """`text` in units, `data` its UTF-8."""
        self._add_window(text, data, about, False)
        # A string is searched by the low byte of each unit, which for letters beyond ASCII are other bytes.
        if len(data) != len(text):
            self._add_window(text, low_bytes(text), about, True)
        self.size += 1

    def _add_window(self, text: str, data: bytes, about: str, is_of_text: bool) -> None:
        width = self._width
        last = len(data)
        end = 0
        bucket: list[_Entry] | None = None
        for other in (last, (last + width) >> 1, width):
            if other < width or _repeats(data, other - width, other):
                continue
            entries = self._buckets.get(data[other - 6 : other])
            if end == 0 or entries is None or (bucket is not None and len(entries) < len(bucket)):
                end = other
                bucket = entries
            if entries is None or len(entries) <= _FEW:
                break
        if end == 0 or (bucket is not None and len(bucket) >= _MOST_ALIKE):
            return
        entry = _Entry(text, data, end, about, is_of_text)
        if bucket is None:
            self._buckets[data[end - 6 : end]] = [entry]
        else:
            bucket.append(entry)
        shifts, mask = self._shifts, self._mask
        for back in range(width - _BLOCK + 1):
            at = end - back
            block = (data[at - 3] << 10 ^ data[at - 2] << 5 ^ data[at - 1]) & mask
            if back < shifts[block]:
                shifts[block] = back

    def scan_bytes(self, data: bytes, found: Found) -> None:
        def candidate(end: int, entry: _Entry) -> int:
            start = end - entry.end
            if entry.is_of_text or start < 0 or not data.startswith(entry.data, start):
                return end
            found(start, start + len(entry.data), entry.about)
            return start + len(entry.data)

        self._scan(data, candidate)

    def scan_text(self, text: str, found: Found) -> None:
        low = low_bytes(text)

        def candidate(end: int, entry: _Entry) -> int:
            start = end - entry.end
            # A window that was cut out of bytes may be counted differently than one of characters; then it is not this one.
            if start < 0 or not text.startswith(entry.text, start):
                return end
            found(start, start + len(entry.text), entry.about)
            return min(len(low), start + len(entry.text))

        self._scan(low, candidate)

    def _scan(self, data: bytes, candidate: Callable[[int, _Entry], int]) -> None:
        """Goes on behind the end of what was found: what overlaps is masked as one anyhow."""
        shifts, mask, buckets = self._shifts, self._mask, self._buckets
        length = len(data)
        end = self._width
        while end <= length:
            shift = shifts[(data[end - 3] << 10 ^ data[end - 2] << 5 ^ data[end - 1]) & mask]
            if shift != 0:
                end += shift
                continue
            entries = buckets.get(data[end - 6 : end])
            if entries is None:
                end += 1
                continue
            done = end
            for entry in entries:
                done = max(done, candidate(end, entry))
            end = done + 1
