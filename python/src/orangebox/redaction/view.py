"""A text made plainer for the rules, which knows for each of its characters where it stood."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from re import Match, Pattern


class View:
    __slots__ = ("_original", "is_open", "text")

    def __init__(self, text: str, original: Callable[[int, int], tuple[int, int]], is_open: bool = False) -> None:
        self.text = text
        self._original = original
        self.is_open = is_open

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the text as it was that a stretch of this one stands for."""
        return self._original(start, end)


def view_without(
    text: str, pattern: Pattern[str], replacement: Callable[[Match[str]], tuple[int, int, str] | None]
) -> View | None:
    """A text with every match replaced, by one character or none; None where there is none, which is what most texts are."""
    parts: list[str] = []
    in_view: list[int] = []
    in_text: list[int] = []
    places: list[bool] = []
    at = 0
    length = 0
    for match in pattern.finditer(text):
        replaced = replacement(match)
        if replaced is None or replaced[0] < at:
            continue
        start, end, by = replaced
        parts += (text[at:start], by)
        length += start - at + len(by)
        at = end
        in_view.append(length)
        in_text.append(at)
        places.append(by != "")
    if not in_view:
        return None
    parts.append(text[at:])

    def place_of(index: int) -> tuple[int, int]:
        before = bisect_right(in_view, index) - 1
        shift = 0 if before < 0 else in_text[before] - in_view[before]
        following = before + 1
        is_replaced = following < len(in_view) and in_view[following] == index + 1 and places[following]
        return index + shift, in_text[following] if is_replaced else index + shift + 1

    def original(start: int, end: int) -> tuple[int, int]:
        first = place_of(start)[0]
        return (first, first) if end <= start else (first, place_of(end - 1)[1])

    return View("".join(parts), original)


def view_from(start: int, view: View) -> View:
    """A view of a stretch of a text, as one of the whole."""

    def original(view_start: int, view_end: int) -> tuple[int, int]:
        inside = view.original(view_start, view_end)
        return start + inside[0], start + inside[1]

    return View(view.text, original)


def view_through(outer: View | None, inner: View) -> View:
    """A view of a view."""
    if outer is None:
        return inner
    around = outer

    def original(start: int, end: int) -> tuple[int, int]:
        return around.original(*inner.original(start, end))

    return View(inner.text, original, inner.is_open)
