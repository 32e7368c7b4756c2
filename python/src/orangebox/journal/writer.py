"""
The append side. Nothing here is buffered: what `append` acknowledged is in the kernel, so neither a thread nor an exit hook stands between
a record and its survival. The one thread of a journal only syncs, against power cuts, and retries after a failure.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..contract.error import OrangeboxError
from ..contract.json_text import quoted
from . import identity as identities
from .failure import Warnings, failure_code, is_refusal
from .journal_file import JournalFile
from .lines import FORMAT_VERSION, INLINE_BYTES, MAX_LINE_BYTES, event_line, inline_json, line_of, object_line
from .losses import Gap, GapBuilder, RunRanges, UndeclaredLosses
from .private_file import ensure_private_folder
from .recent_map import RecentMap
from .total_cap import FoundFile, evict_above_cap, sum_of_losses

_MIB = 1024 * 1024
_LOOK_UP_MS = 1000
_ROTATE_AGAIN_MS = 2000
_FIRST_RETRY_MS = 50
_LAST_RETRY_MS = 2000
_SHED_MS = 10_000
_LOOK_AT_CPU_MS = 50
_MOST_STREAMS = 4096
# After these the file itself is suspect, or can take no more: go on in a new one.
_ABANDONING = frozenset(("EIO", "EFBIG", "EBADF", "ESTALE", "ENXIO"))
_CLOSED = "CLOSED"
_LINE_TOO_LONG = "LINE_TOO_LONG"


class Body:
    """Bytes with their address, or a body whose bytes went ahead as a stream."""

    __slots__ = ("byte_size", "data", "hash", "stream_id")

    def __init__(self, hash: str, data: bytes = b"", stream_id: str | None = None, byte_size: int = 0) -> None:
        self.hash = hash
        self.data = data
        self.stream_id = stream_id
        self.byte_size = byte_size if stream_id is not None else len(data)


class Clock:
    """Wall time is for people and may jump; durations and deadlines use the monotonic clock only."""

    def __init__(self, now: Callable[[], tuple[float, float]] | None = None) -> None:
        if now is None:
            self.wall_ms: Callable[[], float] = lambda: time.time_ns() // 1_000_000
            self.mono_ms: Callable[[], float] = lambda: time.monotonic() * 1000
        else:
            self.wall_ms = lambda: now()[0]
            self.mono_ms = lambda: now()[1] / 1000
        self.is_given = now is not None


class Journal:
    """
    One writer: its files, one after the other, in a journal folder. Threads share it; one lock, one `os.write` for each line. A forked child
    gets files of its own with its first record.
    """

    def __init__(
        self,
        folder: str,
        app_id: str,
        recorder_version: str,
        *,
        fsync: str = "interval",
        max_file_bytes: int = 64 * _MIB,
        max_file_age_ms: float = 60 * 60 * 1000,
        max_total_bytes: int = 2048 * _MIB,
        slow_write_ms: float = 250,
        on_warning: Callable[[OrangeboxError], None] = lambda _: None,
        now: Callable[[], tuple[float, float]] | None = None,
        fs: Any = os,
        writer_id: str | None = None,
        identity: dict[str, object] | None = None,
        runtime: str | None = None,
    ) -> None:
        self._folder = folder
        self._app_id = app_id
        self._recorder_version = recorder_version
        self._fsync = fsync
        self._max_file_bytes = max_file_bytes
        self._max_file_age_ms = max_file_age_ms
        self._max_total_bytes = max_total_bytes
        self._slow_write_ms = slow_write_ms
        self._on_warning = on_warning
        self._clock = Clock(now)
        self._fs = fs
        self._runtime = runtime or identities.runtime_and_platform()
        self._lock = threading.Lock()
        self._begin_writer(writer_id, identity)
        try:
            self._open_next(self._clock.mono_ms())
        except Exception as error:
            if is_refusal(error):
                raise _unwritable(folder, error) from error
            self._fail(error, self._clock.mono_ms())

    def _begin_writer(self, writer_id: str | None = None, identity: dict[str, object] | None = None) -> None:
        self._pid = os.getpid()
        self.writer_id = writer_id or os.urandom(16).hex()
        self._identity = identity or identities.this_process()
        self._stem = f"{_sortable_time(self._clock.wall_ms())}-{self._pid}-{self.writer_id}"
        self._losses = UndeclaredLosses(self._clock.wall_ms)
        self._warnings = Warnings(self._on_warning)
        self._file: JournalFile | None = None
        self._last_file_no = 0
        self._earlier: dict[int, RunRanges] = {}
        self._rotate_again_at = 0.0
        self._streams = 0
        self._stream_places: RecentMap[str, list[int]] = RecentMap(_MOST_STREAMS)
        self._next_look_up_at = self._clock.mono_ms() + _LOOK_UP_MS
        self._failure: str | None = None
        self._retry_delay_ms = 0.0
        self._retry_at = 0.0
        self._was_slow = False
        self._cpu_looked_at = -math.inf
        self._cpu_waited_ms = 0.0
        self._shedding: GapBuilder | None = None
        self._shedding_until = 0.0
        self._closed = False
        self._keeper: threading.Thread | None = None
        self._keeper_wakes = threading.Condition(self._lock)
        self._is_dirty = False
        self._is_syncing = False
        self.records_written = 0
        self.bytes_written = 0
        self.files_opened = 0
        self.gaps_written = 0
        self.sync_failures = 0

    @property
    def records_dropped(self) -> int:
        return self._losses.records_dropped

    @property
    def chunks_dropped(self) -> int:
        return self._losses.chunks_dropped

    def append(self, json: str, run_id: str | None, sequence_no: int | None, bodies: Sequence[Body] = ()) -> bool:
        """Never raises: what cannot be written is dropped, counted and declared in a gap line later."""
        with self._lock:
            if self._closed:
                return self._drop(json, run_id, sequence_no, bodies, _CLOSED)
            started_at = self._clock.mono_ms()
            try:
                if not self._is_ready(started_at):
                    return self._drop(json, run_id, sequence_no, bodies, self._failure)
                file = self._file
                assert file is not None
                # JSON text holds a raw newline only between its tokens, where a space means the same.
                line = event_line(json.replace("\n", " ") if "\n" in json else json, self._bodies_json(file, bodies) if bodies else "}")
                if len(line) > MAX_LINE_BYTES:
                    return self._drop(json, run_id, sequence_no, bodies, _LINE_TOO_LONG)
                self.bytes_written += file.write_line(line)
                if self._fsync == "always":
                    file.sync_now()
            except Exception as error:
                self._fail(error, started_at)
                return self._drop(json, run_id, sequence_no, bodies, self._failure)
            self.records_written += 1
            file.contents.note(run_id, sequence_no)
            for body in bodies:
                if body.stream_id is not None:
                    self._stream_places.delete(body.stream_id)
            self._after_write(started_at)
            return True

    def open_stream(self, run_id: str, step_id: str, role: str) -> JournalStream:
        with self._lock:
            self._streams += 1
            stream_id = f"{self.writer_id[:8]}.{self._streams}"
        return JournalStream(self, stream_id, {"run_id": run_id, "step_id": step_id, "role": role})

    def keeps_bodies(self) -> bool:
        """False while the disk is too slow for bodies."""
        return self._shedding is None or self._clock.mono_ms() >= self._shedding_until

    def last_words(self, text: str) -> None:
        self._losses.last_words(text)

    def close(self, exit_code: int | None, reason: str) -> None:
        with self._lock:
            if self._closed:
                return
            now = self._clock.mono_ms()
            self._end_shedding()
            try:
                if self._must_recover():
                    self._recover(now)
                if self._failure is None and self._file is not None:
                    self._write_exit(self._file, exit_code, reason, now)
            except Exception as error:
                self._fail(error, now)
            self._closed = True
            self._leave_file()
            self._losses.close()
            self._keeper_wakes.notify_all()

    def leave_to_parent(self) -> None:
        """In a forked child, before anything else: the files are the parent's, and what it holds is not the child's to say."""
        # The parent's other threads are not here: whatever they held is free, and whatever they were writing is theirs.
        self._lock = threading.Lock()
        if self._file is not None:
            self._file.retire()
        self._losses.leave()
        is_closed = self._closed
        self._begin_writer()
        self._closed = is_closed
        if is_closed:
            return
        try:
            self._open_next(self._clock.mono_ms())
        except Exception as error:
            self._fail(error, self._clock.mono_ms())

    def _write_exit(self, file: JournalFile, exit_code: int | None, reason: str, now: float) -> None:
        line = object_line(
            "exit",
            {
                "exit_code": exit_code,
                "reason": reason,
                "records_written": self.records_written,
                "records_dropped": self._losses.records_dropped,
                "at_ms": self._clock.wall_ms(),
                "at_mono_us": math.floor(now * 1000 + 0.5),
            },
        )
        self.bytes_written += file.write_line(line)
        if self._fsync != "never":
            file.sync_now()

    def append_chunk(self, stream: JournalStream, offset: int, at_us: int, data: bytes, withheld: int) -> bool:
        with self._lock:
            if self._closed:
                return False
            started_at = self._clock.mono_ms()
            if self._shedding is not None and started_at < self._shedding_until:
                self._shedding.note_chunk(len(data), self._clock.wall_ms())
                self._losses.chunks_dropped += 1
                return False
            try:
                if not self._is_ready(started_at):
                    self._losses.drop_chunk(len(data), self._failure)
                    return False
                file = self._file
                assert file is not None
                self.bytes_written += file.write_line(self._chunk_line(file, stream, offset, at_us, data, withheld))
                place = self._stream_places.get(stream.id) or [file.file_no, file.file_no]
                place[1] = file.file_no
                self._stream_places.set(stream.id, place)
                if self._fsync == "always":
                    file.sync_now()
            except Exception as error:
                self._fail(error, started_at)
                self._losses.drop_chunk(len(data), self._failure)
                return False
            self._after_write(started_at)
            return True

    def _chunk_line(self, file: JournalFile, stream: JournalStream, offset: int, at_us: int, data: bytes, withheld: int) -> bytes:
        place = self._stream_places.get(stream.id)
        is_announced = place is not None and place[1] == file.file_no
        of = "" if is_announced else f'"of":{stream.start_json},'
        held = f'"held":{withheld},' if withheld > 0 else ""
        where = inline_json(data) if len(data) <= INLINE_BYTES else f'"n":{len(data)},"at":{file.place_bytes(data)}'
        return line_of(f'"k":"chunk","s":"{stream.id}",{of}"o":{offset},"us":{at_us},{held}"d":{{{where}}}}}'.encode())

    def _bodies_json(self, file: JournalFile, bodies: Sequence[Body]) -> str:
        """`,"b":[…]}`, the end of an event line, after making sure that the bytes it refers to are in the file."""
        return ',"b":[' + ",".join([self._body_json(file, body) for body in bodies]) + "]}"

    def _body_json(self, file: JournalFile, body: Body) -> str:
        if body.stream_id is not None:
            return f'{{"h":"{body.hash}","n":{body.byte_size},"s":{quoted(body.stream_id)}}}'
        if len(body.data) <= INLINE_BYTES:
            return f'{{"h":"{body.hash}",{inline_json(body.data)}}}'
        return f'{{"h":"{body.hash}","n":{len(body.data)},"at":{file.place_body(body.hash, body.data)}}}'

    # Whether a record can be written now; does on the way what is due: retry, rotate, look up.

    def _is_ready(self, now: float) -> bool:
        if not self._clock.is_given and now - self._cpu_looked_at > _LOOK_AT_CPU_MS:
            self._cpu_looked_at = now
            self._cpu_waited_ms = _cpu_wait_ms()
        if self._failure is not None and now < self._retry_at:
            return False
        if self._must_recover() and not self._recover(now):
            return False
        if now >= self._next_look_up_at:
            self._next_look_up_at = now + _LOOK_UP_MS
            if self._shedding is not None and now >= self._shedding_until:
                self._end_shedding()
            self._look_up(now)
        elif self._file is not None and self._file.byte_size >= self._max_file_bytes and now >= self._rotate_again_at:
            self._rotate(now)
        return not self._must_recover() or self._recover(now)

    def _must_recover(self) -> bool:
        """There is something to say, or nowhere to say it, before the next record."""
        return self._file is None or self._losses.is_undeclared

    def _recover(self, now: float) -> bool:
        """Tries to write again, gap lines first."""
        try:
            if self._file is None:
                self._open_next(now)
            self._declare_losses()
        except Exception as error:
            self._fail(error, now)
            return False
        self._failure = None
        return True

    def _fail(self, error: BaseException, now: float) -> None:
        failure = failure_code(error)
        place = self._place
        if failure in _ABANDONING:
            self._leave_file()
        is_repeated = self._warnings.is_repeated("disk", now)
        self._warnings.warn(
            "disk",
            now,
            OrangeboxError(
                "JOURNAL_WRITE",
                f"records are being dropped: the journal cannot be written ({failure})",
                place,
                "The app goes on without them; recording resumes by itself once the disk takes writes again",
            ),
        )
        earlier = self._retry_delay_ms if self._failure is not None else 0
        self._retry_delay_ms = min((earlier or _FIRST_RETRY_MS) * 2, _LAST_RETRY_MS) if is_repeated else _FIRST_RETRY_MS
        self._failure = failure
        self._retry_at = now + self._retry_delay_ms
        self._wake_keeper()

    def _drop(self, json: str, run_id: str | None, sequence_no: int | None, bodies: Sequence[Body], failure: str | None) -> bool:
        self._losses.drop_record(json, run_id, sequence_no, bodies, failure)
        return False

    def _after_write(self, started_at: float) -> None:
        if not self._is_dirty and self._fsync == "interval":
            self._is_dirty = True
            self._wake_keeper()
        was_slow, self._was_slow = self._was_slow, False
        now = self._clock.mono_ms()
        if now - started_at <= self._slow_write_ms:
            return
        # What a write waited for a processor is not the disk's, and only the second slow write in a row counts.
        waited = 0.0 if self._clock.is_given else _cpu_wait_ms() - self._cpu_waited_ms
        took = now - started_at - waited
        if took <= self._slow_write_ms:
            return
        self._was_slow = True
        if not was_slow:
            return
        self._shedding_until = now + _SHED_MS
        if self._shedding is not None:
            return
        self._shedding = self._losses.start_gap("slow_write", None)
        self._warnings.warn(
            "slow",
            now,
            OrangeboxError(
                "JOURNAL_SLOW",
                f"a journal write took {round(took)} ms; bodies are left out for a while",
                self._place,
                "Events are still recorded; move the journal to a faster disk if this comes again",
            ),
        )

    def _end_shedding(self) -> None:
        if self._shedding is not None:
            self._losses.end_gap(self._shedding)
            self._shedding = None

    # Files, one after the other.

    @property
    def _place(self) -> str:
        return self._folder if self._file is None else self._file.path

    def _open_next(self, now: float) -> None:
        """Begins a new file, as the current one. Raises, and changes nothing, when there can be none."""
        ensure_private_folder(self._folder)
        try:
            self._losses.ensure_reserve(self._folder, self._stem)
        except Exception as error:
            # Without room for the reserve there may still be room for records, and those matter more.
            if is_refusal(error):
                raise
        file_no = self._last_file_no + 1
        try:
            file = JournalFile(self._folder, self._stem, file_no, now, self._fs)
        except FileExistsError:
            # Whatever stands at our name is not ours to touch: the next attempt takes the next number.
            self._last_file_no = file_no
            raise
        try:
            self.bytes_written += file.write_line(self._process_line(file_no))
            if self._fsync == "always":
                file.sync_now()
        except Exception:
            file.discard()
            raise
        if self._file is not None:
            self._earlier[self._file.file_no] = self._file.contents
        self._file = file
        self._last_file_no = file_no
        self.files_opened += 1
        self._rotate_again_at = 0.0
        self._enforce_total_cap(now)

    def _process_line(self, file_no: int) -> bytes:
        return object_line(
            "process",
            {
                "format_version": FORMAT_VERSION,
                "writer_id": self.writer_id,
                "file_no": file_no,
                "process": self._identity,
                "app_id": self._app_id,
                "recorder_version": self._recorder_version,
                "runtime": self._runtime,
                "opened_ms": self._clock.wall_ms(),
                "opened_mono_us": math.floor(self._clock.mono_ms() * 1000 + 0.5),
            },
        )

    def _look_up(self, now: float) -> None:
        """What is worth a look only now and then: what others did to the file, its age, its size."""
        file = self._file
        assert file is not None
        tampering = file.tampering()
        if tampering is not None:
            self._leave_tampered(file, tampering, now)
        elif now - file.opened_at_ms >= self._max_file_age_ms or file.byte_size >= self._max_file_bytes:
            self._rotate(now)

    def _rotate(self, now: float) -> None:
        old = self._file
        assert old is not None
        if old.contents.records == 0 and old.byte_size < self._max_file_bytes:
            return
        try:
            self._open_next(now)
        except Exception as error:
            self._rotate_again_at = now + _ROTATE_AGAIN_MS
            self._warnings.warn(
                "disk",
                now,
                OrangeboxError(
                    "JOURNAL_ROTATE",
                    f"no new journal file could be begun ({failure_code(error)})",
                    self._folder,
                    "Recording goes on in the old one; make room or raise the limit on open files",
                ),
            )
            return
        if self._fsync == "interval":
            try:
                old.sync_now()
            except OSError as error:
                self._after_failed_sync(old, error)
        old.retire()

    def _leave_file(self) -> None:
        """Leaves the current file, which takes no more, before the next is begun."""
        if self._file is None:
            return
        self._earlier[self._file.file_no] = self._file.contents
        self._file.retire()
        self._file = None

    def _leave_tampered(self, file: JournalFile, reason: str, now: float) -> None:
        self._add_file_in_doubt(reason, None, file)
        self._warnings.warn(
            "disk",
            now,
            OrangeboxError(
                "JOURNAL_TAMPERED",
                f"the journal file was {reason} while it was being written; up to {file.contents.records} records may be lost",
                file.path,
                "Recording goes on in a new file; leave the files of running processes alone",
            ),
        )
        self._leave_file()

    def _add_file_in_doubt(self, reason: str, failure: str | None, file: JournalFile) -> None:
        self._losses.add_gap(
            reason,
            failure,
            {
                "records": file.contents.records,
                "bytes": file.byte_size,
                "runs": file.contents.listed(),
                "records_not_listed": file.contents.not_listed,
                "files": [os.path.basename(file.path)],
            },
        )

    def _after_failed_sync(self, file: JournalFile, error: OSError) -> None:
        """A failed sync is never tried again: the kernel has marked the pages clean, and the next one would succeed without them."""
        self.sync_failures += 1
        failure = failure_code(error)
        self._add_file_in_doubt("sync_failed", failure, file)
        self._warnings.warn(
            "disk",
            self._clock.mono_ms(),
            OrangeboxError(
                "JOURNAL_SYNC",
                f"the disk refused to sync the journal ({failure}); its records might not survive a power cut",
                file.path,
                "Recording goes on in a new file; check the disk",
            ),
        )
        if self._file is file:
            self._leave_file()

    def _declare_losses(self) -> None:
        self._losses.declare(self._write_gap)

    def _write_gap(self, gap: Gap) -> None:
        file = self._file
        assert file is not None
        self.bytes_written += file.write_line(object_line("gap", gap))
        if self._fsync == "always":
            file.sync_now()
        self.gaps_written += 1
        self._is_dirty = True

    def _enforce_total_cap(self, now: float) -> None:
        def declare(losses: list[tuple[FoundFile, RunRanges | None, list[Gap]]]) -> None:
            loss = sum_of_losses(losses)
            self._losses.add_gap("total_cap", None, loss)
            self._declare_losses()
            self._warnings.warn(
                "cap",
                now,
                OrangeboxError(
                    "JOURNAL_CAP",
                    f"{len(losses)} journal files ({loss['bytes']} bytes) are deleted before they were collected",
                    self._folder,
                    'Run "orangebox serve" or any reading command now and then, or raise journal.maxTotalBytes',
                ),
            )

        try:
            left = evict_above_cap(self._folder, self._max_total_bytes, self.writer_id, self._identity, self._earlier, declare)
            self._earlier = {file_no: contents for file_no, contents in self._earlier.items() if file_no in left}
        except Exception:
            pass  # The cap is housekeeping: what could not be deleted now is tried again with the next file.

    # The thread: syncs at most once a second while there is something to sync, and tries again after a failure.

    def _wake_keeper(self) -> None:
        if self._clock.is_given or self._closed:
            return
        if self._keeper is None:
            try:
                keeper = threading.Thread(target=self._keep, name="orangebox-journal", daemon=True)
                keeper.start()
                self._keeper = keeper
            except RuntimeError:
                return  # No thread at interpreter shutdown: the next append does what is due.
        else:
            self._keeper_wakes.notify_all()

    def _keep(self) -> None:
        wakes = self._keeper_wakes
        while True:
            with wakes:
                while not self._closed and not self._is_dirty and self._failure is None:
                    wakes.wait()
                if self._closed or self._keeper_wakes is not wakes:
                    return
                if self._failure is not None:
                    wakes.wait(max(0.001, (self._retry_at - self._clock.mono_ms()) / 1000))
                    if self._closed:
                        return
                    if self._failure is not None and self._clock.mono_ms() >= self._retry_at:
                        self._recover(self._clock.mono_ms())
                    continue
            time.sleep(_LOOK_UP_MS / 1000)
            self._sync_once()

    def _sync_once(self) -> None:
        with self._lock:
            file = self._file
            if self._closed or file is None or not self._is_dirty:
                return
            self._is_dirty = False
            file.begin_sync()
        error: OSError | None = None
        try:
            file.sync_now()
        except OSError as caught:
            error = caught
        with self._lock:
            file.end_sync()
            if error is not None and not self._closed:
                self._after_failed_sync(file, error)


class JournalStream:
    """Hashes a body as it passes and hands on its pieces, each in the journal when `write` returned true."""

    def __init__(self, journal: Journal, stream_id: str, start: dict[str, object]) -> None:
        self._journal = journal
        self.id = stream_id
        self.start_json = "{" + ",".join(f"{quoted(name)}:{quoted(str(value))}" for name, value in start.items()) + "}"
        self._opened_at = journal._clock.mono_ms()
        self._running = hashlib.sha256()
        self._byte_size = 0
        self._complete = True

    def write(self, data: bytes, withheld: int = 0) -> bool:
        if len(data) == 0 and withheld == 0:
            return True
        self._running.update(data)
        at_us = math.floor((self._journal._clock.mono_ms() - self._opened_at) * 1000 + 0.5)
        kept = self._journal.append_chunk(self, self._byte_size, at_us, data, withheld)
        self._byte_size += len(data)
        self._complete = self._complete and kept
        return kept

    def finish(self) -> tuple[str, int, bool]:
        """Hash and size of everything that was passed to `write`, and whether all of it is in the journal."""
        return f"sha256:{self._running.hexdigest()}", self._byte_size, self._complete


def _sortable_time(ms: float) -> str:
    """`20260131T120000123Z`: sorts as text, and is legal in file names everywhere."""
    clamped = min(max(ms, 0), 253402214400000)
    moment = time.gmtime(clamped // 1000)
    return f"{moment[0]:04}{moment[1]:02}{moment[2]:02}T{moment[3]:02}{moment[4]:02}{moment[5]:02}{int(clamped % 1000):03}Z"


def _cpu_wait_ms() -> float:
    """How long this thread was ready to run and was not let; 0 where the system does not say."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e6
    except (OSError, ValueError, IndexError):
        return 0.0


def _unwritable(folder: str, error: BaseException) -> OrangeboxError:
    if isinstance(error, OrangeboxError):
        return error
    return OrangeboxError(
        "JOURNAL_UNWRITABLE",
        f"the journal folder cannot be written ({failure_code(error)})",
        folder,
        "Make it writable for this user, or set ORANGEBOX_HOME to a folder that is",
    )
