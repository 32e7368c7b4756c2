"""The journal writer on real files: what it acknowledged is there, what it could not keep is said."""

from __future__ import annotations

import errno
import json
import os
import stat
import tempfile
import threading
import time
import unittest
from pathlib import Path
from zlib import crc32

from orangebox.contract.error import OrangeboxError
from orangebox.contract.hashes import body_hash
from orangebox.journal.writer import Body, Journal


def lines_in(folder: Path) -> list[dict]:
    """Every whole line of every file, its checksum checked."""
    found = []
    for path in sorted(folder.glob("*.ndjson"), key=lambda one: int(one.name.split(".")[-2])):
        for line in path.read_bytes().split(b"\n")[:-1]:
            if line == b"#" or line.endswith(b"#"):
                continue
            assert int(line[8:16], 16) == crc32(line[18:]), line
            found.append(json.loads(line))
    return found


class FailingDisk:
    """The file system, failing on cue."""

    def __init__(self) -> None:
        self.failure: int | None = None
        self.takes: int | None = None

    def write(self, fd, data):
        if self.failure is not None:
            raise OSError(self.failure, "as asked")
        if self.takes is not None:
            return os.write(fd, data[: self.takes])
        return os.write(fd, data)

    def pwrite(self, fd, data, offset):
        if self.failure is not None:
            raise OSError(self.failure, "as asked")
        return os.pwrite(fd, data, offset)

    def fdatasync(self, fd):
        os.fdatasync(fd)


class JournalTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name) / "journal"
        self.warnings: list[OrangeboxError] = []

    def open(self, **options) -> Journal:
        return Journal(str(self.folder), "test", "0", on_warning=self.warnings.append, **options)

    def test_modes(self) -> None:
        """[J-05] files are for their owner alone, whatever the umask, and so is the folder"""
        before = os.umask(0)
        try:
            journal = self.open()
            journal.append("{}", None, None, [Body(body_hash(b"x" * 600), b"x" * 600)])
        finally:
            os.umask(before)
        self.assertEqual(stat.S_IMODE(self.folder.stat().st_mode), 0o700)
        for path in self.folder.iterdir():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path.name)
        journal.close(0, "exit")

    def test_link_refused(self) -> None:
        """[J-05] a journal folder that is a link, or that others can write to, is refused with what to do"""
        elsewhere = self.folder.parent / "elsewhere"
        elsewhere.mkdir(mode=0o700)
        self.folder.symlink_to(elsewhere)
        with self.assertRaisesRegex(OrangeboxError, "symbolic link"):
            self.open()
        self.folder.unlink()
        self.folder.mkdir()
        self.folder.chmod(0o777)
        with self.assertRaisesRegex(OrangeboxError, "can be written by others"):
            self.open()

    def test_bodies(self) -> None:
        """[J-07] a large body lies in the sidecar before its line, once, and what is no text comes back to the byte"""
        journal = self.open()
        large, binary = b"y" * 5000, b"\xff\x00\x80"
        for _ in range(3):
            journal.append("{}", "run_1", 0, [Body(body_hash(large), large), Body(body_hash(binary), binary)])
        sidecar = next(self.folder.glob("*.bodies")).read_bytes()
        self.assertEqual(sidecar, large)
        events = [line for line in lines_in(self.folder) if line["k"] == "event"]
        self.assertEqual([event["b"][0]["at"] for event in events], [0, 0, 0])
        self.assertEqual(events[0]["b"][1]["b64"], "/wCA")
        journal.close(0, "exit")

    def test_rotation(self) -> None:
        """[J-05] a new file is begun above the size, and each says who writes it"""
        journal = self.open(max_file_bytes=2000)
        for at in range(60):
            self.assertTrue(journal.append(json.dumps({"at": at, "text": "z" * 100}), "run_1", at))
        journal.close(0, "exit")
        files = list(self.folder.glob("*.ndjson"))
        self.assertGreater(len(files), 3)
        lines = lines_in(self.folder)
        self.assertEqual([line["e"]["at"] for line in lines if line["k"] == "event"], list(range(60)))
        self.assertEqual({line["writer_id"] for line in lines if line["k"] == "process"}, {journal.writer_id})

    def test_full_disk(self) -> None:
        """[J-04] a full disk drops records, counts them, warns once, and says the gap when there is room again"""
        disk = FailingDisk()
        journal = self.open(fs=disk)
        journal.append('{"at":0}', "run_1", 0)
        disk.failure = errno.ENOSPC
        for at in range(1, 6):
            self.assertFalse(journal.append(f'{{"at":{at}}}', "run_1", at))
        reserve = next(self.folder.glob("*.reserve")).read_bytes()
        self.assertIn(b'"records_dropped":5', reserve)
        disk.failure = None
        deadline = time.monotonic() + 20
        while not journal.append('{"at":6}', "run_1", 6) and time.monotonic() < deadline:
            time.sleep(0.02)
        journal.close(0, "exit")
        gap = next(line for line in lines_in(self.folder) if line["k"] == "gap")
        self.assertEqual((gap["reason"], gap["failure"]), ("write_failed", "ENOSPC"))
        self.assertGreaterEqual(gap["records"], 5)
        self.assertEqual(gap["runs"][0]["first_sequence_no"], 1)
        self.assertEqual([warning.code for warning in self.warnings], ["JOURNAL_WRITE"])

    def test_short_write(self) -> None:
        """[J-04] a line that a disk took in part is written again as a whole, on a fresh line"""
        disk = FailingDisk()
        journal = self.open(fs=disk)
        disk.takes = 10
        self.assertFalse(journal.append('{"at":0}', "run_1", 0))
        disk.takes = None
        deadline = time.monotonic() + 20
        while not journal.append('{"at":1}', "run_1", 1) and time.monotonic() < deadline:
            time.sleep(0.02)
        journal.close(0, "exit")
        data = next(self.folder.glob("*.ndjson")).read_bytes()
        self.assertIn(b"#\n", data)
        self.assertIn('{"at":1}', data.decode())

    def test_deleted_folder(self) -> None:
        """[J-04] a folder that is deleted under the writer is made again, and what was in it is named as in doubt"""
        clock = [1_790_000_000_000, 0]
        journal = self.open(now=lambda: (clock[0], clock[1]))
        journal.append('{"at":0}', "run_1", 0)
        for path in self.folder.iterdir():
            path.unlink()
        self.folder.rmdir()
        clock[1] += 3_000_000
        self.assertTrue(journal.append('{"at":1}', "run_1", 1))
        journal.close(0, "exit")
        kinds = [line["k"] for line in lines_in(self.folder)]
        self.assertEqual(kinds, ["process", "gap", "event", "exit"])
        gap = lines_in(self.folder)[1]
        self.assertEqual((gap["reason"], gap["records"]), ("unlinked", 1))

    def test_total_cap(self) -> None:
        """[J-08] above the cap the oldest file goes, after a gap record has named what goes with it"""
        journal = self.open(max_file_bytes=4000, max_total_bytes=12_000)
        for at in range(200):
            journal.append(json.dumps({"at": at, "text": "z" * 100}), "run_1", at)
        journal.close(0, "exit")
        total = sum(path.stat().st_size for path in self.folder.iterdir() if path.suffix in (".ndjson", ".bodies"))
        self.assertLess(total, 20_000)
        gaps = [line for line in lines_in(self.folder) if line["k"] == "gap"]
        self.assertTrue(gaps and all(gap["reason"] == "total_cap" for gap in gaps))

    def test_threads(self) -> None:
        """[J-01] eight threads write to one file, every line whole, nothing acknowledged lost"""
        journal = self.open(max_file_bytes=50_000)

        def write(name: int) -> None:
            for at in range(200):
                body = f"{name}-{at} ".encode() * 90
                self.assertTrue(journal.append(json.dumps({"name": name, "at": at}), f"run_{name}", at, [Body(body_hash(body), body)]))

        threads = [threading.Thread(target=write, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        journal.close(0, "exit")
        events = [line["e"] for line in lines_in(self.folder) if line["k"] == "event"]
        self.assertEqual(len(events), 1600)
        for name in range(8):
            self.assertEqual([event["at"] for event in events if event["name"] == name], list(range(200)))

    def test_stream(self) -> None:
        """[J-07] a streamed body is in the journal piece by piece, announced once in each file"""
        journal = self.open()
        stream = journal.open_stream("run_1", "s", "response")
        stream.write(b"one ")
        stream.write(b"t" * 600)
        stream.write(b"", 17)
        digest, size, complete = stream.finish()
        self.assertEqual((size, complete), (604, True))
        journal.append("{}", "run_1", 0, [Body(digest, stream_id=stream.id, byte_size=size)])
        journal.close(0, "exit")
        chunks = [line for line in lines_in(self.folder) if line["k"] == "chunk"]
        self.assertEqual(["of" in chunk for chunk in chunks], [True, False, False])
        self.assertEqual(chunks[2]["held"], 17)


if __name__ == "__main__":
    unittest.main()
