import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { mcpSignature } from "@orangebox/dialects"
import { describe, expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { Recorder, recordMcpClient } from "../../src/index.js"
import { contractProblems, recordInMemory } from "../recording.js"
import { loopback, sendJson } from "../wire/loopback.js"

/** A real server and a real client, linked in memory. */
async function connected(): Promise<Client> {
  const server = new McpServer({ name: "weather-server", version: "2.1.0" })
  server.registerTool("forecast", { inputSchema: { city: z.string() } }, ({ city }) =>
    city === "Atlantis"
      ? { isError: true, content: [{ type: "text", text: "no such city" }] }
      : { content: [{ type: "text", text: `sunny in ${city}` }] },
  )
  server.registerTool("slow", {}, () => new Promise(() => {}))
  server.registerResource("map", "map://zurich", {}, (uri) => ({ contents: [{ uri: uri.href, text: "a map" }] }))
  server.registerPrompt("greet", { argsSchema: { name: z.string() } }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Hello ${name}` } }],
  }))
  const client = new Client({ name: "test-client", version: "1.0.0" })
  const [near, far] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(far), client.connect(near)])
  onTestFinished(() => client.close())
  return client
}

describe("[K-05] an MCP client", () => {
  test("tool calls, resources and prompts are tool steps with the server, the call id and the protocol's signature", async () => {
    const client = await connected()
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "agent" })
    const recorded = recordMcpClient(client, run)
    const call = { name: "forecast", arguments: { city: "Zürich" } }
    expect(await recordMcpClient(client, run, { callId: "toolu_1" }).callTool(call)).toEqual(
      await client.callTool(call),
    )
    expect(await recorded.readResource({ uri: "map://zurich" })).toEqual(
      await client.readResource({ uri: "map://zurich" }),
    )
    expect(await recorded.getPrompt({ name: "greet", arguments: { name: "Ada" } })).toMatchObject({
      messages: [{ role: "user" }],
    })
    expect((await recorded.listTools()).tools.map(({ name }) => name)).toEqual(["forecast", "slow"])
    expect(recorded.getServerVersion()?.name).toBe("weather-server")
    expect(recorded).toBeInstanceOf(Client)
    run.complete()

    const called = eventsOf("tool_called")
    expect(called.map(({ payload }) => payload.tool_name)).toEqual(["forecast", "resources/read", "prompts/get"])
    expect(called[0]!.payload).toMatchObject({
      tool_call_id: "toolu_1",
      tool_version: "2.1.0",
      call_signature_hash: mcpSignature("tools/call", JSON.stringify(call)),
    })
    expect(called[0]!.attributes).toEqual({ mcp_method: "tools/call", mcp_server: "weather-server" })
    expect(sink.textOf(called[0]!.payload.args_ref)).toBe('{"city":"Zürich"}')
    expect(sink.textOf(eventsOf("tool_result")[0]!.payload.result_ref)).toContain("sunny in Zürich")
    expect(contractProblems(sink)).toEqual([])
  })

  test("an answer with isError is an error step that keeps the answer; protocol errors and time limits are thrown as before", async () => {
    const client = await connected()
    const { recorder, sink, eventsOf } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "agent" })
    const recorded = recordMcpClient(client, run)
    expect(await recorded.callTool({ name: "forecast", arguments: { city: "Atlantis" } })).toMatchObject({
      isError: true,
    })
    await expect(recorded.readResource({ uri: "map://nowhere" })).rejects.toThrow("not found")
    await expect(recorded.callTool({ name: "slow", arguments: {} }, undefined, { timeout: 50 })).rejects.toThrow(
      "timed out",
    )
    run.complete()
    const results = eventsOf("tool_result").map(({ payload }) => payload)
    expect(results.map(({ status, error_class }) => [status, error_class])).toEqual([
      ["error", "McpToolError"],
      ["error", "McpError"],
      ["timeout", "McpError"],
    ])
    expect(results[0]).toMatchObject({ error_summary: "no such city" })
    expect(sink.textOf(results[0]!.result_ref)).toContain("no such city")
    expect(eventsOf("tool_called")[2]!.payload.timeout_ms).toBe(50)
    expect(contractProblems(sink)).toEqual([])
  })

  test("over HTTP with step.fetch, what goes over the wire is recorded too", async () => {
    const server = await loopback(({ body }, response) => {
      if (body.length === 0) return response.writeHead(405).end()
      const { id, method } = JSON.parse(body.toString()) as { id?: number; method: string }
      if (id === undefined) return response.writeHead(202).end()
      const result =
        method === "initialize"
          ? {
              protocolVersion: "2025-06-18",
              capabilities: { tools: {} },
              serverInfo: { name: "http-server", version: "1" },
            }
          : { content: [{ type: "text", text: "done" }] }
      return sendJson(response, { jsonrpc: "2.0", id, result })
    })
    const { recorder, sink, eventsOf, only } = recordInMemory({ strict: true })
    const run = recorder.startRun({ entrypoint: "agent" })
    const client = new Client({ name: "test-client", version: "1.0.0" })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { fetch: run.fetch }))
    await recordMcpClient(client, run).callTool({ name: "anything", arguments: {} })
    await client.close()
    run.complete()
    expect(only("tool_called").attributes).toMatchObject({ mcp_server: "http-server" })
    const sent = eventsOf("step_started").map(({ payload }) => sink.textOf(payload.body_ref) ?? "")
    expect(sent.some((text) => text.includes('"tools/call"'))).toBe(true)
    expect(contractProblems(sink).filter((problem) => !problem.startsWith("step_open"))).toEqual([])
  })

  test("[R-11] with recording off the calls pass as they are", async () => {
    const client = await connected()
    const recorded = recordMcpClient(client, Recorder.off().startRun({ entrypoint: "off" }))
    expect(await recorded.callTool({ name: "forecast", arguments: { city: "Bern" } })).toMatchObject({
      content: [{ text: "sunny in Bern" }],
    })
    await expect(recorded.readResource({ uri: "map://nowhere" })).rejects.toThrow("not found")
  })
})
