"""Every run of base64 in a text that decodes to text, as a view of what it says. Lines of a wrapped run are put together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .built_ins import decode_base64
from .text_edges import char
from .view import View

_SHORTEST_RUN = 24
_SHORTEST_LINE = 60
_MOST_LINES = 4096
_MOST_SLASHES = 8
_ENCODED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
_RUN_AND_SIGNS = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
_LINE_BREAK = re.compile(r"(?:\r?\n|\\{1,8}(?:r\\{1,8})?n)[ \t]{0,16}")
_FIRST_LATIN = frozenset("IJKLMNOPQRSTUVWXYZabcdefC/")
_FIRST_OTHER = frozenset("wxyz0123456789")
_SEXTETS = {
    character: i if i < 64 else i - 2
    for i, character in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
}


def encoded_texts(text: str) -> Iterator[View]:
    done = 0
    at = _SHORTEST_RUN - 1
    while at < len(text):
        # Every run has a character at each 24th place: looking there and nowhere else finds all of them.
        if text[at] not in _ENCODED:
            done = at
            at = done + _SHORTEST_RUN
            continue
        start = at
        while start > done and text[start - 1] in _ENCODED:
            start -= 1
        end = _end_of_run(text, at)
        done = end
        begin = None if end - start < _SHORTEST_RUN else _beginning_of_text(text, start, end)
        if begin is not None:
            lines = _lines_from(text, begin, end)
            done = lines[-1][1]
            yield _view_of(text, lines, done >= len(text) - 2)
        at = done + _SHORTEST_RUN


def _beginning_of_text(text: str, start: int, end: int) -> int | None:
    """Where in a run the text begins: with it, or behind a slash, which is also what parts an address."""
    at = start
    for _ in range(_MOST_SLASHES + 1):
        if end - at < _SHORTEST_RUN:
            return None
        if _begins_text(text, at):
            return at
        slash = text.find("/", at)
        if slash < 0 or slash >= end:
            return None
        at = slash + 1
    return None


def _lines_from(text: str, start: int, end: int) -> list[tuple[int, int]]:
    lines = [(start, end)]
    while len(lines) < _MOST_LINES:
        length = lines[-1][1] - lines[-1][0]
        if length < _SHORTEST_LINE or length % 4 != 0:
            break
        found = _LINE_BREAK.match(text, lines[-1][1])
        if found is None:
            break
        following = found.end()
        following_end = _end_of_run(text, following)
        if following_end == following or following_end - following > length:
            break
        lines.append((following, following_end))
    return lines


def _view_of(text: str, lines: list[tuple[int, int]], is_open: bool) -> View:
    """Three bytes are four characters: what a byte stands for is the four it came from."""
    encoded = "".join(text[start:end] for start, end in lines)

    def place_of(character: int) -> int:
        before = 0
        for start, end in lines:
            if character < before + end - start:
                return start + character - before
            before += end - start
        return lines[-1][1]

    def original(start: int, end: int) -> tuple[int, int]:
        first = start // 3 * 4
        last = min(len(encoded), -(-end // 3) * 4)
        return place_of(first), place_of(first) if end <= start else place_of(last - 1) + 1

    return View(decode_base64(encoded).decode("latin-1"), original, is_open)


def _begins_text(text: str, start: int) -> bool:
    """Whether what begins here decodes to text. The first character alone rules out half of all."""
    first = text[start]
    if first not in _FIRST_LATIN and first not in _FIRST_OTHER:
        return False
    second, third, fourth = (_sextet(text, start + i) for i in (1, 2, 3))
    if not (_is_text((second & 15) << 4 | third >> 2) and _is_text((third & 3) << 6 | fourth)):
        return False
    data = decode_base64(text[start : start + _SHORTEST_RUN])
    return _is_wide(data) or _is_plain_text(data)


def _sextet(text: str, at: int) -> int:
    character = char(text, at)
    return _SEXTETS.get(chr(ord(character) & 0x7F), 0) if character else 0


def _is_text(byte: int) -> bool:
    return byte >= 0x20 or byte == 0 or 0x09 <= byte <= 0x0D


def _is_wide(data: bytes) -> bool:
    """Two bytes a letter, the second of which is zero."""
    zeros = data[1::2].count(0)
    return zeros * 2 >= len(data) - 4 and data[:1] != b"\0"


def _is_plain_text(data: bytes) -> bool:
    letters = 0
    for byte in data:
        if byte < 0x20 and byte not in (0, 0x0A, 0x0D, 0x09):
            return False
        if byte > 0x20:
            letters += 1
    if letters * 6 < len(data):
        return False
    return all(byte < 0x7F for byte in data) or any(_is_utf8(data[: len(data) - cut]) for cut in range(4))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _end_of_run(text: str, start: int) -> int:
    match = _RUN_AND_SIGNS.match(text, start)
    assert match is not None
    return match.end()
