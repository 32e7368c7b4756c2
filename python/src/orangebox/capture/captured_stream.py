"""A body that arrives in pieces, on its way through the capture mode to the journal."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..redaction.byte_stream import ByteStreamRedactor, Piece
from ..redaction.frame_redactor import FrameRedactor
from ..redaction.mask import Mask
from .capture import Capture, worse

if TYPE_CHECKING:
    from ..step import Step

_ENOUGH_TO_TELL = 16
_SSE_TYPE = re.compile("event-stream", re.I)
_LINES_TYPE = re.compile("ndjson|jsonl|json-?seq|json-?lines", re.I)
_SSE_BEGINS = re.compile(r"(?:event|data|id|retry)?:")
# A letter that says what the line carries, or a second object behind the first.
_LINES_BEGIN = re.compile(r'[0-9a-z]:["{\[]|\s*\{[^\n\r]*\}\r?\n\s*\{')
_ARRAY_BEGINS = re.compile(r"\s*\[\s*(?:\{|\Z)")


class StoredStream:
    """What there is of it in the end. `id` is None when no bytes were written; `index` says when which byte came."""

    __slots__ = ("absent", "byte_size", "complete", "hash", "id", "index", "masks", "profile", "status")

    def __init__(
        self,
        id: str | None,
        hash: str,
        byte_size: int,
        complete: bool,
        masks: list[Mask],
        status: str,
        profile: str,
        index: list[list[float]],
        absent: str | None = None,
    ) -> None:
        self.id = id
        self.hash = hash
        self.byte_size = byte_size
        self.complete = complete
        self.masks = masks
        self.status = status
        self.profile = profile
        self.index = index
        self.absent = absent


class CapturedStream:
    def __init__(self, capture: Capture, mime_type: str | None, open_stream: Callable[[], Any]) -> None:
        self._capture = capture
        self._mime_type = mime_type
        self._open = open_stream
        self._redactor: ByteStreamRedactor | FrameRedactor | None = None
        self._first = b""
        self._stream: Any = None
        self._status = "not_required"
        self._bytes = 0
        self._last_micros: float = 0
        self._indexed: object = None
        self._masks: list[Mask] = []
        self._index: list[list[float]] = []

    def write(self, data: bytes, at_micros: float) -> None:
        self._last_micros = at_micros
        # Opened with the first byte, not with the first that may be stored: a reader sees that an answer has begun.
        if self._stream is None:
            self._stream = self._open()
        if self._capture.is_full:
            self._store(Piece(data, [], [at_micros]), 0)
            return
        self._push(data, False)

    def finish(self) -> StoredStream:
        if self._stream is None:
            self._stream = self._open()
        if not self._capture.is_full:
            self._push(b"", True)
            if self._redactor is not None:
                self._store_all(self._redactor.finish([self._last_micros]), 0)
        hash, byte_size, complete = self._stream.finish()
        return StoredStream(
            self._stream.id, hash, byte_size, complete, self._masks, self._status, self._capture.profile, self._index
        )

    def _push(self, data: bytes, is_end: bool) -> None:
        """The first bytes tell how a body has to be read; a few of them may be too few."""
        first = self._first + data
        if self._redactor is None and not is_end and len(first) < _ENOUGH_TO_TELL:
            self._first = first
            self._store_all([], len(first))
            return
        if self._redactor is None:
            framing = _framing_of(self._mime_type, first)
            ruleset = self._capture.ruleset
            self._redactor = ByteStreamRedactor(ruleset) if framing is None else FrameRedactor(ruleset, framing)
        self._first = b""
        pieces = self._redactor.push(first, [self._last_micros])
        self._store_all(pieces, 0 if is_end else self._redactor.held_bytes)

    def _store_all(self, pieces: list[Piece], held_bytes: int) -> None:
        """A process that is killed now leaves what is written; the last line says how much had come that is not."""
        for piece in pieces:
            self._store(piece, held_bytes if piece is pieces[-1] else 0)
        if not pieces and held_bytes > 0:
            self._stream.write(b"", held_bytes)

    def _store(self, piece: Piece, held_bytes: int) -> None:
        if piece.failed:
            self._status = worse(self._status, "failed")
        if piece.masks:
            self._status = worse(self._status, "redacted")
        self._masks += [mask.moved(self._bytes) for mask in piece.masks]
        # Frames that came together are one read.
        if self._indexed is not piece.arrival:
            self._index.append([self._bytes, piece.arrival[0]])  # type: ignore[index]
        self._indexed = piece.arrival
        self._bytes += len(piece.data)
        self._stream.write(piece.data, held_bytes)


class UndecodedStream:
    """Of bytes that cannot be decoded nothing is kept but a keyed digest and a size."""

    def __init__(self, key: bytes) -> None:
        self._running = hmac.new(key, b"", hashlib.sha256)
        self._bytes = 0
        self._index: list[list[float]] = []

    def write(self, data: bytes, at_micros: float) -> None:
        self._running.update(data)
        self._index.append([self._bytes, at_micros])
        self._bytes += len(data)

    def finish(self) -> StoredStream:
        digest = f"sha256:{self._running.hexdigest()}"
        return StoredStream(None, digest, self._bytes, True, [], "blocked", "hashed", self._index, "not_kept")


def capture_stream(step: Step, mime_type: str | None, is_encoded: bool = False) -> CapturedStream | UndecodedStream:
    """The answer of a step. Bytes that could not be decoded are kept only where everything is."""
    builder = step.run_state.builder
    if is_encoded and not builder.capture.is_full:
        return UndecodedStream(builder.capture.key)
    return CapturedStream(
        builder.capture, mime_type, lambda: builder.sink.open_stream(step.run_id, step._state.id, "response")
    )


def _framing_of(mime_type: str | None, first: bytes) -> str | None:
    """Not every server says what it sends, so the first bytes are asked too."""
    if mime_type is not None and _SSE_TYPE.search(mime_type):
        return "sse"
    if mime_type is not None and _LINES_TYPE.search(mime_type):
        return "lines"
    beginning = first[:4096].decode("latin-1")
    if _SSE_BEGINS.match(beginning):
        return "sse"
    if _LINES_BEGIN.match(beginning):
        return "lines"
    return "array" if _ARRAY_BEGINS.match(beginning) else None
