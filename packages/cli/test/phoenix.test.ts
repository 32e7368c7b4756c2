import { type ChildProcess, spawn } from "node:child_process"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { pythonOf } from "../../exchange/test/python-peers.js"
import { jsonOf, orangebox, scratchFolder } from "./command.js"

/** Phoenix from PyPI receives our export, and what its API gives back is held against what we recorded. */
const python = pythonOf("phoenix")

interface PhoenixSpan {
  readonly name: string
  readonly span_kind: string
  readonly status_code: string
  readonly parent_id: string | null
  readonly context: { readonly trace_id: string; readonly span_id: string }
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { readonly name: string }[]
}

const scratch = scratchFolder()
let phoenix: ChildProcess | undefined
let url = ""

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

describe.skipIf(python === undefined)("[I-02] Phoenix", () => {
  beforeAll(async () => {
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    phoenix = spawn(join(python!, "..", "phoenix"), ["serve"], {
      stdio: "ignore",
      env: {
        ...process.env,
        PHOENIX_WORKING_DIR: join(scratch.path, "phoenix"),
        PHOENIX_HOST: "127.0.0.1",
        PHOENIX_PORT: String(port),
        PHOENIX_GRPC_PORT: String(await freePort()),
        PHOENIX_TELEMETRY_ENABLED: "false",
      },
    })
    for (let tries = 0; tries < 360; tries++) {
      const isUp = await fetch(`${url}/v1/projects`).then(
        (response) => response.ok,
        () => false,
      )
      if (isUp) return
      await sleep(500)
    }
    throw new Error("Phoenix did not come up within three minutes")
  }, 200_000)
  afterAll(() => {
    phoenix?.kill()
    scratch.remove()
  })

  test("takes the demo's run, and shows its tree, tokens, messages and errors", async () => {
    const data = join(scratch.path, "data")
    await orangebox(["demo", "--data", data], { cwd: scratch.path })
    const sent = await orangebox(["export", "last~1", "--otlp", url, "--content", "--json", "--data", data])
    const report = jsonOf<{ run_id: string; spans: number; rejected: number; logs_as_events: boolean }>(sent)
    expect(report).toMatchObject({ rejected: 0, logs_as_events: true })
    const spans = await spansOf(report.spans)
    const { stdout } = await orangebox([
      "sql",
      `SELECT step_id, kind, status, prompt_tokens, completion_tokens FROM steps WHERE run_id = '${report.run_id}'`,
      "--json",
      "--data",
      data,
    ])
    const table = JSON.parse(stdout) as { columns: string[]; rows: unknown[][] }
    const rows = table.rows.map((cells) => Object.fromEntries(table.columns.map((name, at) => [name, cells[at]])))
    expect(spans).toHaveLength(rows.length)
    const byId = new Map(spans.map((span) => [span.context.span_id, span]))
    const kinds: Record<string, string[]> = {
      run: ["AGENT"],
      model: ["LLM"],
      tool: ["TOOL"],
      step: ["UNKNOWN", "CHAIN", "RETRIEVER"],
    }
    for (const row of rows) {
      const span = byId.get(String(row["step_id"]))!
      expect([row["kind"], kinds[String(row["kind"])]!.includes(span.span_kind)]).toEqual([row["kind"], true])
      if (row["kind"] === "model") {
        expect(span.attributes["llm.token_count.prompt"]).toBe(row["prompt_tokens"])
        expect(span.attributes["llm.token_count.completion"]).toBe(row["completion_tokens"])
        expect(String(span.attributes["llm.output_messages.0.message.role"])).toBe("assistant")
      }
      expect(span.status_code === "ERROR").toBe(row["status"] === "error")
    }
    const roots = spans.filter(({ parent_id }) => parent_id === null)
    expect(roots).toHaveLength(1)
    expect(spans.filter(({ parent_id }) => parent_id !== null && !byId.has(parent_id))).toEqual([])
    expect(spans.flatMap(({ events }) => events.map(({ name }) => name))).toContain("orangebox.decision")
    const asked = spans.find(({ span_kind }) => span_kind === "LLM")!
    expect(JSON.stringify(asked.attributes)).toContain("You are a careful programmer")
  }, 120_000)

  /** Phoenix takes spans in behind its answer. */
  async function spansOf(count: number): Promise<PhoenixSpan[]> {
    for (let tries = 0; ; tries++) {
      const answer = await fetch(`${url}/v1/projects/default/spans?limit=1000`)
      const data = answer.ok ? ((await answer.json()) as { data: PhoenixSpan[] }).data : []
      if (data.length >= count || tries > 60) return data
      await sleep(500)
    }
  }
})
