"""The two times an event carries: wall time in milliseconds for people, monotonic time in microseconds for durations."""

from __future__ import annotations

import time
from collections.abc import Callable

Moment = tuple[float, float]
Now = Callable[[], Moment]


def system_clock() -> Moment:
    return time.time_ns() // 1_000_000, time.monotonic_ns() // 1000


# One value, so that threads see a second and its text together.
_latest: tuple[float, str] = (-1.0, "")


def utc_text(wall_ms: float) -> str:
    """ISO time in UTC. The part down to the second is kept between calls."""
    global _latest
    second, ms = divmod(wall_ms, 1000)
    known, prefix = _latest
    if second != known:
        moment = time.gmtime(second)
        prefix = f"{moment[0]:04}-{moment[1]:02}-{moment[2]:02}T{moment[3]:02}:{moment[4]:02}:{moment[5]:02}"
        _latest = (second, prefix)
    return f"{prefix}.{int(ms):03}Z"
