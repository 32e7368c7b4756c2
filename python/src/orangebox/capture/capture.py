"""
What becomes of content on its way to the journal, in the one place every path goes through. `full` keeps it, `redacted` keeps it with its
secrets masked. Pure but for a memory of what was searched before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..contract import utf16
from ..contract.hashes import body_hash
from ..contract.summary import summarize_text
from ..redaction.mask import MASK_MIDDLE, Mask, digest_word, keyed_digest, tagged_bytes, tagged_text

if TYPE_CHECKING:
    from ..redaction.redact_bytes import RedactedBytes
    from ..redaction.ruleset import Ruleset

_SUMMARY_SOURCE = 4096
_MOST_NAMES = 1024
_LONGEST_SECRET = 16_384
_MAX_LISTED_MASKS = 64

_RANK = {"not_required": 0, "redacted": 1, "blocked": 2, "failed": 3}


def worse(one: str, other: str) -> str:
    """What the event as a whole says: the worst that happened to any part of it."""
    return one if _RANK[one] >= _RANK[other] else other


class CapturedContent:
    """Content as it may be stored. `data` is None where the bytes are not kept."""

    __slots__ = ("absent", "byte_size", "data", "hash", "masks", "profile", "status")

    def __init__(
        self,
        hash: str,
        data: bytes | None,
        byte_size: int,
        masks: list[Mask],
        status: str,
        profile: str,
        absent: str | None = None,
    ) -> None:
        self.hash = hash
        self.data = data
        self.byte_size = byte_size
        self.masks = masks
        self.status = status
        self.profile = profile
        self.absent = absent


class Capture:
    def __init__(self, mode: str, key: bytes, *, pii: bool = False, public_keys: bool = False) -> None:
        self.mode = mode
        self.key = key
        self.is_full = mode == "full"
        self._clean_names: set[str] = set()
        self._known_at_names = -1
        if not self.is_full:
            # Only here: an application that keeps everything does not pay for the rules.
            from ..redaction.known_values import KnownValues
            from ..redaction.ruleset import create_ruleset
            from ..redaction.seen_text import SeenText

            self.ruleset: Ruleset = create_ruleset(key, pii=pii, public_keys=public_keys, known=KnownValues())
            self._seen = SeenText()

    def searched(self, text: str) -> str:
        """Text with its secrets masked, unless everything is kept."""
        if self.is_full:
            return text
        from ..redaction.redact_text import redact_text

        return redact_text(text, self.ruleset).text

    def summary(self, text: str) -> str:
        """The beginning of a text on one line. Searched before it is cut, for half a secret has no form."""
        return summarize_text(self.searched(utf16.beginning(text, _SUMMARY_SOURCE)))

    def beginning(self, text: str, longest: int) -> str:
        """The beginning of a text that has to be cut: searched before, with all that a secret at its end may need."""
        if utf16.length(text) <= longest:
            return text
        return utf16.well_formed(utf16.units(self.searched(utf16.beginning(text, longest + _LONGEST_SECRET)))[:longest])

    def comparable(self, text: str) -> str:
        """What a digest of this text may be taken of."""
        if self.is_full:
            return text
        from ..redaction.redact_text import redact_text

        redacted = redact_text(text, self.ruleset)
        return tagged_text(redacted.text, redacted.masks)

    def keyed(self, value: str) -> str:
        return keyed_digest(self.key, utf16.to_bytes(value))

    def digest_word(self, value: str) -> str:
        return digest_word(self.key, value)

    def conversation_id(self, conversation: str) -> str:
        """An id that every event of a run repeats."""
        return conversation if self.searched(conversation) == conversation else self.digest_word(conversation)

    def chosen_name(self, name: str) -> str:
        """The name of a part of the application, or of an attribute: an id that its developer chose, out of anything."""
        if self.is_full:
            return name
        # The same few names over and over; what was clean may be known as a secret by now.
        size = self.ruleset.known.size  # type: ignore[union-attr]
        if self._known_at_names != size or len(self._clean_names) > _MOST_NAMES:
            self._clean_names = set()
            self._known_at_names = size
        if name in self._clean_names:
            return name
        text = self.searched(name)
        if text == name:
            self._clean_names.add(name)
        return text

    def content(self, field: str, data: bytes, is_encoded: bool = False) -> CapturedContent:
        """Bytes of a body that an event names in `field`."""
        if self.is_full:
            return _plain(data)
        if is_encoded:
            digest = keyed_digest(self.key, data)
            return CapturedContent(digest, None, len(data), [], "blocked", "hashed", "not_kept")
        if field == "stream_index_ref":
            return _plain(data)
        profile = self.ruleset.profile
        redacted = self.redact(data)
        if redacted.failed is not None:
            mask = MASK_MIDDLE.encode()
            return CapturedContent(body_hash(mask), mask, len(mask), [], "failed", profile)
        status = "redacted" if redacted.masks else "not_required"
        return CapturedContent(body_hash(redacted.data), redacted.data, len(redacted.data), redacted.masks, status, profile)

    def redact(self, data: bytes) -> RedactedBytes:
        from ..redaction.redact_bytes import redact_bytes, redact_octets

        redacted = redact_bytes(data, self.ruleset, self._seen)
        return redact_octets(data, self.ruleset) if redacted.is_undecodable else redacted

    @property
    def profile(self) -> str:
        return "none" if self.is_full else self.ruleset.profile


def _plain(data: bytes) -> CapturedContent:
    return CapturedContent(body_hash(data), data, len(data), [], "not_required", "none")


def comparable_bytes(content: CapturedContent) -> bytes | None:
    """The form of captured bytes that signatures are taken of."""
    return None if content.data is None else tagged_bytes(content.data, content.masks)


def listed_masks(masks: list[Mask]) -> dict[str, object]:
    """Masks as a ref lists them."""
    if not masks:
        return {}
    listed: dict[str, object] = {
        "masks": [
            {"offset": mask.offset, "length": mask.length, "rule": mask.rule, "tag": mask.tag}
            for mask in masks[:_MAX_LISTED_MASKS]
        ]
    }
    if len(masks) > _MAX_LISTED_MASKS:
        listed["mask_count"] = len(masks)
    return listed
