"""
Values given to telling names, in any notation: `KEY=value`, `"key": "value"`, `key => 'value'`, `--key value`, `<key>value</key>`, also
inside JSON strings, where every quote has its backslashes.
"""

from __future__ import annotations

import re
import unicodedata

from .gap import Gap, end_of_blanks, gap_at, read_gaps
from .gutters import end_of_gutter
from .js_regex import js
from .mask import MASK_MIDDLE
from .paired_value import paired_gap
from .rule import Found
from .secret_values import is_published_example, is_secret_value, kind_of_name
from .text_edges import char, ends_escape, is_alphanumeric, is_space, starts
from .value_end import (
    LONGEST_VALUE,
    Line,
    end_of_bare_value,
    end_of_element_text,
    end_of_one_of_several,
    end_of_quoted,
    end_of_stated,
    end_of_value_in_line,
    is_rest_of_text,
    is_too_long,
    line_around,
    line_of_name,
)

_LONGEST_NAME = 48
_LONGEST_LEAD = 200
_NO_LETTERS_LAST = re.compile(r"[^a-z.]+\Z")
_ENDS_IN_SIGN = js(r""" ["'\\]?$|[:=\uff1a\u662f]$|\u00ef\u00bc\u009a$|\u00e6\u0098\u00af$""")
_LABEL_SIGN = js(r"[:=\uff1a\uff1d\u662f]")
_QUOTE_LAST = re.compile(r"""["'\\]\Z""")
_CONSTANT = js(r"^[A-Z][A-Z0-9_]*$")
_MEMBER = js(r"[.$]")
_DECLARES = js(r"\b(?:const|let|var|val|static|final|return)\s+$")
_VERB = js(r"^(?:us(?:e|ing)|with|enter|set)$", "i")
_PWD = js(r"^PWD$", "i")
_ENDS_LINE = js(r"""(?:$|\r?\n|\\{1,8}[nr]|\\{0,8}"[\s,}\]])""")
_SPACED_SIGN = js(r" = ?$")
_IN_SECTION = js(r"""(?:^|\n|\\n|")[^\n\\]{0,60}\[[\w. :"-]{1,40}\](?:\r?\n|\\{1,8}[rn])""")
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.$")


def assignment(text: str, keyword_at: int, keyword: str) -> list[Found] | None:
    start = start_of_name(text, keyword_at)
    name_end = _end_of_name(text, keyword_at + len(_NO_LETTERS_LAST.sub("", keyword)))
    if char(text, name_end) in _NAME_CHARACTERS or _is_end_of_path(text, start, name_end):
        return None
    gaps, closed, more_of_name = read_gaps(text, start, name_end)
    kind = _kind_of_whole_name(text, start, name_end, more_of_name)
    if kind is None:
        return None
    paired = paired_gap(text, start, name_end, closed)
    values = _values_in(text, start, name_end, kind, gaps if paired is None else [*gaps, paired])
    if values is not None:
        return values
    from .table_column import column_below

    return column_below(text, start, name_end)


def password_label(text: str, keyword_at: int, keyword: str) -> list[Found] | None:
    """Keywords that are names as they stand, in whatever letters."""
    if _is_letter_of_word(text, keyword_at - 1, keyword_at):
        return None
    sign = _ENDS_IN_SIGN.find(keyword)
    sign_at = -1 if sign is None else sign.start()
    name_end = keyword_at + (len(keyword) if sign_at < 0 else sign_at)
    behind = end_of_blanks(text, keyword_at + len(_QUOTE_LAST.sub("", keyword)))
    if sign_at >= 0:
        is_blank = keyword[sign_at] == " "
        gaps = [gap_at(text, behind, is_literal=True) if is_blank else gap_at(text, behind, ends="line of name")]
    else:
        gaps = [
            gap
            for gap in read_gaps(text, keyword_at, name_end)[0]
            if gap.ends == "blank" or _LABEL_SIGN.test(text[name_end : gap.value_at])
        ]
    return _values_in(text, keyword_at, name_end, "password", gaps)


def _is_letter_of_word(text: str, at: int, following: int) -> bool:
    """Whether a word goes on here, in letters that are written with gaps between words."""
    return at >= 0 and unicodedata.category(char(text, at) or " ") in ("Ll", "Lu") and not ends_escape(text, following)


def _values_in(text: str, name_start: int, name_end: int, kind: str, gaps: list[Gap]) -> list[Found] | None:
    if not gaps:
        return None
    is_literal = _stands_for_itself(text, name_start, name_end)
    values = (_read_value(text, gap, kind, name_start, name_end, is_literal) for gap in gaps)
    return [value for value in values if value is not None]


def _is_end_of_path(text: str, start: int, name_end: int) -> bool:
    """`"/etc/passwd","content":…` names a file; only a sign right behind the name makes it a name that is given something."""
    return char(text, start - 1) == "/" and (char(text, name_end) or " ") not in "=:"


def _stands_for_itself(text: str, start: int, name_end: int) -> bool:
    """What follows is the value itself, never the name of a variable, as it may be in code."""
    if char(text, name_end) != "=" or is_space(char(text, name_end + 1)):
        return False
    if start > 0 and text[start - 1] in ";?&":
        return True
    if starts(text, "--", start) or starts(text, ":_", start - 1):
        return True
    name = text[start:name_end]
    if len(name) <= 3 or name.endswith("OLDPWD"):
        return False
    return _CONSTANT.test(name) or not _is_in_code(text, start, name_end)


def _is_in_code(text: str, start: int, name_end: int) -> bool:
    if _MEMBER.test(text[start:name_end]) or char(text, name_end + 1) == "=":
        return True
    before = text[max(0, start - _LONGEST_LEAD) : start]
    lead = before[before.rfind("\n") + 1 :]
    return lead.rfind("(") > lead.rfind(")") or _DECLARES.test(lead)


def start_of_name(text: str, at: int) -> int:
    first = max(0, at - _LONGEST_NAME)
    start = at
    while start > first and text[start - 1] in _NAME_CHARACTERS and not ends_escape(text, start):
        start -= 1
    return start


def _end_of_name(text: str, at: int) -> int:
    last = min(len(text), at + _LONGEST_NAME)
    end = at
    while end < last and text[end] in _NAME_CHARACTERS:
        end += 1
    return end


def _kind_of_whole_name(text: str, start: int, name_end: int, more_of_name: str) -> str | None:
    """Of a name of two words, else of the last of them: the first may belong to the sentence."""
    two_words = kind_of_name(text[_start_of_two_words(text, start, name_end) : name_end] + more_of_name)
    if two_words is not None or char(text, name_end) != "=":
        return two_words
    return kind_of_name(text[start:name_end] + more_of_name)


def _start_of_two_words(text: str, start: int, end: int) -> int:
    if char(text, start - 1) != " " or "_" in text[start:end]:
        return start
    before = start - 1
    while before > 0 and start - before < 20 and is_alphanumeric(text[before - 1]):
        before -= 1
    return before if before < start - 1 and not _VERB.test(text[before : start - 1]) else start


def _read_value(text: str, gap: Gap, kind: str, name_start: int, name_end: int, is_literal: bool) -> Found | None:
    if gap.is_weak and kind != "password":
        return None
    start = gap.value_at
    if gap.quote == "":
        return _read_unquoted(text, gap, kind, name_start, name_end, is_literal)
    end = end_of_quoted(text, start, gap.quote, gap.depth)
    if end is not None:
        quoting = "named" if gap.is_weak or (gap.is_listed and kind != "password") else "quoted"
        return Found(start, end) if end > start and is_secret(text[start:end], kind, quoting) else None
    # A quote that is not closed: it may be before long, if the text ends here; until then the value is what a bare one would be.
    is_open = len(text) - start < LONGEST_VALUE and text.find("\n", start) < 0
    bare_end = len(text) if is_open and is_rest_of_text(text, start) else end_of_bare_value(text, start)
    # What a mask hides may have ended the line, and was judged then.
    quoting = "quoted" if is_open and text.find(MASK_MIDDLE, start) < 0 else "bare"
    is_found = bare_end > start and is_secret(text[start:bare_end], kind, quoting)
    if is_open:
        return Found(start, bare_end if is_found else start, is_open=True)
    return Found(start, bare_end) if is_found else None


def _read_unquoted(text: str, gap: Gap, kind: str, name_start: int, name_end: int, name_is_literal: bool) -> Found | None:
    """The longest reading that can be a secret: where a value has its line or its element to itself, it may hold any sign."""
    start = gap.value_at
    unquoted = "assigned" if name_is_literal else "literal" if gap.is_literal else "bare"

    def found(end: int | None, quoting: str) -> Found | None:
        return Found(start, end) if end is not None and end > start and is_secret(text[start:end], kind, quoting) else None

    bare_end = end_of_bare_value(text, start)
    if gap.ends == "tag":
        return found(end_of_element_text(text, start), "literal") or found(bare_end, unquoted)
    if gap.ends == "blank":
        return found(end_of_stated(text, start), unquoted) or found(bare_end, unquoted)
    if gap.ends == "word" or is_too_long(text, start):
        return found(bare_end, unquoted)
    before = char(text, name_start - 1)
    if name_is_literal and (before or " ") in ";?&":
        several = end_of_one_of_several(text, start, ";" if before == ";" else "&")
        return found(several, unquoted) or found(bare_end, unquoted)
    is_of_line = gap.ends == "line" or starts(text, ":_", name_start - 1)
    line = line_around(text, start) if is_of_line else line_of_name(text, name_start)
    if line is None:
        return found(bare_end, unquoted)
    end = max(bare_end, end_of_value_in_line(text, start, line))
    is_place = _PWD.test(text[name_start:name_end])
    is_one_value = gap.ends == "line" or (not is_place and _is_alone(text, start, end, line))
    quoting = "literal" if unquoted == "bare" and is_one_value else unquoted
    return found(end, quoting) or found(bare_end, unquoted)


def _is_alone(text: str, start: int, end: int, line: Line) -> bool:
    """Nothing follows it in its line, and it follows its sign as in a file of settings and not as in code."""
    quote = line[1]
    if _ENDS_LINE.after(text, end) is None and not (quote != "" and char(text, end) == quote):
        return False
    return not _SPACED_SIGN.test(text[max(0, start - 3) : start]) or _IN_SECTION.test(text[max(0, start - 400) : start])


def is_secret(value: str, kind: str, quoting: str) -> bool:
    return is_secret_value(value, kind, quoting) and not is_published_example(value)


# `password: |` in YAML, and the lines below as long as they stand as deep as the first, which tells whether it is a secret.

_BLOCK_BREAK = js(r"\r?\n|\\{1,8}(?:r\\{1,8})?n")
_BLOCK_HEADER = js(r": {1,2}[|>][-+0-9]{0,2}[ \t]{0,4}(?:\r?\n|\\{1,8}(?:r\\{1,8})?n)((?:[ \t]|\\{1,8}t){1,32})")
_CLOSER = js(r"""(?:\\{0,8}["'])?$""")
_MOST_LINES = 100


def block_scalar(text: str, colon: int, keyword: str) -> Found | None:
    header = _BLOCK_HEADER.at(text, colon)
    # With its gutters it would be read wrong: there is a view of it without.
    if header is None or end_of_gutter(text, header.end()) > header.end():
        return None
    start = header.end()
    closer = _CLOSER.find(text[max(0, colon - 9) : colon])
    name_end = colon - len(closer[0] if closer is not None else "")
    kind = kind_of_name(text[start_of_name(text, name_end) : name_end])
    if kind is None:
        return None
    end, following = _end_of_block_line(text, start)
    if not is_secret(text[start:end], kind, "quoted"):
        return None
    return _block_from(text, header[1], start, end, following)


def _end_of_block_line(text: str, start: int) -> tuple[int, int | None]:
    found = _BLOCK_BREAK.find(text[start : start + LONGEST_VALUE])
    if found is None:
        return (len(text) if is_rest_of_text(text, start) else end_of_bare_value(text, start)), None
    return start + found.start(), start + found.end()


def _block_from(text: str, indent: str, start: int, end: int, following: int | None) -> Found:
    line = 1
    while following is not None and line < _MOST_LINES and following - start < LONGEST_VALUE:
        if not text.startswith(indent, following):
            is_beginning = len(text) - following < len(indent) and indent.startswith(text[following:])
            return Found(start, end, is_open=is_beginning)
        begin = following + len(indent)
        last, following = _end_of_block_line(text, begin)
        if last > begin:
            end = last
        line += 1
    rest = text[end : end + LONGEST_VALUE]
    return Found(start, end, is_open=following is None and not _NOT_WHITE.test(rest))


_NOT_WHITE = js(r"\S")
