"""
The way in::

    recorder = Recorder.open(app="fixer")
    with recorder.start_run("fix-issue", input=request) as run:
        text = run.tool("read_file", {"path": path}, lambda: open(path).read())
        run.complete(text)
"""

from __future__ import annotations

import os
import re
import sys
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .bodies_of_event import BodiesOfEvent
from .capture.capture import Capture
from .clock import Now, system_clock
from .contract.error import OrangeboxError
from .contract.ids import RandomIds
from .described_error import describe_error
from .event_builder import EventBuilder
from .event_record import context_outside_runs
from .journal import identity as identities
from .journal.data_folder import find_data_folder, open_data_folder
from .journal.store_key import open_store_key
from .journal.writer import Body, Journal
from .logger import Logger
from .off import OFF, is_nowhere
from .process_end import Goodbye, forget, on_process_end
from .run import Run, open_run
from .step import Handoff
from .surroundings import read_surroundings
from .version import VERSION

_PROXY = "Put the proxy in front, which does that for a program in any language: orangebox run -- python agent.py"
_HANDOFF = re.compile(r"([0-9a-f]{32})/(run_[0-9A-Z]{26})/([0-9a-f]{16})\Z")
_MOST_WARNINGS = 100


class JournalSink:
    """Each record is one line in this writer's journal file when `emit` returns."""

    def __init__(self, folder: str, app_id: str, journal: Mapping[str, Any], on_warning: Callable[[OrangeboxError], None]) -> None:
        self.data_folder, journal_folder = open_data_folder(folder)
        self.store_key = _store_key_or_other(self.data_folder, on_warning)
        self.journal = Journal(journal_folder, app_id, VERSION, on_warning=on_warning, **journal)

    @property
    def writer_id(self) -> str:
        return self.journal.writer_id

    def emit(self, json: str, run_id: str | None, sequence_no: int | None, bodies: Sequence[Body]) -> None:
        self.journal.append(json, run_id, sequence_no, bodies)

    def keeps_bodies(self) -> bool:
        return self.journal.keeps_bodies()

    def open_stream(self, run_id: str, step_id: str, role: str) -> Any:
        return self.journal.open_stream(run_id, step_id, role)

    def counts(self) -> tuple[int, int]:
        return self.journal.records_written, self.journal.records_dropped

    def close(self, exit_code: int | None, reason: str) -> None:
        self.journal.close(exit_code, reason)

    def after_fork(self) -> None:
        self.journal.leave_to_parent()


def _store_key_or_other(folder: str, warn: Callable[[OrangeboxError], None]) -> bytes:
    """A key that is refused must not key anything, nor keep the application from recording."""
    try:
        return open_store_key(folder)
    except OrangeboxError as error:
        what = f"{error.what}; it is not used, and the masks of this process compare with no others"
        warn(OrangeboxError(error.code, what, error.where, error.next))
        return os.urandom(32)


class App:
    """What all runs of one recorder share."""

    def __init__(self, builder: EventBuilder, app_id: str, defaults: dict[str, Any], writer: Any, parent: Handoff | None) -> None:
        self.builder = builder
        self.app_id = app_id
        self.defaults = defaults
        self.writer = writer
        self.parent = parent
        self.runs: weakref.WeakSet[Run] = weakref.WeakSet()
        self.is_closed = False

    def open_run(self, source: str, entrypoint: str, options: Mapping[str, Any]) -> Run:
        parent = options.get("parent", self.parent)
        return open_run(self, source, entrypoint, {**options, "parent": None if is_nowhere(parent) else parent})

    def log_for(self, source: str) -> Logger:
        context = context_outside_runs(self.builder.capture.chosen_name(source))

        def emit(event_type: str, payload: dict[str, object], bodies: BodiesOfEvent | None = None, attributes: object = None) -> None:
            self.builder.emit(context, event_type, None, payload, bodies, attributes)

        def open_step(name: str, attributes: Any, body: object) -> Run:
            # A step with no run around it is a run.
            return self.open_run(source, name, {"attributes": attributes, "input": body})

        return Logger(self.builder, source, emit, open_step)

    @property
    def writer_id(self) -> str:
        return str(getattr(self.writer, "writer_id", "memory"))

    def emit_started(self) -> None:
        self.builder.emit(
            context_outside_runs(self.app_id),
            "process_started",
            None,
            {
                "writer_id": self.writer_id,
                "app_id": self.app_id,
                "pid": os.getpid(),
                "thread_id": 0,
                "runtime": identities.runtime(),
                "recorder_version": VERSION,
                "capture_mode": self.builder.capture.mode,
            },
        )

    def close(self, goodbye: Goodbye) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        forget(self)
        bodies = self.builder.bodies()
        written, dropped = self.builder.sink.counts()
        payload: dict[str, object] = {"writer_id": self.writer_id, "exit_code": goodbye.exit_code, "reason": goodbye.reason}
        if goodbye.error is not None:
            error = describe_error(goodbye.error, self.builder.capture.summary)
            payload["error_class"] = error.error_class
            payload["error_summary"] = error.summary
            payload["error_ref"] = bodies.json_ref("error", error.chain)
            payload["error_origin"] = "uncaught_exception"
        payload["records_written"] = written
        payload["records_dropped"] = dropped
        payload["logs_sampled_out"] = self.builder.logs_sampled_out
        self.builder.emit(context_outside_runs(self.app_id), "process_exited", None, payload, bodies)
        try:
            self.builder.sink.close(goodbye.exit_code, goodbye.reason)
        except Exception:
            pass  # The goodbye is a courtesy; a process must not fail on its way out because of it.

    def after_fork(self) -> None:
        self.builder.new_id = type(self.builder.new_id)()
        after_fork = getattr(self.writer, "after_fork", None)
        if after_fork is not None:
            after_fork()
        for run in list(self.runs):
            run._become_child_run()
        self.emit_started()


class Recorder:
    def __init__(self, source: str, app: App | None) -> None:
        self.source = source
        self._app = app

    @staticmethod
    def open(
        app: str | None = None,
        *,
        folder: str | os.PathLike[str] | None = None,
        enabled: bool | None = None,
        capture: str | None = None,
        allow_full: bool | None = None,
        bodies: str | None = None,
        audit: str | None = None,
        profile: str | None = None,
        pii: bool | None = None,
        public_keys: bool | None = None,
        journal: Mapping[str, Any] | None = None,
        sources: Mapping[str, Mapping[str, object]] | None = None,
        agent_id: str | None = None,
        agent_version: str | None = None,
        environment: str | None = None,
        repo: str | None = None,
        branch: str | None = None,
        commit: str | None = None,
        is_dirty: bool | None = None,
        cwd: str | os.PathLike[str] | None = None,
        on_warning: Callable[[OrangeboxError], None] | None = None,
        sink: Any = None,
        now: Now | None = None,
        new_id: RandomIds | None = None,
        key: bytes | None = None,
    ) -> Recorder:
        """
        Opens the journal before anything else, so that the first event already has a place. Everything but `app` has a default;
        `orangebox.config.json` may set the rest. `sink`, `now`, `new_id` and `key` are for tests.
        """
        warn = _once(on_warning or _warn_on_stderr)
        _refuse_unsupported({"capture": capture, "audit": audit, "bodies": bodies, "profile": profile})
        if enabled is False or os.environ.get("ORANGEBOX") in ("off", "0", "false"):
            return Recorder.off()
        here = os.fspath(cwd) if cwd is not None else os.getcwd()
        try:
            from .config import find_config

            config, ignored = find_config(here)
            _refuse_unsupported(config)
        except OrangeboxError as error:
            # A configuration is a file that others may have written: it must not end the application, and nothing is recorded under it either.
            warn(_recording_is_off(error))
            return Recorder.off()
        for what in ignored:
            warn(OrangeboxError("UNTRUSTED_CONFIG", what, next="See what they do and allow them with: orangebox trust"))
        name = app or config.get("app")
        if not isinstance(name, str) or name == "":
            raise OrangeboxError(
                "OPTION", "option app is missing: every recording needs the name of its application", "Recorder.open", 'Pass app="…"'
            )
        if config.get("enabled") is False and enabled is not True:
            return Recorder.off()
        if "ORANGEBOX_TAPE" in os.environ and sink is None:
            raise OrangeboxError(
                "TAPE",
                "ORANGEBOX_TAPE is set, and the Python recorder cannot answer tools from a recording",
                next="Replay a Python agent by its model calls, which the proxy answers: open the recorder with enabled=False there",
            )
        surroundings = read_surroundings(here)
        where = environment or str(config.get("environment") or surroundings["environment"])
        mode = capture or str(config.get("capture") or "redacted")
        if mode not in ("redacted", "full"):
            raise OrangeboxError("OPTION", f'option capture is "{mode}"', "Recorder.open", 'It is "redacted" or "full"')
        if mode == "full" and where != "local" and not (allow_full or config.get("allowFull") is True):
            raise OrangeboxError(
                "CAPTURE_FULL",
                f'capture is "full" and the environment is "{where}": everything would be stored as it is, secrets included',
                "capture",
                'Leave capture out, or say allow_full=True beside it; where the environment is "local" that is not needed',
            )
        settings = {**_journal_settings(config.get("journal")), **(journal or {})}
        if sink is None:
            try:
                place = os.fspath(folder) if folder is not None else find_data_folder(here)
                sink = JournalSink(place, name, settings, warn)
            except (OrangeboxError, OSError) as cause:
                refused = cause if isinstance(cause, OrangeboxError) else OrangeboxError("OPEN", f"recording cannot start ({cause})")
                warn(_recording_is_off(refused))
                return Recorder.off()
        rules: Any = config.get("redaction")
        rules = rules if isinstance(rules, dict) else {}
        captured = Capture(
            mode,
            key or getattr(sink, "store_key", None) or os.urandom(32),
            pii=bool(rules.get("pii")) if pii is None else pii,
            public_keys=bool(rules.get("publicKeys")) if public_keys is None else public_keys,
        )
        if mode == "redacted":
            from .capture.known_credentials import learn_environment

            learn_environment(captured, os.environ)
        builder = EventBuilder(
            sink,
            captured,
            now or system_clock,
            new_id or RandomIds(),
            sources or config.get("sources") or {},  # type: ignore[arg-type]
            warn,
        )
        defaults = {
            "environment": where,
            "agent_id": agent_id,
            "agent_version": agent_version,
            "repo": repo or surroundings.get("repo"),
            "branch": branch or surroundings.get("branch"),
            "commit": commit or surroundings.get("commit"),
            "is_dirty": is_dirty,
        }
        # Runs of one trace stand in one store.
        parent = _parent_of_process() if isinstance(sink, JournalSink) else None
        opened = App(builder, name, defaults, sink, parent)
        on_process_end(opened)
        opened.emit_started()
        return Recorder(name, opened)

    @staticmethod
    def off() -> Recorder:
        """A recorder that records nothing: every handle works, every tool runs."""
        return Recorder("off", None)

    @property
    def is_recording(self) -> bool:
        return self._app is not None

    @property
    def log(self) -> Logger:
        """For what belongs to no run. Inside a run, use the log of a step."""
        return OFF if self._app is None else self._app.log_for(self.source)

    def start_run(
        self,
        entrypoint: str,
        *,
        input: object = None,
        conversation_id: str | None = None,
        agent_id: str | None = None,
        agent_version: str | None = None,
        environment: str | None = None,
        request_id: str | None = None,
        user_session: str | None = None,
        constraints: Sequence[Mapping[str, str]] | None = None,
        channel: str | None = None,
        repo: str | None = None,
        branch: str | None = None,
        commit: str | None = None,
        is_dirty: bool | None = None,
        ticket: str | None = None,
        attributes: Mapping[str, object] | None = None,
        parent: Mapping[str, str] | None = None,
    ) -> Run:
        """
        Opens a run: one execution from input to its end. End it with `complete` or `fail`, or use it as a context manager; a run left open says
        that its process died. `parent` is the handoff of the step, in this or another process, that asked for it.
        """
        if self._app is None:
            return OFF
        options = {name: value for name, value in locals().items() if name not in ("self", "entrypoint") and value is not None}
        return self._app.open_run(self.source, entrypoint, options)

    def scope(self, name: str) -> Recorder:
        """A handle that speaks as another source, for a plugin or a module: the source stands on its events, and the plugin cannot set it."""
        return Recorder(name, self._app)

    def counts(self) -> dict[str, int]:
        """What was written and what had to be dropped so far."""
        if self._app is None:
            return {"written": 0, "dropped": 0}
        written, dropped = self._app.builder.sink.counts()
        return {"written": written, "dropped": dropped}

    def close(self) -> None:
        """Says goodbye. Not needed for durability: whatever was recorded is in the journal already."""
        if self._app is not None:
            self._app.close(Goodbye(None, "closed", None))

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refuse_unsupported(settings: Mapping[str, object]) -> None:
    """What needs a provider's knowledge at capture, or a commit before a request leaves, is not pretended."""
    for name, value in (("capture", "hashed"), ("audit", "required"), ("profile", "audit")):
        if settings.get(name) == value:
            raise OrangeboxError("NOT_IN_PYTHON", f'{name} "{value}" is not offered by the Python recorder', name, _PROXY)
    if settings.get("bodies") not in (None, "always"):
        raise OrangeboxError("NOT_IN_PYTHON", f'bodies "{settings["bodies"]}" is not offered by the Python recorder', "bodies", _PROXY)


_JOURNAL_SETTINGS = {
    "fsync": "fsync",
    "maxFileBytes": "max_file_bytes",
    "maxFileAgeMs": "max_file_age_ms",
    "maxTotalBytes": "max_total_bytes",
}


def _journal_settings(config: object) -> dict[str, Any]:
    if not isinstance(config, dict):
        return {}
    return {_JOURNAL_SETTINGS[name]: value for name, value in config.items() if name in _JOURNAL_SETTINGS}


def _parent_of_process() -> Handoff | None:
    """Who started this process, where it was started by a recording."""
    match = _HANDOFF.match(os.environ.get("ORANGEBOX_PARENT", ""))
    return Handoff(traceId=match[1], runId=match[2], stepId=match[3]) if match else None


def _recording_is_off(error: OrangeboxError) -> OrangeboxError:
    return OrangeboxError(error.code, f"recording is off: {error.what}", error.where, error.next)


def _warn_on_stderr(warning: OrangeboxError) -> None:
    print(f"orangebox: {warning}", file=sys.stderr)


def _once(warn: Callable[[OrangeboxError], None]) -> Callable[[OrangeboxError], None]:
    """A loop that makes one mistake a thousand times hears of it once."""
    told: set[str] = set()

    def tell(warning: OrangeboxError) -> None:
        if warning.what in told or len(told) >= _MOST_WARNINGS:
            return
        told.add(warning.what)
        try:
            warn(warning)
        except Exception:
            pass  # A listener must not stop the agent.

    return tell
