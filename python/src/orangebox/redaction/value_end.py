"""Where a value ends: at its quote, at a blank, at the end of its line, its element or its place in a list."""

from __future__ import annotations

from .gutters import ends_of_gutters
from .js_regex import js
from .text_edges import char, is_space, starts

LONGEST_VALUE = 4096
# Shorter, for a text can be made of nothing but names and values, each the beginning of the next.
_LONGEST_BARE_VALUE = 1024

_QUOTE_IN_SHELL = js(r"'\\{1,8}''")
_DOUBLED = js(r"""[^\s,;:)\]}"'\\]""")
_ENDS_BARE = js("[ \\t\\n\\v\\f\\r\\\\\"'`,;&<]")
_BACKSLASHES_ETC = js(r"\s|\\[nrt]")
_BLANKS_LAST = js(r"\s{1,40}$")
_TAG_BEHIND = js(r"(?:<|&lt;)\\{0,8}\/[A-Za-z][\w:.-]{0,40}(?:>|&gt;|\s|$)")
_TAG = js(r"<(?:\/|[A-Za-z][\w:-]{0,20}(?:\s|\/?>))")
_CLOSES = js(r"^[\s),;\]}>]?$")
_QUOTE_INSIDE = js(r"""\\{1,8}["'](?=[^\s,:;}\]\\])""")
_BEFORE_NAME = js(
    r"^[ \t]{0,40}(?:[\w.-]{1,20}=)?(?:(?:export|set|setx|declare|local|readonly|typeset|env|ENV|ARG|-x|-e|--env|\$env:|[$@#*+-]|__|\/\/|--)"
    r"[ \t]{0,4}){0,4}(?:[A-Z]?[a-z]{1,15} ){0,3}$"
)
_NEXT = js(
    r"""[&;,]\\{0,8}["']?[A-Za-z_][\w.-]{1,40}\\{0,8}["']?(?:=|: )|<\/[A-Za-z][\w:-]{0,30}>|<br ?\/?>|\}[,;}\])]{0,3}(?:\s|$)"""
)
_ESCAPED_QUOTE = js(r"""\\{1,8}["']""")
_CLOSES_JSON = js(r"^[\s,:\]}]?$")
_SEPARATE_WORD = js(r"[A-Za-z ] $")
_FURTHEST_START = 96
_FURTHEST_QUOTE = 1024


def end_of_quoted(text: str, value_at: int, quote: str, depth: int) -> int | None:
    """At its quote, with no more backslashes than the opening one had."""
    last = min(len(text), value_at + LONGEST_VALUE)
    if len(quote) > 1:
        within = text[value_at:last]
        end = within.find(quote)
        return None if end < 0 or within.rfind("\n", 0, end + 1) >= 0 else value_at + end
    backslashes = 0
    at = value_at
    while at < last:
        character = text[at]
        if character == "\\":
            backslashes += 1
            at += 1
            continue
        if quote != "" and character == quote and backslashes <= depth:
            # So a shell writes a single quote inside two of them.
            shell = _QUOTE_IN_SHELL.after(text, at) if quote == "'" else None
            if shell is not None:
                at = shell
                backslashes = 0
                continue
            # SQL, Visual Basic and CSV write a quote inside as two of them.
            second = at + 1 + depth
            if at == value_at + depth or char(text, second) != quote or not _is_doubled(text, at, second, quote):
                return at - backslashes
            at = second
        if character == "\n":
            return None
        backslashes = 0
        at += 1
    return None


def _is_doubled(text: str, first: int, second: int, quote: str) -> bool:
    """`'it''s'`: two quotes, written alike, with more of the value behind them, and one that ends it."""
    is_alike = text[first + 1 : second] == "\\" * (second - first - 1)
    return is_alike and char(text, second + 1) != quote and _DOUBLED.after(text, second + 1) is not None


def end_of_bare_value(text: str, start: int) -> int:
    """Of an unquoted value that stands in the middle of a line."""
    end = _end_of_word(text, start)
    if end - start > _LONGEST_BARE_VALUE:
        return start
    # Three dots say that the rest was left out: there is nothing to hide.
    if starts(text, "...", end - 3):
        return start
    while end > start and _is_trailing(text, start, end):
        end -= 1
    return end


def is_too_long(text: str, start: int) -> bool:
    return _end_of_word(text, start) - start > _LONGEST_BARE_VALUE


def _end_of_word(text: str, start: int) -> int:
    match = _ENDS_BARE.find(text, start)
    return len(text) if match is None else match.start()


_OPENING = {")": "(", "]": "[", "}": "{"}


def _is_trailing(text: str, start: int, end: int) -> bool:
    """A bracket that the value did not open belongs to the sentence around it, and so do its full stop and colon."""
    character = text[end - 1]
    if character in ".:":
        return True
    opening = _OPENING.get(character)
    return opening is not None and opening not in text[start:end]


def is_rest_of_text(text: str, start: int) -> bool:
    """Whether the text breaks off in this word: whatever would have ended it has not come."""
    return len(text) - start <= _LONGEST_BARE_VALUE and not _BACKSLASHES_ETC.test(text[start:])


def end_of_element_text(text: str, start: int) -> int | None:
    tag = _TAG_BEHIND.find(text[start : start + _LONGEST_BARE_VALUE])
    if tag is not None:
        return start + len(_BLANKS_LAST.sub("", text[start : start + tag.start()]))
    return len(text) if is_rest_of_text(text, start) else None


def end_of_one_of_several(text: str, start: int, separator: str) -> int:
    """As in an address or in a connection string: it ends where the next begins."""
    last = min(len(text), start + _LONGEST_BARE_VALUE)
    end = start
    while end < last:
        character = text[end]
        if character == separator or is_space(character):
            return end
        if character == "\\":
            inside = _QUOTE_INSIDE.after(text, end)
            if inside is None:
                return end
            end = inside
            continue
        if character == "<" and _TAG.after(text, end) is not None:
            return end
        if character in "\"'`" and _closes(text, start, end, character):
            return end
        end += 1
    return last if last == len(text) else start


def _closes(text: str, start: int, at: int, quote: str) -> bool:
    """Whether a quote closes what is around the value: one stands in front of it, or what follows ends a string of JSON."""
    is_open = quote in text[max(0, start - _FURTHEST_QUOTE) : start]
    following = char(text, at + 1)
    return is_open or _CLOSES_JSON.test(following) if quote == '"' else is_open and _CLOSES.test(following)


def end_of_stated(text: str, start: int) -> int:
    """In a sentence: up to a blank, and without the sentence's own signs."""
    last = min(len(text), start + _LONGEST_BARE_VALUE + 1)
    end = start
    while end < last and not is_space(text[end]):
        if text[end] != "\\":
            end += 1
            continue
        inside = _end_of_quote_inside(text, start, end)
        if inside is None:
            break
        end = inside
    while end > start and text[end - 1] in ".,;:!?)]}\"'`*":
        end -= 1
    return end


def _end_of_quote_inside(text: str, start: int, at: int) -> int | None:
    """Behind a quote that a string around it has escaped and that is the value's own: more of the word follows, or there is nothing it could close."""
    inside = _QUOTE_INSIDE.after(text, at)
    if inside is not None:
        return inside
    quote = _ESCAPED_QUOTE.at(text, at)
    before = text[max(0, start - _FURTHEST_QUOTE) : start]
    return None if quote is None or quote[0] in before else quote.end()


# The line that a name begins: how many backslashes its line breaks are written with, and the quote that opened the string it is in.
Line = tuple[int, str]


def line_of_name(text: str, name_start: int) -> Line | None:
    """None where the name stands in the middle of a line."""
    at = _start_of_line(text, name_start)
    if at is None:
        return None
    is_begun = any(end <= name_start and _BEFORE_NAME.test(text[end:name_start]) for end in ends_of_gutters(text, at))
    return _line_from(text, at) if is_begun else None


def line_around(text: str, at: int) -> Line | None:
    start = _start_of_line(text, at)
    return None if start is None else _line_from(text, start)


def _start_of_line(text: str, start: int) -> int | None:
    earliest = max(0, start - _FURTHEST_START)
    at = start
    while at > earliest:
        character = char(text, at - 1)
        if character in "\n\"'`" and character != "":
            break
        if character == "n" and char(text, at - 2) == "\\":
            break
        at -= 1
    return None if at == earliest and earliest > 0 else at


def _line_from(text: str, at: int) -> Line:
    if at == 0 or text[at - 1] == "\n":
        return 0, ""
    opener = text[at - 1]
    backslashes = 0
    while char(text, at - 2 - backslashes) == "\\" and backslashes < 16:
        backslashes += 1
    return (backslashes, '"') if opener == "n" else (backslashes + 1, opener)


def end_of_value_in_line(text: str, start: int, line: Line) -> int:
    """Of an unquoted value that has its line to itself: at a blank, whatever else it holds."""
    depth, quote = line
    last = min(len(text), start + _LONGEST_BARE_VALUE + 1)
    backslashes = 0
    end = start
    while end < last:
        character = text[end]
        if is_space(character):
            break
        if character == "\\":
            backslashes += 1
            end += 1
            continue
        # The break of a line that is as deep as the one before it, and the quote that ends the string around both.
        if 0 < backslashes <= depth and character in "nrt":
            break
        if quote != "" and character == quote and backslashes < depth:
            break
        if character in "&;,<}" and _begins_next(text, start, end):
            break
        backslashes = 0
        end += 1
    if end == last and last < len(text):
        return start
    end -= backslashes
    if starts(text, "...", end - 3):
        return start
    while end > start and (text[end - 1] in ",;" or _is_trailing(text, start, end) or _is_lone_quote(text, start, end)):
        end -= 1
    return end


def _begins_next(text: str, start: int, at: int) -> bool:
    """An ampersand parts what is written with signs, and nothing that stands behind a blank."""
    if _NEXT.after(text, at) is None:
        return False
    return not (text[at] == "&" and _SEPARATE_WORD.test(text[max(0, start - 2) : start]))


def _is_lone_quote(text: str, start: int, end: int) -> bool:
    last = text[end - 1]
    return last in "\"'`" and last not in text[start : end - 1]
