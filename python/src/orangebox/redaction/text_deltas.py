"""
The pieces of text in one frame of a streamed answer, and which texts are whole with it. Told by shape and not by provider, because an
unknown provider's stream has to be read for secrets as well.
"""

from __future__ import annotations

import re

from ..contract.canonical_json import Lexeme, Members
from .json_spans import Text

_TEXT_KEYS = frozenset(
    "text content partial_json thinking arguments delta input refusal reasoning reasoning_content response output code transcript".split()
)
_PLACE_KEYS = ("index", "output_index", "content_index", "summary_index", "item_id", "toolCallId")
_FINISH_KEYS = frozenset(("finish_reason", "finishReason", "done_reason"))
_DEEPEST = 12
_WHOLE = re.compile(r"^(?:message_stop|message-end|error|finish|response\.(?:completed|done|failed|incomplete))\Z")
_PART_ENDS = re.compile(r"(?:_stop|[._-](?:done|end|completed|available))\Z")
_PART = re.compile(r"^[a-z]+(?:-[a-z]+)*-(?:delta|end)\Z")
_COMPLETION = re.compile(r"^/choices/\d+\Z", re.ASCII)
_DELTA_KEY = re.compile(r"(?:Text|Json|text|json)_?[Dd]elta\Z")
_KNOWN_TYPE = re.compile(r"^(?:message_|content_block_|response\.|ping\Z|(?:text|reasoning|tool|data|source|start|finish)(?:\Z|-))")
_KNOWN_KEYS = frozenset(("choices", "candidates", "done", "usageMetadata", "error", "jsonrpc"))
# Names of what is whole in every frame: ids, kinds, times.
_WHOLE_KEY = re.compile(
    r"(?:^|_)(?:id|type|event|object|model|role|name|status|created|time|at|timestamp|version|cursor|hash|kind)\Z|"
    r"[a-z](?:Id|Type|Event|Model|Role|Name|Status|Time|At|Timestamp|Version|Cursor|Hash|Kind)\Z"
)


class Delta:
    """A piece of a text that a provider sends a few characters at a time. `is_guess`: no protocol we know says that it goes on."""

    __slots__ = ("block", "is_guess", "lane", "node")

    def __init__(self, lane: str, block: str, node: Text, is_guess: bool = False) -> None:
        self.lane = lane
        self.block = block
        self.node = node
        self.is_guess = is_guess


def text_deltas(root: object) -> tuple[list[Delta], list[str] | None]:
    """The pieces, and the lanes whose texts are whole with this frame: None for all of them."""
    if isinstance(root, Text):
        return [Delta("", "", root)], []
    if isinstance(root, list) and not isinstance(root, Members):
        return _guessed(root, "", ""), []
    if not isinstance(root, Members):
        return [], []
    type_ = _text_at(root, "type")
    deltas: list[Delta] = []
    ends: list[str] = []
    # Ids of parts tell texts apart where the type says that it is about a part; elsewhere every frame may have an id of its own.
    place = "|".join([*(_scalar_at(root, key) for key in _PLACE_KEYS), _scalar_at(root, "id") if _PART.match(type_) else ""])
    is_line = any(key == "done" for key, _ in root)

    def visit(node: object, path: str, lane: str, goes_on: bool, depth: int) -> None:
        if depth > _DEEPEST:
            return
        if isinstance(node, list) and not isinstance(node, Members):
            is_choice = path in ("/choices", "/candidates")
            for i, item in enumerate(node):
                index = (_scalar_at(item, "index") if isinstance(item, Members) else "") or str(i)
                visit(item, f"{path}/{index}", f"choice {index}" if is_choice else lane, goes_on, depth + 1)
            return
        if not isinstance(node, Members):
            return
        for key, value in node:
            if key in _FINISH_KEYS and isinstance(value, Text):
                ends.append(lane)
            inner = f"{path}/{key}"
            in_delta = goes_on or key == "delta" or (key == "parts" and path.startswith("/candidates"))
            if not isinstance(value, Text):
                visit(value, inner, lane, in_delta or (is_line and key == "message"), depth + 1)
            elif _is_text_key(
                key, in_delta or (is_line and key == "response") or (key == "text" and _COMPLETION.match(path) is not None)
            ):
                deltas.append(Delta(lane, f"{type_}|{place}|{inner}", value))

    visit(root, "", place, type_.endswith("delta"), 0)
    if _WHOLE.match(type_) or (is_line and _scalar_at(root, "done") == "true"):
        return deltas, None
    if _PART_ENDS.search(type_):
        ends.append(place)
    if deltas or ends or _KNOWN_TYPE.match(type_) or any(key in _KNOWN_KEYS for key, _ in root):
        return deltas, ends
    return _guessed(root, type_, place), ends


def _is_text_key(key: str, goes_on: bool) -> bool:
    return (goes_on and key in _TEXT_KEYS) or _DELTA_KEY.search(key) is not None


def _guessed(root: object, type_: str, place: str) -> list[Delta]:
    deltas: list[Delta] = []

    def visit(node: object, path: str, depth: int) -> None:
        if depth > _DEEPEST:
            return
        if isinstance(node, Text):
            deltas.append(Delta(place, f"{type_}|{place}|{path}", node, is_guess=True))
        elif isinstance(node, Members):
            for key, value in node:
                if _WHOLE_KEY.search(key) is None:
                    visit(value, f"{path}/{key}", depth + 1)
        elif isinstance(node, list):
            for i, item in enumerate(node):
                visit(item, f"{path}/{i}", depth + 1)

    visit(root, "", 0)
    return deltas


def _member(node: Members, key: str) -> object:
    return next((value for name, value in node if name == key), None)


def _text_at(node: Members, key: str) -> str:
    value = _member(node, key)
    return str(value) if isinstance(value, Text) else ""


def _scalar_at(node: Members, key: str) -> str:
    if not any(name == key for name, _ in node):
        return ""
    value = _member(node, key)
    if isinstance(value, (Text, Lexeme)):
        return str(value)
    if value is None:
        return "null"
    return ("true" if value else "false") if isinstance(value, bool) else ""
