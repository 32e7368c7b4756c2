"""
Records what an HTTP client of the `httpx` family sends and receives, below a step. Two libraries have that form: `httpx`, and `httpx2`, which
newer clients have moved to; each has a door of its own in this folder.

The caller sees what it would have seen without it: the same bytes in the same pieces, the same errors.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

from ..off import OFF
from ..step import Step
from ..wire import WireCall, open_wire_call


class HttpxEdge(NamedTuple):
    recording_client: Any
    recording_async_client: Any
    RecordingTransport: Any
    AsyncRecordingTransport: Any


def edge_for(httpx: Any) -> HttpxEdge:
    """`httpx` is the library, by whichever of its names."""

    def recording_client(step: Step, **options: Any) -> Any:
        """A client whose requests are recorded below the step. Options are those of `httpx.Client`."""
        wrapped = options.pop("transport", None)
        return httpx.Client(transport=RecordingTransport(step, wrapped or _own_transport(httpx.HTTPTransport, options)), **options)

    def recording_async_client(step: Step, **options: Any) -> Any:
        wrapped = options.pop("transport", None)
        transport = AsyncRecordingTransport(step, wrapped or _own_transport(httpx.AsyncHTTPTransport, options))
        return httpx.AsyncClient(transport=transport, **options)

    def _own_transport(kind: Any, options: dict[str, Any]) -> Any:
        """A client that is handed a transport leaves these to it."""
        mine = {name: options.pop(name) for name in ("verify", "cert", "http1", "http2", "limits") if name in options}
        return kind(**mine)

    class RecordingTransport(httpx.BaseTransport):  # type: ignore[misc]
        def __init__(self, step: Step, wrapped: Any = None) -> None:
            self._step = step
            self._wrapped = wrapped or httpx.HTTPTransport()

        def handle_request(self, request: Any) -> Any:
            if self._step is OFF:
                return self._wrapped.handle_request(request)
            # It has to be in the journal before its last byte leaves.
            call = _record(self._step, request, request.read())
            if call is None:
                return self._wrapped.handle_request(request)
            try:
                response = self._wrapped.handle_request(request)
            except BaseException as err:
                call.end(_how(err), err)
                raise
            _start(call, response)
            response.stream = _WatchedStream(call, response.stream)
            return response

        def close(self) -> None:
            self._wrapped.close()

    class AsyncRecordingTransport(httpx.AsyncBaseTransport):  # type: ignore[misc]
        def __init__(self, step: Step, wrapped: Any = None) -> None:
            self._step = step
            self._wrapped = wrapped or httpx.AsyncHTTPTransport()

        async def handle_async_request(self, request: Any) -> Any:
            if self._step is OFF:
                return await self._wrapped.handle_async_request(request)
            call = _record(self._step, request, await request.aread())
            if call is None:
                return await self._wrapped.handle_async_request(request)
            try:
                response = await self._wrapped.handle_async_request(request)
            except BaseException as err:
                call.end(_how(err), err)
                raise
            _start(call, response)
            response.stream = _WatchedAsyncStream(call, response.stream)
            return response

        async def aclose(self) -> None:
            await self._wrapped.aclose()

    def _record(step: Step, request: Any, body: bytes) -> WireCall | None:
        """What the recorder fails at must not stop the request."""
        try:
            url = str(request.url)
            call = open_wire_call(step, request.method, url, list(request.headers.multi_items()), body)
            for name, value in call.header_for_proxy(url).items():
                request.headers[name] = value
            return call
        except Exception as error:
            step.run_state.builder._say_lost("model_called", error)
            return None

    def _start(call: WireCall, response: Any) -> None:
        call.response_started(response.status_code, list(response.headers.multi_items()))

    def _how(err: BaseException) -> str:
        if isinstance(err, httpx.TimeoutException):
            return "timeout"
        # Only an error of the transport says that the other side is gone; a cancelled task or a closed generator left by itself.
        return "upstream_reset" if isinstance(err, httpx.HTTPError) else "client_abort"

    class _WatchedStream(httpx.SyncByteStream):  # type: ignore[misc]
        """Journal first, caller second, piece by piece."""

        def __init__(self, call: WireCall, stream: Any) -> None:
            self._call = call
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            try:
                for piece in self._stream:
                    self._call.chunk(piece)
                    yield piece
            except GeneratorExit:
                self._call.end("client_abort")
                raise
            except BaseException as err:
                self._call.end(_how(err), err)
                raise
            self._call.end("complete")

        def close(self) -> None:
            self._call.end("client_abort")
            self._stream.close()

    class _WatchedAsyncStream(httpx.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, call: WireCall, stream: Any) -> None:
            self._call = call
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                async for piece in self._stream:
                    self._call.chunk(piece)
                    yield piece
            except GeneratorExit:
                self._call.end("client_abort")
                raise
            except BaseException as err:
                self._call.end(_how(err), err)
                raise
            self._call.end("complete")

        async def aclose(self) -> None:
            self._call.end("client_abort")
            await self._stream.aclose()

    return HttpxEdge(recording_client, recording_async_client, RecordingTransport, AsyncRecordingTransport)
