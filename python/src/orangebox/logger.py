"""Lines of a step, in four levels, with flat attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .contract import json_text, utf16
from .contract.summary import MAX_LOG_MESSAGE
from .described_error import describe_error

if TYPE_CHECKING:
    from .event_builder import EventBuilder
    from .step import Step

_RANK = {"debug": 0, "info": 1, "warn": 2, "error": 3}


class Logger:
    """
    ::

        step.log.info("file read", path="a.txt", bytes=120)
        step.log.error("cannot parse", err=error)
    """

    def __init__(
        self,
        builder: EventBuilder,
        source: str,
        emit: Callable[..., None],
        open_step: Callable[..., Step],
        bound: Mapping[str, object] | None = None,
    ) -> None:
        self._builder = builder
        self._source = source
        self._emit = emit
        self._open_step = open_step
        self._bound = bound
        rules = builder.sources.get(source) or builder.sources.get("*") or {}
        self._minimum = _RANK[str(rules.get("level", "debug"))]
        self._sample = int(rules.get("sample", 1))  # type: ignore[call-overload]
        self._until_next_sample = 0

    def debug(self, message: str, /, **attributes: object) -> None:
        self._write("debug", message, attributes)

    def info(self, message: str, /, **attributes: object) -> None:
        self._write("info", message, attributes)

    def warn(self, message: str, /, **attributes: object) -> None:
        self._write("warn", message, attributes)

    warning = warn

    def error(self, message: str, /, err: BaseException | None = None, **attributes: object) -> None:
        """`err` keeps class, message, traceback and causes."""
        self._write("error", message, attributes if err is None else {"err": err, **attributes})

    def child(self, **attributes: object) -> Logger:
        """A logger that adds these attributes to everything it says."""
        bound = {**(self._bound or {}), **attributes}
        return Logger(self._builder, self._source, self._emit, self._open_step, bound)

    def span(self, name: str, *, body: object = None, **attributes: object) -> Step:
        """A step below the one this logger belongs to."""
        return self._open_step(name, {**(self._bound or {}), **attributes} or None, body=body)

    def write(self, level: str, message: str, attributes: Mapping[str, Any]) -> None:
        """For handlers of other logging libraries. `err` among the attributes is the error."""
        self._write(level, message, attributes)

    def _write(self, level: str, message: str, attributes: Mapping[str, Any]) -> None:
        rank = _RANK[level]
        if rank < self._minimum:
            return
        if self._sample > 1 and rank < _RANK["warn"] and self._is_sampled_out():
            return
        err = None
        if "err" in attributes:
            err = attributes["err"]
            attributes = {name: value for name, value in attributes.items() if name != "err"}
        if self._bound is not None:
            attributes = {**self._bound, **attributes}
        if err is None and type(message) is str and (len(message) <= MAX_LOG_MESSAGE // 2 or utf16.length(message) <= MAX_LOG_MESSAGE):
            self._emit("log", {"level": level, "message": message}, attributes=attributes or None)
            return
        self._write_long(level, message if isinstance(message, str) else json_text.safe(message), err, attributes)

    def _write_long(self, level: str, message: str, err: object, attributes: Mapping[str, Any]) -> None:
        builder = self._builder
        bodies = builder.bodies()
        is_long = utf16.length(message) > MAX_LOG_MESSAGE
        error = None if err is None else describe_error(err, builder.capture.summary)
        payload: dict[str, object] = {
            "level": level,
            # Searched before it is cut: half a secret has no form to be known by.
            "message": utf16.beginning(builder.capture.searched(utf16.beginning(message, 2 * MAX_LOG_MESSAGE)), MAX_LOG_MESSAGE)
            if is_long
            else message,
        }
        if is_long:
            payload["message_ref"] = bodies.ref("message", message)
        if error is not None:
            payload["error_class"] = error.error_class
            payload["error_summary"] = error.summary
            payload["error_ref"] = bodies.json_ref("error", error.chain)
        self._emit("log", payload, bodies=bodies, attributes=attributes or None)

    def _is_sampled_out(self) -> bool:
        if self._until_next_sample == 0:
            self._until_next_sample = self._sample - 1
            return False
        self._until_next_sample -= 1
        self._builder.logs_sampled_out += 1
        return True
