"""
The step of a model call that an application tells of. What its request and answer are made of is read off their stored bytes by the
collector, with the same functions that read traffic; here only what needs no provider's knowledge is said.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from .bodies_of_event import AddedBody
from .contract import json_text
from .contract.canonical_json import canonical_json
from .contract.error import OrangeboxError
from .contract.hashes import GENERIC_CANON_VERSION, body_hash, generic_signature
from .described_error import describe_error
from .step import RunState, Step, StepState

if TYPE_CHECKING:
    from .capture.captured_stream import CapturedStream, UndecodedStream

T = TypeVar("T")


def open_model_step(
    parent: Step,
    provider: str,
    model: str,
    request: object,
    api_version: str | None,
    cache_use: str | None,
    attributes: Mapping[str, object] | None,
    attempt_no: int | None = None,
) -> ModelStep:
    run = parent.run_state
    bodies = run.builder.bodies()
    body = bodies.add("request", request)
    step = ModelStep(run, parent._new_child(attempt_no), parent.source, provider, model)
    number = _parameters_of(request)
    payload: dict[str, object] = {
        "provider": provider,
        "model_id": model,
        "model_api_version": api_version,
        "request_ref": body.hash,
        "capture_mode": run.builder.capture.mode,
        "temperature": number("temperature"),
        "top_p": number("top_p", "topP"),
        "max_tokens": number("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"),
        "seed": number("seed"),
        "call_signature_hash": _signature(provider, request, body),
        "canon_version": GENERIC_CANON_VERSION,
        "prefix_fingerprint": None,
        "prefix_length": None,
        "cache_use": cache_use or "unknown",
    }
    step.emit("model_called", payload, bodies=bodies, attributes=attributes, links=step._follow_links_of_self())
    return step


def _signature(provider: object, request: object, body: AddedBody) -> str:
    """Equal calls have equal signatures whatever their key order. A question that is already text or bytes is known by the hash of its body."""
    named = provider if isinstance(provider, str) else json_text.safe(provider)
    if isinstance(request, (str, bytes, bytearray, memoryview)):
        return generic_signature(named, body.hash if body.is_as_given else body_hash(body.comparable()))
    comparable = request if body.is_as_given else body.comparable_value()
    try:
        return generic_signature(named, canonical_json(comparable))
    except (OrangeboxError, RecursionError):
        return generic_signature(named, json_text.safe(comparable))


def _parameters_of(request: object) -> Callable[..., object]:
    def read(*names: str) -> object:
        if not isinstance(request, Mapping):
            return None
        for name in names:
            value = request.get(name)
            if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2**53:
                return value
        return None

    return read


class ModelStep(Step):
    def __init__(self, run: RunState, state: StepState, source: str, provider: str, model: str) -> None:
        super().__init__(run, state, source)
        self._provider = provider
        self._model = model
        self._stream: CapturedStream | UndecodedStream | None = None
        self._first_byte_ms: float | None = None
        self._attempts = 0
        self.response: object = None
        """What a context manager ends the call with."""

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None) -> None:
        self.end_model(response=self.response, err=err)

    def chunk(self, data: bytes) -> None:
        """The next piece of the answer, in the journal when this returns. Then `end_model` needs no response."""
        try:
            from .capture.captured_stream import capture_stream

            micros = self.run_state.builder.now()[1] - self._state.opened_at[1]
            if self._stream is None:
                self._first_byte_ms = micros / 1000
                self._stream = capture_stream(self, None)
            self._stream.write(bytes(data), micros)
        except Exception:
            pass  # Telemetry: the answer still reaches the application.

    def attempt(self, request: object) -> ModelStep:
        """One try of this logical call, as a child step with its number."""
        self._attempts += 1
        return open_model_step(self, self._provider, self._model, request, None, None, None, self._attempts)

    def end(self, *, err: BaseException | None = None, status: str | None = None, attributes: object = None, body: object = None) -> None:
        self.end_model(response=self.response if body is None else body, err=err, status=status)

    def end_model(
        self,
        *,
        response: object = None,
        response_mime_type: str | None = None,
        err: BaseException | None = None,
        status: str | None = None,
        model: str | None = None,
        finish_reason: str | None = None,
        usage: Mapping[str, int] | None = None,
        http_status: int | None = None,
        request_id: str | None = None,
        requested_tools: list[str] | None = None,
        output_text: str | None = None,
    ) -> None:
        """
        `usage` has `prompt`, `completion` and `total`, and `cache_read`, `cache_write` and `reasoning` where they are known; what is left out is
        unknown, and read off the stored answer where its protocol is known.
        """
        if not self._close():
            return
        bodies = self.run_state.builder.bodies()
        response_ref: str | None = None
        if self._stream is not None:
            response_ref = bodies.add_streamed("response", response_mime_type or "text/event-stream", self._stream.finish())
        elif response is not None:
            response_ref = bodies.add("response", response).hash
        error = None if err is None else describe_error(err, self.summarize)
        payload: dict[str, object] = {
            "provider": self._provider,
            "model_id": model or self._model,
            "response_ref": response_ref,
            "status": status or ("success" if error is None else "error"),
            "http_status": http_status,
            "error_class": None if error is None else error.error_class,
            "error_ref": None if error is None else bodies.json_ref("error", error.chain),
        }
        if error is not None:
            payload["error_summary"] = error.summary
        if self._first_byte_ms is not None:
            payload["first_byte_ms"] = self._first_byte_ms
        if request_id is not None:
            payload["provider_request_id"] = request_id
        payload["finish_reason"] = finish_reason
        payload["token_usage"] = _usage(usage)
        if requested_tools is not None:
            payload["requested_tools"] = list(requested_tools)
        if output_text is not None and (summary := self.summarize(output_text)):
            payload["output_summary"] = summary
        self._emit_close("model_result", payload, bodies=bodies)


def _usage(usage: Mapping[str, int] | None) -> dict[str, object]:
    """Unknown is not zero."""
    told = dict(usage or {})
    prompt, completion = told.pop("prompt", None), told.pop("completion", None)
    total = told.pop("total", None)
    if total is None and prompt is not None and completion is not None:
        total = prompt + completion
    known = {name: told[name] for name in ("cache_read", "cache_write", "reasoning") if told.get(name) is not None}
    return {"prompt": prompt, "completion": completion, "total": total, **known}


def run_model(call: ModelStep, send: Callable[[ModelStep], T]) -> T:
    try:
        reply = send(call)
    except BaseException as err:
        call.end_model(err=err)
        raise
    if inspect.isawaitable(reply):
        return _awaited(call, reply)  # type: ignore[return-value]
    call.end_model(response=reply)
    return reply


async def _awaited(call: ModelStep, awaitable: Any) -> Any:
    try:
        reply = await awaitable
    except BaseException as err:
        call.end_model(err=err)
        raise
    call.end_model(response=reply)
    return reply
