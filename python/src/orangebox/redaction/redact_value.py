"""A value with every secret in it masked: texts by their own form, and by the key they stand under. Keys themselves stay. Never raises."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..contract import utf16
from .mask import MASK_MIDDLE, Mask, masked_secret, secret_tag
from .paired_value import LABEL_INSIDE
from .redact_text import RedactedText, redact_text
from .secret_values import is_secret_value, kind_of_name

if TYPE_CHECKING:
    from .ruleset import Ruleset

_CREDENTIALS = re.compile(r"(?:^|[^a-z])(?:credentials?|creds)\Z", re.I | re.A)
_DEEPEST = 200
# Longer texts are no secret as a whole, whatever they are called.
_LONGEST_NAMED = 4096


def redact_value(value: object, ruleset: Ruleset) -> tuple[object, list[tuple[str, Mask]], list[str]]:
    """The value, its masks with where in the value their text stands, and the paths of what could not be looked at."""
    known = ruleset.known
    known_before = None if known is None else known.size
    walk = _Walk(ruleset)
    redacted = walk.visit(value, "", None, 0)
    # What was found at its end may stand at its beginning.
    if known is not None and known.size != known_before:
        walk = _Walk(ruleset)
        redacted = walk.visit(value, "", None, 0)
    return redacted, walk.masks, walk.failed


def redact_named_text(name: str, text: str, ruleset: Ruleset) -> RedactedText:
    """A text that stands under a name, as a value would: without the cost of walking one."""
    dot = name.rfind(".")
    kind = (_kind_inside(name[:dot], name[dot + 1 :]) if dot > 0 else None) or kind_of_name(utf16.units(name))
    if not _is_named_secret(kind, text):
        return redact_text(text, ruleset)
    units = utf16.units(text)
    masked = masked_secret(units)
    if ruleset.known is not None:
        ruleset.known.learn(units)
    return RedactedText(utf16.whole(masked), [Mask(0, len(masked), "assignment", secret_tag(ruleset.key, units))])


def _kind_inside(around: str, key: str) -> str | None:
    """What an object calls its value or its key is what the object is called: `credentials: { key: "…" }`."""
    if not LABEL_INSIDE.test(key):
        return None
    return "secret" if _CREDENTIALS.search(around) else kind_of_name(utf16.units(around))


def _is_named_secret(kind: str | None, text: str) -> bool:
    return kind is not None and utf16.length(text) <= _LONGEST_NAMED and is_secret_value(utf16.units(text), kind, "quoted")


class _Walk:
    def __init__(self, ruleset: Ruleset) -> None:
        self._ruleset = ruleset
        self.masks: list[tuple[str, Mask]] = []
        self.failed: list[str] = []

    def visit(self, value: object, path: str, key: str | None, depth: int) -> object:
        try:
            if isinstance(value, str):
                return self._text(value, path, None if key is None else kind_of_name(utf16.units(key)))
            if isinstance(value, dict):
                if depth > _DEEPEST:
                    raise RecursionError
                return {name: self._member(name, item, path, key, depth) for name, item in value.items()}
            if isinstance(value, (list, tuple)):
                if depth > _DEEPEST:
                    raise RecursionError
                return [self.visit(item, _join(path, str(at)), key, depth + 1) for at, item in enumerate(value)]
            return value
        except Exception:
            self.failed.append(path)
            return MASK_MIDDLE

    def _member(self, name: str, item: object, path: str, around: str | None, depth: int) -> object:
        inner = _join(path, name)
        kind = _kind_inside(around, name) if isinstance(item, str) and around is not None else None
        if kind is not None and isinstance(item, str):
            return self._text(item, inner, kind)
        return self.visit(item, inner, name, depth + 1)

    def _text(self, text: str, path: str, kind: str | None) -> str:
        if _is_named_secret(kind, text):
            units = utf16.units(text)
            masked = masked_secret(units)
            if self._ruleset.known is not None:
                self._ruleset.known.learn(units)
            self.masks.append((path, Mask(0, len(masked), "assignment", secret_tag(self._ruleset.key, units))))
            return utf16.whole(masked)
        redacted = redact_text(text, self._ruleset)
        if redacted.failed is not None:
            self.failed.append(path)
        self.masks += [(path, mask) for mask in redacted.masks]
        return redacted.text


def _join(path: str, part: str) -> str:
    return part if path == "" else f"{path}.{part}"
