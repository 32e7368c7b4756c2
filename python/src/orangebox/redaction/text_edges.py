"""Characters of a text and the ends of its words. Texts are in units (`utf16.units`) all through this package."""

from __future__ import annotations

from .js_regex import js
from .mask import is_end_of_mask

_ALPHANUMERIC = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_HEX = frozenset("0123456789abcdefABCDEF")
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset("0123456789")
_ASCII_SPACE = frozenset(" \t\n\v\f\r")
WHITE = js("\\s")


def char(text: str, at: int) -> str:
    """Empty outside of the text."""
    return text[at] if 0 <= at < len(text) else ""


def starts(text: str, beginning: str, at: int) -> bool:
    return text.startswith(beginning, max(0, at))


def last_index(text: str, part: str, at: int) -> int:
    """The last place at or before `at`."""
    return text.rfind(part, 0, max(0, at) + len(part))


def is_digit(character: str) -> bool:
    return character in _DIGITS and character != ""


def is_letter(character: str) -> bool:
    return character in _LETTERS


def is_alphanumeric(character: str) -> bool:
    return character in _ALPHANUMERIC


def is_space(character: str) -> bool:
    """In ASCII."""
    return character in _ASCII_SPACE


def begins_word(text: str, at: int) -> bool:
    """Recorded text is often JSON inside JSON, so an escape ends before a word as the character it stands for would."""
    if at == 0:
        return True
    return (char(text, at - 1) not in _ALPHANUMERIC or ends_escape(text, at)) and not is_end_of_mask(text, at)


def ends_word(text: str, at: int) -> bool:
    following = char(text, at)
    return following not in _ALPHANUMERIC and following != "_"


def ends_escape(text: str, at: int) -> bool:
    if char(text, at - 2) == "\\":
        return char(text, at - 1) != "" and char(text, at - 1) in "nrtbf"
    if char(text, at - 3) == "%":
        return char(text, at - 1) in _HEX and char(text, at - 2) in _HEX
    if char(text, at - 6) != "\\" or char(text, at - 5) != "u":
        return False
    return all(char(text, i) in _HEX for i in range(at - 4, at))


def is_unspaced(character: str) -> bool:
    """Of a script that is written without spaces. No keyword and no form has such a character."""
    return (
        "\u3001" <= character <= "\u9fff"
        or "\u0e00" <= character <= "\u0eff"
        or "\u1000" <= character <= "\u109f"
        or "\u1780" <= character <= "\u17ff"
        or "\uf900" <= character <= "\ufaff"
    )
