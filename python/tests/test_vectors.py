"""Equal bytes from both recorders, for the same programs made from the same seeds."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from orangebox import Recorder
from orangebox.contract import json_text, utf16
from orangebox.contract.canonical_json import canonical_json, canonical_json_text
from orangebox.contract.hashes import mcp_signature, retriever_signature, text_hash, tool_signature
from orangebox.contract.summary import summarize_text
from orangebox.journal.writer import Journal

sys.path.insert(0, os.path.dirname(__file__))
from vector_programs import CountedIds, Drawer, play  # noqa: E402

FIXTURE = Path(__file__).parents[2] / "packages/journal/test/fixtures/python-vectors.json"
_OF_PROCESS = re.compile(r'"event_type":"process_(?:started|exited)"|"k":"exit"')


class _Sink:
    """A journal with a clock that stands still unless it is told to go on."""

    writer_id = "memory"

    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def emit(self, json, run_id, sequence_no, bodies):
        self.journal.append(json, run_id, sequence_no, bodies)

    def keeps_bodies(self):
        return True

    def open_stream(self, run_id, step_id, role):
        return self.journal.open_stream(run_id, step_id, role)

    def counts(self):
        return 0, 0

    def close(self, exit_code, reason):
        pass


def lines_of(seed: int, capture: str = "full") -> list[str]:
    clock = [1_790_000_000_000 + seed * 1000, 5_000_000]

    def tick(ms: int) -> None:
        clock[0] += ms
        clock[1] += ms * 1000

    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"HOME": folder}, clear=True):
        os.chmod(folder, 0o700)
        journal = Journal(folder, "vectors", "0", fsync="never", now=lambda: (clock[0], clock[1]))
        recorder = Recorder.open(
            app="vectors",
            capture=capture,
            sink=_Sink(journal),
            now=lambda: (clock[0], clock[1]),
            new_id=CountedIds(),
            key=b"\x07" * 32,
            environment="local",
            repo="host/owner/name",
            branch="main",
            commit="0123456789abcdef0123456789abcdef01234567",
            cwd=folder,
            on_warning=lambda warning: None,
        )
        play(recorder, Drawer(seed), tick)
        journal.close(0, "exit")
        recorder.close()
        return _lines_in(Path(folder))


def _lines_in(folder: Path) -> list[str]:
    lines = next(folder.glob("*.ndjson")).read_bytes().decode().split("\n")
    own = [f"{line}\n" for line in lines[1:-1] if not _OF_PROCESS.search(line)]
    sidecars = list(folder.glob("*.bodies"))
    return own + [f"{hashlib.sha256(sidecar.read_bytes()).hexdigest()}\n" for sidecar in sidecars]


@unittest.skipUnless(FIXTURE.exists(), "the shared vectors stand in the repository, not in the package")
class SharedVectors(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.vectors = json.loads(FIXTURE.read_text())

    def test_values(self) -> None:
        """[I-04] canonical JSON, signatures and summaries are equal to the TypeScript recorder's on every shared value"""
        for seed, expected in enumerate(self.vectors["values"]):
            random = Drawer(seed + 10_000)
            value = random.value(0)
            written = json_text.safe(value)
            digests = [
                text_hash(canonical_json(value)),
                tool_signature(random.word(), value),
                retriever_signature(random.text(), random.word(), None, random.count(9), {"a": random.word()}),
                mcp_signature("tools/call", json_text.safe({"name": "x", "arguments": value, "_meta": {"progressToken": 1}})),
                hashlib.sha256(canonical_json_text(written).encode()).hexdigest(),
                hashlib.sha256(utf16.to_bytes(summarize_text(random.text() + random.text()))).hexdigest(),
            ]
            self.assertEqual([digest.replace("sha256:", "")[:24] for digest in digests], expected, f"seed {seed}")


def _make(seed: int, expected: str):
    def test(self) -> None:
        digest = hashlib.sha256("".join(lines_of(seed)).encode()).hexdigest()[:32]
        self.assertEqual(digest, expected, f"compare with: node scripts/python-vectors.mjs --show {seed}")

    test.__doc__ = f"[I-04] program {seed} writes the bytes of the TypeScript recorder"
    return test


if FIXTURE.exists():
    for _seed, _expected in enumerate(json.loads(FIXTURE.read_text())["programs"]):
        setattr(SharedVectors, f"test_program_{_seed:03}", _make(_seed, _expected))


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--show":
        sys.stdout.buffer.write("".join(lines_of(int(sys.argv[2]), *sys.argv[3:])).encode())
    else:
        unittest.main()
