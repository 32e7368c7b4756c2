"""A text with every secret masked. Never raises: where a rule does, the whole value is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..contract import utf16
from .json_structure import looks_like_json, sparing_structure
from .mask import MASK_MIDDLE, Mask, masked_secret, secret_tag
from .rule import Secret
from .search_text import search_text

if TYPE_CHECKING:
    from .ruleset import Ruleset


class RedactedText:
    """Offsets of masks count UTF-16 units. `failed`: a rule raised; the value is gone, and this says which way it went."""

    __slots__ = ("failed", "masks", "text")

    def __init__(self, text: str, masks: list[Mask], failed: str | None = None) -> None:
        self.text = text
        self.masks = masks
        self.failed = failed


def redact_text(text: str, ruleset: Ruleset, is_json: bool | None = None) -> RedactedText:
    units = utf16.units(text)
    redacted = redact_units(units, ruleset, is_json)
    if redacted.text is units:
        return RedactedText(text, redacted.masks)
    redacted.text = utf16.whole(redacted.text)
    return redacted


def redact_units(text: str, ruleset: Ruleset, is_json: bool | None = None) -> RedactedText:
    """The same for a text in units, which it stays."""
    try:
        secrets = search_text(text, ruleset).secrets
        if secrets and (looks_like_json(text) if is_json is None else is_json):
            secrets = sparing_structure(text, secrets, ruleset)
        return apply_masks(text, secrets, ruleset.key) if secrets else RedactedText(text, [])
    except Exception as error:
        return failed_text(error)


def apply_masks(text: str, secrets: list[Secret], key: bytes) -> RedactedText:
    masks: list[Mask] = []
    tags: dict[str, str] = {}
    parts: list[str] = []
    length = 0
    at = 0
    for secret in secrets:
        found = text[secret.start : secret.end]
        plain = found if secret.plain is None else secret.plain
        tag = tags.get(plain)
        if tag is None:
            tag = tags[plain] = secret_tag(key, plain)
        masked = masked_secret(found)
        quote = '"' if secret.is_number else ""
        before = text[at : secret.start] + quote
        masks.append(Mask(length + len(before), len(masked), secret.rule, tag))
        parts += (before, masked, quote)
        length += len(before) + len(masked) + len(quote)
        at = secret.end
    parts.append(text[at:])
    return RedactedText("".join(parts), masks)


def failed_text(error: BaseException) -> RedactedText:
    """The class of the error and nothing else: its message may quote the text."""
    return RedactedText(MASK_MIDDLE, [], type(error).__name__)
