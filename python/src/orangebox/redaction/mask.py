"""A secret with its middle taken out: present and comparable, so that a rotated key shows as a change, and useless to a thief."""

from __future__ import annotations

import hashlib
import hmac
import re

from ..contract import utf16
from ..contract.summary import SPACES

MASK_MIDDLE = "…redacted…"
_TAG_LENGTH = 24
_LONGEST_ESCAPE = 8
_PART_OF_ESCAPE = re.compile(r"[\\%&\x00-\x1f]")
_BREAKS = re.compile(rf"\\{{1,7}}[nr]|[{SPACES}\\]")
_DIGEST_WORD = re.compile(r"hmac:[0-9a-f]{24}\Z")


class Mask:
    """Where a mask stands in a redacted text: UTF-16 units in a string, bytes in a body."""

    __slots__ = ("length", "offset", "rule", "tag")

    def __init__(self, offset: int, length: int, rule: str, tag: str) -> None:
        self.offset = offset
        self.length = length
        self.rule = rule
        self.tag = tag

    def moved(self, by: int) -> Mask:
        return Mask(self.offset + by, self.length, self.rule, self.tag)

    def __repr__(self) -> str:
        return f"Mask({self.offset}, {self.length}, {self.rule!r}, {self.tag!r})"


def masked_secret(secret: str) -> str:
    """Takes and gives units (`utf16.units`)."""
    size = len(secret)
    shown = 3 if size >= 13 else 2 if size >= 11 else 1 if size >= 8 else 0
    if shown == 0 or _has_fragile_ends(secret, shown):
        return MASK_MIDDLE
    return secret[:shown] + MASK_MIDDLE + secret[-shown:]


def _has_fragile_ends(secret: str, shown: int) -> bool:
    # Half an escape would break the JSON or the address around it, half a surrogate pair the UTF-8.
    return (
        _PART_OF_ESCAPE.search(secret[:shown]) is not None
        or _PART_OF_ESCAPE.search(secret[-_LONGEST_ESCAPE:]) is not None
        or "\ud800" <= secret[shown - 1] <= "\udbff"
        or "\udc00" <= secret[-shown] <= "\udfff"
    )


def is_mask(text: str) -> bool:
    """Whether a text is a mask and nothing else."""
    twice = len(text) - len(MASK_MIDDLE)
    return 0 <= twice <= 6 and twice % 2 == 0 and text.startswith(MASK_MIDDLE, twice // 2)


def is_end_of_mask(text: str, at: int) -> bool:
    """Whether the last characters before `at` end a mask: what follows then is the shown end of a secret."""
    for shown in range(4):
        end = at - shown
        if end >= len(MASK_MIDDLE) and text[end - 1 : end] == "…":
            return text.startswith(MASK_MIDDLE, end - len(MASK_MIDDLE))
    return False


def secret_tag(key: bytes, secret: str) -> str:
    """The keyed tag of a secret. Line breaks do not count, so that a private key has one tag however it is written."""
    plain = _BREAKS.sub("", secret)
    return hmac.new(key, utf16.to_bytes(utf16.whole(plain)), hashlib.sha256).hexdigest()[:_TAG_LENGTH]


def keyed_digest(key: bytes, content: bytes) -> str:
    """A digest that compares within one store and that a reader without the store's key cannot check a guess against."""
    return f"sha256:{hmac.new(key, content, hashlib.sha256).hexdigest()}"


def digest_word(key: bytes, word: str) -> str:
    return f"hmac:{keyed_digest(key, utf16.to_bytes(word))[7:31]}"


def is_digest_word(value: object) -> bool:
    return isinstance(value, str) and _DIGEST_WORD.match(value) is not None


def tagged_bytes(data: bytes, masks: list[Mask]) -> bytes:
    """A redacted body with the tag of each secret in the place of its mask: what is signed or hashed to be compared is taken from this form."""
    if not masks:
        return data
    parts: list[bytes] = []
    at = 0
    for mask in masks:
        parts += (data[at : mask.offset], f"…redacted:{mask.tag}…".encode())
        at = mask.offset + mask.length
    return b"".join([*parts, data[at:]])


def tagged_text(text: str, masks: list[Mask]) -> str:
    if not masks:
        return text
    units = utf16.units(text)
    tagged = ""
    at = 0
    for mask in masks:
        tagged += f"{units[at : mask.offset]}…redacted:{mask.tag}…"
        at = mask.offset + mask.length
    return utf16.whole(tagged + units[at:])
