"""Collects the bodies one event names: each becomes a hash in the payload, an entry in `artifact_refs`, and bytes for the journal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .capture.capture import Capture, CapturedContent, comparable_bytes, listed_masks, worse
from .contract import json_text, utf16
from .journal.writer import Body

if TYPE_CHECKING:
    from .capture.captured_stream import StoredStream

_SUMMARY_BYTES = 2048
TEXT = "text/plain; charset=utf-8"
JSON = "application/json"
BYTES = "application/octet-stream"


def bytes_of(value: object) -> tuple[bytes, str]:
    """
    Any value as a body, and its MIME type. Bytes stay as they are; a string is its UTF-8 text; everything else is its JSON. A string with
    lone surrogates has no UTF-8 form, so it is kept as a JSON string, where they survive as escapes.
    """
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value), BYTES
    if isinstance(value, str) and utf16.is_well_formed(value):
        return value.encode(), TEXT
    return json_text.safe(value).encode(), JSON


class AddedBody:
    __slots__ = ("_content", "_value", "given")

    def __init__(self, value: object, given: bytes, content: CapturedContent) -> None:
        self._value = value
        self.given = given
        self._content = content

    @property
    def hash(self) -> str:
        return self._content.hash

    @property
    def is_as_given(self) -> bool:
        return self._content.data is self.given

    def text(self) -> str:
        """Its beginning, as it is stored; empty where it is not. Only that is decoded."""
        data = self._content.data
        return "" if data is None else data[:_SUMMARY_BYTES].decode(errors="replace")

    def value(self) -> object:
        """The value as it is stored: the one that was given, unless something had to be taken out of it."""
        if self.is_as_given:
            return self._value
        return None if self._content.data is None else _value_in(self._content.data)

    def comparable(self) -> bytes:
        """The bytes a signature is taken of."""
        comparable = comparable_bytes(self._content)
        return self.hash.encode() if comparable is None else comparable

    def comparable_value(self) -> object:
        return self._value if self.is_as_given else _value_in(self.comparable())


def _value_in(data: bytes) -> object:
    text = data.decode(errors="replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


class BodiesOfEvent:
    __slots__ = ("_capture", "_keep", "bodies", "redaction", "refs")

    def __init__(self, capture: Capture, keep: bool) -> None:
        self._capture = capture
        self._keep = keep
        self.refs: list[dict[str, object]] = []
        self.bodies: list[Body] = []
        self.redaction = "not_required"

    def add(self, kind: str, value: object) -> AddedBody:
        data, mime_type = bytes_of(value)
        return AddedBody(value, data, self._put(kind, data, mime_type, None))

    def ref(self, kind: str, value: object) -> str | None:
        """None is no body."""
        return None if value is None else self.add(kind, value).hash

    def add_as(self, kind: str, data: bytes, mime_type: str, content_encoding: str | None = None) -> AddedBody:
        return AddedBody(data, data, self._put(kind, data, mime_type, content_encoding))

    def json_ref(self, kind: str, value: object) -> str:
        return self.add_as(kind, json_text.ours(value).encode(), JSON).hash

    def add_streamed(self, kind: str, mime_type: str, stream: StoredStream, content_encoding: str | None = None) -> str:
        """A body whose bytes came as a stream, ahead of this event. One that is incomplete is marked, because its hash covers what is missing."""
        absent = stream.absent or (None if stream.complete else "not_kept")
        self._refer(kind, mime_type, stream.hash, stream.byte_size, stream.masks, stream.status, stream.profile, absent, content_encoding)
        if absent is None and stream.id is not None:
            self.bodies.append(Body(stream.hash, stream_id=stream.id, byte_size=stream.byte_size))
        return stream.hash

    def _put(self, kind: str, data: bytes, mime_type: str, content_encoding: str | None) -> CapturedContent:
        content = self._capture.content(f"{kind}_ref", data, content_encoding is not None)
        absent = content.absent or (None if self._keep else "not_kept")
        self._refer(
            kind, mime_type, content.hash, content.byte_size, content.masks, content.status, content.profile, absent, content_encoding
        )
        if self._keep and content.data is not None:
            self.bodies.append(Body(content.hash, content.data))
        return content

    def _refer(
        self,
        kind: str,
        mime_type: str,
        hash: str,
        byte_size: int,
        masks: list,
        status: str,
        profile: str,
        absent: str | None,
        content_encoding: str | None,
    ) -> None:
        self.redaction = worse(self.redaction, status)
        ref: dict[str, object] = {
            "artifact_hash": hash,
            "artifact_type": kind,
            "byte_size": byte_size,
            "content_encoding": (content_encoding or "identity")[:64],
            "mime_type": mime_type,
            "redaction_profile": profile,
        }
        if absent is not None:
            ref["absent"] = absent
        ref.update(listed_masks(masks))
        self.refs.append(ref)
