"""What the rules find in a text, and every other place in it where a value stands that was found before, here or elsewhere in the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .find_secrets import Search, find_secrets
from .rule import Secret, joined

if TYPE_CHECKING:
    from .ruleset import Ruleset

_PER_CHARACTER = 2
_PER_VALUE = 2000


def search_text(text: str, ruleset: Ruleset) -> Search:
    found = find_secrets(text, ruleset)
    known = ruleset.known
    if known is None:
        return found
    for secret in found.secrets:
        known.learn(text[secret.start : secret.end] if secret.plain is None else secret.plain)
    again = list(known.find_in(text))
    searched = len(text)
    for view in found.views:
        searched += len(view.text)
        for secret in known.find_in(view.text):
            start, end = view.original(secret.start, secret.end)
            again.append(Secret(start, end, secret.rule, secret.plain))
    found.open_at = min(found.open_at, known.open_at(text))
    found.cost += _PER_CHARACTER * searched + _PER_VALUE * len(again)
    if again:
        found.secrets = joined([*found.secrets, *again])
    return found
