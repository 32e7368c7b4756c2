"""One execution from input to terminal event. A run is its own root step, and the only writer of its sequence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .contract import json_text, utf16
from .contract.summary import summarize_text
from .described_error import cut_at_word, describe_error
from .event_record import run_context
from .step import Attributes, Handoff, RunState, Step, StepState

if TYPE_CHECKING:
    from .recorder import App

_LONGEST_CONVERSATION_ID = 512


def open_run(app: App, source: str, entrypoint: str, options: Mapping[str, Any]) -> Run:
    builder = app.builder
    started_at = builder.now()
    parent: Mapping[str, Any] | None = options.get("parent")
    base: dict[str, object] = {
        "trace_id": parent["traceId"] if parent else builder.new_id.trace(),
        "run_id": builder.new_id.run(started_at[0]),
        "actor_type": "sdk",
        "determinism_mode": "live",
    }
    state = RunState(builder, app, base, started_at)
    conversation = options.get("conversation_id")
    if conversation is None and parent:
        conversation = parent.get("conversationId")
    problems: list[dict[str, object]] | None = None
    if conversation is not None and not (isinstance(conversation, str) and 0 < utf16.length(conversation) <= _LONGEST_CONVERSATION_ID):
        conversation = cut_at_word(json_text.safe(conversation), _LONGEST_CONVERSATION_ID)
        problems = [
            {"code": "invalid", "field": "conversation_id", "reason": "is not a text of 1 to 512 characters; its JSON is kept"}
        ]
    state.conversation_id = conversation
    set_context(state)
    run = Run(state, StepState(builder.new_id.step(), None, None, started_at, 0), source)
    state.step_count += 1
    state.root = run
    app.runs.add(run)
    run._emit_started(entrypoint, options, problems)
    return run


def set_context(state: RunState) -> None:
    base = state.base
    if state.conversation_id is not None:
        base = {**base, "conversation_id": state.builder.capture.conversation_id(state.conversation_id)}
    state.context = run_context(base)


class Run(Step):
    _entrypoint = ""
    _options: Mapping[str, Any] = {}

    def _emit_started(
        self, entrypoint: str, options: Mapping[str, Any], problems: list[dict[str, object]] | None, reason: str | None = None
    ) -> None:
        self._entrypoint = entrypoint
        self._options = options
        builder, app = self.run_state.builder, self.run_state.app
        bodies = builder.bodies()
        given = options.get("input")
        body = None if given is None else bodies.add("input_summary", given)
        session = options.get("user_session")
        payload: dict[str, object] = {
            "app_id": app.app_id,
            "environment": options.get("environment") or app.defaults["environment"],
            "entrypoint_name": entrypoint,
            "user_session_ref": builder.capture.keyed(session) if isinstance(session, str) else None,
            "input_summary": (summarize_text(body.text()) or None) if body is not None else None,
        }
        if body is not None:
            payload["input_summary_ref"] = body.hash
        for field, option in _RUN_FIELDS:
            value = options.get(option)
            if value is None:
                value = app.defaults.get(option)
            if value is not None:
                payload[field] = list(value) if field == "constraints" else value
        payload["capture_mode"] = builder.capture.mode
        parent = options.get("parent")
        links: list[dict[str, object]] | None = None
        if parent:
            link: dict[str, object] = {
                "kind": "spawned_by",
                "trace_id": parent["traceId"],
                "run_id": parent["runId"],
                "step_id": parent["stepId"],
            }
            links = [link if reason is None else {**link, "reason": reason}]
        builder.emit(
            self._context,
            "run_started",
            self.run_state.take_sequence_no,
            payload,
            bodies,
            options.get("attributes"),
            links,
            problems=problems,
            lock=self.run_state.lock,
            at=self._state.opened_at,
        )
        self._state.is_opened = True

    def step(
        self,
        name: str,
        attributes: Attributes | None = None,
        *,
        kind: str | None = None,
        body: object = None,
        follows: Sequence[Step] | None = None,
    ) -> Step:
        """Opens a step of the run. The caller that opens it ends it."""
        return self.child(name, attributes, kind=kind, body=body, follows=follows)

    def complete(self, output: object = None, *, citations: object = None, channel: str | None = None) -> None:
        """The run reached its end. With an output, that is recorded first."""
        if self._state.is_ended:
            return
        if output is not None:
            self.final_output(output, citations=citations, channel=channel)
        if not self._close():
            return
        payload: dict[str, object] = {"status": "success", "total_steps": self.run_state.step_count}
        self._emit_close("run_completed", payload)
        self._end("run_completed")

    def fail(self, err: BaseException, *, failed_step: Step | None = None) -> None:
        """The run ended with an error, and which step it came from, where that is known."""
        if self._state.is_ended or not self._close():
            return
        bodies = self.run_state.builder.bodies()
        error = describe_error(err, self.summarize)
        payload: dict[str, object] = {
            "status": "failed",
            "failed_step_id": None if failed_step is None else failed_step.id,
            "error_class": error.error_class,
            "error_message_ref": bodies.json_ref("error_message", error.chain),
            "error_summary": error.summary,
            "total_steps": self.run_state.step_count,
        }
        self._emit_close("run_failed", payload, bodies=bodies)
        self._end("run_failed")

    def end(self, *, err: BaseException | None = None, status: str | None = None, attributes: object = None, body: object = None) -> None:
        """A run ends by completing or failing; as a plain step it does whichever its outcome says."""
        if err is None:
            self.complete(body)
        else:
            self.fail(err)

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None) -> None:
        # A program that leaves on purpose has not failed.
        self.end(err=None if isinstance(err, SystemExit) and err.code in (None, 0) else err)

    def _end(self, by: str) -> None:
        self.run_state.ended_by = by
        self.run_state.app.runs.discard(self)

    def _become_child_run(self) -> None:
        """
        In a forked child: one run has one writer, and this one's is the parent. What the child says through the handles it inherited becomes a
        run of its own in the same trace, opened when it first says something.
        """
        state = self.run_state
        parent = Handoff(traceId=state.trace_id, runId=state.run_id, stepId=self._state.id)
        if state.conversation_id is not None:
            parent["conversationId"] = state.conversation_id
        state.restart()

        def begin() -> None:
            with state.lock:
                if state.on_first_use is None:
                    return
                state.on_first_use = None
            at = state.builder.now()
            state.started_at = at
            state.base = {**state.base, "run_id": state.builder.new_id.run(at[0])}
            set_context(state)
            state.step_count = 1
            self._state = StepState(state.builder.new_id.step(), None, None, at, state.generation)
            self._context = self._context_of(self._state)
            state.ended_by = None
            options = {**self._options, "parent": parent, "input": None, "attributes": {"forked": True}}
            self._emit_started(self._entrypoint, options, None, "fork")

        state.on_first_use = begin


# The fields of `run_started` that a caller, or what the recorder found around it, may fill.
_RUN_FIELDS = (
    ("agent_id", "agent_id"),
    ("agent_version", "agent_version"),
    ("request_id", "request_id"),
    ("constraints", "constraints"),
    ("channel", "channel"),
    ("repo", "repo"),
    ("branch", "branch"),
    ("commit", "commit"),
    ("is_dirty", "is_dirty"),
    ("ticket_id", "ticket"),
)
