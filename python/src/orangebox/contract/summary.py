"""Short inline excerpts: a cut of recorded text, never a paraphrase."""

from __future__ import annotations

import re
from collections.abc import Mapping

from . import json_text, utf16

MAX_SUMMARY = 240
MAX_LOG_MESSAGE = 8192

# White space as JavaScript knows it, which is not quite Python's.
SPACES = "\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
_SPACES = re.compile(f"[{SPACES}]+")


def summarize_text(text: str) -> str:
    long = utf16.units(text[: MAX_SUMMARY * 4 + 1])
    head = _SPACES.sub(" ", long[: MAX_SUMMARY * 4]).strip(" ")
    is_cut = len(head) > MAX_SUMMARY or len(long) > MAX_SUMMARY * 4
    return utf16.well_formed(f"{head[: MAX_SUMMARY - 1]}…" if is_cut else head)


# In the order in which a reader wants them: what was touched, then what was run, then what was asked.
_TELLING = ("path", "file_path", "filePath", "file", "filename", "command", "cmd", "query", "pattern", "url", "name", "id")


def summarize_args(args: object) -> str:
    """The argument that tells most about a call: `src/date.ts` for read_file, `npm test` for a shell."""
    if args is None:
        return ""
    if isinstance(args, (list, tuple)):
        args = {str(at): item for at, item in enumerate(args)}
    if not isinstance(args, Mapping):
        return summarize_text(args if isinstance(args, str) else json_text.safe(args))
    for name in _TELLING:
        value = args.get(name)
        if isinstance(value, str) and value != "":
            return summarize_text(value)
    for name, value in args.items():
        if isinstance(value, bool):
            continue
        if isinstance(value, str):
            return summarize_text(f"{name}={value}")
        if isinstance(value, (int, float)):
            return summarize_text(f"{name}={json_text.number(value)}")
    return ""
