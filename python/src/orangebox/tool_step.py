"""The step of a tool call: what it is asked is recorded before it runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, TypeVar

from .bodies_of_event import AddedBody
from .contract import json_text
from .contract.error import OrangeboxError
from .contract.hashes import CANON_VERSION, body_hash, tool_signature, tool_signature_of_text
from .contract.summary import summarize_args, summarize_text
from .described_error import describe_error
from .step import RunState, Step, StepState

T = TypeVar("T")


def open_tool_step(
    parent: Step,
    name: str,
    args: object,
    version: str | None,
    call_id: str | None,
    timeout_ms: float | None,
    effect: str | None,
    signature: str | None,
    attributes: Mapping[str, object] | None,
) -> ToolStep:
    run = parent.run_state
    bodies = run.builder.bodies()
    body = bodies.add("args", args)
    step = ToolStep(run, parent._new_child(), parent.source, name, call_id)
    payload: dict[str, object] = {
        "tool_name": name,
        "tool_version": version,
        "call_signature_hash": signature or _signature(name, args, body),
        "args_ref": body.hash,
        "timeout_ms": timeout_ms,
    }
    if call_id is not None:
        payload["tool_call_id"] = call_id
    summary = _quietly(lambda: summarize_args(body.value()))
    if summary:
        payload["args_summary"] = summary
    payload["canon_version"] = CANON_VERSION
    if effect is not None:
        payload["effect_class"] = effect
    step.emit("tool_called", payload, bodies=bodies, attributes=attributes, links=step._follow_links_of_self())
    return step


def _signature(name: object, args: object, body: AddedBody) -> str:
    """The signature the readers give the same call when they see it in a model's answer, so that recordings of either kind match."""
    called = name if isinstance(name, str) else json_text.safe(name)
    if isinstance(args, (bytes, bytearray, memoryview)):
        return tool_signature(called, {"bytes": body.hash if body.is_as_given else body_hash(body.comparable())})
    comparable = args if body.is_as_given else body.comparable_value()
    try:
        return tool_signature(called, comparable)
    except (OrangeboxError, RecursionError):
        return tool_signature_of_text(called, json_text.safe(comparable))


def _quietly(make: Callable[[], str]) -> str:
    try:
        return make()
    except Exception:
        return ""


class ToolStep(Step):
    """As a context manager it ends with its `result`, or with the exception that passed through."""

    def __init__(self, run: RunState, state: StepState, source: str, name: str, call_id: str | None) -> None:
        super().__init__(run, state, source)
        self._name = name
        self._call_id = call_id
        self.result: object = None

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None) -> None:
        self.end_tool(result=self.result, err=err)

    def end(self, *, err: BaseException | None = None, status: str | None = None, attributes: object = None, body: object = None) -> None:
        self.end_tool(result=self.result if body is None else body, err=err, status=status)

    def end_tool(
        self,
        *,
        result: object = None,
        err: BaseException | None = None,
        status: str | None = None,
        exit_code: int | None = None,
        error_class: str | None = None,
        error_message: str | None = None,
    ) -> None:
        """`error_class` and `error_message` are for a tool that says by its answer that it failed."""
        if not self._close():
            return
        bodies = self.run_state.builder.bodies()
        error = None if err is None else describe_error(err, self.summarize)
        chain: object = None if error is None else error.chain
        summary = None if error is None else error.summary
        if error is None and error_class is not None:
            message = error_message or ""
            chain = [{"class": error_class, "message": message, "stack": None}]
            summary = self.summarize(message.split("\n", 1)[0])
        elif error is not None:
            error_class = error.error_class
        body = None if result is None else bodies.add("result", result)
        failed = "timeout" if isinstance(err, TimeoutError) else "error"
        payload: dict[str, object] = {
            "tool_name": self._name,
            "status": status or ("success" if error_class is None else failed),
            "result_ref": None if body is None else body.hash,
            "error_class": error_class,
            "error_message_ref": None if chain is None else bodies.json_ref("error_message", chain),
        }
        if self._call_id is not None:
            payload["tool_call_id"] = self._call_id
        if exit_code is not None:
            payload["exit_code"] = exit_code
        result_summary = "" if body is None else _quietly(lambda: summarize_text(body.text()))
        if result_summary:
            payload["result_summary"] = result_summary
        if summary is not None:
            payload["error_summary"] = summary
        self._emit_close("tool_result", payload, bodies=bodies)


def run_tool(call: ToolStep, function: Callable[[], T]) -> T:
    """Runs the function and ends the call with what came of it, an awaitable when it was awaited."""
    try:
        result = function()
    except BaseException as err:
        call.end_tool(err=err)
        raise
    if inspect.isawaitable(result):
        return _awaited(call, result)  # type: ignore[return-value]
    call.end_tool(result=result)
    return result


async def _awaited(call: ToolStep, awaitable: Any) -> Any:
    try:
        result = await awaitable
    except BaseException as err:
        call.end_tool(err=err)
        raise
    call.end_tool(result=result)
    return result
