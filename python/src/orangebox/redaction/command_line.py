"""Passwords in the options of well-known programs: `sshpass -p …`, `mysql -p…`, `curl -u name:…`, `htpasswd -b file name …`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .js_regex import js, translated
from .rule import Found
from .rule_data import rules_file
from .secret_values import is_placeholder, is_secret_value
from .text_edges import WHITE, char
from .value_end import end_of_quoted, is_rest_of_text

_FURTHEST = 300
_BLANKS = js(r"[ \t]{1,16}(?:\\{1,8}\r?\n[ \t]{0,16})?")
_COMMAND_CHARACTER = js(r"[A-Za-z0-9_.-]")
_ESCAPE_LAST = js(r"\\[nrt]$")
_USER_GLUED = js(r"^-u.")
_OPENING_QUOTE = js(r"""^\\{0,8}["']""")
_CLOSING_QUOTE = js(r"""\\{0,8}["']$""")
_ODD_SIGN = js(r"[^\w.:/-]")


@lru_cache(maxsize=1)
def _programs() -> dict[str, dict[str, Any]]:
    ready: dict[str, dict[str, Any]] = {}
    for data in rules_file()["programs"]:
        program: dict[str, Any] = {
            name: re.compile(f"^(?:{data[name]})\\Z", re.ASCII) if name in data else None for name in ("option", "login", "needs")
        }
        glued = data.get("glued")
        program["glued"] = None if glued is None else re.compile(f"^(?:{glued})(?={translated('.')})", re.ASCII)
        program["sign"] = data.get("sign", "")
        program["position"] = data.get("position")
        for name in data["names"]:
            ready[name] = program
    return ready


def command_line(text: str, at: int, keyword: str) -> list[Found] | None:
    name = keyword.strip()
    program = _programs().get(name[:-4] if name.endswith(".exe") else name)
    if program is None or not _begins_command(text, at):
        return None
    return _passwords_in(text, at + len(keyword) - 1, program)


def _begins_command(text: str, at: int) -> bool:
    """`mysql -pX`, `/usr/bin/mysql -pX`, not `libmysql`."""
    return not _COMMAND_CHARACTER.test(char(text, at - 1)) or _ESCAPE_LAST.test(text[max(0, at - 2) : at])


def _passwords_in(text: str, begin: int, program: dict[str, Any]) -> list[Found]:
    found: list[Found] = []

    def add(start: int, end: int, skipped: int) -> None:
        secret = _secret_in(text, start + skipped, end)
        if secret is not None:
            found.append(secret)

    def add_login(start: int, end: int) -> None:
        at = text[start:end].find(program["sign"])
        if at >= 0:
            add(start, end, at + 1)

    is_ready = program["needs"] is None
    positional = -1
    before: str | None = None
    word = _word_after(text, begin)
    while word is not None and word[1] - begin < _FURTHEST:
        start, end = word
        said = text[start:end]
        # Another command, which is looked at for itself.
        if said in _programs():
            break
        option, before = before, said
        if not is_ready:
            is_ready = program["needs"].search(said) is not None
        elif option is not None and program["option"] is not None and program["option"].search(option):
            add(start, end, 0)
        elif option is not None and program["login"] is not None and program["login"].search(option):
            add_login(start, end)
        elif program["glued"] is not None and (glued := program["glued"].search(said)) is not None:
            add(start, end, len(glued[0]))
        elif program["login"] is not None and _USER_GLUED.test(said):
            add_login(start + 2, end)
        elif not said.startswith("-") and program["position"] is not None:
            positional += 1
            if positional == program["position"]:
                add(start, end, 0)
        word = _word_after(text, end)
    return found


def _word_after(text: str, at: int) -> tuple[int, int] | None:
    start = _BLANKS.after(text, at)
    if start is None:
        return None
    end = _end_of_word(text, start)
    return (start, end) if end > start else None


def _end_of_word(text: str, start: int) -> int:
    """A word of a shell: what is quoted in it is part of it, but for blanks."""
    last = min(len(text), start + _FURTHEST)
    backslashes = 0
    at = start
    while at < last:
        character = text[at]
        if character == "\\":
            backslashes += 1
            at += 1
            continue
        if (backslashes > 0 and character in "nrt") or character in " \t\r\n|;&<>()":
            return at - backslashes
        if character in "\"'" and (backslashes == 0 or character == '"'):
            end = end_of_quoted(text, at + 1, character, backslashes)
            if end is None:
                return len(text) if is_rest_of_text(text, at) else at - backslashes
            # A stream gives out what stands before a blank.
            if WHITE.test(text[at:end]):
                return at - backslashes
            at = end + backslashes
        backslashes = 0
        at += 1
    return last - backslashes


def _secret_in(text: str, start: int, end: int) -> Found | None:
    """The password of a word: what is left without its quotes."""
    opening = _OPENING_QUOTE.find(text[start:end])
    start += 0 if opening is None else len(opening[0])
    closing = _CLOSING_QUOTE.find(text[start:end])
    end -= 0 if closing is None else len(closing[0])
    value = text[start:end]
    if len(value) < 4 or is_placeholder(value):
        return None
    return Found(start, end) if is_secret_value(value, "password", "literal") or _ODD_SIGN.test(value) else None
