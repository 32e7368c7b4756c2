"""
What is missing and not yet said in the journal. Until a gap line can say it, the reserve file does, so that neither a full disk nor a
death leaves a loss unnamed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ..contract import json_text, utf16
from .lines import line_of
from .private_file import create_private_file

_MOST_RUNS = 64

Gap = dict[str, object]
"""As it stands in a gap line and in the reserve file."""


class RunRanges:
    """Which records of which runs: a bounded list of ranges."""

    __slots__ = ("_ranges", "not_listed", "records")

    def __init__(self) -> None:
        self._ranges: dict[str, list[int | None]] = {}
        self.records = 0
        self.not_listed = 0

    def note(self, run_id: str | None, sequence_no: int | None) -> None:
        self.records += 1
        one = None if run_id is None else self._ranges.get(run_id)
        if one is None:
            if run_id is None or len(self._ranges) >= _MOST_RUNS:
                self.not_listed += 1
                return
            one = self._ranges[run_id] = [None, None, 0]
        one[2] += 1  # type: ignore[operator]
        if sequence_no is None:
            return
        if one[0] is None or sequence_no < one[0]:
            one[0] = sequence_no
        if one[1] is None or sequence_no > one[1]:
            one[1] = sequence_no

    def listed(self) -> list[dict[str, object]]:
        return [
            {"run_id": run_id, "first_sequence_no": first, "last_sequence_no": last, "count": count}
            for run_id, (first, last, count) in self._ranges.items()
        ]


class GapBuilder:
    """Adds up what is being lost until a gap line can say so."""

    def __init__(self, gap_no: int, reason: str, failure: str | None, from_ms: float) -> None:
        self._about = {"gap_no": gap_no, "reason": reason, "failure": failure, "from_ms": from_ms}
        self._ranges = RunRanges()
        self.to_ms = from_ms
        self._chunks = 0
        self._bytes = 0

    def note_record(self, run_id: str | None, sequence_no: int | None, byte_count: int, at_ms: float) -> None:
        self._ranges.note(run_id, sequence_no)
        self._bytes += byte_count
        self.to_ms = at_ms

    def note_chunk(self, byte_count: int, at_ms: float) -> None:
        self._chunks += 1
        self._bytes += byte_count
        self.to_ms = at_ms

    def gap(self) -> Gap:
        return {
            **self._about,
            "to_ms": self.to_ms,
            "records": self._ranges.records,
            "chunks": self._chunks,
            "bytes": self._bytes,
            "runs": self._ranges.listed(),
            "records_not_listed": self._ranges.not_listed,
            "files": [],
            "files_not_listed": 0,
        }


class UndeclaredLosses:
    def __init__(self, wall_ms: Callable[[], float]) -> None:
        self._wall_ms = wall_ms
        self._reserve: ReserveFile | None = None
        self._said_last_words = False
        self._last_gap_no = 0
        self._drops: GapBuilder | None = None
        self._gaps: list[Gap] = []
        self.records_dropped = 0
        self.chunks_dropped = 0

    @property
    def is_undeclared(self) -> bool:
        return self._drops is not None or len(self._gaps) > 0

    def drop_record(self, json: str, run_id: str | None, sequence_no: int | None, bodies: Sequence[Any], failure: str | None) -> None:
        self.records_dropped += 1
        size = utf16.length(json) + sum(len(body.data) for body in bodies if body.stream_id is None)
        at_ms = self._wall_ms()
        self._drop_gap(failure, at_ms).note_record(run_id, sequence_no, size, at_ms)
        self._keep_reserve()

    def drop_chunk(self, byte_count: int, failure: str | None) -> None:
        self.chunks_dropped += 1
        at_ms = self._wall_ms()
        self._drop_gap(failure, at_ms).note_chunk(byte_count, at_ms)
        self._keep_reserve()

    def add_gap(self, reason: str, failure: str | None, what: Gap) -> None:
        self._gaps.append({**self.start_gap(reason, failure).gap(), **what})

    def start_gap(self, reason: str, failure: str | None) -> GapBuilder:
        self._last_gap_no += 1
        return GapBuilder(self._last_gap_no, reason, failure, self._wall_ms())

    def end_gap(self, gap: GapBuilder) -> None:
        gap.to_ms = self._wall_ms()
        self._gaps.append(gap.gap())

    def declare(self, write: Callable[[Gap], None]) -> None:
        """Hands every gap to `write`. One whose write raises is kept, and so are those behind it."""
        while self._gaps:
            write(self._gaps[0])
            self._gaps.pop(0)
        if self._drops is None:
            return
        self._drops.to_ms = self._wall_ms()
        write(self._drops.gap())
        self._drops = None
        self._keep_reserve()

    def ensure_reserve(self, folder: str, stem: str) -> None:
        if self._reserve is not None and not self._reserve.is_gone():
            return
        if self._reserve is not None:
            self._reserve.close(remove=False)
        self._reserve = None
        self._reserve = ReserveFile(folder, stem)

    def last_words(self, text: str) -> None:
        if self._reserve is not None and self._reserve.keep_words(text, self._wall_ms()):
            self._said_last_words = True

    def close(self) -> None:
        """The reserve file stays behind only when it has something to say."""
        has_nothing_to_say = self.records_dropped == 0 and not self._said_last_words and not self.is_undeclared
        if self._reserve is not None:
            self._reserve.close(remove=has_nothing_to_say)
        self._reserve = None

    def leave(self) -> None:
        """In a forked child: the reserve file is the parent's."""
        if self._reserve is not None:
            self._reserve.close(remove=False)
        self._reserve = None

    def _drop_gap(self, failure: str | None, at_ms: float) -> GapBuilder:
        if self._drops is None:
            self._last_gap_no += 1
            self._drops = GapBuilder(self._last_gap_no, "write_failed", failure, at_ms)
        return self._drops

    def _keep_reserve(self) -> None:
        if self._reserve is not None:
            self._reserve.keep(self.records_dropped, None if self._drops is None else self._drops.gap())


_SLOT_BYTES = 4096
_COUNTER_SLOTS = 2
_WORDS_SLOT = 2
_SLOTS = 3


class ReserveFile:
    """
    What can still be said when the disk is full: a file whose blocks were written when there was room, overwritten in place. Two slots hold
    the drop counter in turn, the third the last words; each is one journal line, with its checksum.
    """

    def __init__(self, folder: str, stem: str) -> None:
        self._path = os.path.join(folder, f"{stem}.reserve")
        self._fd = create_private_file(self._path, appends=False)
        self._turn = 0
        blank = b" " * (_SLOT_BYTES * _SLOTS)
        try:
            written = os.pwrite(self._fd, blank, 0)
        except OSError:
            self.close(remove=True)
            raise
        if written != len(blank):
            self.close(remove=True)
            raise OSError(28, "no room for the reserve file")

    def is_gone(self) -> bool:
        return os.fstat(self._fd).st_nlink == 0

    def keep(self, records_dropped: int, pending_gap: Gap | None) -> bool:
        self._turn += 1

        def text_of(gap: Gap | None) -> str:
            return json_text.ours({"turn": self._turn, "records_dropped": records_dropped, "pending_gap": gap})[1:]

        text = text_of(pending_gap)
        if len(text) > _SLOT_BYTES // 2 and pending_gap is not None:
            # The runs are what makes a gap long; a gap without them still says how much is missing, when and why.
            text = text_of({**pending_gap, "runs": [], "files": [], "records_not_listed": pending_gap["records"]})
        return self._write(self._turn % _COUNTER_SLOTS, "counter", text)

    def keep_words(self, words: str, at_ms: float) -> bool:
        length = min(len(words), _SLOT_BYTES - 256)
        while True:
            text = json_text.ours({"text": words[:length], "at_ms": at_ms})[1:]
            if len(text.encode()) <= _SLOT_BYTES - 64:
                return self._write(_WORDS_SLOT, "words", text)
            length //= 2

    def close(self, remove: bool) -> None:
        try:
            os.close(self._fd)
            if remove:
                os.unlink(self._path)
        except OSError:
            pass  # Left behind, it says that nothing was dropped.

    def _write(self, slot: int, kind: str, text: str) -> bool:
        line = line_of(f'"k":"{kind}",{text}'.encode())
        try:
            return os.pwrite(self._fd, line, slot * _SLOT_BYTES) == len(line)
        except OSError:
            return False
