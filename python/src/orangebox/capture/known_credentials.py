"""What a process is given by its environment, and what its requests are authorised by: masked wherever it appears again in the recording."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

from ..contract import utf16
from ..redaction.redact_text import redact_text
from ..redaction.redact_value import redact_named_text
from .capture import Capture

_SHORTEST = 6
_LONGEST = 16_384
_CREDENTIAL_HEADERS = frozenset(
    ("authorization", "proxy-authorization", "x-amz-security-token", "x-api-key", "x-goog-api-key", "api-key", "openai-organization")
)
_COOKIE_HEADERS = frozenset(("cookie", "set-cookie"))
# Not what names a session or signs one request: ids that the body may have to repeat.
_CREDENTIAL_NAME = re.compile(r"(?:^|[-_])(?:token|secret|password|passwd|credentials?|api[-_]?key|auth[-_]?key)(?:\Z|[-_])")
_SECRET_QUERY = re.compile(r"(?:key|api[-_]?key|token|access[-_]?token|auth|password|secret)\Z", re.I)
_SCHEME = re.compile(r"(?:Basic|Bearer|Token|Bot)\s+", re.I)
_COOKIE_VALUE = re.compile(r"[\w.%+/=~-]+\Z", re.A)


def learn_environment(capture: Capture, environment: Mapping[str, str]) -> None:
    """The values of variables with telling names, and whatever else in them the rules find."""
    known = capture.ruleset.known
    if known is None:
        return
    for name, value in environment.items():
        if not _SHORTEST <= len(value) <= _LONGEST:
            continue
        named = redact_named_text(name, value, capture.ruleset)
        if not named.masks:
            redact_text(f"{name}={value}", capture.ruleset)
    known.pin()


def learn_headers(capture: Capture, headers: Iterable[tuple[str, str]]) -> None:
    if capture.is_full or capture.ruleset.known is None:
        return
    for name, value in headers:
        for credential in _credentials_in(name.lower(), value):
            capture.ruleset.known.learn(utf16.units(credential))


def learn_address(capture: Capture, url: str) -> None:
    """The password before the host, and what stands under a telling name in the query."""
    if capture.is_full or capture.ruleset.known is None or ("@" not in url and "?" not in url):
        return
    try:
        parts = urlsplit(url)
        password, query = parts.password, parse_qsl(parts.query)
    except ValueError:
        return  # No address; its text is searched like any other.
    if password:
        capture.ruleset.known.learn(utf16.units(unquote(password)))
    for name, value in query:
        if _SECRET_QUERY.match(name):
            capture.ruleset.known.learn(utf16.units(value))
        else:
            redact_named_text(name, value, capture.ruleset)


def _credentials_in(name: str, value: str) -> list[str]:
    if name in _COOKIE_HEADERS:
        # Long ones: a short one is a choice of language.
        pairs = (pair[pair.find("=") + 1 :].strip() for pair in value.split(";"))
        return [one for one in pairs if len(one) >= 16 and any(map(str.isdigit, one)) and _COOKIE_VALUE.match(one)]
    is_named = _CREDENTIAL_NAME.search(name) is not None and "ratelimit" not in name and "csrf" not in name
    if name not in _CREDENTIAL_HEADERS and not is_named:
        return []
    scheme = _SCHEME.match(value)
    credential = value[scheme.end() if scheme else 0 :].strip()
    # Several parameters are no secret as a whole, and which of them is one the rules know.
    if re.search(r"[\s,;]", credential):
        return []
    if scheme is None or not scheme[0].lower().startswith("basic"):
        return [credential]
    try:
        login = base64.b64decode(credential + "==").decode(errors="replace")
    except ValueError:
        return [credential]
    return [credential, login[login.find(":") + 1 :]]
