"""
Columns with a telling heading: tables of Markdown and of database shells, known by the line below their heading, and files of values with
a comma, semicolon or tab between them, known by a first line of nothing but names.
"""

from __future__ import annotations

import re

from .assignment import is_secret
from .gutters import end_of_gutter
from .js_regex import js
from .rule import LEAD, Found
from .secret_values import kind_of_name
from .text_edges import WHITE, char, last_index

_LINE_BREAK = js(r"\r?\n|\\{1,8}(?:r\\{1,8})?n")
_RULE_OF_TABLE = js(
    r"^[ \t]{0,12}\|?[ \t]{0,4}:?-{2,200}:?[ \t]{0,4}(?:[|+][ \t]{0,4}:?-{1,200}:?[ \t]{0,4}){1,40}[|+]?[ \t]{0,4}$"
)
_NAMES = js(r"""^(?:\\{0,8}["'])?[A-Za-z_][\w.-]{0,40}(?:\\{0,8}["'])?([,;\t])[\w.,;\t "'\\-]{1,400}$""")
_FIELD = js(r"^[\w.-]{1,20}=(?=[|\w])")
_BEGINS_RULE = js(r"\|[ \t]?:?-|-\+-")
_QUOTED_CELL = js(r"""^(\\{0,8}["'`]|\*\*)([^\n]{1,400})\1$""")
_SEPARATOR = js(r"[,;\t]")
_NO_WORD = js(r"[^\w\s]")
_NUMBER = js(r"[ \t]*\d+")
_OPENS_STRING = js(r"(?:[:,[({=\s]|^)$")
_LAST_QUOTE = js(r"""\\{0,8}"$""")
_WRITTEN_RETURN = js(r"\\r$")
_BLANK = js(r"^[ \t\\]*$")
_REACH = 1024
_MOST_ROWS = 64

# Start, end, a place in the line before (below zero where there is none), and where the next begins.
_Line = tuple[int, int, int, "int | None"]


def table_column(text: str, at: int, keyword: str) -> list[Found] | None:
    # An earlier keyword of the same line had it looked at.
    lead = text[max(0, at - 120) : at]
    if _BEGINS_RULE.test(lead[max(lead.rfind("\n"), lead.rfind("\\n")) + 1 :]):
        return None
    start, end, before, following = _line_around(text, at)
    gutter = None if before < 0 else _gutter_of_rule(text[start:end], at - start)
    if gutter is None:
        return None
    return _values_below(text, _line_around(text, before), following, "|", _like_gutter("" if not gutter.strip() else gutter))


def _gutter_of_rule(line: str, keyword_at: int) -> str | None:
    """What stands before the rule of a table; None where the line has none, or an earlier keyword had it looked at."""
    first = _BEGINS_RULE.find(line)
    if (-1 if first is None else first.start()) < keyword_at:
        return None
    start = len(line)
    while start > 0 and line[start - 1] in "|+:- \t":
        start -= 1
    for at in range(start, start + 9):
        if _RULE_OF_TABLE.test(line[at:]):
            return line[:at]
    return None


def column_below(text: str, name_start: int, name_end: int) -> list[Found] | None:
    """The values of a name that heads a column, in a file of values."""
    if not _SEPARATOR.test(char(text, name_start - 1) + char(text, name_end)):
        return None
    heading = _line_around(text, name_start)
    field = _FIELD.find(text)
    if heading[0] == 0 and field is not None:
        gutter_end = field.end()
    else:
        gutter_end = min(end_of_gutter(text, heading[0]), name_start)
    gutter = "" if field is not None else text[heading[0] : gutter_end]
    # A row of names below names is a row.
    if heading[2] >= 0:
        above = _line_around(text, heading[2])
        if _NAMES.test(text[above[0] : above[1]]):
            return None
    names = _NAMES.find(text[gutter_end : heading[1]])
    return None if names is None else _values_below(text, heading, heading[3], names[1], _like_gutter(gutter), name_start)


def _like_gutter(gutter: str) -> re.Pattern[str]:
    """What tools put before a line, as it stands before the others: with another number."""
    like = _NO_WORD.sub(lambda sign: "\\" + sign[0] if sign[0].isascii() else sign[0], gutter[:80])
    like = _NUMBER.sub(lambda _: "[ \\t]{0,8}\\d{1,9}", like)
    return re.compile(like, re.ASCII)


def _line_around(text: str, at: int) -> _Line:
    earliest = max(0, at - _REACH)
    start = at
    while start > earliest and not _ends_line_break(text, start):
        start -= 1
    before = _start_of_line_break(text, start) if start > earliest else -1
    if before < 0:
        # The first line of a string.
        opened = max(last_index(text, '"', at - 1), earliest - 1) + 1
        if opened > earliest and _OPENS_STRING.test(_LAST_QUOTE.sub("", text[max(0, opened - 16) : opened])):
            start = opened
    end, following = _end_of_line(text, at)
    return start, end, before, following


def _ends_line_break(text: str, at: int) -> bool:
    last = char(text, at - 1)
    return last == "\n" or (last == "n" and char(text, at - 2) == "\\")


def _start_of_line_break(text: str, end: int) -> int:
    start = end - 1
    while start > end - 16 and char(text, start - 1) in ("\\", "\r"):
        start -= 1
    return start - 2 if _WRITTEN_RETURN.test(text[start - 2 : start]) else start


def _end_of_line(text: str, at: int) -> tuple[int, int | None]:
    match = _LINE_BREAK.find(text[at : at + _REACH])
    if match is None:
        return min(len(text), at + _REACH), None
    return at + match.start(), at + match.end()


def _without_gutter(text: str, start: int, end: int, gutter: re.Pattern[str]) -> tuple[int, int]:
    field = _FIELD.find(text) if start == 0 else None
    if field is not None:
        return field.end(), end
    match = gutter.match(text, start)
    return (start if match is None else match.end()), end


def _values_below(
    text: str,
    heading: _Line,
    first_row: int | None,
    delimiter: str,
    gutter: re.Pattern[str],
    name_start: int | None = None,
) -> list[Found] | None:
    """`name_start` is of the name that led here: the first of a heading reads all columns."""
    columns: list[tuple[int, str, int]] = []
    for index, (start, end) in enumerate(_cells_of(text, *_without_gutter(text, heading[0], heading[1], gutter), delimiter)):
        kind = kind_of_name(text[start:end])
        if kind is not None:
            columns.append((index, kind, end))
    if not columns or (name_start is not None and columns[0][2] <= name_start):
        return None
    found: list[Found] = []
    # As far as a stream remembers.
    last = heading[0] + LEAD - 256
    following = first_row
    rows = 0
    while following is not None and following < last and rows < _MOST_ROWS:
        row_end, row_next = _end_of_line(text, following)
        cells = _cells_of(text, *_without_gutter(text, following, row_end, gutter), delimiter)
        if len(cells) < 2:
            break
        for index, kind, _ in columns:
            if index >= len(cells):
                continue
            start, end = cells[index]
            value = text[start:end]
            if (delimiter == "|" or not WHITE.test(value)) and is_secret(value, kind, "quoted"):
                found.append(Found(start, end))
        following = row_next
        rows += 1
    return found


def _cells_of(text: str, start: int, end: int, delimiter: str) -> list[tuple[int, int]]:
    """Cells of a line, without blanks, quotes and marks around them."""
    cells: list[tuple[int, int]] = []
    begin = start
    quote = ""
    is_table = delimiter == "|"
    for at in range(start, end + 1):
        character = char(text, at)
        if not is_table and character == '"' and (quote != "" or _BLANK.test(text[begin:at])):
            quote = character if quote == "" else ""
        if at < end and (character != delimiter or quote != "" or (is_table and char(text, at - 1) == "\\")):
            continue
        # The bar before the first cell begins it.
        if not (is_table and begin == start and at < end and _BLANK.test(text[begin:at])):
            cells.append(_bare_cell(text, begin, at))
        begin = at + 1
    return cells


def _bare_cell(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start] in " \t":
        start += 1
    while end > start and text[end - 1] in " \t":
        end -= 1
    quoted = _QUOTED_CELL.find(text[start:end])
    return (start, end) if quoted is None else (start + len(quoted[1]), end - len(quoted[1]))
