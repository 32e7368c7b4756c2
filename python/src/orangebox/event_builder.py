"""
Builds records from values and hands them to the sink. Knows no files and no clock of its own: sink, clock and ids are given. Nothing that
goes wrong here reaches the application.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .bodies_of_event import BodiesOfEvent
from .capture.capture import Capture
from .capture.event_gate import capture_event, flat_attributes
from .clock import Now
from .contract import json_text
from .contract.error import OrangeboxError
from .contract.ids import RandomIds
from .described_error import cut_at_word
from .event_record import EventContext, encode_event

_LONGEST_STAND_IN = 120
_LONGEST_NAME = 512

# What the contract refuses an event without: a name that was left empty, or that is no text, gets another in its place.
_NAMES = {
    "run_started": ("entrypoint_name",),
    "step_started": ("name",),
    "tool_called": ("tool_name",),
    "tool_result": ("tool_name",),
    "model_called": ("provider",),
    "model_result": ("provider",),
    "retrieval_executed": ("retriever_id",),
    "validator_decision": ("validator_name",),
    "safety_decision": ("policy_name",),
    "artifact_recorded": ("artifact_id",),
}


class EventBuilder:
    def __init__(
        self,
        sink: Any,
        capture: Capture,
        now: Now,
        new_id: RandomIds,
        sources: Mapping[str, Mapping[str, object]],
        warn: Callable[[OrangeboxError], None],
    ) -> None:
        self.sink = sink
        self.capture = capture
        self.now = now
        self.new_id = new_id
        self.sources = sources
        self.warn = warn
        self.logs_sampled_out = 0

    def bodies(self) -> BodiesOfEvent:
        return BodiesOfEvent(self.capture, self.sink.keeps_bodies())

    def emit(
        self,
        context: EventContext,
        event_type: str,
        take_sequence_no: Callable[[], int] | None,
        payload: dict[str, object],
        bodies: BodiesOfEvent | None = None,
        attributes: object = None,
        links: list[dict[str, object]] | None = None,
        inferred_by: str | None = None,
        problems: list[dict[str, object]] | None = None,
        refs: list[dict[str, object]] | None = None,
        lock: Any = None,
        at: tuple[float, float] | None = None,
    ) -> None:
        """Telemetry: fails open. Members of the payload that are None because they are left out are the caller's to leave out."""
        try:
            for name in _NAMES.get(event_type, ()):
                value = payload.get(name)
                if type(value) is not str or not 0 < len(value) <= _LONGEST_NAME:
                    payload, problems = self._with_stand_in(payload, name, problems)
            flat = None if attributes is None else flat_attributes(self.capture, attributes)
            status = "not_required" if bodies is None else bodies.redaction
            captured = capture_event(self.capture, payload, flat, links, status)
            all_refs = (bodies.refs if bodies is not None else []) + (refs or [])
            to_write = () if bodies is None else bodies.bodies
            payload_json = json_text.flat(captured.payload)
            if lock is None:
                self._write(context, event_type, None, captured, all_refs, to_write, inferred_by, problems, payload_json, at)
                return
            # Of one run the numbers are taken and written in one go: its lines stand in the order of their numbers, whatever threads do.
            with lock:
                number = None if take_sequence_no is None else take_sequence_no()
                self._write(context, event_type, number, captured, all_refs, to_write, inferred_by, problems, payload_json, at)
        except Exception as error:
            self._say_lost(event_type, error)

    def _write(
        self,
        context: EventContext,
        event_type: str,
        sequence_no: int | None,
        captured: Any,
        refs: list[dict[str, object]],
        bodies: Any,
        inferred_by: str | None,
        problems: list[dict[str, object]] | None,
        payload_json: str,
        at: tuple[float, float] | None,
    ) -> None:
        at = self.now() if at is None else at
        json = encode_event(
            context,
            event_type,
            self.new_id.event(at[0]),
            sequence_no,
            at,
            captured.status,
            refs,
            captured.attributes,
            captured.links,
            inferred_by,
            problems,
            payload_json,
        )
        self.sink.emit(json, context.run_id, sequence_no, bodies)

    def _with_stand_in(
        self, payload: dict[str, object], name: str, problems: list[dict[str, object]] | None
    ) -> tuple[dict[str, object], list[dict[str, object]]]:
        value = payload.get(name)
        is_nothing = value is None or value == ""
        stand_in = "unnamed" if is_nothing else cut_at_word(json_text.safe(value), _LONGEST_STAND_IN)
        reason = 'was empty; "unnamed" stands for it' if is_nothing else "was no text; its JSON stands for it"
        self.warn(OrangeboxError("STAND_IN", f"{name} {reason}", next="Name it, and its steps can be told apart"))
        note: dict[str, object] = {"code": "stand_in", "field": f"payload.{name}", "reason": reason}
        return {**payload, name: stand_in}, [note, *(problems or [])]

    def _say_lost(self, event_type: str, error: Exception) -> None:
        """An event that cannot be built is a loss; its text is not quoted, for it was not searched."""
        self.warn(
            OrangeboxError(
                "EVENT_LOST",
                f"a {event_type} event could not be built ({type(error).__name__}) and is lost",
                next="Report this with what was passed; the application is unharmed",
            )
        )
