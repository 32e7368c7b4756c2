"""One journal file and its sidecar. Every method either does the whole of what it says or raises."""

from __future__ import annotations

import os
from typing import Any

from .failure import ShortWriteError
from .lines import TORN_MARK
from .losses import RunRanges
from .private_file import create_private_file
from .recent_map import RecentMap

_REMEMBERED_BODIES = 1024
_fdatasync = getattr(os, "fdatasync", os.fsync)


class JournalFile:
    def __init__(self, folder: str, stem: str, file_no: int, opened_at_ms: float, fs: Any = os) -> None:
        self._fs = fs
        self._folder = folder
        self.file_no = file_no
        self.opened_at_ms = opened_at_ms
        self.path = os.path.join(folder, f"{stem}.{file_no}.ndjson")
        self.sidecar_path = os.path.join(folder, f"{stem}.{file_no}.bodies")
        self.contents = RunRanges()
        self._written_bodies: RecentMap[str, int] = RecentMap(_REMEMBERED_BODIES)
        self._sidecar_fd: int | None = None
        self._line_bytes = 0
        self._body_bytes = 0
        self._has_fragment = False
        self._folder_synced = os.name == "nt"
        self._syncs_under_way = 0
        self._retired = False
        self._fd = create_private_file(self.path, appends=True)

    @property
    def byte_size(self) -> int:
        return self._line_bytes + self._body_bytes

    def write_line(self, line: bytes) -> int:
        """
        Appends a line with one write(2). One that comes back short is done again as a whole, on a fresh line: an acknowledged line is always
        in one piece.
        """
        for attempt in (1, 2):
            data = TORN_MARK + line if self._has_fragment else line
            written = self._fs.write(self._fd, data)
            self._line_bytes += written
            if written == len(data):
                self._has_fragment = False
                return written
            self._has_fragment = True
            if attempt == 2:
                raise ShortWriteError(f"the disk took {written} of {len(data)} bytes")
        raise AssertionError

    def place_body(self, body_hash: str, data: bytes) -> int:
        """Where in the sidecar the body is: where it was written before, or at the end, where it is written now."""
        earlier = self._written_bodies.get(body_hash)
        if earlier is not None:
            return earlier
        offset = self.place_bytes(data)
        self._written_bodies.set(body_hash, offset)
        return offset

    def place_bytes(self, data: bytes) -> int:
        """Placed by offset rather than appended: after a failure the next body overwrites what the failed one left."""
        if self._sidecar_fd is None:
            self._sidecar_fd = create_private_file(self.sidecar_path, appends=False)
            self._folder_synced = os.name == "nt"
        offset = self._body_bytes
        done = 0
        view = memoryview(data)
        while done < len(data):
            written = self._fs.pwrite(self._sidecar_fd, view[done:], offset + done)
            if written == 0:
                raise ShortWriteError(f"the disk took {done} of {len(data)} bytes")
            done += written
        self._body_bytes += len(data)
        return offset

    def tampering(self) -> str | None:
        """What another process did to the files while this one writes to them."""
        lines = os.fstat(self._fd)
        bodies = None if self._sidecar_fd is None else os.fstat(self._sidecar_fd)
        if lines.st_nlink == 0 or (bodies is not None and bodies.st_nlink == 0):
            return "unlinked"
        is_shorter = lines.st_size < self._line_bytes or (bodies is not None and bodies.st_size < self._body_bytes)
        return "truncated" if is_shorter else None

    def sync_now(self) -> None:
        """Bodies first: a line that survives a power cut has its bytes."""
        sync = getattr(self._fs, "fdatasync", _fdatasync)
        if self._sidecar_fd is not None:
            sync(self._sidecar_fd)
        sync(self._fd)
        if self._folder_synced:
            return
        folder_fd = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder_fd)
        finally:
            os.close(folder_fd)
        self._folder_synced = True

    def begin_sync(self) -> None:
        self._syncs_under_way += 1

    def end_sync(self) -> None:
        self._syncs_under_way -= 1
        if self._retired and self._syncs_under_way == 0:
            self._close()

    def retire(self) -> None:
        """Nothing more will be written. The file descriptors are closed once no sync needs them."""
        if self._retired:
            return
        self._retired = True
        if self._syncs_under_way == 0:
            self._close()

    def discard(self) -> None:
        """Takes back a file that could not even be begun."""
        self.retire()
        try:
            os.unlink(self.path)
        except OSError:
            pass  # Left behind, it is an empty file, which readers pass over.

    def _close(self) -> None:
        for fd in (self._fd, self._sidecar_fd):
            try:
                if fd is not None:
                    os.close(fd)
            except OSError:
                pass  # Nothing is buffered in a descriptor: what write(2) took is taken.
