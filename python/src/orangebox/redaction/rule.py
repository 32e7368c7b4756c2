"""What rules find, and what they promise to streams: how far they look back, and how long what they find may be."""

from __future__ import annotations

LEAD = 2048
LONGEST_SECRET = 16_384


class Found:
    """Where a secret stands in a text. `is_open`: the text ended before the secret did. `is_loose`: known by less than the whole form."""

    __slots__ = ("end", "is_loose", "is_open", "start")

    def __init__(self, start: int, end: int, is_open: bool = False, is_loose: bool = False) -> None:
        self.start = start
        self.end = end
        self.is_open = is_open
        self.is_loose = is_loose


class Secret:
    """`plain` is what was found, where that is not what stands there: coloured, escaped, encoded."""

    __slots__ = ("end", "is_loose", "is_number", "plain", "rule", "start")

    def __init__(
        self, start: int, end: int, rule: str, plain: str | None = None, is_loose: bool = False, is_number: bool = False
    ) -> None:
        self.start = start
        self.end = end
        self.rule = rule
        self.plain = plain
        self.is_loose = is_loose
        self.is_number = is_number

    def at(self, start: int, end: int) -> Secret:
        if start == self.start and end == self.end:
            return self
        return Secret(start, end, self.rule, self.plain, self.is_loose, self.is_number)


KNOWN_VALUE = "known-value"
"""The rule that masks of known values name."""


def joined(found: list[Secret]) -> list[Secret]:
    """What overlaps is one secret."""
    if len(found) < 2:
        return found
    found.sort(key=lambda one: (one.start, -one.end, one.rule, len(one.plain or "")))
    apart: list[Secret] = []
    for secret in found:
        if not apart or secret.start >= apart[-1].end:
            apart.append(secret)
        else:
            apart[-1] = _union(apart[-1], secret)
    return apart


_LOOSE = 2


def _strength(secret: Secret) -> int:
    if secret.rule == KNOWN_VALUE:
        return 0
    return 1 if secret.rule == "assignment" else _LOOSE if secret.is_loose else 3


def _union(a: Secret, b: Secret) -> Secret:
    end = max(a.end, b.end)
    # In plain only where one of the two is the whole.
    plain = a.plain if a.end == end else None
    if plain is None and b.start == a.start and b.end == end:
        plain = b.plain
    rule = b.rule if _strength(b) > _strength(a) else a.rule
    return Secret(a.start, end, rule, plain, max(_strength(a), _strength(b)) == _LOOSE)
