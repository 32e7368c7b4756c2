"""
Patterns as the TypeScript package writes them, compiled to mean the same here: white space is Unicode's, `.` leaves out every line break,
`$` is the very end, words and digits are ASCII. Compiled when first used: of all patterns a recording meets a dozen.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..contract.summary import SPACES

_NOT_BREAK = "[^\\n\\r\\u2028\\u2029]"


def js(source: str, flags: str = "") -> Pattern:
    return Pattern(source, flags)


class Pattern:
    __slots__ = ("_compiled", "_flags", "source")

    def __init__(self, source: str, flags: str = "") -> None:
        self.source = source
        self._flags = re.ASCII | (re.IGNORECASE if "i" in flags else 0)
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(translated(self.source), self._flags)
        return self._compiled

    def at(self, text: str, at: int) -> re.Match[str] | None:
        """A match that begins exactly here."""
        return self.compiled.match(text, at) if at >= 0 else None

    def after(self, text: str, at: int) -> int | None:
        """Where such a match ends."""
        match = self.compiled.match(text, at) if at >= 0 else None
        return None if match is None else match.end()

    def find(self, text: str, at: int = 0) -> re.Match[str] | None:
        return self.compiled.search(text, at)

    def test(self, text: str) -> bool:
        return self.compiled.search(text) is not None

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self.compiled.sub(by, text)

    def all(self, text: str) -> list[re.Match[str]]:
        return list(self.compiled.finditer(text))


def translated(source: str) -> str:
    out: list[str] = []
    at = 0
    in_class = False
    while at < len(source):
        character = source[at]
        if character == "\\":
            escape = source[at + 1]
            at += 2
            if escape == "s":
                out.append(SPACES if in_class else f"[{SPACES}]")
            elif escape == "S":
                # Inside a set it only ever stands beside `\s`: any character.
                out.append("\\x00-\\U0010ffff" if in_class else f"[^{SPACES}]")
            elif escape == "0":
                out.append("\\x00")
            elif escape == "/":
                out.append("/")
            else:
                out.append("\\" + escape)
            continue
        at += 1
        if in_class:
            if character == "]":
                in_class = False
            out.append("\\" + character if character in "[&~|" else character)
        elif character == "[":
            in_class = True
            out.append(character)
            if source.startswith("^", at):
                out.append("^")
                at += 1
        elif character == ".":
            out.append(_NOT_BREAK)
        elif character == "$":
            out.append("\\Z")
        else:
            out.append(character)
    return "".join(out)
