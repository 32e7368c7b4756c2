"""What tools put before a line: its number, the path of grep, the commit of blame, the time of a log, the sign of a diff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .rule_data import rules_file
from .view import View, view_from, view_without

_MOST_GUTTERS = 3
_LEAD = 128
_REACH = 20_000


@lru_cache(maxsize=1)
def _patterns() -> tuple[list[re.Pattern[str]], re.Pattern[str], re.Pattern[str]]:
    normalise = rules_file()["normalise"]
    gutter, line_break = "|".join(normalise["gutter"]), normalise["lineBreak"]
    return (
        # One gutter, and as many as there are: what looks like a second one may be the line itself.
        [re.compile(f"({line_break})((?:[ \\t]{{0,12}}(?:{gutter})){{1,{most}}})", re.ASCII) for most in (1, _MOST_GUTTERS)],
        re.compile(f"[ \\t]{{0,12}}(?:{gutter})", re.ASCII),
        re.compile(line_break, re.ASCII),
    )


def without_gutters(text: str, places: list[int]) -> Iterator[View]:
    """The stretches of a text in which lines matter, with the gutter of every line gone. `places`: keywords of rules that reach over lines."""
    end = 0
    for place in places:
        if place + _REACH / 2 <= end or end == len(text):
            continue
        start = max(0, place - _LEAD)
        end = min(len(text), place + _REACH)
        length = end - start
        for pattern in _patterns()[0]:
            view = view_without(text[start:end], pattern, lambda match: (match.end(1), match.end(2), ""))
            if view is None or len(view.text) == length:
                break
            length = len(view.text)
            yield view_from(start, view)


def end_of_gutter(text: str, line_start: int) -> int:
    return ends_of_gutters(text, line_start)[-1]


def ends_of_gutters(text: str, line_start: int) -> list[int]:
    """Behind no gutter, one, two or three: what looks like one may be the line itself."""
    ends = [line_start]
    for gutters in range(_MOST_GUTTERS):
        match = _patterns()[1].match(text, ends[gutters])
        if match is None:
            break
        ends.append(match.end())
    return ends


def next_line(text: str, at: int, most: int = _MOST_GUTTERS) -> int | None:
    """Where the next line goes on behind its gutter, of so many parts at most; None where no line ends here."""
    match = _patterns()[2].match(text, at)
    return None if match is None else ends_of_gutters(text, match.end())[: most + 1][-1]
