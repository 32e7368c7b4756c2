"""
Process start, fork and end, for every open recorder of this process. None of this is needed to keep a record: each was written when its
call returned. It only lets a process say goodbye, so that silence means something.
"""

from __future__ import annotations

import atexit
import os
import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .recorder import App


class Goodbye:
    __slots__ = ("error", "exit_code", "reason")

    def __init__(self, exit_code: int | None, reason: str, error: BaseException | None) -> None:
        self.exit_code = exit_code
        self.reason = reason
        self.error = error


_open: list[App] = []
_uncaught: BaseException | None = None
_is_listening = False


def on_process_end(app: App) -> None:
    _listen()
    _open.append(app)


def forget(app: App) -> None:
    if app in _open:
        _open.remove(app)


def _listen() -> None:
    global _is_listening
    if _is_listening:
        return
    _is_listening = True
    earlier = sys.excepthook

    def note(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        global _uncaught
        _uncaught = error
        earlier(kind, error, trace)

    sys.excepthook = note
    atexit.register(_leave)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)


def _leave() -> None:
    # What the interpreter exits with is not known here, unless an exception ends it: null is unknown, and unknown is not zero.
    goodbye = Goodbye(None, "exit", None) if _uncaught is None else Goodbye(1, "uncaught_exception", _uncaught)
    for app in list(_open):
        app.close(goodbye)


def _after_fork() -> None:
    for app in list(_open):
        try:
            app.after_fork()
        except Exception:
            pass  # The child goes on; what it says is then dropped and counted.
