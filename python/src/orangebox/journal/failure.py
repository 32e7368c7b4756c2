"""Failures of the disk, by the name that errno gives them."""

from __future__ import annotations

import errno

from ..contract.error import OrangeboxError


class ShortWriteError(Exception):
    """A write took fewer bytes than it was given, twice in a row: in practice a disk that has just become full."""

    code = "SHORT_WRITE"


def failure_code(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return errno.errorcode.get(error.errno, "UNKNOWN")
    return getattr(error, "code", "UNKNOWN")


_REFUSALS = frozenset(("EACCES", "EPERM", "EROFS", "FOLDER_REFUSED", "FILE_REFUSED"))


def is_refusal(error: BaseException) -> bool:
    """The folder will not let us write, now or later: that is for the user to mend."""
    return failure_code(error) in _REFUSALS


class Warnings:
    """Hands the caller one warning for failures of one kind that follow each other."""

    SAME_FAILURE_MS = 10_000

    def __init__(self, tell: object) -> None:
        self._tell = tell
        self._last_at: dict[str, float] = {}

    def is_repeated(self, kind: str, now: float) -> bool:
        last_at = self._last_at.get(kind)
        return last_at is not None and now - last_at < self.SAME_FAILURE_MS

    def warn(self, kind: str, now: float, error: OrangeboxError) -> None:
        is_repeated = self.is_repeated(kind, now)
        self._last_at[kind] = now
        if is_repeated:
            return
        try:
            self._tell(error)  # type: ignore[operator]
        except Exception:
            pass  # A warning that cannot be delivered must not become a failure of the application.
