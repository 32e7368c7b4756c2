"""
Searches a text that arrives in pieces. What `push` gives out will not be judged differently by anything that follows, and all of it together
is what a search of the whole text finds, wherever the pieces were cut. Held back is the word still being written, the quoted value or
private key that has begun and not ended, or what may be the beginning of a pattern's match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .find_secrets import NEVER, Search
from .json_structure import ends_in_string, looks_like_json, may_become_json, sparing_structure
from .redact_bytes import byte_length
from .rule import LEAD, LONGEST_SECRET, Secret
from .search_text import search_text
from .text_edges import WHITE, is_space, is_unspaced

if TYPE_CHECKING:
    from .ruleset import Ruleset

_LONGEST_JOINED = 4 * LONGEST_SECRET
# So much pays for any look: what is searched again beside it is less.
_MOST_FRESH = 65_536
# The longest dress, and a line of a terminal with its escapes.
_QUIET_LEAD = 512

_FIRST_CREDIT = 3_000_000
_MOST_DEBT = 1_000_000
_PER_CHARACTER = 25


class SearchBudget:
    """What the looks at one stream may cost: in the end no more than so much for each character that came."""

    def __init__(self) -> None:
        self._credit = _FIRST_CREDIT

    def earn(self, characters: int) -> None:
        self._credit = min(_FIRST_CREDIT, self._credit + _PER_CHARACTER * characters)

    def spend(self, cost: int) -> None:
        self._credit = max(-_MOST_DEBT, self._credit - cost)

    @property
    def is_spent(self) -> bool:
        return self._credit < 0


class StreamSearch:
    def __init__(self, ruleset: Ruleset, budget: SearchBudget) -> None:
        self._ruleset = ruleset
        self._budget = budget
        # What went before, as much as a rule may look back, and what has not gone out yet.
        self._window = ""
        self._given = 0
        self.held_bytes = 0
        self._looked = 0
        # Nothing in the window had a rule asked.
        self._is_quiet = True
        self._is_json: bool | None = None
        self._starts_in_string = False

    @property
    def held(self) -> str:
        return self._window[self._given :]

    @property
    def held_length(self) -> int:
        return len(self._window) - self._given

    def push(self, text: str) -> tuple[str, list[Secret]]:
        self._window += text
        self.held_bytes += byte_length(text)
        self._budget.earn(len(text))
        if not self._is_worth_a_look(text):
            return "", []
        self._looked = len(self._window)
        secrets, open_at, asked = self._search()
        return self._give_up_to(self._safe_end(secrets, min(open_at, self._start_of_last_word(asked == 0))), secrets)

    def settle(self) -> tuple[str, list[Secret]]:
        """Gives all there is, as if the text ended here. More may be pushed: what belongs to a secret that began before is masked then."""
        return self._give_up_to(len(self._window), self._search()[0])

    def _search(self) -> tuple[list[Secret], int, int]:
        if self._is_quiet:
            quiet = self._search_fresh()
            if quiet is not None:
                return quiet
        if self._is_json is None and not may_become_json(self._window):
            self._is_json = looks_like_json(self._window)
        search = search_text(self._window, self._ruleset)
        self._is_quiet = _is_quiet(search)
        self._budget.spend(search.cost)
        secrets = search.secrets
        if self._is_json:
            secrets = sparing_structure(self._window, secrets, self._ruleset, self._starts_in_string)
        return secrets, search.open_at, search.asked

    def _search_fresh(self) -> tuple[list[Secret], int, int] | None:
        """Where nothing before had a rule asked, what is new has to have one asked before anything can be found."""
        start = max(0, self._given - _QUIET_LEAD)
        search = search_text(self._window[start:], self._ruleset)
        self._budget.spend(len(self._window) - start)
        return ([], search.open_at + start if search.open_at < NEVER else NEVER, 0) if _is_quiet(search) else None

    def _is_worth_a_look(self, text: str) -> bool:
        """A word without an end gives nothing out, however often it is looked at: then it is left until it has grown by an eighth."""
        fresh = len(self._window) - self._looked
        if self._budget.is_spent and fresh < _MOST_FRESH:
            return False
        return fresh >= self.held_length / 8 or WHITE.test(text)

    def _safe_end(self, secrets: list[Secret], open_at: int) -> int:
        end = open_at
        for secret in secrets:
            # Tokens without end, each overlapping the next, are one secret; but a stream does not wait for the end of that.
            if len(self._window) - secret.start > _LONGEST_JOINED:
                continue
            if secret.start < end < secret.end:
                end = secret.start
        return max(end, self._given)

    def _start_of_last_word(self, has_no_keyword: bool) -> int:
        """A script without spaces would be one word from beginning to end. Where no keyword stands, each of its characters ends a word."""
        window = self._window
        earliest = max(self._given, len(window) - LONGEST_SECRET)
        start = len(window)
        while start > earliest and not (is_space(window[start - 1]) or (has_no_keyword and is_unspaced(window[start - 1]))):
            start -= 1
        return start

    def _give_up_to(self, end: int, secrets: list[Secret]) -> tuple[str, list[Secret]]:
        start = self._given
        text = self._window[start:end]
        # What has gone out is gone; of a secret that begins there the rest is masked all the same.
        inside = [
            self._counted(secret if secret.end <= end else secret.at(secret.start, end), start)
            for secret in secrets
            if secret.end > start and secret.start < end
        ]
        keep_from = max(0, end - LEAD)
        if self._is_json:
            self._starts_in_string = ends_in_string(self._window[:keep_from], self._starts_in_string)
        self._window = self._window[keep_from:]
        self.held_bytes -= byte_length(text)
        self._given = end - keep_from
        self._looked = max(0, self._looked - keep_from)
        return text, inside

    def _counted(self, secret: Secret, start: int) -> Secret:
        """Of a secret whose beginning has gone out the rest is masked, with the tag of the whole."""
        moved = secret.at(secret.start - start, secret.end - start)
        if secret.start >= start:
            return moved
        plain = self._window[secret.start : secret.end] if secret.plain is None else secret.plain
        return Secret(0, moved.end, moved.rule, plain, moved.is_loose, moved.is_number)


def _is_quiet(search: Search) -> bool:
    return search.asked == 0 and not search.secrets and not search.views
