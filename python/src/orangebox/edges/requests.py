"""
Records what a `requests` session sends and receives, below a step::

    from orangebox.edges.requests import recording_session

    with recording_session(step) as session:
        session.post(url, json=request)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import requests
from requests.adapters import HTTPAdapter

from ..off import OFF
from ..step import Step
from ..wire import WireCall, open_wire_call


def recording_session(step: Step) -> requests.Session:
    session = requests.Session()
    adapter = RecordingAdapter(step)
    session.mount("https://", adapter)
    session.mount("http://", adapter)
    return session


class RecordingAdapter(HTTPAdapter):
    """To mount on a session of your own."""

    def __init__(self, step: Step, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._step = step

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        call = None if self._step is OFF else self._record(request)
        if call is None:
            return super().send(request, *args, **options)
        try:
            response = super().send(request, *args, **options)
        except BaseException as err:
            call.end(_how(err), err)
            raise
        call.response_started(response.status_code, list(response.headers.items()), is_decoded=True)
        response.raw = _WatchedRaw(call, response.raw)
        return response

    def _record(self, request: requests.PreparedRequest) -> WireCall | None:
        """What the recorder fails at must not stop the request."""
        try:
            body: Any = request.body
            if body is not None and not isinstance(body, (str, bytes)):
                # A stream, which has to be in the journal before its last byte leaves.
                body = body.read() if hasattr(body, "read") else b"".join(body)
                request.body = body
            sent = body.encode() if isinstance(body, str) else body or b""
            url = request.url or ""
            call = open_wire_call(self._step, request.method or "GET", url, [(str(name), str(value)) for name, value in request.headers.items()], sent)
            request.headers.update(call.header_for_proxy(url))
            return call
        except Exception as error:
            self._step.run_state.builder._say_lost("model_called", error)
            return None


def _how(err: BaseException) -> str:
    if isinstance(err, requests.Timeout):
        return "timeout"
    return "upstream_reset" if isinstance(err, (requests.RequestException, OSError)) else "client_abort"


class _WatchedRaw:
    """The answer of urllib3, whose pieces are in the journal before the caller has them."""

    def __init__(self, call: WireCall, raw: Any) -> None:
        self._call = call
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def stream(self, amt: int = 2**16, decode_content: bool | None = None) -> Iterator[bytes]:
        try:
            for piece in self._raw.stream(amt, decode_content=decode_content):
                self._call.chunk(piece)
                yield piece
        except GeneratorExit:
            self._call.end("client_abort")
            raise
        except BaseException as err:
            self._call.end(_how(err), err)
            raise
        self._call.end("complete")

    def read(self, amt: int | None = None, *args: Any, **options: Any) -> bytes:
        piece = self._raw.read(amt, *args, **options)
        self._call.chunk(piece)
        if amt is None or not piece:
            self._call.end("complete")
        return piece

    def close(self) -> None:
        self._call.end("client_abort")
        self._raw.close()

    def release_conn(self) -> None:
        self._call.end("client_abort")
        self._raw.release_conn()
