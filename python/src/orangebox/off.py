"""Recording off: the same handles, doing nothing. Tools still run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .step import Handoff

_NO_TRACE = "0" * 32
_NO_STEP = "0" * 16


class _Off:
    """Serves as run, step, model step, tool step and logger: instrumented code takes the same paths as with recording on."""

    id = _NO_STEP
    run_id = "run_off"
    trace_id = _NO_TRACE
    source = "off"
    response: object = None
    result: object = None

    @property
    def log(self) -> _Off:
        return self

    def __enter__(self) -> _Off:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _nothing(self, *_: object, **__: object) -> None:
        return None

    def _self(self, *_: object, **__: object) -> _Off:
        return self

    child = step = span = start_tool = start_model = start_run = speaking_as = attempt = _self
    set_attributes = add_link = end = input_received = prompt_rendered = prompt_assembled = _nothing
    validator_decision = safety_decision = final_output = repair = decide = artifact = complete = fail = _nothing
    chunk = end_model = end_tool = debug = info = warn = warning = error = write = emit = _nothing

    def tool(self, name: str, args: object, function: Callable[[], Any], **_: object) -> Any:
        return function()

    def model(self, provider: str, model: str, request: object, send: Callable[[Any], Any], **_: object) -> Any:
        return send(self)

    def retrieval(self, retriever: str, query: str, retrieve: Callable[[], Any], **_: object) -> Any:
        return retrieve()

    def handoff(self) -> Handoff:
        return Handoff(traceId=_NO_TRACE, runId="run_off", stepId=_NO_STEP)


OFF: Any = _Off()


def is_nowhere(handoff: object) -> bool:
    """A handoff from a process that does not record names no trace to join."""
    return isinstance(handoff, dict) and handoff.get("traceId") == _NO_TRACE
