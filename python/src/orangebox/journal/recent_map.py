"""Remembers at least the `size` latest entries and at most twice as many, in two generations."""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class RecentMap(Generic[K, V]):
    def __init__(self, size: int) -> None:
        self._size = size
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        found = self._young.get(key)
        return self._old.get(key) if found is None else found

    def set(self, key: K, value: V) -> None:
        if len(self._young) >= self._size and key not in self._young:
            self._old = self._young
            self._young = {}
        self._young[key] = value

    def delete(self, key: K) -> None:
        self._young.pop(key, None)
        self._old.pop(key, None)
