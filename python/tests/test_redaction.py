"""The same masks, tags and offsets as the TypeScript redactor, on every text that it was asked about."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
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
        self.assertEqual(len(wrong), 0, f"{len(wrong)} of {len(cases)} differ, the first: {json.dumps(wrong[:1])[:800]}")

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
        for batch in self.vectors["known"]:
            ruleset = create_ruleset(KEY, known=KnownValues())

            def redacted(case, ruleset=ruleset):
                made = redact_bytes(case["text"].encode(), ruleset)
                return base64.b64encode(made.data).decode(), told(made.masks)

            self.assert_equal(batch, redacted)

    def test_values(self) -> None:
        """[X-04] values are masked by the keys they stand under, alike"""
        ruleset = create_ruleset(KEY)
        for case in self.vectors["values"]:
            value, masks, _ = redact_value(case["value"], ruleset)
            self.assertEqual((value, [[path, *told([mask])[0]] for path, mask in masks]), (case["redacted"], case["masks"]))

    def test_octets(self) -> None:
        """[X-04] bytes that are no text keep all but their secrets"""
        ruleset = create_ruleset(KEY)

        def redacted(case):
            made = redact_octets(base64.b64decode(case["bytes"]), ruleset)
            return base64.b64encode(made.data).decode(), told(made.masks)

        self.assert_equal(self.vectors["octets"], redacted)

    def test_streams(self) -> None:
        """[X-04] streams give out the same bytes at the same pieces, wherever they were cut"""
        for case in self.vectors["streams"]:
            ruleset = create_ruleset(KEY, known=KnownValues())
            redactor = ByteStreamRedactor(ruleset) if case["framing"] is None else FrameRedactor(ruleset, case["framing"])
            given = [redactor.push(base64.b64decode(piece), at) for at, piece in enumerate(case["pieces"])]
            given.append(redactor.finish(0))
            made = [[[base64.b64encode(piece.data).decode(), told(piece.masks)] for piece in pieces] for pieces in given]
            self.assertEqual(made, case["given"])


class RulesFile(unittest.TestCase):
    def test_rules(self) -> None:
        """[X-04] the rules in the package are those of the repository"""
        ours = REPOSITORY / "python/src/orangebox/redaction/rules.json"
        theirs = REPOSITORY / "packages/redaction/rules.json"
        if not theirs.exists():
            self.skipTest("the repository's rules are not here")
        digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (ours, theirs)]
        self.assertEqual(*digests, "npm run python:rules copies them")


if __name__ == "__main__":
    unittest.main()
