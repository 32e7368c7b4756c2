"""
One exchange over HTTP, recorded as it goes over the wire: the request before it leaves, the answer's bytes as they come. A call to a model is
a model step; anything else that passes is kept as an `http` step, bytes and all. What the bytes mean is read by the collector. Knows no
sockets: the edges feed it.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from .capture.captured_stream import CapturedStream, UndecodedStream, capture_stream
from .capture.known_credentials import learn_address, learn_headers
from .described_error import cut_at_word, describe_error
from .safe_headers import header_of, safe_headers, safe_url
from .step import Step

if TYPE_CHECKING:
    from .bodies_of_event import BodiesOfEvent

STEP_HEADER = "x-orangebox-step"
"""Names the step a request belongs to, for the proxy of `orangebox run`, which then links instead of recording twice."""

_LONGEST_URL = 8192
# Protocols whose address names the model.
_MODEL_IN_PATH = re.compile(r"/models?/([^/]+?)(?::(?:streamGenerateContent|generateContent|countTokens)|/(?:invoke|converse)[\w-]*)\Z")
# The last word of an answer: who leaves behind it did not abort.
_TERMINAL = re.compile(rb"data: ?\[DONE\]|message_stop|response\.(?:completed|done|failed|incomplete)|\"finishReason\"|\"done\": ?true")
_TAIL_BYTES = 4096

HeaderList = list[tuple[str, str]]


def open_wire_call(step: Step, method: str, url: str, headers: HeaderList, body: bytes) -> WireCall:
    capture = step.run_state.builder.capture
    learn_headers(capture, headers)
    learn_address(capture, url)
    handle = Step(step.run_state, step._new_child(), step.source)
    model = _model_named(method, url, body)
    links = handle._follow_links_of_self()
    bodies = step.run_state.builder.bodies()
    address = safe_url(url, capture.searched)
    mime_type = _mime_type(headers)
    if model is None:
        payload: dict[str, object] = {"name": f"{method} {_host_and_path(address)}"[:512], "kind": "http"}
        if body:
            payload["body_ref"] = bodies.add_as("body", body, mime_type).hash
        attributes = {"http_method": method, "url": address}
        handle.emit("step_started", payload, bodies=bodies, attributes=attributes, links=links)
        return WireCall(handle, "step_ended", "unknown", None)
    provider = cut_at_word(urlsplit(address).netloc, 512) or "unknown"
    request = bodies.add_as("request", body, mime_type)
    payload = {
        "provider": provider,
        "model_id": cut_at_word(model, 512),
        "model_api_version": header_of(headers, "anthropic-version"),
        "request_ref": request.hash,
        "capture_mode": capture.mode,
        "http_method": method[:32],
        "url": address[:_LONGEST_URL],
        "request_headers_ref": bodies.json_ref("request_headers", safe_headers(headers)),
        "temperature": None,
        "top_p": None,
        "max_tokens": None,
    }
    handle.emit("model_called", payload, bodies=bodies, links=links)
    return WireCall(handle, "model_result", provider, model)


def _model_named(method: str, url: str, body: bytes) -> str | None:
    """Whatever posts JSON that names a model is a call of it, and so is what an address names one in."""
    if method != "POST":
        return None
    in_path = _MODEL_IN_PATH.search(urlsplit(url).path)
    if in_path is not None:
        return unquote(in_path[1])
    if b'"model"' not in body:
        return None
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return None
    model = said.get("model") if isinstance(said, dict) else None
    return model if isinstance(model, str) and model != "" else None


def _mime_type(headers: HeaderList) -> str:
    return cut_at_word(header_of(headers, "content-type") or "", 256) or "application/octet-stream"


def _host_and_path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}"


class WireCall:
    def __init__(self, handle: Step, closes_with: str, provider: str, model: str | None) -> None:
        self.step = handle
        self._closes_with = closes_with
        self._provider = provider
        self._model = model
        self._status: int | None = None
        self._headers: HeaderList = []
        self._stream: CapturedStream | UndecodedStream | None = None
        self._decoder: _Decoder | None = None
        self._first_byte_ms: float | None = None
        self._tail = b""
        self._is_ended = False

    def header_for_proxy(self, url: str) -> dict[str, str]:
        """Under `orangebox run` the same call also passes the recording proxy, which then only links to what is recorded here."""
        proxy = os.environ.get("ORANGEBOX_PROXY")
        if not proxy or not url.startswith(f"{proxy}/"):
            return {}
        return {STEP_HEADER: f"{self.step.run_id}/{self.step.id}"}

    def response_started(self, status: int, headers: HeaderList, is_decoded: bool = False) -> None:
        """`is_decoded`: what comes is content-decoded already."""
        self._status = status
        self._headers = headers
        encoding = (header_of(headers, "content-encoding") or "identity").strip().lower()
        self._decoder = _Decoder("identity" if is_decoded else encoding)
        learn_headers(self.step.run_state.builder.capture, headers)

    def chunk(self, data: bytes) -> None:
        """The next bytes of the answer. They are in the journal when this returns."""
        if not data or self._is_ended:
            return
        try:
            if self._decoder is None:
                self._decoder = _Decoder("identity")
            self._write(self._decoder.push(data))
        except Exception:
            pass  # Telemetry: the answer still reaches the application.

    def _write(self, data: bytes) -> None:
        if not data:
            return
        micros = max(0, self.step.run_state.builder.now()[1] - self.step._state.opened_at[1])
        if self._stream is None:
            self._first_byte_ms = micros / 1000
            is_encoded = self._decoder is not None and not self._decoder.can_decode
            self._stream = capture_stream(self.step, header_of(self._headers, "content-type"), is_encoded)
        self._stream.write(data, micros)
        self._tail = (self._tail + data)[-_TAIL_BYTES:]

    def end(self, how: str, err: BaseException | None = None) -> None:
        """`how` is `complete`, `client_abort`, `upstream_reset` or `timeout`."""
        if self._is_ended:
            return
        self._is_ended = True
        try:
            if self._decoder is not None:
                self._write(self._decoder.finish())
            if how == "client_abort" and _TERMINAL.search(self._tail):
                how, err = "complete", None
            self._close(how, err)
        except Exception as error:
            self.step.run_state.builder._say_lost(self._closes_with, error)

    def _close(self, how: str, err: BaseException | None) -> None:
        if not self.step._close():
            return
        bodies = self.step.run_state.builder.bodies()
        encoding = None if self._decoder is None or self._decoder.can_decode else self._decoder.encoding
        kind = "response" if self._closes_with == "model_result" else "body"
        stored = None if self._stream is None else self._stream.finish()
        ref = None if stored is None else bodies.add_streamed(kind, _mime_type(self._headers), stored, encoding)
        attributes: dict[str, object] = {}
        if self._decoder is not None and self._decoder.encoding != "identity":
            attributes["response_wire_encoding"] = self._decoder.encoding
        failure = self._failure(err)
        status = self._outcome(how, err)
        if self._closes_with == "step_ended":
            payload: dict[str, object] = {"status": status}
            if failure is not None:
                payload.update(error_class=failure[0], error_summary=failure[1])
            if ref is not None:
                payload["body_ref"] = ref
            attributes = {"http_status": self._status, "stream_end": how, **attributes}
            self.step._emit_close("step_ended", payload, bodies=bodies, attributes=attributes)
            return
        payload = {"response_ref": ref, **self._result(how, status, failure, bodies, stored)}
        self.step._emit_close("model_result", payload, bodies=bodies, attributes=attributes or None)

    def _result(self, how: str, status: str, failure: Any, bodies: BodiesOfEvent, stored: Any) -> dict[str, object]:
        payload: dict[str, object] = {
            "provider": self._provider,
            "model_id": self._model,
            "status": status,
            "http_status": self._status if self._status is not None and 100 <= self._status <= 999 else None,
            "error_class": None if failure is None else failure[0],
            "error_ref": None if failure is None else bodies.json_ref("error", failure[2]),
        }
        if failure is not None:
            payload["error_summary"] = failure[1]
        if self._first_byte_ms is not None:
            payload["first_byte_ms"] = self._first_byte_ms
        if self._status is not None:
            payload["response_headers_ref"] = bodies.json_ref("response_headers", safe_headers(self._headers))
        if stored is not None and len(stored.index) > 1:
            index = {"end": how, "bytes": stored.byte_size, "reads": stored.index}
            payload["stream_index_ref"] = bodies.json_ref("stream_index", index)
        payload["stream_end"] = how
        request_id = header_of(self._headers, "request-id") or header_of(self._headers, "x-request-id")
        if request_id:
            payload["provider_request_id"] = cut_at_word(request_id, 512)
        payload["stored_bytes"] = 0 if stored is None else stored.byte_size
        payload["finish_reason"] = None
        payload["token_usage"] = {"prompt": None, "completion": None, "total": None}
        return payload

    def _outcome(self, how: str, err: BaseException | None) -> str:
        if how == "timeout":
            return "timeout"
        if (err is not None and self._status is None) or (self._status is not None and self._status >= 400):
            return "error"
        return "success" if how == "complete" else "partial"

    def _failure(self, err: BaseException | None) -> tuple[str, str, object] | None:
        if err is not None:
            error = describe_error(err, self.step.summarize)
            return error.error_class, error.summary, error.chain
        if self._status is None or self._status < 400:
            return None
        said = f"HTTP {self._status}"
        return said, said, [{"class": said, "message": said, "stack": None}]


class _Decoder:
    """Takes the content encoding off, as far as the standard library knows it."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding or "identity"
        self.can_decode = self.encoding in ("identity", "gzip", "x-gzip", "deflate")
        self._zlib: Any = None
        if self.encoding in ("gzip", "x-gzip"):
            self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 16)
        elif self.encoding == "deflate":
            self._zlib = zlib.decompressobj()
        self._is_first = True

    def push(self, data: bytes) -> bytes:
        if self._zlib is None:
            return data
        try:
            return self._zlib.decompress(data)
        except zlib.error:
            if self.encoding == "deflate" and self._is_first:
                # Some servers send it raw.
                self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
                return self._zlib.decompress(data)
            raise
        finally:
            self._is_first = False

    def finish(self) -> bytes:
        return b"" if self._zlib is None else self._zlib.flush()
