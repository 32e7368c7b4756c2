"""Headers and addresses as they may be stored: all of them, in order; those that are not known to be harmless are masked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from urllib.parse import unquote, urlsplit

from .contract import utf16
from .described_error import mask_proxy_tokens
from .redaction.mask import MASK_MIDDLE, masked_secret

Headers = Iterable[tuple[str, str]]

_SECRET_NAME = re.compile(
    r"(?:^|[-_])(?:token|secret|password|passwd|credential|api[-_]?key|auth|authorization|signature|session|cookie|jwt|hmac)(?:\Z|[-_])",
    re.I,
)
_RATE_LIMIT = re.compile(r"(?:^|-)ratelimit(?:\Z|-)")
_PROVIDERS_SECRET = frozenset(("authorization", "x-api-key", "x-goog-api-key", "api-key", "openai-organization"))
_PROVIDERS_OWN = frozenset(("anthropic-beta", "anthropic-version", "openai-beta"))
# What HTTP itself, proxies and tracing say about a message, and what clients say about themselves.
_READABLE = frozenset(
    """accept accept-charset accept-encoding accept-language accept-ranges age allow alt-svc cache-control cf-cache-status cf-ray
    connection content-disposition content-encoding content-language content-length content-location content-range
    content-security-policy content-type cross-origin-opener-policy cross-origin-resource-policy date dnt etag expect expires
    from host http-referer idempotency-key if-match if-modified-since if-none-match keep-alive last-modified link location
    max-forwards nel origin permissions-policy pragma priority proxy-connection range referer referrer-policy report-to
    retry-after server server-timing strict-transport-security te timing-allow-origin traceparent tracestate trailer
    transfer-encoding upgrade upgrade-insecure-requests user-agent vary via warning x-app x-cache x-cache-hits
    x-cloud-trace-context x-content-type-options x-dns-prefetch-control x-download-options x-frame-options x-powered-by
    x-real-ip x-robots-tag x-served-by x-should-retry x-timer x-title x-xss-protection""".split()
)
_READABLE_FAMILY = re.compile(r"(?:access-control-|sec-(?:fetch|ch)-|x-forwarded-|x-b3-|x-orangebox-)")
_READABLE_END = re.compile(
    r"(?:^|[-_])(?:version|beta|ms|model|request-?id|trace-?id|count|lang|os|arch|runtime|timeout|method|async|retry|attempt|stream|region|environment)\Z"
)
_ADDRESSES = frozenset(("location", "content-location", "referer", "http-referer", "origin"))
_SCHEME = re.compile(r"(?:Basic|Bearer|Digest|Token|AWS4-HMAC-SHA256)\s+", re.I)
_READABLE_QUERY = re.compile(
    r"(?:alt|api-?version|beta|before|after|cursor|dimensions?|fields|filter|format|from|id|include|lang(?:uage)?|limit|locale|model|offset|"
    r"order(?:_by)?|page(?:_?size)?|prettyprint|purpose|q|query|region|search|size|sort|start|status|stream|timeout|to|type|user|v|version|"
    r"view|x-id)\Z",
    re.I,
)
_CREDENTIAL_QUERY = re.compile(
    r"(?:^|[-_.])(?:key|api-?key|token|auth|authorization|sig|signature|password|passwd|pwd|secret|code|session|sid|jwt|hmac|ticket|otp|"
    r"credential|assertion|nonce|security-token)(?:\Z|[-_.])",
    re.I,
)
# A number, a short word, words: these let no one in.
_PLAIN_VALUE = re.compile(r"(?:[\w.:-]{0,7}|\d{1,20}|[A-Za-z]+(?:[ _.-][A-Za-z]+){0,8})\Z", re.A)


def header_of(headers: Headers, name: str) -> str | None:
    return next((value for key, value in headers if key.lower() == name), None)


def safe_headers(headers: Headers) -> list[list[str]]:
    return [[name, _safe_header(name.lower(), value)] for name, value in headers]


def _safe_header(name: str, value: str) -> str:
    if not _is_readable(name):
        scheme = _SCHEME.match(value)
        # The scheme is not secret, and without it a Basic login and a Bearer token look the same.
        shown = scheme[0] if scheme else ""
        return shown + _masked(value[len(shown) :])
    return safe_url(value) if name in _ADDRESSES and ("?" in value or "@" in value) else value


def _is_readable(name: str) -> bool:
    if _RATE_LIMIT.search(name):
        return True
    if name in _PROVIDERS_SECRET or _SECRET_NAME.search(name):
        return False
    return (
        name in _READABLE
        or name in _PROVIDERS_OWN
        or _READABLE_FAMILY.match(name) is not None
        or _READABLE_END.search(name) is not None
    )


def _masked(value: str) -> str:
    return utf16.whole(masked_secret(utf16.units(value)))


def safe_url(url: str, redact: Callable[[str], str] = lambda text: text) -> str:
    """A password before the host is gone, and of the query what is not known to be harmless is masked."""
    url = mask_proxy_tokens(url)
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = "" if parts.port is None else f":{parts.port}"
    except ValueError:
        return re.sub(r"([?&][^=&#]{1,80}=)[^&#]{8,}", rf"\1{MASK_MIDDLE}", url)
    if parts.scheme == "" or host == "":
        return re.sub(r"([?&][^=&#]{1,80}=)[^&#]{8,}", rf"\1{MASK_MIDDLE}", url)

    def searched(text: str) -> str:
        decoded = unquote(text)
        redacted = redact(decoded)
        return text if redacted == decoded else redacted

    path = "/".join(map(searched, parts.path.split("/"))) or "/"
    query = "&".join(_safe_pair(pair, searched) for pair in parts.query.split("&")) if parts.query else ""
    shown_host = f"[{host}]" if ":" in host else host
    fragment = f"#{searched(parts.fragment)}" if parts.fragment else ""
    return f"{parts.scheme}://{shown_host}{port}{path}{'?' + query if query else ''}{fragment}"


def _safe_pair(pair: str, searched: Callable[[str], str]) -> str:
    name, _, rest = pair.partition("=")
    value = unquote(rest)
    is_credential = _CREDENTIAL_QUERY.search(unquote(name)) is not None or (
        _READABLE_QUERY.match(unquote(name)) is None and _PLAIN_VALUE.match(value) is None
    )
    return searched(pair) if value == "" or not is_credential else f"{name}={_masked(value)}"
