"""
The handles an application holds. Handles are values: they are passed down to whatever works below them, and nothing in this package finds a
"current" step by itself. Each is also a context manager, which ends it: well, or with the exception that passed through.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from .bodies_of_event import BodiesOfEvent
from .contract import utf16
from .contract.error import OrangeboxError
from .contract.hashes import retriever_signature, text_hash
from .contract.summary import MAX_SUMMARY, summarize_text
from .described_error import describe_error
from .event_record import EventContext, step_context
from .logger import Logger

if TYPE_CHECKING:
    from .event_builder import EventBuilder
    from .model_step import ModelStep
    from .run import Run
    from .tool_step import ToolStep

T = TypeVar("T")
Attributes = Mapping[str, object]


class Handoff(dict):
    """What another process needs to open a run below a step: plain JSON with `traceId`, `runId`, `stepId`, and `conversationId` where there is one."""


class RunState:
    """What all handles of one run share."""

    def __init__(self, builder: EventBuilder, app: Any, base: dict[str, object], started_at: tuple[float, float]) -> None:
        self.builder = builder
        self.app = app
        self.base = base
        self.started_at = started_at
        self.lock = threading.Lock()
        self.context: EventContext
        self.conversation_id: str | None = None
        self.step_count = 0
        self.ended_by: str | None = None
        self.root: Run | None = None
        self._next_sequence_no = 0
        # Counts up in a forked child, where handles of before the fork belong to a run of the parent's.
        self.generation = 0
        self.on_first_use: Callable[[], None] | None = None

    def take_sequence_no(self) -> int:
        number = self._next_sequence_no
        self._next_sequence_no = number + 1
        return number

    def restart(self) -> None:
        self.lock = threading.Lock()
        self._next_sequence_no = 0
        self.step_count = 0
        self.generation += 1

    @property
    def run_id(self) -> str:
        return str(self.base["run_id"])

    @property
    def trace_id(self) -> str:
        return str(self.base["trace_id"])


class StepState:
    """What the handles of one step share, whichever source they speak as."""

    __slots__ = ("attempt_no", "generation", "id", "is_ended", "last_ended_child", "is_opened", "opened_at", "parent", "parent_id")

    def __init__(self, id: str, parent: StepState | None, attempt_no: int | None, opened_at: tuple[float, float], generation: int) -> None:
        self.id = id
        self.parent = parent
        self.parent_id = None if parent is None else parent.id
        self.attempt_no = attempt_no
        self.opened_at = opened_at
        self.last_ended_child: str | None = None
        self.is_opened = False
        self.is_ended = False
        self.generation = generation


class Step:
    def __init__(self, run: RunState, state: StepState, source: str) -> None:
        self.run_state = run
        self._state = state
        self.source = source
        self._context = self._context_of(state)
        self._log: Logger | None = None

    def _context_of(self, state: StepState) -> EventContext:
        run = self.run_state
        return step_context(run.context, state.id, state.parent_id, state.attempt_no, run.builder.capture.chosen_name(self.source))

    @property
    def id(self) -> str:
        return self._here().id

    @property
    def run_id(self) -> str:
        return self.run_state.run_id

    @property
    def trace_id(self) -> str:
        return self.run_state.trace_id

    @property
    def log(self) -> Logger:
        if self._log is None:
            self._log = Logger(self.run_state.builder, self.source, self.emit, self._open_step)
        return self._log

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None) -> None:
        self.end(err=err)

    def set_attributes(self, **attributes: object) -> None:
        self.emit("attributes_set", {}, attributes=attributes)

    def add_link(
        self,
        *,
        step_id: str | None = None,
        run_id: str | None = None,
        trace_id: str | None = None,
        kind: str = "mentions",
        reason: str | None = None,
    ) -> None:
        link = {"kind": kind, "trace_id": trace_id, "run_id": run_id, "step_id": step_id, "reason": reason}
        self.emit("link_added", {"link": {name: value for name, value in link.items() if value is not None}})

    def child(
        self,
        name: str,
        attributes: Attributes | None = None,
        *,
        kind: str | None = None,
        body: object = None,
        follows: Sequence[Step] | None = None,
    ) -> Step:
        """
        A step below this one. Left out, `follows` is the sibling that ended last::

            with step.child("search", {"query": "parser"}) as search:
                search.set_attributes(hits=3)
        """
        bodies = self.run_state.builder.bodies()
        body_ref = bodies.ref("body", body)
        step = Step(self.run_state, self._new_child(), self.source)
        payload: dict[str, object] = {"name": name}
        if kind is not None:
            payload["kind"] = kind
        if body_ref is not None:
            payload["body_ref"] = body_ref
        step.emit("step_started", payload, bodies=bodies, attributes=attributes, links=self._follow_links(follows))
        return step

    def end(
        self,
        *,
        err: BaseException | None = None,
        status: str | None = None,
        attributes: Attributes | None = None,
        body: object = None,
    ) -> None:
        """The first end counts, so ending in `finally` is harmless."""
        if not self._close():
            return
        bodies = self.run_state.builder.bodies()
        body_ref = bodies.ref("body", body)
        payload: dict[str, object] = {"status": status or ("success" if err is None else "error")}
        if err is not None:
            error = describe_error(err, self.summarize)
            payload["error_class"] = error.error_class
            payload["error_summary"] = error.summary
            payload["error_ref"] = bodies.json_ref("error", error.chain)
        if body_ref is not None:
            payload["body_ref"] = body_ref
        self._emit_close("step_ended", payload, bodies=bodies, attributes=attributes)

    def speaking_as(self, source: str) -> Step:
        """The same step, speaking as another source."""
        return Step(self.run_state, self._state, source)

    # Tools, models, retrieval.

    def tool(
        self,
        name: str,
        args: object,
        function: Callable[[], T],
        *,
        version: str | None = None,
        call_id: str | None = None,
        timeout_ms: float | None = None,
        effect: str | None = None,
        attributes: Attributes | None = None,
    ) -> T:
        """
        Runs a tool: the call is recorded before it runs, its result or error after. What the function returns is returned; an awaitable is
        recorded when it was awaited::

            text = step.tool("read_file", {"path": path}, lambda: open(path).read())
        """
        from .tool_step import run_tool

        call = self.start_tool(
            name, args, version=version, call_id=call_id, timeout_ms=timeout_ms, effect=effect, attributes=attributes
        )
        return run_tool(call, function)

    def start_tool(
        self,
        name: str,
        args: object,
        *,
        version: str | None = None,
        call_id: str | None = None,
        timeout_ms: float | None = None,
        effect: str | None = None,
        signature: str | None = None,
        attributes: Attributes | None = None,
    ) -> ToolStep:
        """The same for a call that is not one function: end it with `end_tool`, or use it as a context manager and set its `result`."""
        from .tool_step import open_tool_step

        return open_tool_step(self, name, args, version, call_id, timeout_ms, effect, signature, attributes)

    def model(
        self,
        provider: str,
        model: str,
        request: object,
        send: Callable[[ModelStep], T],
        *,
        api_version: str | None = None,
        cache_use: str | None = None,
        attributes: Attributes | None = None,
    ) -> T:
        """
        Calls a model: the request is recorded before `send` runs, the answer or the error after. A client made with this package's transport
        records its own requests, to the byte; this is for clients that cannot take one::

            reply = step.model("ollama", "llama3", request, lambda call: ask(request))
        """
        from .model_step import run_model

        call = self.start_model(provider, model, request, api_version=api_version, cache_use=cache_use, attributes=attributes)
        return run_model(call, send)

    def start_model(
        self,
        provider: str,
        model: str,
        request: object,
        *,
        api_version: str | None = None,
        cache_use: str | None = None,
        attributes: Attributes | None = None,
    ) -> ModelStep:
        """The same for a call that is not one function: end it with `end_model`."""
        from .model_step import open_model_step

        return open_model_step(self, provider, model, request, api_version, cache_use, attributes)

    def retrieval(
        self,
        retriever: str,
        query: str,
        retrieve: Callable[[], Sequence[Mapping[str, object]]],
        *,
        version: str | None = None,
        top_k: int | None = None,
        filters: Mapping[str, object] | None = None,
    ) -> Sequence[Mapping[str, object]]:
        """
        Runs a retriever and records its query, filters and ranked candidates: mappings with `chunk_id`, and `document_id`, `score`,
        `source_uri` and `content` where they are known::

            chunks = step.retrieval("docs", "how to parse", lambda: index.search("how to parse"), top_k=3)
        """
        step = self.child(retriever, None, kind="retrieval")
        try:
            chunks = retrieve()
        except BaseException as err:
            step._retrieval_executed(retriever, version, query, top_k, filters, [], "error")
            step.end(err=err)
            raise
        step._retrieval_executed(retriever, version, query, top_k, filters, chunks, None)
        step.end()
        return chunks

    def _retrieval_executed(
        self,
        retriever: str,
        version: str | None,
        query: str,
        top_k: int | None,
        filters: Mapping[str, object] | None,
        chunks: Iterable[Mapping[str, Any]],
        status: str | None,
    ) -> None:
        builder = self.run_state.builder
        bodies = builder.bodies()
        candidates: list[object] = []
        for rank, chunk in enumerate(chunks):
            chunk_id = chunk.get("chunk_id")
            candidates.append(
                {
                    "rank": rank,
                    # Who gives a chunk no id has none to give: it is known by its place.
                    "chunk_id": chunk_id if isinstance(chunk_id, str) and chunk_id != "" else None,
                    "document_id": chunk.get("document_id"),
                    "score": chunk.get("score"),
                    "source_uri": chunk.get("source_uri"),
                    "content_ref": bodies.ref("chunk", chunk.get("content")),
                }
            )
        payload: dict[str, object] = {
            "retriever_id": retriever,
            "retriever_version": version,
            "query_text_ref": bodies.add("query_text", query).hash,
            "top_k": top_k,
            "filters": dict(filters or {}),
            "candidate_count": len(candidates),
            "candidate_list_ref": bodies.add("candidate_list", candidates).hash,
            "call_signature_hash": retriever_signature(builder.capture.comparable(query), retriever, version, top_k, dict(filters or {})),
            "latency_ms": self.elapsed_ms(),
        }
        if status is not None:
            payload["status"] = status
        self.emit("retrieval_executed", payload, bodies=bodies)

    # What an application says about a step, as the contract wants it: one method for each lifecycle event.

    def input_received(self, value: object, *, channels: Sequence[str] = (), policy_labels: Sequence[str] = ()) -> None:
        def payload(bodies: BodiesOfEvent) -> dict[str, object]:
            body = bodies.add("input", value)
            return {
                "input_channels": list(channels),
                "input_hash": body.hash,
                "input_policy_labels": list(policy_labels),
                "input_ref": body.hash,
                **_summary("input_summary", body.text()),
            }

        self._say("input_received", payload)

    def prompt_rendered(
        self,
        prompt: object,
        *,
        template_id: str | None = None,
        template_version: str | None = None,
        variables: object = None,
        system: object = None,
    ) -> None:
        def payload(bodies: BodiesOfEvent) -> dict[str, object]:
            said: dict[str, object] = {
                "prompt_template_id": template_id,
                "prompt_template_version": template_version,
                "prompt_variables_ref": bodies.ref("prompt_variables", variables),
                "rendered_prompt_ref": bodies.add("rendered_prompt", prompt).hash,
            }
            if system is not None:
                said["system_message_ref"] = bodies.ref("system_message", system)
            return said

        self._say("prompt_rendered", payload)

    def prompt_assembled(
        self, segments: Sequence[Mapping[str, Any]], *, token_budget: int | None = None, excluded_count: int | None = None
    ) -> None:
        """Segments are mappings with `contributor`, `kind` and `content`, and `role` and `tokens` where they are known."""

        def payload(bodies: BodiesOfEvent) -> dict[str, object]:
            capture = self.run_state.builder.capture
            said: dict[str, object] = {
                "segments": [
                    {
                        "contributor": segment["contributor"],
                        "kind": segment["kind"],
                        "role": segment.get("role"),
                        "length": utf16.length(segment["content"]),
                        **({} if segment.get("tokens") is None else {"tokens": segment["tokens"]}),
                        "segment_hash": text_hash(capture.comparable(segment["content"])),
                        "content_ref": bodies.add("segment", segment["content"]).hash,
                    }
                    for segment in segments
                ],
                "total_length": sum(utf16.length(segment["content"]) for segment in segments),
            }
            if token_budget is not None:
                said["token_budget"] = token_budget
            if excluded_count is not None:
                said["excluded_count"] = excluded_count
            return said

        self._say("prompt_assembled", payload)

    def validator_decision(self, name: str, decision: str, *, version: str | None = None, reason: object = None) -> None:
        """`decision` is `pass`, `fail` or `warn`."""
        self._say(
            "validator_decision",
            lambda bodies: {
                "validator_name": name,
                "validator_version": version,
                "decision": decision,
                "reason_ref": bodies.ref("reason", reason),
            },
        )

    def safety_decision(self, policy: str, decision: str, *, version: str | None = None, reason: object = None) -> None:
        """`decision` is `allow`, `block`, `redact` or `escalate`."""
        self._say(
            "safety_decision",
            lambda bodies: {
                "policy_name": policy,
                "policy_version": version,
                "decision": decision,
                "reason_ref": bodies.ref("reason", reason),
            },
        )

    def final_output(self, value: object, *, citations: object = None, channel: str | None = None) -> None:
        def payload(bodies: BodiesOfEvent) -> dict[str, object]:
            body = bodies.add("output", value)
            said: dict[str, object] = {"output_ref": body.hash}
            if citations is not None:
                said["citations_ref"] = bodies.ref("citations", citations)
            return {**said, "response_channel": channel, **_summary("output_summary", body.text())}

        self._say("final_output", payload)

    def repair(
        self,
        kind: str,
        before: object,
        after: object = None,
        *,
        attempt: int | None = None,
        max_attempts: int | None = None,
        reason: str | None = None,
    ) -> None:
        """`kind` is `history` or `schema`; `after` is left out when the repair failed."""

        def payload(bodies: BodiesOfEvent) -> dict[str, object]:
            after_ref = bodies.ref("after", after)
            said: dict[str, object] = {
                "kind": kind,
                "before_ref": bodies.add("before", before).hash,
                "after_ref": after_ref,
                "outcome": "failed" if after_ref is None else "repaired",
                "attempt": attempt,
                "max_attempts": max_attempts,
                "reason": None if reason is None else self.run_state.builder.capture.beginning(reason, MAX_SUMMARY),
            }
            return {name: said[name] for name in said if said[name] is not None or name == "after_ref"}

        self._say("repair", payload)

    def decide(self, action: str, summary: str, detail: object = None) -> None:
        """What the agent does now, in the application's own words; also `no_op`."""

        def payload(bodies: BodiesOfEvent) -> dict[str, object]:
            said: dict[str, object] = {"action_type": action, "action_summary": self.summarize(str(summary)) or str(summary)}
            if detail is not None:
                said["decision_ref"] = bodies.ref("decision", detail)
            return said

        self._say("decision", payload)

    def artifact(
        self,
        id: str,
        type: str,
        summary: str,
        content: object,
        *,
        path: str | None = None,
        lines_added: int | None = None,
        lines_removed: int | None = None,
        exit_code: int | None = None,
    ) -> None:
        """A work product: a diff, a command's output, a test run. `path` is relative to the workspace."""

        def payload(bodies: BodiesOfEvent) -> dict[str, object]:
            content_ref = bodies.add(type, content).hash
            said: dict[str, object] = {
                "artifact_id": id,
                "artifact_type": type,
                "summary": summary,
                "content_ref": content_ref,
                "hash": content_ref,
                "size_bytes": bodies.refs[0]["byte_size"],
                "path": path,
            }
            for name, value in (("lines_added", lines_added), ("lines_removed", lines_removed), ("exit_code", exit_code)):
                if value is not None:
                    said[name] = value
            return said

        self._say("artifact_recorded", payload)

    def start_run(self, entrypoint: str, **options: Any) -> Run:
        """A sub-agent: a run of its own in the same trace, linked with this step in both directions."""
        run = self.run_state.app.open_run(self.source, entrypoint, {**options, "parent": self.handoff()})
        self.add_link(kind="spawned", run_id=run.run_id, step_id=run.id, reason=entrypoint)
        return run

    def handoff(self) -> Handoff:
        handoff = Handoff(traceId=self.trace_id, runId=self.run_id, stepId=self.id)
        if self.run_state.conversation_id is not None:
            handoff["conversationId"] = self.run_state.conversation_id
        return handoff

    # For the other handles and the edges of this package.

    def emit(
        self,
        event_type: str,
        payload: dict[str, object],
        bodies: BodiesOfEvent | None = None,
        attributes: object = None,
        links: list[dict[str, object]] | None = None,
        refs: list[dict[str, object]] | None = None,
        inferred_by: str | None = None,
        at: tuple[float, float] | None = None,
    ) -> None:
        run = self.run_state
        if run.on_first_use is not None:
            run.on_first_use()
        state = self._here()
        context = self._context if state is self._state else self._context_of(state)
        if not state.is_opened:
            # The first event of a step stands at the moment from which it is counted what the step took.
            state.is_opened = True
            at = state.opened_at
        problems = None
        if state.is_ended or run.ended_by is not None:
            problems = [self._misuse(run)]
        run.builder.emit(
            context,
            event_type,
            run.take_sequence_no,
            payload,
            bodies,
            attributes,
            links,
            problems=problems,
            refs=refs,
            inferred_by=inferred_by,
            lock=run.lock,
            at=at,
        )

    def _here(self) -> StepState:
        """The step this handle speaks for: of one that a fork brought along, the run that the child was given."""
        run = self.run_state
        if self._state.generation == run.generation or run.root is None:
            return self._state
        return run.root._state

    @property
    def _is_inherited(self) -> bool:
        return self._state.generation != self.run_state.generation

    def _misuse(self, run: RunState) -> dict[str, object]:
        if run.ended_by is not None:
            what = f"something is recorded after {run.ended_by} of its run; it is kept and marked as late"
            problem = {"code": "after_the_end", "field": "event_type", "reason": f"comes after {run.ended_by}"}
        else:
            what = "something is recorded in a step that was ended; it is kept and marked as late"
            problem = {"code": "after_step_end", "field": "step_id", "reason": "comes after the step was ended"}
        run.builder.warn(
            OrangeboxError("AFTER_THE_END", what, next="Wait for what a run or a step has started before you end it")
        )
        return dict(problem)

    def _say(self, event_type: str, payload_with: Callable[[BodiesOfEvent], dict[str, object]]) -> None:
        """One event with the bodies that its payload names."""
        try:
            bodies = self.run_state.builder.bodies()
            payload = payload_with(bodies)
        except Exception as error:
            self.run_state.builder._say_lost(event_type, error)
            return
        self.emit(event_type, payload, bodies=bodies)

    def _open_step(self, name: str, attributes: Attributes | None, body: object) -> Step:
        return self.child(name, attributes, body=body)

    def _new_child(self, attempt_no: int | None = None) -> StepState:
        run = self.run_state
        if run.on_first_use is not None:
            run.on_first_use()
        with run.lock:
            run.step_count += 1
        return StepState(run.builder.new_id.step(), self._here(), attempt_no, run.builder.now(), run.generation)

    def _follow_links(self, follows: Sequence[Step] | None = None) -> list[dict[str, object]] | None:
        if follows is not None:
            return [{"kind": "follows", "step_id": step.id} for step in follows]
        previous = self._here().last_ended_child
        return None if previous is None else [{"kind": "follows", "step_id": previous}]

    def _follow_links_of_self(self) -> list[dict[str, object]] | None:
        parent = self._state.parent
        previous = None if parent is None else parent.last_ended_child
        return None if previous is None else [{"kind": "follows", "step_id": previous}]

    def elapsed_ms(self, at: tuple[float, float] | None = None) -> float:
        now = self.run_state.builder.now() if at is None else at
        return max(0, round(now[1] - self._state.opened_at[1]) / 1000)

    def summarize(self, text: str) -> str:
        return self.run_state.builder.capture.summary(text)

    def _close(self) -> bool:
        """False when the step was ended before, or belongs to the process that this one was forked from."""
        if self._state.is_ended or self._is_inherited:
            return False
        if self._state.parent is not None:
            self._state.parent.last_ended_child = self._state.id
        return True

    def _emit_close(
        self,
        event_type: str,
        payload: dict[str, object],
        bodies: BodiesOfEvent | None = None,
        attributes: object = None,
        refs: list[dict[str, object]] | None = None,
    ) -> None:
        # What the step took and when it ended are one reading of the clock, so that its latency is what lies between its two events.
        at = self.run_state.builder.now()
        latency = "total_latency_ms" if self._state.parent is None else "latency_ms"
        self.emit(event_type, _with_latency(payload, latency, self.elapsed_ms(at)), bodies=bodies, attributes=attributes, refs=refs, at=at)
        self._state.is_ended = True


# Where in its payload an event says what the step took, as the other recorder writes it; else at the end.
_LATENCY_BEHIND = ("error_message_ref", "response_ref", "status")


def _with_latency(payload: dict[str, object], name: str, took_ms: float) -> dict[str, object]:
    if name == "total_latency_ms":
        return {**payload, name: took_ms}
    behind = next((field for field in _LATENCY_BEHIND if field in payload), None)
    placed: dict[str, object] = {}
    for field, value in payload.items():
        placed[field] = value
        if field == behind:
            placed[name] = took_ms
    return placed if behind is not None else {**payload, name: took_ms}


def _summary(field: str, text: str) -> dict[str, object]:
    summary = summarize_text(text)
    return {} if summary == "" else {field: summary}
