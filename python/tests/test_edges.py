"""Real client libraries from PyPI against a scripted model: requests are in the journal before they leave, answers piece by piece."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import logging
import os
import random
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from scripted_model import ScriptedModel

from orangebox import Recorder
from orangebox.edges.logging import StepHandler
from orangebox.edges.tools import record_tool, recorded_tool


def needs(*modules: str):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)} (scripts/install-python-peers.sh python)")


class EdgeTest(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.home = Path(holder.name) / "data"
        environment = {"ORANGEBOX_HOME": str(self.home), "XDG_CONFIG_HOME": holder.name, "NO_PROXY": "*"}
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)
        self.model = ScriptedModel()
        self.addCleanup(self.model.close)
        self.recorder = Recorder.open(app="edges", cwd=holder.name)
        self.addCleanup(self.recorder.close)
        self.run_ = self.recorder.start_run("edges")

    def lines(self) -> list[dict]:
        paths = sorted((self.home / "journal").glob("*.ndjson"))
        return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]

    def of_type(self, *types: str) -> list[dict]:
        events = (line["e"] for line in self.lines() if line["k"] == "event")
        return [event for event in events if event["event_type"] in types]

    def response_of(self, event: dict) -> bytes:
        """The stored answer: its chunks, wherever they lie."""
        sidecar = next((self.home / "journal").glob("*.bodies"), None)
        data = b"" if sidecar is None else sidecar.read_bytes()
        entry = next(
            body
            for line in self.lines()
            if line["k"] == "event"
            for body in line.get("b", [])
            if body["h"] == event["payload"]["response_ref"]
        )
        if "t" in entry:
            return entry["t"].encode()
        if "at" in entry:
            return data[entry["at"] : entry["at"] + entry["n"]]
        chunks = [line for line in self.lines() if line["k"] == "chunk" and line["s"] == entry["s"]]
        pieces = [one["d"]["t"].encode() if "t" in one["d"] else data[one["d"]["at"] : one["d"]["at"] + one["d"]["n"]] for one in chunks]
        return b"".join(pieces)


@needs("httpx", "openai")
class OpenAi(EdgeTest):
    def client(self, step):
        import openai

        from orangebox.edges.httpx import recording_client

        return openai.OpenAI(api_key="sk-" + "test", base_url=f"{self.model.url}/v1", http_client=recording_client(step), max_retries=0)

    def test_whole(self) -> None:
        """[I-04] a call of the openai client is recorded to the byte it sent, and the gzip answer as what it says"""
        reply = self.client(self.run_).chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "When?"}])
        self.assertEqual(reply.choices[0].message.content, self.model.text)
        [called], [result] = self.of_type("model_called"), self.of_type("model_result")
        self.assertEqual((called["payload"]["model_id"], result["payload"]["status"]), ("gpt-x", "success"))
        self.assertIn(self.model.text.encode(), self.response_of(result))
        self.assertEqual(result["payload"]["provider_request_id"], "req_scripted")
        sent = self.model.requests[0][2]
        inline = [body.get("t") for line in self.lines() if line["k"] == "event" for body in line.get("b", [])]
        self.assertIn(sent.decode(), inline)
        self.assertNotIn("x-orangebox-step", {name.lower() for name in self.model.requests[0][1]})

    def test_stream(self) -> None:
        """[J-07] a streamed answer is in the journal before its reader has it"""
        said = ""
        for chunk in self.client(self.run_).chat.completions.create(
            model="gpt-x", messages=[{"role": "user", "content": "When?"}], stream=True
        ):
            if chunk.choices and chunk.choices[0].delta.content:
                said += chunk.choices[0].delta.content
                self.assertTrue(any(line["k"] == "chunk" for line in self.lines()))
        self.assertEqual(said, self.model.text)
        [result] = self.of_type("model_result")
        self.assertEqual((result["payload"]["stream_end"], result["payload"]["status"]), ("complete", "success"))
        self.assertIn(b"[DONE]", self.response_of(result))

    def test_async_stream(self) -> None:
        """[I-04] the async client streams through the recorder the same"""
        import openai

        from orangebox.edges.httpx import recording_async_client

        async def ask() -> str:
            async with recording_async_client(self.run_) as http:
                client = openai.AsyncOpenAI(api_key="sk-" + "test", base_url=f"{self.model.url}/v1", http_client=http)
                stream = await client.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "?"}], stream=True)
                return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])

        self.assertEqual(asyncio.run(ask()), self.model.text)
        self.assertEqual(self.of_type("model_result")[0]["payload"]["stream_end"], "complete")

    def test_failure(self) -> None:
        """[I-04] an error answer is recorded and raised as the client raises it; a server that is not there is an error too"""
        import openai

        self.model.status = 529
        with self.assertRaises(openai.InternalServerError):
            self.client(self.run_).chat.completions.create(model="gpt-x", messages=[])
        self.model.close()
        self.model = ScriptedModel()
        client = self.client(self.run_)
        self.model.close()
        with self.assertRaises(openai.APIConnectionError):
            client.chat.completions.create(model="gpt-x", messages=[])
        self.model = ScriptedModel()
        first, second = self.of_type("model_result")
        self.assertEqual((first["payload"]["http_status"], first["payload"]["error_class"]), (529, "HTTP 529"))
        self.assertEqual((second["payload"]["status"], second["payload"]["stream_end"]), ("error", "upstream_reset"))

    def test_proxy(self) -> None:
        """[I-05] under `orangebox run` the request says which step it is, so that the proxy links instead of recording twice"""
        with mock.patch.dict(os.environ, {"ORANGEBOX_PROXY": self.model.url}):
            self.client(self.run_).chat.completions.create(model="gpt-x", messages=[])
        headers = {name.lower(): value for name, value in self.model.requests[0][1].items()}
        [called] = self.of_type("model_called")
        self.assertEqual(headers["x-orangebox-step"], f"{called['run_id']}/{called['step_id']}")


@needs("anthropic")
class Anthropic(EdgeTest):
    def test_both(self) -> None:
        """[I-04] the anthropic client, whole and streamed"""
        import anthropic

        # Newer versions are built on httpx2.
        library = "httpx2" if importlib.util.find_spec("httpx2") else "httpx"
        recording_client = importlib.import_module(f"orangebox.edges.{library}").recording_client
        client = anthropic.Anthropic(api_key="test", base_url=self.model.url, http_client=recording_client(self.run_))
        asked = {"model": "claude-x", "max_tokens": 64, "messages": [{"role": "user", "content": "When?"}]}
        self.assertEqual(client.messages.create(**asked).content[0].text, self.model.text)
        with client.messages.stream(**asked) as stream:
            self.assertEqual("".join(stream.text_stream), self.model.text)
        called, results = self.of_type("model_called"), self.of_type("model_result")
        sent = [{name.lower(): value for name, value in headers.items()}["anthropic-version"] for _, headers, _ in self.model.requests]
        self.assertEqual([one["payload"]["model_api_version"] for one in called], sent)
        self.assertEqual([one["payload"]["stream_end"] for one in results], ["complete"] * 2)


@needs("requests")
class Requests(EdgeTest):
    def test_session(self) -> None:
        """[I-04] a requests session: model calls, other requests as http steps, streamed by lines"""
        from orangebox.edges.requests import recording_session

        with recording_session(self.run_) as session:
            asked = {"model": "gpt-x", "messages": [{"role": "user", "content": "?"}]}
            reply = session.post(f"{self.model.url}/v1/chat/completions", json=asked)
            self.assertEqual(reply.json()["choices"][0]["message"]["content"], self.model.text)
            with session.post(f"{self.model.url}/v1/chat/completions", json={**asked, "stream": True}, stream=True) as streamed:
                self.assertEqual(list(streamed.iter_lines())[-2], b"data: [DONE]")
            self.assertTrue(session.get(f"{self.model.url}/health?token=abcdefgh12345678").json()["ok"])
        self.assertEqual([one["payload"]["stream_end"] for one in self.of_type("model_result")], ["complete", "complete"])
        http = next(one for one in self.of_type("step_started") if one["payload"].get("kind") == "http")
        self.assertNotIn("abcdefgh12345678", json.dumps(http))


@needs("pydantic_ai", "openai")
class PydanticAi(EdgeTest):
    def test_agent(self) -> None:
        """[I-04] an agent of a framework: its model calls by the transport, its tools by the decorator, one run"""
        from openai import AsyncOpenAI
        from pydantic_ai import Agent
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        from orangebox.edges.httpx import recording_async_client

        def days_in(year: int) -> int:
            """How many days a year has."""
            return 366 if year % 4 == 0 else 365

        async def ask() -> str:
            async with recording_async_client(self.run_) as http:
                client = AsyncOpenAI(api_key="test", base_url=f"{self.model.url}/v1", http_client=http)
                model = OpenAIChatModel("gpt-x", provider=OpenAIProvider(openai_client=client))
                agent = Agent(model, tools=[record_tool(days_in, self.run_)])
                self.model.tool = ("days_in", {"year": 2024})
                return (await agent.run("How long is 2024?")).output

        self.assertEqual(asyncio.run(ask()), self.model.text)
        types = [one["event_type"] for one in self.of_type("model_called", "tool_called", "tool_result", "model_result")]
        self.assertEqual(types, ["model_called", "model_result", "tool_called", "tool_result", "model_called", "model_result"])
        [tool] = self.of_type("tool_called")
        self.assertEqual((tool["payload"]["tool_name"], tool["payload"]["args_summary"]), ("days_in", "year=2024"))


@needs("mcp")
class Mcp(EdgeTest):
    def test_session(self) -> None:
        """[I-04] an MCP session of the official SDK: tools with their server's name, and a tool that says it failed"""
        from mcp import Client
        from mcp.server.mcpserver import MCPServer

        from orangebox.edges.mcp import record_mcp_session

        server = MCPServer("calendar")

        @server.tool()
        def leap(year: int) -> str:
            if year < 0:
                raise ValueError("before the calendar")
            return "yes" if year % 4 == 0 else "no"

        async def ask() -> None:
            async with Client(server) as plain:
                session = record_mcp_session(plain, self.run_)
                self.assertEqual((await session.call_tool("leap", {"year": 2024})).content[0].text, "yes")
                self.assertTrue((await session.call_tool("leap", {"year": -1})).is_error)
                self.assertEqual(len((await session.list_tools()).tools), 1)

        asyncio.run(ask())
        good, bad = self.of_type("tool_result")
        self.assertEqual((good["payload"]["status"], bad["payload"]["status"]), ("success", "error"))
        self.assertEqual(bad["payload"]["error_class"], "McpToolError")
        self.assertEqual(self.of_type("tool_called")[0]["attributes"]["mcp_method"], "tools/call")


class Plain(EdgeTest):
    def test_logging(self) -> None:
        """[R-01] the standard logging: levels, what the caller gave as extra, and the error with its causes"""
        logger = logging.Logger("agent.plan")
        logger.addHandler(StepHandler(self.run_))
        logger.info("read %s", "a.txt", extra={"bytes": 12})
        try:
            raise KeyError("x")
        except KeyError:
            logger.exception("cannot")
        info, error = self.of_type("log")
        self.assertEqual((info["payload"]["message"], info["attributes"]), ("read a.txt", {"bytes": 12, "logger": "agent.plan"}))
        self.assertEqual((error["payload"]["level"], error["payload"]["error_class"]), ("error", "KeyError"))

    def test_decorator(self) -> None:
        """[R-07] a decorated tool is told its step by its caller, and runs unrecorded without one"""

        @recorded_tool
        def double(n: int) -> int:
            return 2 * n

        @recorded_tool
        def nested(n: int, *, step) -> int:
            step.log.info("inside")
            return double(n, step=step)

        self.assertEqual((double(2), double(3, step=self.run_), nested(4, step=self.run_)), (4, 6, 8))
        called = self.of_type("tool_called")
        self.assertEqual([one["payload"]["tool_name"] for one in called], ["double", "nested", "double"])
        self.assertEqual(called[2]["parent_step_id"], called[1]["step_id"])

        @recorded_tool
        def counting():
            yield 1
            yield 2

        self.assertEqual(list(counting(step=self.run_)), [1, 2])
        self.assertEqual(self.of_type("tool_result")[-1]["payload"]["result_summary"], "2")


@needs("httpx", "openai")
class Canaries(EdgeTest):
    def test_none_on_disk(self) -> None:
        """[X-04] a secret goes through every path of the recorder, split over frames too, and none of it is on disk"""
        import openai

        from orangebox.edges.httpx import recording_client
        from orangebox.edges.requests import recording_session

        draw = random.Random(7)
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        secrets = ["ghp" + "_" + "".join(draw.choice(letters) for _ in range(36)) for _ in range(12)]
        key, prompt, answer, args, result, log, error, attribute, body, query, stream, name = secrets
        run = self.recorder.start_run("canaries", input=f"use {prompt}", attributes={name: 1})
        client = openai.OpenAI(api_key=key, base_url=f"{self.model.url}/v1", http_client=recording_client(run))
        self.model.text = f"your token is {answer} ok"
        asked = {"model": "gpt-x", "messages": [{"role": "user", "content": f"my key {prompt}, also {key}"}]}
        client.chat.completions.create(**asked)
        self.model.text = f"streamed token {stream} ok"
        self.assertIn(stream, "".join(c.choices[0].delta.content or "" for c in client.chat.completions.create(**asked, stream=True) if c.choices))
        with recording_session(run) as session:
            session.get(f"{self.model.url}/x?q={query}")
        run.tool("t", {"token": args}, lambda: f"got {result}")
        run.log.info(f"log {log}", secret=attribute)
        with self.assertRaises(ValueError), run.step("s", body={"text": body}):
            raise ValueError(f"bad {error}")
        run.fail(ValueError(f"again {error}"))
        self.recorder.close()
        stored = b"".join(path.read_bytes() for path in self.home.rglob("*") if path.is_file() and path.name != "store.key")
        for secret in secrets:
            for part in (secret, secret[4:24], secret[20:]):
                self.assertNotIn(part.encode(), stored)
        self.assertGreater(stored.count("…redacted…".encode()), len(secrets))


if __name__ == "__main__":
    unittest.main()
