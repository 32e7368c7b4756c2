"""
The last gate before a record is built: whatever a caller put into an event's own fields goes through the policy of that field here, so that
no path can forget to. Bodies went through the capture mode when they were added; their fields hold hashes only.
"""

from __future__ import annotations

import re

from ..contract import json_text, utf16
from ..contract.attributes import MAX_ATTRIBUTE_NAME, MAX_ATTRIBUTE_TEXT, FlatAttributes, Scalar, flatten_attributes
from ..redaction.mask import MASK_MIDDLE
from .capture import Capture, worse

_SHORTEST_SHAPE = 16
_SHORTEST_NAMED = 5
_LONGEST = 16 * MAX_ATTRIBUTE_TEXT
_JOINED_ID = re.compile(r"(?:^|[._-])(?:message|conversation)[._-]?id\Z", re.I)

# Texts that our own code, a developer or a vendor's list of models puts there: searched for forms only. Every other text may be anything a
# caller has written. The same words as in the TypeScript recorder; a test compares what both make of each field.
OUR_TEXTS = frozenset(
    (
        "app_id agent_id agent_version entrypoint_name channel branch commit ticket_id request_id response_channel "
        "writer_id runtime recorder_version capture_mode kept_bodies snapshot_id artifact_id artifact_ids missing evaluator "
        "prompt_template_id prompt_template_version retriever_id retriever_version tool_name tool_version tool_call_id requested_tools "
        "requested_tool_ids validator_name validator_version policy_name policy_version input_channels input_policy_labels name kind link "
        "error_class provider model_id model_api_version finish_reason service_tier provider_request_id http_method "
        "failed_step_id subject_step_id last_open_step_id "
        "hash input_hash call_signature_hash wire_digest shape_digest prefix_fingerprint prefix_hash stdout_digest "
        "cache_params_digest cache_key_tag account_tag cache_diagnosis told_model prompt_account "
        # Closed sets of words and figures, which hold nothing that a caller writes.
        "level environment status decision artifact_type action_type outcome stream stream_end cache_use error_origin"
    ).split()
)

# The names of attributes that the recorder and its edges set. Any other name was chosen by a caller, who may have built it from anything.
OUR_ATTRIBUTES = frozenset(
    (
        "auxiliary http_method url url_tags http_status stream_end mcp_method mcp_server message_id conversation_id "
        "request_not_decoded request_wire_encoding request_wire_bytes request_wire_digest "
        "response_not_decoded response_wire_encoding response_wire_bytes response_wire_digest forked logger"
    ).split()
)


class Captured:
    __slots__ = ("attributes", "links", "payload", "status")

    def __init__(
        self,
        payload: dict[str, object],
        attributes: FlatAttributes | None,
        links: list[dict[str, object]] | None,
        status: str,
    ) -> None:
        self.payload = payload
        self.attributes = attributes
        self.links = links
        self.status = status


def capture_event(
    capture: Capture,
    payload: dict[str, object],
    attributes: FlatAttributes | None,
    links: list[dict[str, object]] | None,
    bodies: str,
) -> Captured:
    if capture.is_full:
        return Captured(payload, attributes, links, "not_required")
    gate = _Gate(capture, bodies)
    return Captured(
        gate.payload(payload),
        None if attributes is None else gate.attributes(attributes),
        None if links is None else gate.links(links),
        gate.status,
    )


def flat_attributes(capture: Capture, given: object) -> FlatAttributes | None:
    """Whatever a caller passed, as flat attributes. What will be cut is searched before: half a secret has no form to be known by."""
    if capture.is_full or given is None:
        return flatten_attributes(given, json_text.safe)
    if isinstance(given, str):
        long = _long_text(given)
        return flatten_attributes(given if long is None else capture.searched(long), json_text.safe)
    if isinstance(given, dict):
        copy: dict[object, object] = {}
        for name, value in given.items():
            key = name
            if isinstance(name, str) and utf16.length(name) > MAX_ATTRIBUTE_NAME:
                key = capture.searched(utf16.beginning(name, _LONGEST))
            long = _long_text(value) if isinstance(value, str) else None
            copy[key] = value if long is None else capture.searched(long)
        given = copy
    return flatten_attributes(given, lambda value: capture.searched(utf16.beginning(json_text.safe(value), _LONGEST)))


def _long_text(text: str) -> str | None:
    return None if utf16.length(text) <= MAX_ATTRIBUTE_TEXT else utf16.beginning(text, _LONGEST)


class _Gate:
    def __init__(self, capture: Capture, bodies: str) -> None:
        self._capture = capture
        self._ruleset = capture.ruleset
        self.status = bodies
        self._hides_bodies = bodies != "not_required"

    def payload(self, payload: dict[str, object]) -> dict[str, object]:
        copy: dict[str, object] | None = None
        for field, value in payload.items():
            if value is None or isinstance(value, bool):
                continue
            try:
                captured = self._field(field, value)
            except Exception:
                # What breaks the treatment of one value takes that value with it, and nothing else.
                self.status = worse(self.status, "failed")
                captured = MASK_MIDDLE
            if captured is not value:
                if copy is None:
                    copy = dict(payload)
                copy[field] = captured
        return payload if copy is None else copy

    def _field(self, field: str, value: object) -> object:
        if field.endswith("_ref") or field == "told_model":
            return value
        if field == "link":
            return self.links([value])[0]  # type: ignore[list-item]
        if field == "segments":
            return [self._segment(segment) for segment in value]  # type: ignore[attr-defined]
        if field in OUR_TEXTS:
            return self._shapes_only(value)
        return self._text(value, self._ruleset) if isinstance(value, str) else self._value(value, self._ruleset)

    def _segment(self, segment: dict[str, object]) -> dict[str, object]:
        named = self._shapes_only(segment["contributor"])
        return segment if named == segment["contributor"] else {**segment, "contributor": named}

    def _shapes_only(self, value: object) -> object:
        """What our own code or a developer put there; still, a name may be built from anything."""
        shapes = self._ruleset.shapes
        if isinstance(value, str):
            if utf16.length(value) < _SHORTEST_SHAPE:
                known = self._ruleset.known
                return value if known is None or not known.find_in(utf16.units(value)) else self._text(value, shapes)
            return self._text(value, shapes)
        return self._value(value, shapes)

    def _text(self, text: str, ruleset: object) -> str:
        if text.startswith("sha256:"):
            return text
        from ..redaction.redact_text import redact_text

        return self._noted(text, redact_text(text, ruleset))  # type: ignore[arg-type]

    def _noted(self, text: str, redacted: object) -> str:
        if redacted.failed is not None:  # type: ignore[attr-defined]
            self.status = worse(self.status, "failed")
        elif redacted.masks:  # type: ignore[attr-defined]
            self.status = worse(self.status, "redacted")
        else:
            return text
        return redacted.text  # type: ignore[attr-defined]

    def _value(self, value: object, ruleset: object) -> object:
        if not _holds_text(value):
            return value
        from ..redaction.redact_value import redact_value

        redacted, masks, failed = redact_value(value, ruleset)  # type: ignore[arg-type]
        if failed:
            self.status = worse(self.status, "failed")
        elif masks:
            self.status = worse(self.status, "redacted")
        return redacted if masks or failed else value

    def attributes(self, flat: FlatAttributes) -> FlatAttributes:
        attributes: dict[str, Scalar] = {}
        marks: dict[str, str] = {}
        for name, value in flat.attributes.items():
            try:
                captured: Scalar = self._attribute(name, value)
            except Exception:
                self.status = worse(self.status, "failed")
                captured = MASK_MIDDLE
            kept = self._attribute_name(name)
            # Of two that mask alike the second gets a number.
            free = kept
            number = 2
            while free in attributes or (free != name and free in flat.attributes):
                free = f"{kept} {number}"
                number += 1
            attributes[free] = captured
            if flat.marks is not None and name in flat.marks:
                marks[free] = flat.marks[name]
        if flat.marks is not None and "*" in flat.marks and "*" not in flat.attributes:
            marks["*"] = flat.marks["*"]
        return FlatAttributes(attributes, marks or None, flat.dropped)

    def _attribute_name(self, name: str) -> str:
        if name in OUR_ATTRIBUTES or _JOINED_ID.search(name):
            return name
        kept = self._capture.chosen_name(name)
        if kept != name:
            self.status = worse(self.status, "redacted")
        return kept

    def _attribute(self, name: str, value: Scalar) -> Scalar:
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if name.endswith("_wire_digest") and self._hides_bodies:
            return self._capture.keyed(value)
        if utf16.length(value) < _SHORTEST_NAMED:
            return value
        from ..redaction.redact_value import redact_named_text

        redacted = redact_named_text(name, value, self._ruleset)
        if redacted.masks and _JOINED_ID.search(name):
            # What is masked compares no more; an id has to.
            self.status = worse(self.status, "redacted")
            return self._capture.digest_word(value)
        return self._noted(value, redacted)

    def links(self, links: list[dict[str, object]]) -> list[dict[str, object]]:
        if all("reason" not in link for link in links):
            return links
        return [
            {**link, "reason": self._text(link["reason"], self._ruleset)} if isinstance(link.get("reason"), str) else link  # type: ignore[arg-type]
            for link in links
        ]


def _holds_text(value: object) -> bool:
    """Whether there is any text in a value: usage counts have none."""
    if isinstance(value, str):
        return True
    if isinstance(value, dict):
        return any(map(_holds_text, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_holds_text, value))
