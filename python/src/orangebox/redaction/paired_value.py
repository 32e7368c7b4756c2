"""
A name in one place of a structure and its value in another: `{"name":"DB_PASSWORD","value":"…"}`, `- name: DB_PASSWORD` with `value: …`
below it, `<property name="password" value="…">`, `<key>password</key><string>…</string>`.
"""

from __future__ import annotations

from re import Match

from .gap import Gap, end_of_blanks, gap_at
from .gutters import next_line
from .js_regex import Pattern, js
from .text_edges import char, is_letter
from .value_end import end_of_quoted

_NAMING = js(
    r"(?:^|[^A-Za-z])(?:[A-Za-z]{0,12}[_-]?(?:name|key)|id|label|selector|placeholder|element|field|variable|locator|css|xpath|target|"
    r"header|attribute|property|option|setting|title|type|autocomplete|description|question|prompt)$",
    "i",
)
_LONGEST_NAMING = 20
_NAMED_OPENS = js(r"""[ \t]{0,4}(\\{0,8})(["']?)""")
_FURTHEST_LABEL = 200
_LABEL_OF_VALUE = js(r"^(?:[A-Za-z_-]{0,14}value|val|text|[A-Za-z_-]{0,8}default|plaintext|answer)$", "i")
LABEL_INSIDE = js(r"^(?:[A-Za-z_-]{0,14}value|val|default|plaintext|key|secret|data)$", "i")
_BETWEEN = js(r"(?:[ \t,;]|\r?\n[ \t]{0,40}|\\{1,8}[nrt]){1,60}")
_KEY = js(r"""\\{0,8}["']?([A-Za-z_][\w.:-]{0,40})\\{0,8}["']?[ \t]{0,8}[:=][ \t]{0,8}""")
_OPENING = js(r"""(\\{0,8})(["'])""")
_PLAIN = js(r"""[^\s,;{}[\]<>\\"']{0,120}""")
_REST_OF_LINE = js(r"""[^\n\\{}[\]"']{0,120}""")
_BEGINS_INSIDE = js(r"[ \t]{0,4}[:=]?[ \t]{0,4}\{")
_BEGINS_BELOW = js(r":[ \t]{0,4}(?=\r?\n|\\{1,8}(?:r\\{1,8})?n)")
_TAG_ENDS = js(r"[ \t]{0,4}>(?:\s|\\{1,8}[nrt]){0,24}")
_NAME_ENDS = js(r"<\/[\w:]{0,20}(?:name|key|label|title|td|th|dt)>", "i")
_SPACE = js(r"(?:\s|\\{1,8}[nrt]){0,40}")
_VALUE_BEGINS = js(r"<(?:[\w:]{0,20}value|string|td|dd)(?: [^>\n]{0,80})?>(?:\s|\\{1,8}[nrt]){0,24}", "i")
_OPENS_OBJECT = js(r"\{(?:\s|\\{1,8}[nrt]){0,40}")
_TAG_OR_SPACE = js(r"[>\s]")
_BEHIND_TAG = js(r"(?:>|&gt;)(?:\s|\\{1,8}[nrt]){0,24}$")
_MOST_SIBLINGS = 8


def paired_gap(text: str, name_start: int, name_end: int, closed: int) -> Gap | None:
    """Where the value of a name stands that something else calls a name. `closed` is behind the quotes and brackets that follow the name."""
    at = _paired_value(text, name_start, name_end, closed)
    if at is None:
        return None
    is_text = _TAG_OR_SPACE.test(char(text, at - 1)) and _BEHIND_TAG.test(text[max(0, at - 60) : at])
    return gap_at(text, at, is_literal=True, ends="tag" if is_text else "line")


def _paired_value(text: str, name_start: int, name_end: int, closed: int) -> int | None:
    element = _next_element(text, name_end) if char(text, name_end) == "<" else None
    if element is not None:
        return element
    following = char(text, closed)
    if following in (":", "=", " ", "{"):
        inside = _BEGINS_INSIDE.after(text, closed)
        if inside is not None:
            return _sibling_value(text, inside, LABEL_INSIDE)
        below = _BEGINS_BELOW.after(text, closed) if following == ":" and char(text, closed - 1) != ")" else None
        if below is not None:
            return _sibling_value(text, below, _LABEL_OF_VALUE)
    if following in (":", "="):
        return None
    named = _end_of_naming(text, name_start, name_end)
    return None if named is None else _sibling_value(text, named, _LABEL_OF_VALUE)


def _next_element(text: str, name_end: int) -> int | None:
    closed = _NAME_ENDS.after(text, name_end)
    if closed is None:
        return None
    one, any_ = next_line(text, closed, 1), next_line(text, closed)
    for at in (closed, closed if one is None else one, closed if any_ is None else any_):
        value = _VALUE_BEGINS.after(text, _SPACE.after(text, at))  # type: ignore[arg-type]
        if value is not None:
            return value
    return None


def _end_of_naming(text: str, name_start: int, name_end: int) -> int | None:
    """Where the text ends that is called a name, and which holds this one."""
    sign = _last_naming(text, name_start)
    if sign < 0:
        return None
    opens = _NAMED_OPENS.at(text, sign)
    assert opens is not None
    backslashes, quote = opens[1], opens[2]
    if quote == "":
        # Of YAML, where nothing but the name stands behind the label.
        return name_end if opens.end() == name_start and backslashes == "" else None
    end = end_of_quoted(text, opens.end(), quote, len(backslashes))
    return None if end is None or end < name_end else end + len(backslashes) + 1


def _last_naming(text: str, before: int) -> int:
    """Behind the sign of the last label before a place; negative where there is none."""
    first = max(0, before - _FURTHEST_LABEL)
    for at in range(before - 1, first, -1):
        if text[at] not in ":=":
            continue
        end = _end_of_label(text, at)
        if end > first and _NAMING.test(text[max(first, end - _LONGEST_NAMING) : end]):
            return at + 1
    return -1


def _end_of_label(text: str, sign: int) -> int:
    """Where the letters before a sign end: blanks, a quote and its backslashes may stand between."""
    end = sign
    while end > sign - 4 and char(text, end - 1) in (" ", "\t"):
        end -= 1
    if char(text, end - 1) in ('"', "'"):
        end -= 1
    behind = end
    while end > behind - 8 and char(text, end - 1) == "\\":
        end -= 1
    return end if is_letter(char(text, end - 1)) else -1


def _sibling_value(text: str, start: int, label: Pattern) -> int | None:
    """The value of the first of the following entries that says it holds one."""
    at = start
    for _ in range(_MOST_SIBLINGS):
        tag_end = _TAG_ENDS.after(text, at)
        if tag_end is not None:
            return tag_end
        between = _BETWEEN.after(text, at)
        key = _KEY.at(text, at if between is None else between) or _key_behind_gutter(text, at)
        if key is None:
            return None
        value = key.end()
        if label.test(key[1]):
            return value if _OPENS_OBJECT.after(text, value) is None else _wrapped_value(text, value)
        skipped = _end_of_value(text, value)
        if skipped is None:
            return None
        at = skipped
    return None


def _wrapped_value(text: str, at: int) -> int | None:
    """`"value":{"stringValue":"…"}` of OpenTelemetry: the value says of what type it is."""
    key = _KEY.at(text, _OPENS_OBJECT.after(text, at))  # type: ignore[arg-type]
    return key.end() if key is not None and _LABEL_OF_VALUE.test(key[1]) else None


def _key_behind_gutter(text: str, at: int) -> Match[str] | None:
    end = at
    while end < at + 3 and (char(text, end) or "\n") in ",; ":
        end += 1
    line = next_line(text, end)
    return None if line is None else _KEY.at(text, end_of_blanks(text, line))


def _end_of_value(text: str, at: int) -> int | None:
    opening = _OPENING.at(text, at)
    if opening is None:
        plain = _PLAIN.after(text, at)
        assert plain is not None
        # Of YAML, where blanks are part of it.
        return _REST_OF_LINE.after(text, plain) if char(text, plain) == " " else plain
    end = end_of_quoted(text, opening.end(), opening[2], len(opening[1]))
    return None if end is None else end + len(opening[1]) + 1
