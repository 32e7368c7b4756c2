"""Whatever was raised, with class, message, traceback and causes. Never raises itself."""

from __future__ import annotations

import re
from collections.abc import Callable

from .contract import utf16
from .contract.summary import SPACES, summarize_text

_MOST_LINKS = 64
_LONGEST_CHAIN = 16
_LONGEST_LINE = 4096
_LONGEST_TEXT = 64 * 1024
_LONGEST_WORD = 16_384
_SPACE = re.compile(f"[{SPACES}]")
_PROXY_TOKEN = re.compile("obxproxy_[0-9a-f]{32}")


def mask_proxy_tokens(text: str) -> str:
    """Without the path part that lets a client into a running proxy."""
    return _PROXY_TOKEN.sub("obxproxy_redacted", text)


class DescribedError:
    __slots__ = ("chain", "error_class", "summary")

    def __init__(self, error_class: str, summary: str, chain: list[dict[str, object]]) -> None:
        self.error_class = error_class
        self.summary = summary
        self.chain = chain


def describe_error(raised: object, summarize: Callable[[str], str] = summarize_text) -> DescribedError:
    walk = _Walk()
    chain = _chain_of(raised, walk)
    first_line = str(chain[0]["message"]).split("\n", 1)[0]
    return DescribedError(str(chain[0]["class"]), summarize(cut_at_word(first_line, _LONGEST_LINE)), chain)


class _Walk:
    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.left = _MOST_LINKS


def _chain_of(raised: object, walk: _Walk) -> list[dict[str, object]]:
    chain: list[dict[str, object]] = []
    one = raised
    while one is not None and len(chain) < _LONGEST_CHAIN and (not chain or (walk.left > 0 and id(one) not in walk.seen)):
        walk.seen.add(id(one))
        walk.left -= 1
        chain.append({**_link_of(one), **_errors_in(one, walk)})
        one = _cause_of(one)
    if one is not None and id(one) not in walk.seen:
        chain[-1] = {**chain[-1], "more": 1}
    return chain


def _cause_of(raised: object) -> object:
    cause = getattr(raised, "__cause__", None)
    if cause is None and not getattr(raised, "__suppress_context__", False):
        cause = getattr(raised, "__context__", None)
    return cause


def _errors_in(raised: object, walk: _Walk) -> dict[str, object]:
    """`ExceptionGroup` and whatever has the same form."""
    inner = getattr(raised, "exceptions", None)
    if not isinstance(inner, (tuple, list)) or not inner:
        return {}
    errors: list[object] = []
    at = 0
    while at < len(inner) and walk.left > 0:
        if id(inner[at]) not in walk.seen:
            errors.append(_chain_of(inner[at], walk))
        at += 1
    return {**({"errors": errors} if errors else {}), **({} if at == len(inner) else {"more": len(inner) - at})}


def _link_of(raised: object) -> dict[str, object]:
    if not isinstance(raised, BaseException):
        return {"class": "NonError", **_message(str(raised)), "stack": None}
    link: dict[str, object] = {
        "class": cut_at_word(type(raised).__name__, 256),
        **_message(message_of(raised)),
        "stack": _stack_of(raised),
    }
    code = getattr(raised, "code", None)
    if isinstance(code, (str, int)) and not isinstance(code, bool):
        link["code"] = cut_at_word(str(code), 256)
    return link


def message_of(raised: BaseException) -> str:
    try:
        return str(raised)
    except Exception:
        return "[unreadable]"


def _message(text: str) -> dict[str, object]:
    length = utf16.length(text)
    if length <= _LONGEST_TEXT:
        return {"message": mask_proxy_tokens(text)}
    return {"message": mask_proxy_tokens(cut_at_word(text, _LONGEST_TEXT)), "message_length": length}


def _stack_of(raised: BaseException) -> str | None:
    if raised.__traceback__ is None:
        return None
    try:
        import traceback

        # Without its causes, which stand beside it, and without source lines, which may hold anything.
        frames = [f'  File "{one.filename}", line {one.lineno}, in {one.name}' for one in traceback.extract_tb(raised.__traceback__)]
        text = "Traceback (most recent call last):\n" + "\n".join(frames)
    except Exception:
        return None
    return mask_proxy_tokens(_end_from_word(text, _LONGEST_TEXT))


def cut_at_word(text: str, longest: int) -> str:
    """
    The beginning of a text that is too long to keep, before the redactor has looked for secrets: half a secret has no form to be known by, so
    the word that the end falls into goes as a whole.
    """
    if len(text) <= longest // 2 or utf16.length(text) <= longest:
        return text
    units = utf16.units(text)
    earliest = max(0, longest - _LONGEST_WORD)
    end = longest
    while end > earliest and not _SPACE.match(units[end - 1]):
        end -= 1
    return f"{utf16.well_formed(units[: min(end, longest - 1)])}…"


def _end_from_word(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    start = len(text) - longest + 1
    latest = min(len(text), start + _LONGEST_WORD)
    while start < latest and not _SPACE.match(text[start - 1]):
        start += 1
    return f"…{utf16.well_formed(text[start:])}"
