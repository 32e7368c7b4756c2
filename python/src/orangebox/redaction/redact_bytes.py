"""
A body with every secret masked. It is searched message by message, so that with a memory the messages an agent sends again and again are
searched once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..contract import utf16
from .json_structure import looks_like_json
from .known_values import KnownValues
from .mask import MASK_MIDDLE, Mask, masked_secret, secret_tag
from .redact_text import redact_units

if TYPE_CHECKING:
    from .ruleset import Ruleset
    from .seen_text import SeenText

_ROLE = b'"role"'
_SHORTEST_SEGMENT = 2048


class RedactedBytes:
    """`data` is the same object where nothing was masked; offsets and lengths of masks are in bytes."""

    __slots__ = ("data", "failed", "is_undecodable", "masks")

    def __init__(self, data: bytes, masks: list[Mask], failed: str | None = None, is_undecodable: bool = False) -> None:
        self.data = data
        self.masks = masks
        self.failed = failed
        self.is_undecodable = is_undecodable


def redact_bytes(data: bytes, ruleset: Ruleset, seen: SeenText | None = None) -> RedactedBytes:
    try:
        data.decode()
    except UnicodeDecodeError:
        return RedactedBytes(data, [], is_undecodable=True)
    parts: list[bytes] = []
    masks: list[Mask] = []
    # Each segment begins outside all strings.
    is_json = looks_like_json(data[:160].decode("latin-1"))
    length = 0
    for segment in _message_segments(data):
        if seen is None:
            redacted = _redact_segment(segment, ruleset, is_json)
        else:
            redacted = seen.once(segment, len(parts), lambda one: _redact_segment(one, ruleset, is_json))
        if redacted.failed is not None:
            return redacted
        masks += [mask.moved(length) for mask in redacted.masks]
        parts.append(redacted.data)
        length += len(redacted.data)
    whole = RedactedBytes(b"".join(parts) if masks else data, masks)
    return whole if ruleset.known is None else _mask_known(whole, ruleset.known, ruleset.key)


def _mask_known(redacted: RedactedBytes, known: KnownValues, key: bytes) -> RedactedBytes:
    """Outside the memory of what was searched: what is known grows, and nothing that is remembered has to be forgotten because of it."""
    data = redacted.data
    places = known.find_in_bytes(data)
    if not places:
        return redacted
    parts: list[bytes] = []
    masks: list[Mask] = []
    earlier = redacted.masks
    length = at = following = 0

    def keep_up_to(end: int) -> None:
        nonlocal length, at, following
        while following < len(earlier) and earlier[following].offset < end:
            mask = earlier[following]
            if mask.offset >= at:
                masks.append(mask.moved(length - at))
            following += 1
        parts.append(data[at:end])
        length += end - at
        at = end

    for place in places:
        keep_up_to(place.start)
        secret = utf16.units(data[place.start : place.end].decode(errors="replace"))
        masked = utf16.to_bytes(utf16.whole(masked_secret(secret)))
        masks.append(Mask(length, len(masked), place.rule, secret_tag(key, secret if place.plain is None else place.plain)))
        parts.append(masked)
        length += len(masked)
        at = place.end
    keep_up_to(len(data))
    return RedactedBytes(b"".join(parts), masks)


def _redact_segment(segment: bytes, ruleset: Ruleset, is_json: bool) -> RedactedBytes:
    units = utf16.units(segment.decode(errors="replace"))
    redacted = redact_units(units, ruleset, is_json)
    if redacted.failed is not None:
        return RedactedBytes(MASK_MIDDLE.encode(), [], redacted.failed)
    if not redacted.masks:
        return RedactedBytes(segment, [])
    return RedactedBytes(utf16.to_bytes(utf16.whole(redacted.text)), masks_in_bytes(redacted.text, redacted.masks))


def byte_length(units: str) -> int:
    """Of a text in units, in UTF-8."""
    return len(units) if units.isascii() else len(utf16.to_bytes(utf16.whole(units)))


def masks_in_bytes(text: str, masks: list[Mask]) -> list[Mask]:
    """Masks of a text in units, counted in the bytes of its UTF-8 form."""
    placed: list[Mask] = []
    at = offset = 0
    for mask in masks:
        offset += byte_length(text[at : mask.offset])
        start = offset
        at = mask.offset + mask.length
        offset += byte_length(text[mask.offset : at])
        placed.append(Mask(start, offset - start, mask.rule, mask.tag))
    return placed


def redact_octets(data: bytes, ruleset: Ruleset) -> RedactedBytes:
    """Bytes that are no UTF-8: secrets are plain letters wherever they stand, so each byte is read as one character."""
    redacted = redact_units(data.decode("latin-1"), ruleset)
    if redacted.failed is not None:
        return RedactedBytes(MASK_MIDDLE.encode(), [], redacted.failed)
    if not redacted.masks:
        return RedactedBytes(data, [])
    return RedactedBytes(*octets_with_masks(redacted.text, redacted.masks))


def octets_with_masks(text: str, masks: list[Mask]) -> tuple[bytes, list[Mask]]:
    """The masks are ours and UTF-8; everything around them goes back to the bytes it came from."""
    parts: list[bytes] = []
    placed: list[Mask] = []
    at = length = 0
    for mask in masks:
        before = text[at : mask.offset].encode("latin-1")
        at = mask.offset + mask.length
        masked = text[mask.offset : at].encode()
        placed.append(Mask(length + len(before), len(masked), mask.rule, mask.tag))
        parts += (before, masked)
        length += len(before) + len(masked)
    parts.append(text[at:].encode("latin-1"))
    return b"".join(parts), placed


def _message_segments(body: bytes) -> Iterator[bytes]:
    """Cuts a request between its messages: before the `"role"` of each, which cannot stand inside a secret. Short messages stay together."""
    start = 0
    while len(body) - start > _SHORTEST_SEGMENT:
        role = body.find(_ROLE, start + _SHORTEST_SEGMENT)
        if role < 0:
            break
        cut = role - 1 if body[role - 1] == 0x7B else role
        yield body[start:cut]
        start = cut
    yield body[start:] if start else body
