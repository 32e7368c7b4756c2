"""Deletes what is above the total cap of a journal folder: committed files first, then the oldest, with a gap record."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping

from .identity import is_gone
from .losses import Gap, RunRanges

_MOST_FILES_NAMED = 32
_MOST_RUNS_NAMED = 64
_LINES_NAME = re.compile(r"(\d{8}T\d{9}Z-\d+-([0-9a-f]{32}))\.(\d{1,9})\.ndjson\Z")


class FoundFile:
    __slots__ = ("byte_size", "file_no", "is_committed", "is_rotated", "path", "stem", "writer_id")

    def __init__(self, folder: str, stem: str, writer_id: str, file_no: int, names: set[str], is_rotated: bool) -> None:
        self.stem = stem
        self.writer_id = writer_id
        self.file_no = file_no
        self.is_rotated = is_rotated
        self.is_committed = f"{stem}.{file_no}.committed" in names
        self.path = os.path.join(folder, f"{stem}.{file_no}.ndjson")
        self.byte_size = _size_of(self.path) + _size_of(os.path.join(folder, f"{stem}.{file_no}.bodies"))


def list_files(folder: str) -> list[FoundFile]:
    """Writers in the order they started, each writer's files in the order they were written."""
    names = set(os.listdir(folder))
    found = [(m[1], m[2], int(m[3])) for m in map(_LINES_NAME.match, names) if m is not None]
    last: dict[str, int] = {}
    for stem, _, file_no in found:
        last[stem] = max(file_no, last.get(stem, 0))
    found.sort(key=lambda one: (one[0], one[2]))
    return [FoundFile(folder, stem, writer, no, names, no < last[stem]) for stem, writer, no in found]


def evict_above_cap(
    folder: str,
    max_total_bytes: int,
    writer_id: str,
    observer: dict[str, object],
    own_contents: Mapping[int, RunRanges],
    declare: Callable[[list[tuple[FoundFile, RunRanges | None, list[Gap]]]], None],
) -> set[int]:
    """
    `declare` is called before anything uncollected is deleted, and by raising prevents it: a death between the two must not make the loss a
    silent one. Gives the numbers of the writer's own files that are left.
    """
    files = list_files(folder)
    excess = sum(file.byte_size for file in files) - max_total_bytes
    chosen: list[FoundFile] = []
    losses: list[tuple[FoundFile, RunRanges | None, list[Gap]]] = []
    for is_loss in (False, True):
        for file in files:
            if excess <= 0:
                break
            if file.is_committed == is_loss or not _is_finished(file, writer_id, observer):
                continue
            chosen.append(file)
            excess -= file.byte_size
            if is_loss:
                own = own_contents.get(file.file_no) if file.writer_id == writer_id else None
                losses.append((file, own, _head_of(file.path)[1]))
    if losses:
        declare(losses)
    for file in chosen:
        _remove(folder, file)
    return {file.file_no for file in files if file.writer_id == writer_id and file not in chosen}


def sum_of_losses(losses: list[tuple[FoundFile, RunRanges | None, list[Gap]]]) -> Gap:
    earlier = [gap for _, _, gaps in losses for gap in gaps]
    files = [os.path.basename(file.path) for file, _, _ in losses] + [name for gap in earlier for name in _list(gap, "files")]
    runs = [run for _, own, _ in losses if own is not None for run in own.listed()]
    runs += [run for gap in earlier for run in _list(gap, "runs")]
    not_listed = sum(own.not_listed for _, own, _ in losses if own is not None)
    return {
        "records": sum(own.records for _, own, _ in losses if own is not None) + _sum(earlier, "records"),
        "chunks": _sum(earlier, "chunks"),
        "bytes": sum(file.byte_size for file, _, _ in losses) + _sum(earlier, "bytes"),
        "runs": runs[:_MOST_RUNS_NAMED],
        "records_not_listed": not_listed
        + _sum(earlier, "records_not_listed")
        + _sum(runs[_MOST_RUNS_NAMED:], "count"),
        "files": files[:_MOST_FILES_NAMED],
        "files_not_listed": max(0, len(files) - _MOST_FILES_NAMED) + _sum(earlier, "files_not_listed"),
    }


def _list(gap: Gap, name: str) -> list:
    value = gap.get(name)
    return value if isinstance(value, list) else []


def _sum(gaps: list[Gap], name: str) -> int:
    values = (gap.get(name) for gap in gaps)
    return sum(int(value) for value in values if isinstance(value, int))


def _is_finished(file: FoundFile, writer_id: str, observer: dict[str, object]) -> bool:
    """No writer will append to it any more."""
    if file.is_rotated:
        return True
    if file.writer_id == writer_id:
        return False
    identity = _head_of(file.path)[0]
    return identity is not None and is_gone(identity, observer)


def _head_of(path: str) -> tuple[dict[str, object] | None, list[Gap]]:
    """Who writes the file, and the gap lines right behind, which would be forgotten with it."""
    process: dict[str, object] | None = None
    gaps: list[Gap] = []
    try:
        with open(path, "rb") as file:
            for line in file:
                record = json.loads(line)
                if record.get("k") == "process":
                    process = record.get("process")
                elif record.get("k") == "gap":
                    gaps.append(record)
                else:
                    break
    except (OSError, ValueError, AttributeError):
        pass  # Gone or unreadable: then it says nothing.
    return process, gaps


def _remove(folder: str, file: FoundFile) -> None:
    # The lines go first: bodies without lines are rubbish, lines without their bodies would be a loss to report.
    for ending in ("ndjson", "bodies", "committed"):
        _unlink_if_there(os.path.join(folder, f"{file.stem}.{file.file_no}.{ending}"))
    if not any(name.startswith(f"{file.stem}.") and _LINES_NAME.match(name) for name in os.listdir(folder)):
        _unlink_if_there(os.path.join(folder, f"{file.stem}.reserve"))


def _unlink_if_there(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _size_of(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
