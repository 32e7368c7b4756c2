"""What stands between a name and its value."""

from __future__ import annotations

from .gutters import next_line
from .js_regex import Pattern, js
from .text_edges import char, starts
from .value_end import end_of_quoted


class Gap:
    """
    `depth`: how many backslashes the quote has. `is_weak`: a sign that also stands between words of ordinary text. `is_literal`: what stands
    here is the value itself. `ends`: what an unquoted value ends with: `word`, `line of name`, `line`, `tag` or `blank`.
    """

    __slots__ = ("depth", "ends", "is_listed", "is_literal", "is_weak", "quote", "value_at")

    def __init__(self, value_at: int, quote: str, depth: int, is_weak: bool, is_literal: bool, is_listed: bool, ends: str) -> None:
        self.value_at = value_at
        self.quote = quote
        self.depth = depth
        self.is_weak = is_weak
        self.is_literal = is_literal
        self.is_listed = is_listed
        self.ends = ends


_MORE_OF_NAME = js(
    r""" (?:key|token|value|for [\w.@-]{1,32}|is|was|to|as|lautet|ist|est|es|\u00e8|\u00e9|\d{1,2}(?=[ ]?[:=]))(?=[\s:='"])""", "i"
)
_CLOSERS = js(r"""(?:\\{0,7}["'`]|&quot;|&#3[49];|\[\d{0,4}\]|\]|\)|\*\*){0,3}""")
_TYPED = js(r"""[ \t]{1,4}[A-Za-z_][\w.]{0,20}[ \t]{1,4}:?=[ \t]{0,4}(?=\\{0,7}["'`])""")
_ANNOTATED = js(r""":[ \t]{0,4}[A-Za-z_&]['\w.<>[\]& ]{0,30}=[ \t]{0,4}(?=\\{0,7}["'`])""")
_SIGN = js(
    r"[ \t\u00a0]{0,8}(?::{1,3}=|={1,3}>?|!={1,2}|\?=|\.=|->|[:\uff1a\uff1d])(?:\*\*|__|<\/(?:b|strong|em|label|span|dt)>)?[ \t]{0,8}"
)
_FALLBACK = js(r"""[ \t]{0,4}(?:\|\||\?\?|\?:|or)[ \t]{0,4}(?=\\{0,7}["'`])""")
_DEFAULT = js(r":?[-=?+]")
_CALL = js(r"""\([ \t]{0,4}(?=\\{0,7}["'`])""")
_LIST = js(r"""\[(?:\s|\\{1,8}[nrt]){0,24}(?=\\{0,8}["'])""")
_NEXT_IN_LIST = js(r"""\\{0,8}["'](?:\s|\\{1,8}[nrt]){0,24},(?:\s|\\{1,8}[nrt]){0,24}(?=\\{0,8}["'])""")
_ITEM_BELOW = js(r"(?:\r?\n|\\{1,8}(?:r\\{1,8})?n)[ \t]{0,40}-[ \t]{1,4}")
_COMMA = js(r"""[ \t]{0,2},[ \t]{0,4}(?=\\{0,7}["'`])""")
_DASH = js(r"""[ \t]{1,4}[-\u2013\u2014][ \t]{1,4}(?=\\{0,8}["'`])""")
_CELL = js(r"[ \t]{0,8}\|[ \t]{0,8}")
_COLUMN = js(r"\t|\\{1,8}t")
_HEADER_OF_PART = js(r"[\w-]{4,40}: [\w/;=. -]{1,80}")
_SPACES = js(r"[ \t]{1,8}(?!-)")
_ELEMENT = js(r">(?:\s|\\{1,7}[nrt]){0,24}")
_NEXT_LINE = js(r"""(?:\s|\\{1,7}[nrt]){1,16}(?=\\{0,7}["'])""")
_QUOTE = js(r"""(?:[fbrLuNERB@$]|u8)?(\\{0,7})(["'`]|&quot;|&#3[49];)""")
_KEY_OR_TOKEN = js(r"^ (?:key|token)$", "i")
_CLOSED_CALL = js(r"[)\]]")
_FIRST_ARGUMENT = js(r"""\([ \t]{0,4}\\{0,8}["'`]$""")
_SETS = js(r"^(?:set|with|use|add)[_A-Z]")
_ASKING = js(
    r"^(?:get|read|fetch|load|find|create|generate|encode|decode|parse|validate|verify|check|is|has|hash|compare|make|build|require|"
    r"assert|expect|test|format|print|log|show|prompt|ask|input|count|split|match)(?![a-z])",
    "i",
)
_SETTING = js(
    r"(?:^|[^A-Za-z0-9_-]|\\[nrt])(?:ENV|set(?= -[A-Za-z]{1,4} )|setenv|setx(?:\.exe)?|(?:proxy_set|add)_header|RequestHeader set|"
    r"(?:configure|config|secrets?|env|vars?|variables?)[: ](?:set|add|put|create)|git config)(?: -{1,2}[\w-]{1,20}){0,2}[ \t]{1,4}$"
)
_LOGIN = js(r"(?:^|[^A-Za-z])login[ \t]{1,4}[^\s\\]{1,100}[ \t]{0,4}(?=\r?\n|\\|$)(?![\s\S]*login)")
_WORD = js(r"[A-Za-z_]")
_STATED = js(r"^ (?:is|was|to|as|lautet|ist|est|es|\u00e8|\u00e9)$", "i")
_PART_NAME = js(r"""name=\\{0,8}"$""")
_TABLE = js(r"\|[ \t]{0,4}(?:\*\*|`)?$")
_TAB_BEFORE = js(r"(?:\t|\\t)$")
_SIGNS = ":=!?.-\u2013\u2014\uff1a\uff1d"
_MOST_ITEMS = 16


def gap_at(
    text: str, at: int, is_weak: bool = False, is_literal: bool = False, is_listed: bool = False, ends: str = "word"
) -> Gap:
    match = _QUOTE.at(text, at)
    if match is None:
        return Gap(at, "", 0, is_weak, is_literal, is_listed, ends)
    return Gap(match.end(), match[2], len(match[1]), is_weak, is_literal, is_listed, ends)


def read_gaps(text: str, name_start: int, name_end: int) -> tuple[list[Gap], int, str]:
    """
    Reads on from a name to its value: the gaps, where the quotes and brackets end that close the name, and what else belongs to the name. More
    than one place can hold the value; each is judged by itself.
    """
    more_end = _MORE_OF_NAME.after(text, name_end) if char(text, name_end) == " " else None
    more = "" if more_end is None else text[name_end:more_end]
    behind_name = name_end if more_end is None else more_end
    closed = _CLOSERS.after(text, behind_name)
    assert closed is not None
    is_closed = closed > behind_name
    more_of_name = more if _KEY_OR_TOKEN.test(more) else ""
    gaps: list[Gap] = []
    read = (gaps, closed, more_of_name)

    def add(at: int | None, **traits: object) -> None:
        if at is not None:
            gaps.append(gap_at(text, at, **traits))  # type: ignore[arg-type]

    def after(pattern: Pattern) -> int | None:
        return pattern.after(text, closed)

    # One look at the next character spares most names the trial of every sign. At the end of the text it is none, which each list holds.
    following = char(text, closed)
    is_spaced = following in (" ", "\t", "\n", "\r", "\u00a0")
    if not is_spaced and following not in ":=!?.-,>|;\\(\uff1a\uff1d":
        return read
    is_in_line = following in (" ", "\t", "\u00a0")
    behind = char(text, end_of_blanks(text, closed)) if is_in_line else following
    if is_in_line and _WORD.test(behind):
        add(after(_TYPED))
    if following == ":":
        add(after(_ANNOTATED))
    if starts(text, "${", name_start - 2):
        add(after(_DEFAULT), is_literal=True)
        return read
    if following == "(" and _is_giving_call(text[name_start:name_end]):
        add(after(_CALL))
    if behind in "|?" or (behind == "o" and _CLOSED_CALL.test(char(text, closed - 1))):
        add(after(_FALLBACK))
    sign = None
    if behind in _SIGNS:
        sign = after(_SIGN)
        if sign is None:
            sign = after(_DASH)
    if sign is not None:
        first = _LIST.after(text, sign)
        if first is not None:
            gaps.extend(_items_from(text, first))
            return read
        item = _ITEM_BELOW.after(text, sign)
        if item is not None:
            add(item, is_literal=True, ends="line")
        else:
            below = _NEXT_LINE.after(text, sign)
            add(sign if below is None else below, ends="line of name")
        return read
    # `{password, "…"}` of Erlang has no quotes around its name.
    comma = after(_COMMA) if is_closed or starts(text, "{", name_start - 1) else None
    if comma is not None:
        add(comma, is_listed=not _FIRST_ARGUMENT.test(text[max(0, name_start - 16) : name_start]))
        return read
    add(_part_of_form(text, name_start, closed) if is_closed else None, is_literal=True, ends="line")
    if following == ">" and char(text, name_start - 1) == "<":
        add(after(_ELEMENT), is_literal=True, ends="tag")
    if gaps:
        return read
    cell = None
    if behind == "|" and _TABLE.test(text[max(0, name_start - 8) : name_start]):
        cell = after(_CELL)
    if cell is not None:
        add(cell)
    elif following in ("\t", "\\") and _TAB_BEFORE.test(text[max(0, name_start - 2) : name_start]):
        add(after(_COLUMN), is_literal=True)
    elif is_spaced:
        is_set = _SETTING.test(text[max(0, name_start - 48) : name_start]) or _is_behind_login(text, name_start)
        is_option = char(text, name_start) == "-" or is_set
        spaces = after(_SPACES)
        is_stated = _STATED.test(more)
        if spaces is not None and (is_option or is_stated or _QUOTE.after(text, spaces) is not None):
            add(
                spaces,
                is_weak=not is_option and not is_stated,
                is_literal=is_option,
                ends="line" if is_set else "blank" if is_stated else "word",
            )
    return read


def _items_from(text: str, first: int) -> list[Gap]:
    items: list[Gap] = []
    at: int | None = first
    while at is not None and len(items) < _MOST_ITEMS:
        item = gap_at(text, at, is_listed=True)
        items.append(item)
        end = end_of_quoted(text, item.value_at, item.quote, item.depth)
        at = None if end is None else _NEXT_IN_LIST.after(text, end)
    return items


def _is_giving_call(name: str) -> bool:
    """`setPassword`, `.withApiKey`, `.password`: a call that is given the secret, not one that makes or asks for it."""
    method = name[name.rfind(".") + 1 :]
    return ("." in name or _SETS.test(method)) and not _ASKING.test(method) and method != "pass"


def _is_behind_login(text: str, name_start: int) -> bool:
    """`machine … login … password …` of a .netrc file, in one line or three."""
    start = max(0, name_start - 160)
    login = _LOGIN.find(text[start:name_start])
    if login is None:
        return False
    end = start + login.end()
    if end == name_start:
        return True
    below = next_line(text, end)
    return end_of_blanks(text, end if below is None else below) == name_start


def end_of_blanks(text: str, start: int) -> int:
    at = start
    while at < start + 20 and char(text, at) in (" ", "\t"):
        at += 1
    return at


def _part_of_form(text: str, name_start: int, closed: int) -> int | None:
    """`name="password"` in the header of a part; its value stands below an empty line."""
    if not _PART_NAME.test(text[max(0, name_start - 16) : name_start]):
        return None
    line = next_line(text, closed)
    headers = 0
    while line is not None and headers < 3:
        value = next_line(text, line)
        if value is not None:
            return value
        header_end = _HEADER_OF_PART.after(text, line)
        line = None if header_end is None else next_line(text, header_end)
        headers += 1
    return None
