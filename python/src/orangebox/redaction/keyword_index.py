"""
Finds every keyword of every rule in one pass: an expression that looks ahead at each place for the longest keyword of a trie. A keyword
without a capital letter is met in any case, one with a capital letter as it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from .built_ins import Find
from .finder import accepts_all, finder_of
from .rule_data import rules_file

_SET = re.compile(r"\[([^\]]+)\]")
_RANGE = re.compile(r"(.)-(.)|.", re.S)
_CAPITAL = re.compile("[A-Z]")
_LOWER = {code: code + 32 for code in range(65, 91)}


class Rule:
    """Its patterns are compiled when a keyword first stands in a text: of 250 rules a recording meets a dozen."""

    __slots__ = ("_data", "_find", "id", "is_multi_line", "keywords")

    def __init__(self, data: dict[str, Any]) -> None:
        self._data = data
        self._find: Find | None = None
        self.id: str = data["id"]
        self.is_multi_line: bool = data.get("multiLine", False)
        self.keywords: list[str] = [written for keyword in data["keywords"] for written in _written_out(keyword)]

    def find(self, text: str, keyword_at: int, keyword: str) -> Any:
        if self._find is None:
            self._find = finder_of(self._data)
        return self._find(text, keyword_at, keyword)


def _written_out(keyword: str) -> list[str]:
    """`v1.[0-9a-f]` is sixteen keywords."""
    found = _SET.search(keyword)
    if found is None:
        return [keyword]
    characters: list[str] = []
    for part in _RANGE.finditer(found[1]):
        if part[1] is None:
            characters.append(part[0])
        else:
            characters += [chr(code) for code in range(ord(part[1]), ord(part[2]) + 1)]
    return [one for character in characters for one in _written_out(keyword[: found.start()] + character + keyword[found.end() :])]


class KeywordIndex:
    def __init__(self, rules: Iterable[Rule]) -> None:
        self._entries: dict[str, list[tuple[Rule, str, bool]]] = {}
        for rule in rules:
            for keyword in rule.keywords:
                entry = (rule, keyword, _CAPITAL.search(keyword) is not None)
                self._entries.setdefault(keyword.translate(_LOWER), []).append(entry)
        # What begins with a shorter keyword is one of it too.
        self._all: dict[str, list[tuple[Rule, str, bool]]] = {}
        for keyword in self._entries:
            beginnings = (keyword[:length] for length in range(1, len(keyword) + 1))
            self._all[keyword] = [entry for beginning in beginnings for entry in self._entries.get(beginning, ())]
        self._pattern: re.Pattern[str] | None = None

    def scan(self, text: str) -> Iterator[tuple[Rule, int, str]]:
        """Every keyword, in the order of their places."""
        if self._pattern is None:
            self._pattern = re.compile(f"(?=({_trie(sorted(self._entries))}))")
        for match in self._pattern.finditer(text.translate(_LOWER)):
            at = match.start()
            for rule, keyword, is_exact in self._all[match[1]]:
                if not is_exact or text.startswith(keyword, at):
                    yield rule, at, keyword


def _trie(keywords: list[str]) -> str:
    root: dict[str, Any] = {}
    for keyword in keywords:
        node = root
        for character in keyword:
            node = node.setdefault(character, {})
        node[""] = {}
    return _alternatives(root)


def _alternatives(node: dict[str, Any]) -> str:
    """Longest first: the end of a keyword is an alternative only where nothing longer matches."""
    ends = "" in node
    leaves = [character for character, below in node.items() if character and list(below) == [""]]
    branches = [re.escape(character) + _alternatives(below) for character, below in node.items() if character and character not in leaves]
    if len(leaves) == 1:
        branches.append(re.escape(leaves[0]))
    elif leaves:
        branches.append("[" + "".join(re.escape(leaf) for leaf in leaves) + "]")
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and not ends else "(?:" + "|".join(branches) + ")"
    return f"{joined}?" if ends and joined.startswith("(?:") else f"(?:{joined})?" if ends else joined


class SweepRule:
    """Without keywords: its pattern is tried everywhere. For packs that are off by default."""

    __slots__ = ("accepts", "id", "longest", "pattern", "source")

    def __init__(self, data: dict[str, Any]) -> None:
        self.id: str = data["id"]
        self.source: str = data["pattern"]
        self.pattern = re.compile(data["pattern"], re.ASCII | (re.IGNORECASE if data.get("ignoreCase") else 0))
        self.longest: int = data["longest"]
        self.accepts = accepts_all(data.get("accept", []))


@lru_cache(maxsize=1)
def _keyed_rules() -> tuple[list[Rule], list[Rule], list[Rule]]:
    """Shapes, names and public keys."""
    shapes: list[Rule] = []
    names: list[Rule] = []
    public_keys: list[Rule] = []
    for data in rules_file()["rules"]:
        if data["kind"] == "sweep":
            continue
        {"names": names, "public-keys": public_keys}.get(data["category"], shapes).append(Rule(data))
    return shapes, names, public_keys


@lru_cache(maxsize=8)
def index_of(what: str) -> KeywordIndex:
    shapes, names, public_keys = _keyed_rules()
    if what == "shapes":
        return KeywordIndex(shapes)
    if what == "multi-line":
        return KeywordIndex(rule for rule in [*shapes, *names] if rule.is_multi_line)
    return KeywordIndex([*shapes, *names, *(public_keys if what == "public-keys" else [])])


@lru_cache(maxsize=1)
def pii_rules() -> list[SweepRule]:
    return [SweepRule(data) for data in rules_file()["rules"] if data["kind"] == "sweep"]
