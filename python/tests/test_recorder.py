"""Handles over a real journal: what an application says is there when the call returned, whatever becomes of the application."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path
from unittest import mock

from orangebox import OrangeboxError, Recorder

SOURCE = str(Path(__file__).parents[1] / "src")


class RecorderTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.home = Path(holder.name) / "data"
        environment = mock.patch.dict(os.environ, {"ORANGEBOX_HOME": str(self.home), "XDG_CONFIG_HOME": holder.name})
        environment.start()
        self.addCleanup(environment.stop)
        self.warnings: list[OrangeboxError] = []

    def open(self, **options) -> Recorder:
        recorder = Recorder.open(app="test", cwd=str(self.home.parent), on_warning=self.warnings.append, **options)
        self.addCleanup(recorder.close)
        return recorder

    def events(self) -> list[dict]:
        lines = [line for path in sorted((self.home / "journal").glob("*.ndjson")) for line in path.read_bytes().splitlines()]
        return [record["e"] for record in map(json.loads, lines) if record["k"] == "event"]

    def of_type(self, *types: str) -> list[dict]:
        return [event for event in self.events() if event["event_type"] in types]

    def python(self, code: str) -> subprocess.CompletedProcess:
        script = textwrap.dedent(code)
        return subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True, timeout=120
        )

    def test_context_managers(self) -> None:
        """[R-02] handles end as context managers: well, or with the exception that passed through"""
        recorder = self.open()
        with self.assertRaises(ValueError), recorder.start_run("r") as run, run.step("plan") as step:
            step.log.info("x")
            raise ValueError("no")
        ended, failed = self.of_type("step_ended", "run_failed")
        self.assertEqual((ended["payload"]["status"], ended["payload"]["error_class"]), ("error", "ValueError"))
        self.assertEqual((failed["event_type"], failed["payload"]["error_summary"]), ("run_failed", "no"))

    def test_tools(self) -> None:
        """[R-07] a tool is recorded before it runs and after, sync and async, with its error and what it returns"""
        recorder = self.open()
        with recorder.start_run("r") as run:
            seen = run.tool("count", {"n": 1}, lambda: len(self.of_type("tool_called")))
            self.assertEqual(seen, 1)

            async def slow() -> str:
                await asyncio.sleep(0)
                return "late"

            self.assertEqual(asyncio.run(self._await(run.tool("slow", {}, slow))), "late")
            with self.assertRaises(KeyError):
                run.tool("bad", {}, lambda: {}["x"])
            with run.start_tool("by hand", {"a": [1]}) as call:
                call.result = {"ok": True}
        results = self.of_type("tool_result")
        self.assertEqual([result["payload"]["status"] for result in results], ["success", "success", "error", "success"])

    async def _await(self, awaitable):
        return await awaitable

    def test_source(self) -> None:
        """[R-03] the source is stamped by the handle and cannot be set through attributes"""
        recorder = self.open()
        recorder.scope("billing").log.info("sent", source="forged")
        [log] = self.of_type("log")
        self.assertEqual((log["source"], log["attributes"]["source"]), ("billing", "forged"))

    def test_threads(self) -> None:
        """[I-04] eight threads share one run: its numbers are each given once and stand in the file in order"""
        recorder = self.open()
        run = recorder.start_run("r")

        def work(name: int) -> None:
            for at in range(60):
                with run.step(f"s{name}") as step:
                    step.log.info("at", n=at)

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        run.complete()
        numbers = [event["sequence_no"] for event in self.events() if event["run_id"] == run.run_id]
        self.assertEqual(numbers, list(range(len(numbers))))
        self.assertEqual(len(numbers), 8 * 60 * 3 + 2)

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork here")
    def test_fork(self) -> None:
        """[I-04] a forked child writes a journal of its own, and what it says through inherited handles is a run below the parent's"""
        done = self.python(
            """
            import os, threading
            from orangebox import Recorder
            recorder = Recorder.open(app="test")
            run = recorder.start_run("parent")
            step = run.step("work")
            stop = threading.Event()
            def chatter():
                while not stop.is_set():
                    step.log.debug("in mid-write", text="x" * 700)
            thread = threading.Thread(target=chatter); thread.start()
            pids = []
            for n in range(4):
                pid = os.fork()
                if pid == 0:
                    step.log.info("from the child", n=n)
                    with step.child("below") as below:
                        below.log.info("deeper")
                    step.end()
                    run.complete("child's")
                    os._exit(0)
                pids.append(pid)
            for pid in pids:
                assert os.waitpid(pid, 0)[1] == 0
            stop.set(); thread.join()
            step.end()
            run.complete("parent's")
            """
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list((self.home / "journal").glob("*.1.ndjson"))), 5)
        started = self.of_type("run_started")
        parent = next(event for event in started if "links" not in event)
        children = [event for event in started if "links" in event]
        self.assertEqual(len(children), 4)
        self.assertEqual({event["trace_id"] for event in started}, {parent["trace_id"]})
        self.assertEqual({event["links"][0]["run_id"] for event in children}, {parent["run_id"]})
        for run in started:
            own = [event for event in self.events() if event["run_id"] == run["run_id"]]
            self.assertEqual([event["sequence_no"] for event in own], list(range(len(own))))
            self.assertEqual(own[-1]["event_type"], "run_completed")

    def test_asyncio(self) -> None:
        """[I-04] tasks of one loop write as they go; nothing waits in memory"""
        recorder = self.open()
        run = recorder.start_run("r")

        async def task(name: int) -> None:
            for at in range(20):
                run.log.info("at", name=name, at=at)
                await asyncio.sleep(0)

        async def main() -> None:
            await asyncio.gather(*(task(name) for name in range(10)))

        asyncio.run(main())
        self.assertEqual(len(self.of_type("log")), 200)
        run.complete()

    def test_ways_to_die(self) -> None:
        """[J-03] what was said before the end is there, however the process ended, and an uncaught exception is said"""
        for how, goodbye in (
            ("raise RuntimeError('boom')", "uncaught_exception"),
            ("sys.exit(3)", "exit"),
            ("os._exit(1)", None),
            ("os.kill(os.getpid(), 9)", None),
            ("os.abort()", None),
        ):
            with self.subTest(how):
                for path in (self.home / "journal").glob("*") if self.home.exists() else []:
                    path.unlink()
                self.python(f"import os, sys\nfrom orangebox import Recorder\nrun = Recorder.open(app='t').start_run('r')\nrun.log.info('last')\n{how}")
                self.assertEqual([event["payload"]["message"] for event in self.of_type("log")], ["last"])
                exits = [event["payload"]["reason"] for event in self.of_type("process_exited")]
                self.assertEqual(exits, [] if goodbye is None else [goodbye])

    def test_off(self) -> None:
        """[R-05] with recording off every handle works and does nothing, and tools still run"""
        recorder = self.open(enabled=False)
        with recorder.start_run("r", input="x") as run, run.step("s") as step:
            self.assertEqual(step.tool("t", {}, lambda: 7), 7)
            self.assertEqual(step.model("p", "m", {}, lambda call: 8), 8)
            self.assertEqual(step.retrieval("r", "q", lambda: [1]), [1])
            step.log.error("x", err=ValueError())
            step.start_run("sub").complete()
            with step.start_tool("t", {}) as call:
                call.result = 1
        recorder.log.info("x")
        recorder.close()
        self.assertFalse(self.home.exists())

    def test_unsupported(self) -> None:
        """[I-04] what this recorder cannot promise is refused with the sentence that says what to do"""
        for options in ({"capture": "hashed"}, {"audit": "required"}, {"profile": "audit"}, {"bodies": "on_fault"}):
            with self.subTest(options), self.assertRaisesRegex(OrangeboxError, "orangebox run -- python agent.py"):
                self.open(**options)
        with self.assertRaisesRegex(OrangeboxError, "allow_full"):
            self.open(capture="full", environment="prod")

    def test_config(self) -> None:
        """[X-06] a configuration that cannot be held to turns recording off with a word, and never ends the application"""
        (self.home.parent / "orangebox.config.json").write_text('{"redaction": {"deny": [{"path": "log.message"}]}}')
        recorder = self.open()
        self.assertFalse(recorder.is_recording)
        self.assertIn("recording is off", self.warnings[0].what)

    def test_odd_values(self) -> None:
        """[R-05] cycles, objects of any class, wrong names and lone surrogates never reach the caller as an error"""
        recorder = self.open(capture="full", environment="local")
        cycle: dict = {}
        cycle["self"] = cycle

        class Hostile:
            def __str__(self) -> str:
                raise RuntimeError

            def __iter__(self):
                raise RuntimeError

        with recorder.start_run("") as run:
            run.log.info("x", a=cycle, b=Hostile(), c=float("nan"), d=b"\xff", e="\ud800", f=object(), g=10**400)
            run.tool(None, Hostile(), lambda: cycle)
            run.child(17, {"k" * 300: "v" * 9000})
            deep: list = []
            for _ in range(5000):
                deep = [deep]
            run.decide("no_op", "x", deep)
        self.assertEqual(len(self.of_type("log", "tool_called", "tool_result", "step_started", "decision")), 5)
        self.assertEqual(self.of_type("run_started")[0]["payload"]["entrypoint_name"], "unnamed")

    def test_import(self) -> None:
        """[I-04] importing needs nothing but the standard library, and not its heavy parts"""
        done = self.python(
            "import sys; import orangebox; heavy = {'asyncio', 'ssl', 'socket', 'http', 'email', 'dataclasses', 'logging', 'orangebox.redaction.find_secrets'};"
            "print(sorted(heavy & set(sys.modules)))"
        )
        self.assertEqual(done.stdout.strip(), "[]", done.stderr)


if __name__ == "__main__":
    unittest.main()
