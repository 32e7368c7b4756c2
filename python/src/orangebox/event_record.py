"""One event on its way to the journal: JSON text, mostly by joining known pieces, and the bodies it introduces."""

from __future__ import annotations

from .clock import Moment, utc_text
from .contract import json_text
from .contract.attributes import FlatAttributes, json_of_attributes
from .contract.json_text import quoted

SCHEMA_VERSION = "1.2.0"


class EventContext:
    """The beginning of every event a handle emits, as JSON text."""

    __slots__ = ("json_head", "run_id")

    def __init__(self, run_id: str | None, json_head: str) -> None:
        self.run_id = run_id
        self.json_head = json_head


def run_context(run: dict[str, object]) -> EventContext:
    return EventContext(str(run["run_id"]), f'{{"schema_version":"{SCHEMA_VERSION}",{json_text.ours(run)[1:-1]}')


def step_context(run: EventContext, step_id: str, parent_id: str | None, attempt_no: int | None, source: str) -> EventContext:
    parent = "null" if parent_id is None else f'"{parent_id}"'
    attempt = "" if attempt_no is None else f',"attempt_no":{attempt_no}'
    return EventContext(
        run.run_id,
        f'{run.json_head},"step_id":"{step_id}","parent_step_id":{parent},"source":{quoted(source)}{attempt}',
    )


def context_outside_runs(source: str) -> EventContext:
    """For what a process says outside any run."""
    return EventContext(
        None,
        f'{{"schema_version":"{SCHEMA_VERSION}","trace_id":null,"run_id":null,"step_id":null,"parent_step_id":null,'
        f'"actor_type":"sdk","determinism_mode":"live","source":{quoted(source)}',
    )


def encode_event(
    context: EventContext,
    event_type: str,
    event_id: str,
    sequence_no: int | None,
    at: Moment,
    redaction: str,
    refs: list[dict[str, object]],
    attributes: FlatAttributes | None,
    links: list[dict[str, object]] | None,
    inferred_by: str | None,
    problems: list[dict[str, object]] | None,
    payload_json: str,
) -> str:
    json = (
        f'{context.json_head},"event_id":"{event_id}","sequence_no":{"null" if sequence_no is None else sequence_no},'
        f'"event_type":"{event_type}","timestamp_utc":"{utc_text(at[0])}","mono_us":{at[1]},"redaction_status":"{redaction}",'
        f'"artifact_refs":{"[]" if not refs else "[" + ",".join(map(json_text.ours, refs)) + "]"}'
    )
    if attributes is not None:
        json += json_of_attributes(attributes)
    if links:
        json += f',"links":{json_text.ours(links)}'
    if inferred_by is not None:
        json += f',"inferred_by":{quoted(inferred_by)}'
    if problems:
        json += f',"problems":{json_text.ours(problems)}'
    return f'{json},"payload":{payload_json}}}'
