import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { afterAll, afterEach, describe, expect, test } from "vitest"
import { hex, spanJson, tracesJson } from "../../../exchange/test/otlp.js"
import { BIN, jsonOf, orangeboxHere, scratchFolder } from "../command.js"

const scratch = scratchFolder()
let servers: ChildProcess[] = []
afterEach(() => {
  for (const server of servers) server.kill("SIGKILL")
  servers = []
})
afterAll(() => scratch.remove())

/** `orangebox serve` as a user starts it, at a port that is free. */
async function serve(data: string, ...args: string[]): Promise<{ url: string; server: ChildProcess }> {
  for (let port = 21_000 + Math.floor(Math.random() * 20_000); ; port++) {
    const server = spawn(process.execPath, [BIN, "serve", "--port", String(port), "--json", "--data", data, ...args])
    servers.push(server)
    const said = new Promise<string>((resolve) => {
      let text = ""
      server.stdout.on("data", (piece: Buffer) => {
        text += piece.toString()
        if (text.includes("\n")) resolve(text)
      })
      server.once("exit", () => resolve(""))
    })
    const text = await said
    if (text !== "") return { url: (JSON.parse(text) as { url: string }).url, server }
  }
}

const post = (url: string, path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  })

const SPANS = [
  spanJson({
    id: 1,
    name: "invoke_agent a",
    attributes: { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a" },
    from: 0,
    to: 90,
  }),
  spanJson({
    id: 2,
    parent: 1,
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.usage.input_tokens": 11,
      "gen_ai.prompt": "Where is the lighthouse?",
    },
  }),
]

const runsIn = async (data: string) =>
  jsonOf<{ runs: { run_id: string; status: string; model_calls: number }[] }>(
    await orangeboxHere(["runs", "--all", "--json", "--data", data]),
  ).runs

describe("[I-01] orangebox serve", () => {
  test("takes spans in behind its key, and they are a run that every command reads", async () => {
    const data = join(scratch.path, "a")
    const { url } = await serve(data)
    expect((await post(url, "/v1/traces", tracesJson(SPANS))).status).toBe(401)
    const env = jsonOf<Record<string, string>>(await orangeboxHere(["serve", "--print-env", "--json", "--data", data]))
    expect(env["OTEL_EXPORTER_OTLP_ENDPOINT"]).toBe(url)
    const authorization = decodeURIComponent(env["OTEL_EXPORTER_OTLP_HEADERS"]!.replace("authorization=", ""))
    const taken = await post(url, "/v1/traces", tracesJson(SPANS), { authorization })
    expect([taken.status, await taken.json()]).toEqual([200, {}])
    expect((await post(url, "/v1/metrics", {}, { authorization })).status).toBe(200)
    await expect.poll(async () => (await runsIn(data)).length, { timeout: 30_000, interval: 500 }).toBe(1)
    const [run] = await runsIn(data)
    expect(run).toMatchObject({ status: "completed", model_calls: 1 })
    expect((await orangeboxHere(["show", run!.run_id, "--data", data])).stdout).toContain("gpt-5")
    expect((await orangeboxHere(["search", "lighthouse", "--data", data])).stdout).toContain(run!.run_id)
    expect((await orangeboxHere(["verify", "--data", data])).exitCode).toBe(0)
    const step = await orangeboxHere(["step", `${run!.run_id}#2`, "--data", data])
    expect(step.stdout).toContain(hex(2, 16))
  })

  test("killed after its 200 and started again, it makes the run of what it had received, once", async () => {
    const data = join(scratch.path, "b")
    const first = await serve(data, "--open-otlp")
    expect((await post(first.url, "/v1/traces", tracesJson(SPANS))).status).toBe(200)
    first.server.kill("SIGKILL")
    await once(first.server, "exit")
    const second = await serve(data, "--open-otlp")
    await expect.poll(async () => (await runsIn(data)).length, { timeout: 30_000, interval: 500 }).toBe(1)
    second.server.kill("SIGTERM")
    await once(second.server, "exit")
    const third = await serve(data, "--open-otlp")
    expect((await post(third.url, "/v1/traces", tracesJson(SPANS))).status).toBe(200)
    third.server.kill("SIGTERM")
    await once(third.server, "exit")
    expect(await runsIn(data)).toHaveLength(1)
  })
})

describe("[I-02] orangebox serve --otlp-out", () => {
  test("sends a run when it has ended, once, also after a restart", async () => {
    const [sender, receiver] = [join(scratch.path, "out"), join(scratch.path, "in")]
    const target = await serve(receiver, "--open-otlp")
    const first = await serve(sender, "--open-otlp", "--otlp-out", target.url)
    const now = Date.now()
    const spans = SPANS.map((span, at) => ({
      ...span,
      startTimeUnixNano: `${now + at}000000`,
      endTimeUnixNano: `${now + 60_000}000000`,
    }))
    expect((await post(first.url, "/v1/traces", tracesJson(spans))).status).toBe(200)
    await expect.poll(async () => (await runsIn(receiver)).length, { timeout: 50_000, interval: 1000 }).toBe(1)
    first.server.kill("SIGTERM")
    await once(first.server, "exit")
    const second = await serve(sender, "--open-otlp", "--otlp-out", target.url)
    expect((await fetch(second.url)).status).toBeLessThan(500)
    expect(await runsIn(receiver)).toHaveLength(1)
    expect((await runsIn(receiver))[0]).toMatchObject({ model_calls: 1 })
  })
})
