"""Rules made ready to run. Make one and keep it."""

from __future__ import annotations

from .keyword_index import KeywordIndex, SweepRule, index_of, pii_rules
from .known_values import KnownValues
from .open_pattern import OpenSweep, open_sweep
from .rule_data import rules_file


class Ruleset:
    """`profile` names the rules: what was redacted under another name may have to be redacted again."""

    def __init__(self, profile: str, key: bytes, index: str, sweeps: list[SweepRule], known: KnownValues | None) -> None:
        self.profile = profile
        self.key = key
        self._index = index
        self.sweeps = sweeps
        self.open_sweeps: list[OpenSweep] = [open_sweep(sweep) for sweep in sweeps]
        self.known = known
        self.shapes: Ruleset = self

    @property
    def keywords(self) -> KeywordIndex:
        return index_of(self._index)

    @property
    def multi_line(self) -> KeywordIndex:
        """Of these, those that reach over lines."""
        return index_of("multi-line")


def create_ruleset(key: bytes, *, pii: bool = False, public_keys: bool = False, known: KnownValues | None = None) -> Ruleset:
    version = rules_file()["version"]
    profile = f"secrets-{version}{'+pii' if pii else ''}{'+public-keys' if public_keys else ''}"
    ruleset = Ruleset(profile, key, "public-keys" if public_keys else "everything", pii_rules() if pii else [], known)
    ruleset.shapes = Ruleset(f"shapes-{version}", key, "shapes", [], known)
    return ruleset
