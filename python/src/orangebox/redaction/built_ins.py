"""What `rules.json` only names, because it takes more than a pattern with predicates to find it."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable

from .assignment import assignment, block_scalar, password_label
from .command_line import command_line
from .js_regex import Pattern, js
from .mask import is_mask
from .rule import LEAD, Found
from .secret_values import is_placeholder, is_secret_value
from .table_column import table_column
from .text_edges import begins_word, char, ends_word, is_alphanumeric, is_digit, is_space
from .value_end import end_of_quoted, end_of_value_in_line, line_of_name

Find = Callable[[str, int, str], "Found | list[Found] | None"]


def decode_base64(text: str) -> bytes:
    """As Node does: both alphabets, no padding needed, anything else is passed over, and what follows an `=` does not count."""
    text = text.partition("=")[0]
    cleaned = _NO_BASE64.sub("", text.replace("-", "+").replace("_", "/"))
    if len(cleaned) % 4 == 1:
        cleaned = cleaned[:-1]
    return base64.b64decode(cleaned + "=" * (-len(cleaned) % 4))


_NO_BASE64 = re.compile(r"[^A-Za-z0-9+/]")


def end_of_run(text: str, start: int, limit: int, belongs: re.Pattern[str]) -> int:
    """`belongs` is one set of characters, repeated."""
    match = belongs.match(text, start, min(len(text), start + limit))
    return start if match is None else match.end()


_BASE64 = re.compile(r"[A-Za-z0-9+/=]*")
_BASE64_URL = re.compile(r"[A-Za-z0-9_=-]*")

# The password in `scheme://user:password@host`. All of these begin behind the slashes.

_USER_INFO = js(
    r"""([^\s/:@"'`<>\\]{0,100}(?:@[\w.-]{1,80})?):(?!\d{1,5}[/?#])([^\s@"'`<>\\]{1,200}(?:@[^\s/?#&=,:@"'`<>\\]{1,60}){0,2})@[\w[]"""
)
_ANY_SIGNS = js(
    r"""[^\s/:@"'`<>\\]{1,100}:(?!\d{1,5}[/?#<>])((?:[^\s/"'\\]|'(?![;,)])){1,120}?)@(?:[A-Za-z0-9][A-Za-z0-9._-]{0,100}|\[[0-9a-f:]{2,40}\])"""
    r"""(?=:\d{1,5}(?!\d)|[/?,)\]}|]|[\s"'`<>\\]|$)"""
)
_BEFORE_PORT = js(
    r"""[^\s/:@"'`<>\\]{1,100}:(?!\d{1,5}[/?#<>])([^\s/"'\\]{1,120})@[A-Za-z0-9][A-Za-z0-9._-]{0,100}:\d{2,5}(?!\d)"""
)
_CUT_OFF = js(r"""([^\s/:@"'`<>\\]{1,100}):([^\s/@"'`<>\\]{8,200})$""")
_OAUTH_BASIC = js(r"([A-Za-z0-9_-]{20,255})(?::x-oauth-basic)?@[\w[]")
_IN_HOST = js(r"""^@[^\s/:?,"'`<>\\]*[A-Z][^\s/:?,"'`<>\\]*$""")
_PUBLISHED_AT = js(r"^@[a-z0-9.]{0,40}sentry\.io\/")
_DIGIT = js(r"\d")
_OPEN_PASSWORDS = frozenset(("password", "pass", "passwd", "pwd", "token", "port", "[password]", "@"))


def connection_string(text: str, keyword_at: int, keyword: str) -> Found | None:
    at = keyword_at + len(keyword)
    return _password_of(text, at) or _lone_token_of(text, at) or _cut_off_password(text, at)


def _password_of(text: str, at: int) -> Found | None:
    login = _login_of(text, at)
    if login is None:
        return None
    user, password = login
    if is_mask(password) or is_placeholder(password) or password.lower() in _OPEN_PASSWORDS or password == "x-oauth-basic":
        return None
    start = at + len(user) + 1
    end = start + len(password)
    # Where the text breaks off in what should be the host and no host is written so, it was the password that held the `@`.
    return Found(start, len(text) if len(text) - end < 80 and _IN_HOST.test(text[end:]) else end)


def _login_of(text: str, at: int) -> tuple[str, str] | None:
    any_sign = _BEFORE_PORT.at(text, at) or _ANY_SIGNS.at(text, at)
    info = _USER_INFO.at(text, at)
    if any_sign is not None and len(any_sign[1]) > (0 if info is None else len(info[2])):
        return text[at : text.find(":", at)], any_sign[1]
    return None if info is None else (info[1], info[2])


def _cut_off_password(text: str, at: int) -> Found | None:
    if len(text) - at > 310:
        return None
    match = _CUT_OFF.at(text, at)
    if match is None or is_placeholder(match[2]) or not is_secret_value(match[2], "password", "literal"):
        return None
    return Found(len(text) - len(match[2]), len(text))


def _lone_token_of(text: str, at: int) -> Found | None:
    """`https://<token>@host`: the user is the secret."""
    match = _OAUTH_BASIC.at(text, at)
    if match is None or not _DIGIT.test(match[1]) or is_placeholder(match[1]):
        return None
    if _PUBLISHED_AT.test(text[match.end() - 2 : match.end() + 60]):
        return None
    return Found(at, at + len(match[1]))


# The values of cookies in a `Cookie` or `Set-Cookie` line, as far as they are long enough to open something.

_COOKIE_HEADER = js(r"""cookie\\{0,7}["']? {0,2}[:,] {0,2}(?:\\{0,7}["'])?""", "i")
_COOKIE = js(r"""([\w.!#$%&*^|~+-]{1,100})=([^\s;,"'\\]{1,1500})""")
_NEXT_COOKIE = js(r"; {0,2}")
_COOKIE_ATTRIBUTES = frozenset(("path", "domain", "expires", "max-age", "samesite", "priority"))


def cookie(text: str, keyword_at: int, keyword: str) -> list[Found] | None:
    at = _COOKIE_HEADER.after(text, keyword_at)
    if at is None:
        return None
    found: list[Found] = []
    # As far as a stream remembers, and no further, so that both see the same cookies.
    while at < keyword_at + LEAD - 256:
        match = _COOKIE.at(text, at)
        if match is None:
            break
        name, value = match[1], match[2]
        at = match.end()
        if name.lower() not in _COOKIE_ATTRIBUTES and len(value) >= 16 and not is_mask(value) and not is_placeholder(value):
            found.append(Found(at - len(value), at))
        following = _NEXT_COOKIE.after(text, at)
        if following is None:
            break
        at = following
    return found


# The private numbers of a JSON web key, those behind `kty`.

_PRIVATE_PART = js(r"""\\{0,7}"(?:d|p|q|dp|dq|qi|k)\\{0,7}"\s{0,4}:\s{0,4}\\{0,7}"([\w-]{16,1400})\\{0,7}\"""")
_END_OF_KEY = js(r"""[{}]|"kty|kty\\""")
_LONGEST_PART = 1500


def json_web_key(text: str, keyword_at: int, keyword: str) -> list[Found]:
    found: list[Found] = []
    key = text[keyword_at : keyword_at + LEAD + _LONGEST_PART]
    key_end = _END_OF_KEY.find(key[5:])
    own = key if key_end is None else key[: key_end.start() + 5]
    for match in _PRIVATE_PART.all(own):
        if match.start() >= LEAD - 64:
            break
        start = keyword_at + match.start() + match[0].rfind(match[1])
        if not is_mask(match[1]):
            found.append(Found(start, start + len(match[1])))
    return found


# JSON web tokens: known by their header, which must decode to one. The signature may be missing.

_HEADER_NAME = re.compile(rb'"(?:alg|typ|enc|kid|cty|zip)"')


def jwt(text: str, start: int, keyword: str) -> Found | None:
    if not begins_word(text, start):
        return None
    header_end = end_of_run(text, start, 2000, _BASE64_URL)
    if char(text, header_end) != "." or _HEADER_NAME.search(decode_base64(text[start:header_end][:400])) is None:
        return None
    end = header_end
    # Two more parts in a signed token, four in an encrypted one.
    for part in range(4):
        if char(text, end) != ".":
            break
        part_end = end_of_run(text, end + 1, 8000 if part == 0 else 1500, _BASE64_URL)
        if part_end == end + 1:
            break
        end = part_end
    return Found(start, end) if end - header_end > 10 else None


# The values of a Kubernetes Secret: whatever stands under `stringData`, and what is base64 under `data`.

_BREAK_SOURCE = r"(?:\r?\n|\\{1,7}r?\\{0,7}n)"
_DATA = js(rf"data: {{0,4}}(?={_BREAK_SOURCE})|data\\{{0,7}}\"[ \t]{{0,4}}:[ \t]{{0,4}}\{{", "i")
_ENTRY = js(r"""(?:[\s,]|\\{1,7}[nrt]){1,40}\\{0,7}["']?([\w.-]{1,80})\\{0,7}["']?[ \t]{0,4}:[ \t]{0,4}""")
_FIRST_ENTRY = js(r"""\\{0,7}"([\w.-]{1,80})\\{0,7}"[ \t]{0,4}:[ \t]{0,4}""")
_QUOTE = js(r"""(\\{0,7})(["'])""")
_BREAK = js(r"(\\{0,7})[nr]")
_ANY_BREAK = js(r"\n|\\{1,7}[nr]")
_BASE64_VALUE = js(r"^[A-Za-z0-9+/]{4,4000}={0,2}$")
_API_VERSION = js(r"""apiVersion\\{0,7}"?: {0,2}\\{0,7}["']?v1""")
_STRING = js(r"string$")
_NO_VALUE = js(r"^(?:true|false|null|\|-?|>-?)$")
_PRINTABLE = re.compile(rb"\A[\t\n\r -~]{5,}\Z")


def kubernetes_secret(text: str, keyword_at: int, keyword: str) -> list[Found] | None:
    at = _DATA.after(text, keyword_at)
    if at is None:
        return None
    is_plain = _STRING.test(text[max(0, keyword_at - 6) : keyword_at])
    if not is_plain and not _API_VERSION.test(text[max(0, keyword_at - 512) : keyword_at]):
        return None
    is_json = char(text, at - 1) == "{"
    found: list[Found] = []
    while at < keyword_at + LEAD - 1024:
        entry: Pattern = _FIRST_ENTRY if is_json and not found and char(text, at) != " " else _ENTRY
        entry_end = entry.after(text, at)
        value = None if entry_end is None else _kubernetes_value(text, entry_end, is_json)
        if value is None:
            break
        start, end, at = value
        if _is_kubernetes_secret(text[start:end], is_plain):
            found.append(Found(start, end))
    return found


def _kubernetes_value(text: str, at: int, is_json: bool) -> tuple[int, int, int] | None:
    opening = _QUOTE.at(text, at)
    if opening is not None:
        quoted_end = end_of_quoted(text, opening.end(), opening[2], len(opening[1]))
        return None if quoted_end is None else (opening.end(), quoted_end, quoted_end + len(opening[1]) + 1)
    if is_json:
        return None
    # In a JSON string every line break has as many backslashes as the first.
    broken = _ANY_BREAK.find(text[at : at + 2048])
    depth = 0
    if broken is not None:
        written = _BREAK.at(text, at + broken.start())
        depth = 0 if written is None else len(written[1])
    end = end_of_value_in_line(text, at, (depth, '"' if depth > 0 else ""))
    return (at, end, end) if end > at else None


def _is_kubernetes_secret(value: str, is_plain: bool) -> bool:
    if is_mask(value) or is_placeholder(value):
        return False
    if is_plain:
        return len(value) >= 4 and not _NO_VALUE.test(value)
    if not _BASE64_VALUE.test(value) or len(value) % 4 != 0:
        return False
    # A word or a number of a ConfigMap may be base64 as well, but not of a text.
    return len(value) >= 12 or _PRINTABLE.match(decode_base64(value)) is not None


# Tokens that begin with a number in base64: Discord's with the id of the bot, those of Atlassian's own servers with a counter.

_DISCORD = js(r"[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}")
_ATLASSIAN = js(r"[MNO][A-Za-z0-9+/]{43}")
_ATLASSIAN_PLAIN = re.compile(rb"\A[0-9]{10,14}:")


def number_in_base64(text: str, start: int, keyword: str) -> Found | None:
    if not begins_word(text, start):
        return None
    for pattern in (_DISCORD, _ATLASSIAN):
        end = pattern.after(text, start)
        if end is None or not ends_word(text, end):
            continue
        if pattern is _ATLASSIAN and _ATLASSIAN_PLAIN.match(decode_base64(text[start : start + 24])) is None:
            continue
        return Found(start, end)
    return None


# `host:port:database:user:password`, a line of PostgreSQL's file of passwords.

_PORT_AND_NAMES = js(r":(?:\d{2,5}|\*):[\w.*-]{1,64}:[\w.@*-]{1,64}:")
_HOST = js(r"[\w.*-]")
_ESCAPE = js(r"\\[nrt]")
_TWO_LETTERS = js(r"\w.*\w")


def pgpass(text: str, at: int, keyword: str) -> Found | None:
    start = _PORT_AND_NAMES.after(text, at)
    if start is None:
        return None
    host = at
    while host > 0 and at - host < 80 and _HOST.test(text[host - 1]) and not _ESCAPE.test(text[max(0, host - 2) : host]):
        host -= 1
    line = None if host == at else line_of_name(text, host)
    if line is None:
        return None
    end = end_of_value_in_line(text, start, line)
    password = text[start:end]
    return Found(start, end) if len(password) >= 4 and _TWO_LETTERS.test(password) and not is_placeholder(password) else None


# Private keys in PEM, whatever became of their line breaks. A block that breaks off is still a secret, as far as it goes.

_PEM_HEADER = js(r"-----BEGIN[ A-Z0-9_]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BEGUN = js(r"^-----BEGIN[ A-Z0-9_]{0,60}-{0,5}$")
_LONGEST_BLOCK = 16_000
_SHORTEST_BODY = 40
_SHORTEST_PEM_LINE = 24
_ARMOUR = frozenset("\\\"'`,.:;-_()<>@*#|$&!")
_LABEL_RUN = re.compile(r"[^-\n]*")
_DASHES = re.compile(r"-*")
_BASE64_SIGNS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


def private_key(text: str, start: int, keyword: str) -> Found | None:
    body_start = _PEM_HEADER.after(text, start)
    if body_start is None:
        is_begun = len(text) - start < 72 and _PEM_BEGUN.test(text[start:])
        return Found(start, start, is_open=True) if is_begun else None
    return _block_from(text, start, body_start)


def _block_from(text: str, start: int, body_start: int) -> Found | None:
    limit = min(len(text), body_start + _LONGEST_BLOCK)
    body_length = 0
    end_of_last_line = body_start
    run = 0

    def broken_off() -> Found | None:
        return Found(start, end_of_last_line) if body_length >= _SHORTEST_BODY and end_of_last_line > start else None

    for at in range(body_start, limit):
        character = text[at]
        if character == "-" and text.startswith("-----", at):
            if not text.startswith("-----END", at):
                if "-----END".startswith(text[at : at + 8]):
                    return Found(start, at, is_open=True)
                return broken_off()
            label = end_of_run(text, at + 5, 60, _LABEL_RUN)
            end = end_of_run(text, label, 5, _DASHES)
            if body_length < _SHORTEST_BODY:
                return None
            return Found(start, end, is_open=end == len(text) and end < label + 5)
        if character in _BASE64_SIGNS:
            body_length += 1
            run += 1
            if run >= _SHORTEST_PEM_LINE:
                end_of_last_line = at + 1
        elif is_space(character) or character in _ARMOUR or is_alphanumeric(character):
            if not (character == "\\" and char(text, at + 1) == "/"):
                run = 0
        else:
            return broken_off()
    found = broken_off()
    if limit < body_start + _LONGEST_BLOCK:
        return Found(start, start if found is None else found.end, is_open=True)
    return found


# The private half of a PuTTY key file: as many lines of base64 as its header says.

_PUTTY_HEADER = js(r"Private-Lines: {0,2}(\d{1,3})")
_PUTTY_BREAK = js(_BREAK_SOURCE)
_LINE_ENDS = js(r"""^[\s\\"']?$""")


def putty_key(text: str, keyword_at: int, keyword: str) -> Found | None:
    header = _PUTTY_HEADER.at(text, keyword_at)
    lines = 0 if header is None else int(header[1])
    end = 0 if header is None else header.end()
    start = 0
    for line in range(min(lines, 64)):
        line_start = _PUTTY_BREAK.after(text, end)
        if line_start is None:
            break
        line_end = end_of_run(text, line_start, 72, _BASE64)
        if line_end - line_start < (16 if line == 0 else 4) or not _LINE_ENDS.test(char(text, line_end)):
            break
        if line == 0:
            start = line_start
        end = line_end
    if start == 0:
        return None
    # A line that ends with the text may go on, and so may the key.
    return Found(start, end, is_open=end >= len(text) - 2)


# Telegram's bot tokens: the number of the bot, a colon, 35 characters. In addresses the word `bot` stands before the number.

_TELEGRAM = js(r":A[\w-]{34}(?![\w-])")


def telegram(text: str, colon: int, keyword: str) -> Found | None:
    end = _TELEGRAM.after(text, colon)
    if end is None:
        return None
    start = colon
    while start > 0 and colon - start < 17 and is_digit(text[start - 1]):
        start -= 1
    if not 5 <= colon - start <= 16:
        return None
    is_word = begins_word(text, start) or text[max(0, start - 3) : start].lower() == "bot"
    return Found(start, end) if is_word else None


BUILT_INS: dict[str, Find] = {
    "assignment": assignment,
    "block-scalar": block_scalar,
    "command-line-password": command_line,
    "connection-string": connection_string,
    "cookie": cookie,
    "json-web-key": json_web_key,
    "jwt": jwt,
    "kubernetes-secret": kubernetes_secret,
    "number-base64": number_in_base64,
    "password-label": password_label,
    "pgpass": pgpass,
    "private-key": private_key,
    "putty-private-key": putty_key,
    "table-column": table_column,
    "telegram-token": telegram,
}
