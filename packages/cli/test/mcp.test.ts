import type { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, type Scratch, scratchFolder } from "./command.js"
import { call, connectClient, connectClientOverHttp, fencesOf } from "./mcp-client.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

describe.each([
  ["stdio", connectClient],
  ["HTTP", connectClientOverHttp],
])("[O-04] orangebox mcp, asked by a client over %s", (_, connectHere) => {
  let scratch: Scratch
  let client: Client
  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => {
      await recordOrdinaryRun(recorder, "count the goats")
      const long = recorder.startRun({ entrypoint: "long", input: "many steps" })
      for (let n = 0; n < 120; n++) await long.tool({ name: `tool_${n}`, args: { n } }, () => `result ${n}`)
      long.complete({ output: "done" })
      await recordOrdinaryRun(recorder)
    })
    client = await connectHere(scratch.path)
  })
  afterAll(async () => {
    await client?.close()
    scratch.remove()
  })

  test("all tools only read, and the whole list costs at most 2,500 tokens", async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name).sort()).toEqual([
      ...["body", "cache", "context", "decisions", "diagnose", "diff", "handoff"],
      ...["resolve", "runs", "search", "show", "sql", "stats", "step"],
    ])
    for (const { annotations } of tools) expect(annotations?.readOnlyHint).toBe(true)
    expect(countTokens(JSON.stringify(tools))).toBeLessThanOrEqual(2500)
  })

  test.each([
    ["runs", {}, ["runs", "--limit", "200"]],
    ["show", { id: "last" }, ["show", "last", "--budget", "710"]],
    ["step", { id: "last#3" }, ["step", "last#3", "--brief"]],
    ["body", { id: "toolu_sheep", name: "result" }, ["step", "toolu_sheep", "--body", "result", "--budget", "710"]],
    ["context", { id: "last#3" }, ["context", "last#3", "--budget", "100000"]],
    ["cache", { id: "last" }, ["cache", "last", "--budget", "100000"]],
    ["diagnose", { id: "last" }, ["diagnose", "last", "--budget", "100000"]],
    ["search", { text: "sheep" }, ["search", "sheep", "--limit", "200"]],
    ["diff", { id: "last~1", with: "last" }, ["diff", "last~1", "last"]],
    ["decisions", { id: "last" }, ["decisions", "last"]],
    ["resolve", { id: "conv-sheep" }, ["show", "conv-sheep", "--places", "--budget", "100000"]],
    ["stats", { by: "tool" }, ["stats", "--by", "tool"]],
    ["handoff", { id: "last", budget: 8000 }, ["handoff", "last", "--budget", "7910"]],
    ["sql", { query: "SELECT status FROM runs" }, ["sql", "SELECT status FROM runs"]],
  ])("%s answers in JSON what the command does", async (tool, args, words) => {
    const parts: string[] = []
    let cursor: string | undefined
    do {
      const page = await call(client, tool, { ...args, format: "json", budget: 8000, ...(cursor && { cursor }) })
      expect(page.isError, page.text).toBe(false)
      const { inside, outside } = fencesOf(page.text)
      parts.push(inside)
      cursor = /cursor "([^"]+)"/.exec(outside)?.[1]
    } while (cursor !== undefined)
    const typed = await orangebox([...words, "--json", "--data", scratch.path])
    expect(JSON.parse(parts.join("\n"))).toEqual(jsonOf(typed))
  })

  test("an answer keeps to its budget, and its pages make up the whole", async () => {
    const lines: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const page = await call(client, "step", { id: "last~1#1", all: true, budget: 300, ...(cursor && { cursor }) })
      expect(countTokens(page.text)).toBeLessThanOrEqual(300)
      const { inside, outside } = fencesOf(page.text)
      lines.push(inside)
      cursor = /cursor "([^"]+)"/.exec(outside)?.[1]
      pages += 1
    } while (cursor !== undefined && pages < 200)
    const whole = await orangebox(["step", "last~1#1", "--all", "--budget", "100000", "--data", scratch.path])
    expect(pages).toBeGreaterThan(1)
    expect(lines.join("\n")).toBe(whole.stdout.trimEnd())
  })

  test("every answer has a fence of its own", async () => {
    const nonces = await Promise.all(Array.from({ length: 8 }, async () => fencesOf((await call(client, "show")).text)))
    expect(new Set(nonces.map(({ nonce }) => nonce)).size).toBe(8)
    for (const { outside } of nonces) expect(outside.trim()).toBe("")
  })

  test.each([
    ["show", { id: "lst" }, /^not_found: [\s\S]*Did you mean "last"\?[\s\S]*Nearest/],
    ["step", { id: "last#99" }, /^not_found: [\s\S]*no step #99/],
    ["body", { id: "last#3", name: "requst" }, /^not_found: [\s\S]*It has: [\s\S]*request/],
    ["show", { id: "run_01" }, /^ambiguous: [\s\S]*fits \d+ things/],
    ["show", { budget: 100 }, /^budget_too_small: 100 tokens · Ask for 410 to 8000$/],
    ["diagnose", { id: "last", budget: 9000 }, /^bad_input: budget must be a whole number from 200 to 8000/],
    ["show", { run: "last" }, /^bad_input: show takes no "run" · It takes: id, at, budget, cursor, format$/],
    ["handoff", { id: "last", budget: 500 }, /^budget_too_small: 500 tokens · Ask for 1090 to 8000$/],
    ["step", {}, /^bad_input: step needs id/],
    ["shw", {}, /^not_found: there is no tool "shw" · Did you mean show\?/],
    ["runs", { cursor: "next" }, /^cursor_stale: this is no cursor/],
    ["runs", { cursor: "0123456789abcdef.3" }, /^cursor_stale: it belongs to another question/],
    ["sql", { query: "DELETE FROM runs" }, /^sql_refused: /],
    ["sql", { query: "SELECT nothing FROM nowhere" }, /^sql_refused: /],
  ])("%s %j says what is wrong and what to do", async (tool, args, words) => {
    const { text, isError } = await call(client, tool, args)
    expect(isError).toBe(true)
    expect(text).toMatch(words)
    expect(text).not.toMatch(/^\s+at /m)
  })

  test("a handoff has its fence around the run, and how to go on outside", async () => {
    const { text } = await call(client, "handoff", { id: "last~1" })
    expect(countTokens(text)).toBeLessThanOrEqual(1600)
    const { inside, outside } = fencesOf(text)
    expect(inside).toContain("tool_")
    expect(outside).toContain("ask for more:")
    expect(outside).not.toContain("tool_")
  })

  test("resources and prompts of the design are there", async () => {
    const { contents } = await client.readResource({ uri: "orangebox://run/last" })
    const { inside, outside } = fencesOf((contents[0] as { text: string }).text)
    expect(inside).toContain("count the sheep")
    expect(outside.trim()).toBe("")
    const { hash } = jsonOf<{ hash: string }>(
      await orangebox(["step", "toolu_sheep", "--body", "result", "--json", "--data", scratch.path]),
    )
    const body = await client.readResource({ uri: `orangebox://body/${hash}` })
    expect((body.contents[0] as { text: string }).text).toContain("two")
    await expect(client.readResource({ uri: "orangebox://run/lst" })).rejects.toThrow(/not_found/)
    await expect(client.readResource({ uri: "file:///etc/passwd" })).rejects.toThrow(/not_found/)
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(["debug-run", "explain-cache", "compare-runs"])
    const { messages } = await client.getPrompt({ name: "debug-run", arguments: { id: "last#4" } })
    const said = (messages[0]!.content as { text: string }).text
    expect(said).toContain("Find, don't fix")
    expect(said).toMatch(/last#4$/)
  })

  test("a report is kept only where the server was started so, with its pointers resolved", async () => {
    const report = {
      ...{ author: "agent", author_kind: "agent", verdict: "found" },
      findings: [
        { claim: "locked", cause_step: 5, confidence: "proven", evidence: [{ step: 5 }], disproof_tried: "looked" },
      ],
    }
    expect((await call(client, "record_findings", { id: "last", report })).text).toMatch(/^not_found: there is no tool/)
    const writing = await connectClient(scratch.path, "--allow-findings")
    try {
      const { tools } = await writing.listTools()
      expect(tools.find(({ name }) => name === "record_findings")?.annotations?.readOnlyHint).toBe(false)
      expect(countTokens(JSON.stringify(tools))).toBeLessThanOrEqual(2500)
      const bad = { ...report, findings: [{ ...report.findings[0], cause_step: 77 }] }
      expect((await call(writing, "record_findings", { id: "last", report: bad })).text).toMatch(
        /^bad_input: [\s\S]*no step #77/,
      )
      const kept = await call(writing, "record_findings", { id: "last", report })
      expect(kept.isError, kept.text).toBe(false)
      expect(jsonOf(await orangebox(["findings", "last", "--json", "--data", scratch.path]))).toMatchObject({
        verdict: "found",
      })
    } finally {
      await writing.close()
    }
  })

  test("an id is never taken for an option", async () => {
    const { text, isError } = await call(client, "show", { id: "--data=/" })
    expect(isError).toBe(true)
    expect(text).toMatch(/^not_found: /)
  })
})

describe("[O-04] orangebox mcp without a client that stays", () => {
  let scratch: Scratch
  beforeAll(async () => {
    scratch = scratchFolder()
    await record(scratch.path, async (recorder) => void (await recordOrdinaryRun(recorder)))
  })
  afterAll(() => scratch.remove())

  test("a script that writes its questions and closes stdin has every answer", async () => {
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "script", version: "1" } }
    const asked = [
      { id: 1, method: "initialize", params: hello },
      { id: 2, method: "tools/call", params: { name: "diagnose", arguments: { id: "last" } } },
      { id: 3, method: "tools/call", params: { name: "show", arguments: { id: "last" } } },
    ]
    const input = asked.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("")
    const { stdout, exitCode } = await orangebox(["mcp", "--data", scratch.path], { input })
    const ids = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: number }).id)
    expect(ids.sort()).toEqual([1, 2, 3])
    expect(exitCode).toBe(0)
  })

  test("stdin that is closed from the beginning ends it, and it says what it is for", async () => {
    const { stdout, stderr, exitCode } = await orangebox(["mcp", "--data", scratch.path])
    expect(stdout).toBe("")
    expect(stderr).toMatch(/before a client spoke[\s\S]*orangebox mcp --install/)
    expect(exitCode).toBe(0)
  })
})
