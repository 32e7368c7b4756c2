"""Ids of runs, traces, steps and events. A source of ids is handed in, so that tests are deterministic."""

from __future__ import annotations

import os
from collections.abc import Callable

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TO_CROCKFORD = bytes(ord(_CROCKFORD[byte & 31]) for byte in range(256))


class RandomIds:
    """`random_bytes` is injected by tests; a pool makes the usual one cheap."""

    def __init__(self, random_bytes: Callable[[int], bytes] | None = None) -> None:
        self._take = _Pool().take if random_bytes is None else random_bytes
        self._event_ms: float = -1
        self._event_head = ""

    def run(self, at_ms: float) -> str:
        return "run_" + _ulid_time(at_ms) + self._take(16).translate(_TO_CROCKFORD).decode("ascii")

    def trace(self) -> str:
        return self._hex(16)

    def step(self) -> str:
        return self._hex(8)

    def event(self, at_ms: float) -> str:
        """A UUID of version 7."""
        if at_ms != self._event_ms:
            digits = f"{_whole_ms(at_ms):012x}"
            self._event_head = f"{digits[:8]}-{digits[8:]}-7"
            self._event_ms = at_ms
        tail = self._take(10).hex()
        return f"{self._event_head}{tail[1:4]}-{_VARIANT[tail[4]]}{tail[5:8]}-{tail[8:]}"

    def _hex(self, count: int) -> str:
        while True:
            drawn = self._take(count)
            if any(drawn):
                return drawn.hex()


_VARIANT = {digit: f"{int(digit, 16) & 3 | 8:x}" for digit in "0123456789abcdef"}


class _Pool:
    """Also safe for threads: a slice that two of them took at once is drawn anew by whoever refills."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest: list[bytes] = []

    def take(self, count: int) -> bytes:
        try:
            # Pieces of 16 bytes, each taken once: `pop` is one step to the interpreter.
            return self._rest.pop()[:count]
        except IndexError:
            fresh = os.urandom(4096)
            self._rest.extend(fresh[at : at + 16] for at in range(16, 4096, 16))
            return fresh[:count]

    def forget(self) -> None:
        """After a fork the child must not draw what its parent will."""
        self._rest.clear()


def _whole_ms(at_ms: float) -> int:
    """A clock that is off must not cost the record."""
    return int(at_ms) if 0 <= at_ms < 2**48 else 0


def _ulid_time(at_ms: float) -> str:
    rest = _whole_ms(at_ms)
    text = ""
    for _ in range(10):
        text = _CROCKFORD[rest & 31] + text
        rest >>= 5
    return text
