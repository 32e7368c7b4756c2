"""`rules.json`, read when first asked for: the same file that the TypeScript package is written from."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def rules_file() -> dict[str, Any]:
    path = os.path.join(os.path.dirname(__file__), "rules.json")
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def word_list(lines: list[str]) -> frozenset[str]:
    """A set of words, as the file writes it: in lines."""
    return frozenset(word for line in lines for word in line.split(" "))
