"""
Where a text ends in what may be the beginning of a match. Where each character that a pattern asks for may also be the end of the text, it
matches every beginning of what it matched; asked to reach the end, only those that more text may complete.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .keyword_index import SweepRule

# The tokens of a pattern, those that ask for no character in a group.
_TOKEN = re.compile(
    r"(\(\?<?[=!](?:\\.|\[(?:\\.|[^\]])*\]|[^()\[\]\\])*\)|\((?:\?:)?|[)|^$]|(?:[*+?]|\{\d+(?:,\d*)?\})\??)|"
    r"\\(?:x[\da-f]{2}|u[\da-f]{4}|c[a-z]|[\s\S])|\[(?:\\.|[^\]\\])*\]|[\s\S]",
    re.I,
)


class OpenSweep:
    __slots__ = ("longest", "pattern")

    def __init__(self, pattern: re.Pattern[str], longest: int) -> None:
        self.pattern = pattern
        self.longest = longest


def open_sweep(sweep: SweepRule) -> OpenSweep:
    opened = _TOKEN.sub(lambda token: token[0] if token[1] is not None else f"(?:{token[0]}|\\Z)", sweep.source)
    return OpenSweep(re.compile(f"(?:{opened})\\Z", sweep.pattern.flags & ~re.UNICODE), sweep.longest)


def start_of_open_match(text: str, sweeps: list[OpenSweep]) -> int:
    """Where what may become a match begins; the length of the text where nothing may."""
    start = len(text)
    for sweep in sweeps:
        # One more than the longest match: what follows it decides whether it ends there.
        match = sweep.pattern.search(text, max(0, len(text) - sweep.longest - 1))
        if match is not None:
            start = min(start, match.start())
    return start
