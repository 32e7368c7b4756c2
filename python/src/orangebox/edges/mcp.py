"""
An MCP client session whose tools, resources and prompts are recorded as tool steps below a step::

    from orangebox.edges.mcp import record_mcp_session

    session = record_mcp_session(session, step)
    answer = await session.call_tool("search", {"query": "leap years"})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..contract import json_text
from ..contract.hashes import mcp_signature
from ..off import OFF
from ..step import Step
from ..tool_step import ToolStep


def record_mcp_session(session: Any, step: Step, call_id: str | None = None) -> Any:
    """`session` is a `ClientSession` or `Client` of the official SDK, or anything with its methods. `call_id` is the model's call that this answers."""
    return session if step is OFF else _RecordedSession(session, step, call_id)


class _RecordedSession:
    def __init__(self, session: Any, step: Step, call_id: str | None) -> None:
        self._session = session
        self._step = step
        self._call_id = call_id
        self._server: tuple[str | None, str | None] = (None, None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def initialize(self, *args: Any, **options: Any) -> Any:
        answer = await self._session.initialize(*args, **options)
        info = getattr(answer, "serverInfo", None) or getattr(answer, "server_info", None)
        self._server = (getattr(info, "name", None), getattr(info, "version", None))
        return answer

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None, *args: Any, **options: Any) -> Any:
        params: dict[str, object] = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        call = self._open("tools/call", name, arguments or {}, params)
        return await _awaited(call, self._session.call_tool(name, arguments, *args, **options))

    async def read_resource(self, uri: Any, *args: Any, **options: Any) -> Any:
        params = {"uri": str(uri)}
        call = self._open("resources/read", "resources/read", params, params)
        return await _awaited(call, self._session.read_resource(uri, *args, **options))

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None, *args: Any, **options: Any) -> Any:
        params: dict[str, object] = {"name": name}
        if arguments is not None:
            params["arguments"] = arguments
        call = self._open("prompts/get", "prompts/get", params, params)
        return await _awaited(call, self._session.get_prompt(name, arguments, *args, **options))

    def _open(self, method: str, name: str, args: object, params: dict[str, object] | dict[str, str]) -> ToolStep:
        server, version = self._server
        attributes: dict[str, object] = {"mcp_method": method}
        if server is not None:
            attributes["mcp_server"] = server
        text = self._step.run_state.builder.capture.comparable(json_text.safe(params))
        return self._step.start_tool(
            name,
            args,
            version=version,
            call_id=self._call_id,
            effect=None if method == "tools/call" else "read",
            signature=mcp_signature(method, text),
            attributes=attributes,
        )


async def _awaited(call: ToolStep, answer: Any) -> Any:
    try:
        result = await answer
    except BaseException as err:
        call.end_tool(err=err)
        raise
    # A tool that failed answers all the same, with a flag: the answer is kept, and the step is an error.
    if getattr(result, "isError", getattr(result, "is_error", False)) is True:
        texts = [part.text for part in getattr(result, "content", ()) if isinstance(getattr(part, "text", None), str)]
        call.end_tool(result=result, error_class="McpToolError", error_message="\n".join(texts))
    else:
        call.end_tool(result=result)
    return result
