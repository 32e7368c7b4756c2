"""
Redacts a streamed answer of which each frame carries a few characters. The text of a block is put together from its frames, whatever comes in
between, and searched as one; a frame whose text is still being judged waits, and every frame behind it. A secret that spans frames is masked
in the first of them and cut out of the others. Frames in which nothing was found go out byte for byte.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..contract import json_text, utf16
from .byte_stream import Piece
from .js_regex import js
from .json_spans import read_cut_json, read_json
from .json_structure import sparing_structure
from .mask import MASK_MIDDLE, Mask, masked_secret, secret_tag
from .redact_bytes import masks_in_bytes, redact_octets
from .redact_text import apply_masks
from .rule import Secret
from .search_text import search_text
from .stream_search import SearchBudget, StreamSearch
from .text_deltas import text_deltas

if TYPE_CHECKING:
    from .ruleset import Ruleset

# A frame without an end is no frame; what there is of it is searched for itself.
_LONGEST_FRAME = 4 * 1024 * 1024
# So many bytes may come while a block rests in the middle of an ordinary word, and so many while it rests in what may be a secret.
_PATIENCE = 8 * 1024
_MOST_PATIENCE = 64 * 1024
# A comment to every reader of event streams, and to a reader of lines a line that is no JSON.
_FAILED_FRAME = f": {MASK_MIDDLE}\n\n".encode()
_FOREVER = 1 << 60
_WITHHELD = "withheld"
_SHORTEST_REPEATED = 8
_LONGEST_PLAIN_WORD = 46
_WORD_SIGNS = re.compile("[.,:;!?…)\\]}\"'`*>-]{0,6}\\Z")
_PLAIN_WORDS = (re.compile("U?l{0,15}"), re.compile("U{1,5}"), re.compile("o{0,40}"))
_BEGINS_JSON = js(r"""^\s*["{[]""")
_NOT_BLANK = js(r"\S")
_CHANNEL = re.compile(r'[0-9a-z]:(?=["{\[])')
_SSE_DATA = re.compile(r"(?:(?<=[\r\n])|\A)data: ?([^\r\n]*)")
_LINE = re.compile(r"[^\n]*\n?")
_BLANK_LINE = re.compile(rb"\r\r|\n\r?\n")


class _Block:
    """The text of one content block as far as it has come, and the secrets found in it: start, end, rule, secret, plain."""

    def __init__(self, ruleset: Ruleset, budget: SearchBudget, is_guess: bool) -> None:
        self._search = StreamSearch(ruleset, budget)
        self.is_guess = is_guess
        self.received = 0
        # Up to here nothing that follows can change what was found.
        self.judged = 0
        self.touched = 0
        self.is_finished = False
        self.has_failed = False
        self._last = ""
        self._secrets: list[tuple[int, int, str, str, str]] = []

    def push(self, text: str) -> None:
        self.received += len(text)
        self._last = text
        if self.judged < _FOREVER:
            self._take(text)

    def finish(self) -> None:
        if not self.is_finished:
            self.is_finished = True
            self.settle()

    def settle(self) -> None:
        """All there is, judged as if it ended here. More may come."""
        if self.judged < self.received:
            self._take(None)

    def withhold(self) -> None:
        """It cannot be known what this becomes: what is held and all that follows is masked."""
        held = self._search.held
        self._secrets.append((self.judged, _FOREVER, _WITHHELD, held, held))
        self.judged = _FOREVER

    def repeats(self, text: str) -> bool:
        """A guess that the same long text comes with every frame, and so is no piece of another."""
        return self.is_guess and len(text) >= _SHORTEST_REPEATED and text == self._last

    @property
    def holds_plain_word(self) -> bool:
        return self._search.held_length <= _LONGEST_PLAIN_WORD and _is_plain_word(self._search.held)

    def secrets_in(self, start: int, end: int) -> list[tuple[int, int, str, str, str]]:
        """Those that reach into a stretch of the text. Stretches are asked for in order."""
        self._secrets = [secret for secret in self._secrets if secret[1] > start]
        return [secret for secret in self._secrets if secret[0] < end]

    def _take(self, text: str | None) -> None:
        if self.has_failed:
            return
        try:
            given, secrets = self._search.settle() if text is None else self._search.push(text)
            for secret in secrets:
                found = given[secret.start : secret.end]
                plain = found if secret.plain is None else secret.plain
                self._secrets.append((self.judged + secret.start, self.judged + secret.end, secret.rule, found, plain))
            self.judged += len(given)
        except Exception:
            self.has_failed = True
            self.judged = _FOREVER


def _is_plain_word(held: str) -> bool:
    """A word of ordinary text: not what a secret ends in the middle of."""
    kinds = "".join({"Lu": "U", "Ll": "l", "Lo": "o"}.get(unicodedata.category(character), "x") for character in utf16.whole(held))
    for pattern in _PLAIN_WORDS:
        word = pattern.match(kinds)
        if word is not None and _WORD_SIGNS.match(utf16.whole(held)[word.end() :]):
            return True
    return False


class _Part:
    """Where a frame holds characters of a block: as a JSON string, quotes included, as one that was cut, or as plain text."""

    __slots__ = ("begin", "block", "end", "form", "start", "stop", "value")

    def __init__(self, block: _Block, begin: int, stop: int, value: str, start: int, end: int, form: str) -> None:
        self.block = block
        self.begin = begin
        self.stop = stop
        self.value = value
        self.start = start
        self.end = end
        self.form = form


class _Frame:
    __slots__ = ("arrival", "data", "has_json", "parts", "text")

    def __init__(self, data: bytes, text: str | None, arrival: object, parts: list[_Part], has_json: bool) -> None:
        self.data = data
        self.text = text
        self.arrival = arrival
        self.parts = parts
        self.has_json = has_json


class FrameRedactor:
    """`framing` is `sse`, `lines` or `array`."""

    def __init__(self, ruleset: Ruleset, framing: str) -> None:
        self._ruleset = ruleset
        self._framing = framing
        self._budget = SearchBudget()
        self._rest = b""
        self._seen = 0
        self._elements = _ElementState()
        self._waiting: list[_Frame] = []
        self._waiting_bytes = 0
        self._taken = 0
        self._knows_protocol = False
        self._blocks: dict[str, tuple[_Block, str]] = {}

    def push(self, data: bytes, arrival: object) -> list[Piece]:
        buffer = self._rest + data
        start = 0
        seen = self._seen
        while True:
            end = self._end_of_frame(buffer, start, seen)
            if end < 0:
                break
            self._take(buffer[start:end], arrival)
            start = seen = end
        if len(buffer) - start > _LONGEST_FRAME:
            self._take(buffer[start:], arrival)
            start = len(buffer)
        self._rest = buffer[start:]
        self._seen = len(self._rest)
        return self._release()

    @property
    def held_bytes(self) -> int:
        return self._waiting_bytes + len(self._rest)

    def finish(self, arrival: object) -> list[Piece]:
        if self._rest:
            self._take(self._rest, arrival)
        self._rest = b""
        self._end_lanes(None)
        return self._release()

    def _end_of_frame(self, buffer: bytes, start: int, seen: int) -> int:
        if self._framing == "array":
            return self._elements.end(buffer, max(start, seen))
        if self._framing == "lines":
            found = buffer.find(b"\n", max(start, seen))
            return -1 if found < 0 else found + 1
        # A frame's end may have come in two pieces.
        match = _BLANK_LINE.search(buffer, max(start, seen - 4))
        return -1 if match is None else match.end()

    def _take(self, data: bytes, arrival: object) -> None:
        self._taken += len(data)
        self._waiting_bytes += len(data)
        text: str | None
        try:
            text = utf16.units(data.decode())
        except UnicodeDecodeError:
            text = None
        parts: list[_Part] = []
        has_json = False
        if text is not None:
            for at, region, channel, is_json in _regions_of(text, self._framing):
                has_json = has_json or is_json
                self._read(at, region, channel, is_json, parts)
        self._waiting.append(_Frame(data, text, arrival, parts, has_json))

    def _read(self, at: int, text: str, channel: str, is_json: bool, parts: list[_Part]) -> None:
        if text.strip() == "[DONE]":
            self._end_lanes(None)
            return
        node: object
        try:
            if not is_json:
                raise ValueError
            try:
                node = read_json(text)
            except ValueError:
                node = read_cut_json(text)
        except ValueError:
            # No JSON: the text itself is what comes in pieces.
            added = self._append(f"{channel}|text", "", text, True)
            if added is not None:
                parts.append(_Part(*added, text, at, at + len(text), "text"))
            return
        deltas, ends = text_deltas(node)
        for delta in deltas:
            if delta.is_guess and self._knows_protocol:
                continue
            if not delta.is_guess:
                self._knows_protocol = True
            value = str(delta.node)
            added = self._append(f"{channel}|{delta.block}", delta.lane, value, delta.is_guess)
            if added is not None:
                is_cut = delta.node.end > len(text)
                end = at + min(delta.node.end, len(text))
                parts.append(_Part(*added, value, at + delta.node.start, end, "cut string" if is_cut else "string"))
        self._end_lanes(ends)

    def _append(self, name: str, lane: str, text: str, is_guess: bool) -> tuple[_Block, int, int] | None:
        known = self._blocks.get(name)
        block = None if known is None else known[0]
        if block is not None and block.repeats(text):
            if not self._budget.is_spent:
                block.settle()
            return None
        if block is None or block.is_finished:
            block = _Block(self._ruleset, self._budget, is_guess)
            self._blocks[name] = (block, lane)
        begin = block.received
        block.touched = self._taken
        block.push(text)
        return block, begin, block.received

    def _end_lanes(self, ends: list[str] | None) -> None:
        for name, (block, lane) in list(self._blocks.items()):
            if ends is None or lane in ends:
                block.finish()
                del self._blocks[name]

    def _release(self) -> list[Piece]:
        pieces: list[Piece] = []
        for frame in self._waiting:
            if not all(self._is_judged(part) for part in frame.parts):
                break
            pieces.append(self._redacted(frame))
            self._waiting_bytes -= len(frame.data)
        del self._waiting[: len(pieces)]
        return pieces

    def _is_judged(self, part: _Part) -> bool:
        """Whether a part of the frame that is to go out next has been judged, if need be now."""
        block = part.block
        if part.stop <= block.judged:
            return True
        left = self._taken - block.touched
        if block.is_guess:
            # What was only a guess is let go before long: no secret is spread so thin. Where looks are dear, later.
            is_dear = self._budget.is_spent
            if (block.holds_plain_word and not is_dear) or self._waiting_bytes > (_MOST_PATIENCE if is_dear else _PATIENCE):
                block.settle()
        elif left > _MOST_PATIENCE:
            block.withhold()
        elif left > _PATIENCE and block.holds_plain_word:
            block.settle()
        return part.stop <= block.judged

    def _redacted(self, frame: _Frame) -> Piece:
        if any(part.block.has_failed for part in frame.parts):
            return _failed_piece(frame.arrival)
        try:
            if frame.text is None:
                octets = redact_octets(frame.data, self._ruleset)
                return _failed_piece(frame.arrival) if octets.failed is not None else Piece(octets.data, octets.masks, frame.arrival)
            return self._redacted_text(frame, frame.text)
        except Exception:
            return _failed_piece(frame.arrival)

    def _redacted_text(self, frame: _Frame, text: str) -> Piece:
        spliced, masks = _splice(text, frame.parts, self._ruleset.key)
        # What is whole in this frame alone: an error message, the answer told once more at the end.
        redacted, masks = self._mask_further(spliced, masks, frame.has_json)
        # A frame that only held the middle of a secret has lost it and holds no mask.
        if redacted == text:
            return Piece(frame.data, masks, frame.arrival)
        return Piece(utf16.to_bytes(utf16.whole(redacted)), masks_in_bytes(redacted, masks), frame.arrival)

    def _mask_further(self, text: str, masks: list[Mask], holds_json: bool) -> tuple[str, list[Mask]]:
        """Masks what is found in a text that may hold masks already."""
        secrets = search_text(text, self._ruleset).secrets
        if not secrets:
            return text, masks
        spared = self._sparing_frame(text, secrets) if holds_json else secrets
        further = apply_masks(text, spared, self._ruleset.key)
        return further.text, _merged_masks(masks, spared, further.masks)

    def _sparing_frame(self, text: str, secrets: list[Secret]) -> list[Secret]:
        regions = [(at, at + len(region)) for at, region, _, is_json in _regions_of(text, self._framing) if is_json]
        kept = [secret for secret in secrets if not any(start <= secret.start < end for start, end in regions)]
        for start, end in regions:
            inside = [
                secret.at(secret.start - start, min(secret.end, end) - start) for secret in secrets if start <= secret.start < end
            ]
            for secret in sparing_structure(text[start:end], inside, self._ruleset):
                kept.append(secret.at(secret.start + start, secret.end + start))
        return sorted(kept, key=lambda secret: secret.start)


def _failed_piece(arrival: object) -> Piece:
    return Piece(_FAILED_FRAME, [], arrival, failed=True)


def _splice(text: str, parts: list[_Part], key: bytes) -> tuple[str, list[Mask]]:
    masks: list[Mask] = []
    spliced = ""
    at = 0
    for part in sorted(parts, key=lambda one: one.start):
        inside = part.block.secrets_in(part.begin, part.stop)
        if not inside:
            continue
        is_text = part.form == "text"
        quote = "" if is_text else '"'
        spliced += text[at : part.start] + quote
        done = 0
        for begins, ends, rule, secret, plain in inside:
            piece = part.value[done : max(0, begins - part.begin)]
            spliced += piece if is_text else _escaped(piece)
            # The first frame the secret stands in gets its mask.
            if begins >= part.begin:
                masked = masked_secret(secret)
                masked = masked if is_text else _escaped(masked)
                masks.append(Mask(len(spliced), len(masked), rule, secret_tag(key, plain)))
                spliced += masked
            done = min(len(part.value), ends - part.begin)
        rest = part.value[done:]
        spliced += (rest if is_text else _escaped(rest)) + ("" if part.form == "cut string" else quote)
        at = part.end
    return spliced + text[at:], masks


def _escaped(text: str) -> str:
    return utf16.units(json_text.quoted(utf16.whole(text))[1:-1])


def _merged_masks(earlier: list[Mask], secrets: list[Secret], added: list[Mask]) -> list[Mask]:
    """The masks of a text, moved to where they stand after more was masked in it; those that were masked over are gone."""
    every = list(added)
    shift = 0
    following = 0
    for mask in earlier:
        while following < len(secrets) and secrets[following].end <= mask.offset:
            secret = secrets[following]
            behind = added[following].offset + added[following].length + (1 if secret.is_number else 0)
            shift = behind - secret.end
            following += 1
        over = secrets[following] if following < len(secrets) else None
        if over is None or over.start >= mask.offset + mask.length:
            every.append(mask.moved(shift))
    return sorted(every, key=lambda mask: mask.offset)


def _regions_of(text: str, framing: str) -> Iterator[tuple[int, str, str, bool]]:
    """What stands behind `data:`, the whole of a line, or an element of an array: its place, text, channel, and whether it is JSON."""
    if framing == "array":
        at = text.find("{")
        if at >= 0:
            yield at, text[at:], "", True
        return
    if framing == "sse":
        for match in _SSE_DATA.finditer(text):
            data = match[1]
            if _NOT_BLANK.test(data):
                yield match.start(1), data, "", _BEGINS_JSON.test(data)
        return
    for match in _LINE.finditer(text):
        if match[0] == "":
            return
        # Lines of some protocols begin with a letter that says what they carry.
        named = _CHANNEL.match(match[0])
        channel = "" if named is None else named[0]
        data = match[0][len(channel) :]
        if _NOT_BLANK.test(data):
            yield match.start() + len(channel), data, channel, _BEGINS_JSON.test(data)


class _ElementState:
    """Each element of one long JSON array, with what stands before it."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_in_string = False
        self._is_escaped = False

    def end(self, buffer: bytes, start: int) -> int:
        for at in range(start, len(buffer)):
            byte = buffer[at]
            if self._is_in_string:
                if self._is_escaped:
                    self._is_escaped = False
                elif byte == 0x5C:
                    self._is_escaped = True
                elif byte == 0x22:
                    self._is_in_string = False
            elif byte == 0x22:
                self._is_in_string = True
            elif byte in (0x7B, 0x5B):
                self._depth += 1
            elif byte in (0x7D, 0x5D):
                self._depth -= 1
                if self._depth == 1:
                    return at + 1
        return -1
