"""The same masks, tags and offsets as the TypeScript redactor, on every text that it was asked about."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from orangebox.redaction.byte_stream import ByteStreamRedactor
from orangebox.redaction.frame_redactor import FrameRedactor
from orangebox.redaction.known_values import KnownValues
from orangebox.redaction.redact_bytes import redact_bytes, redact_octets
from orangebox.redaction.redact_text import redact_text
from orangebox.redaction.redact_value import redact_value
from orangebox.redaction.ruleset import create_ruleset

REPOSITORY = Path(__file__).parents[2]
KEY = b"\x07" * 32

PORTED_FROM = "0"
"""
Of the TypeScript sources that the rules here were written from. Rules are written by hand in both languages; until a change of theirs is ported,
the tests say how many texts differ and are skipped. `python tests/test_redaction.py --ported` prints it anew.
"""


def sources_now() -> str:
    folder = REPOSITORY / "packages/redaction/src"
    running = hashlib.sha256()
    for path in sorted(folder.rglob("*.ts")):
        running.update(path.read_bytes())
    return running.hexdigest()[:16]


def is_ported() -> bool:
    return not (REPOSITORY / "packages/redaction/src").exists() or sources_now() == PORTED_FROM


def vectors() -> dict | str:
    """What the TypeScript redactor says now, or why it cannot be asked."""
    given = os.environ.get("ORANGEBOX_REDACTION_VECTORS")
    if given:
        made = json.loads(Path(given).read_text())
        # A slow interpreter is asked about a part of them.
        every = int(os.environ.get("ORANGEBOX_REDACTION_EVERY", "1"))
        return {name: cases[::every] for name, cases in made.items()}
    if not (REPOSITORY / "packages/redaction/bundle").exists():
        return "the TypeScript packages are not built here: npm ci"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vectors.json")
        try:
            subprocess.run(["node", "scripts/python-redaction-vectors.mjs", path], cwd=REPOSITORY, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            return f"the vectors could not be made ({error})"
        return json.loads(Path(path).read_text())


def told(masks) -> list:
    return [[mask.offset, mask.length, mask.rule, mask.tag] for mask in masks]


class EqualRedaction(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        made = vectors()
        if isinstance(made, str):
            raise unittest.SkipTest(made)
        cls.vectors = made

    def assert_equal(self, cases: list, redacted) -> None:
        wrong = [case for case in cases if redacted(case) != (case["redacted"], case["masks"])]
        self.say(len(wrong), len(cases), json.dumps(wrong[:1])[:800])

    def say(self, wrong: int, of: int, first: str) -> None:
        if wrong > 0 and not is_ported():
            self.skipTest(f"packages/redaction has changed since it was ported: {wrong} of {of} differ")
        self.assertEqual(wrong, 0, f"{wrong} of {of} differ, the first: {first}")

    def test_texts(self) -> None:
        """[X-04] every text of the grid is masked as in TypeScript, and ordinary text is left alone as there"""
        ruleset = create_ruleset(KEY)

        def redacted(case):
            made = redact_text(case["text"], ruleset)
            return made.text, told(made.masks)

        self.assert_equal(self.vectors["texts"], redacted)

    def test_personal(self) -> None:
        """[X-04] the packs that are off by default mask alike"""
        ruleset = create_ruleset(KEY, pii=True, public_keys=True)

        def redacted(case):
            made = redact_text(case["text"], ruleset)
            return made.text, told(made.masks)

        self.assert_equal(self.vectors["personal"], redacted)

    def test_known(self) -> None:
        """[X-04] what was found once is masked wherever it stands again, in the same bytes"""
        wrong = count = 0
        for batch in self.vectors["known"]:
            ruleset = create_ruleset(KEY, known=KnownValues())
            for case in batch:
                made = redact_bytes(case["text"].encode(), ruleset)
                count += 1
                wrong += (base64.b64encode(made.data).decode(), told(made.masks)) != (case["redacted"], case["masks"])
        self.say(wrong, count, "")

    def test_values(self) -> None:
        """[X-04] values are masked by the keys they stand under, alike"""
        ruleset = create_ruleset(KEY)

        def redacted(case):
            value, masks, _ = redact_value(case["value"], ruleset)
            return value, [[path, *told([mask])[0]] for path, mask in masks]

        self.assert_equal(self.vectors["values"], redacted)

    def test_octets(self) -> None:
        """[X-04] bytes that are no text keep all but their secrets"""
        ruleset = create_ruleset(KEY)

        def redacted(case):
            made = redact_octets(base64.b64decode(case["bytes"]), ruleset)
            return base64.b64encode(made.data).decode(), told(made.masks)

        self.assert_equal(self.vectors["octets"], redacted)

    def test_streams(self) -> None:
        """[X-04] streams give out the same bytes at the same pieces, wherever they were cut"""
        wrong = 0
        for case in self.vectors["streams"]:
            ruleset = create_ruleset(KEY, known=KnownValues())
            redactor = ByteStreamRedactor(ruleset) if case["framing"] is None else FrameRedactor(ruleset, case["framing"])
            given = [redactor.push(base64.b64decode(piece), at) for at, piece in enumerate(case["pieces"])]
            given.append(redactor.finish(0))
            made = [[[base64.b64encode(piece.data).decode(), told(piece.masks)] for piece in pieces] for pieces in given]
            wrong += made != case["given"]
        self.say(wrong, len(self.vectors["streams"]), "")

    def test_programs(self) -> None:
        """[I-04] programs recorded `redacted` are the same bytes from both recorders"""
        path = os.environ.get("ORANGEBOX_REDACTED_PROGRAMS")
        if not path:
            self.skipTest("no programs were recorded to compare with: npm run test:python")
        from test_vectors import lines_of

        expected = json.loads(Path(path).read_text())
        made = [hashlib.sha256("".join(lines_of(seed, "redacted")).encode()).hexdigest()[:32] for seed in range(len(expected))]
        self.say(sum(a != b for a, b in zip(made, expected)), len(expected), "node scripts/python-vectors.mjs --show <seed> redacted")


class RulesFile(unittest.TestCase):
    def test_rules(self) -> None:
        """[X-04] the rules in the package are those of the repository"""
        ours = REPOSITORY / "python/src/orangebox/redaction/rules.json"
        theirs = REPOSITORY / "packages/redaction/rules.json"
        if not theirs.exists():
            self.skipTest("the repository's rules are not here")
        if not is_ported():
            self.skipTest("packages/redaction has changed since it was ported")
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (ours, theirs)]
        self.assertEqual(*digests, "npm run rules copies them")


if __name__ == "__main__":
    if sys.argv[1:] == ["--ported"]:
        print(sources_now())
    else:
        unittest.main()
