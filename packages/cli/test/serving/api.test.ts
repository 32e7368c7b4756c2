import { Ajv2020 } from "ajv/dist/2020.js"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangebox, type Scratch, scratchFolder } from "../command.js"
import { serveHere, type TestServer } from "./http-server.js"

describe("[O-03] the HTTP API over the demo", () => {
  let scratch: Scratch
  let server: TestServer
  beforeAll(async () => {
    scratch = scratchFolder()
    const { exitCode, stderr } = await orangebox(["demo", "--data", scratch.path])
    expect(exitCode, stderr).toBe(0)
    server = await serveHere(scratch.path, { named: scratch.path })
  })
  afterAll(async () => {
    await server?.close()
    scratch.remove()
  })

  test("every route's answer is what the OpenAPI document says it is", async () => {
    const document = await server.json<OpenApi>("/openapi.json")
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
    ajv.addSchema(document, "api")
    const examples = await examplesFor(server)
    const seen = new Set<string>()
    for (const [path, { get }] of Object.entries(document.paths)) {
      const schema = get?.responses["200"]?.content?.["application/json"]?.schema
      if (get === undefined || schema === undefined) continue
      const asked = examples[path]
      expect(asked, `an example for ${path}`).toBeDefined()
      for (const one of asked!) {
        const answer = await server.json(one)
        const validate = ajv.compile({ $ref: `api${(schema as { $ref: string }).$ref}` })
        expect(validate(answer) ? [] : validate.errors?.slice(0, 5), one).toEqual([])
        expect(validate({}), `${one} may not be just anything`).toBe(false)
        seen.add(path)
      }
    }
    expect(seen.size).toBeGreaterThan(20)
    const refused = await server.ask("/runs/nix")
    const problem = ajv.compile({ $ref: "api#/components/schemas/Problem" })
    expect(refused.headers.get("content-type")).toBe("application/problem+json")
    expect(problem(await refused.json()), JSON.stringify(problem.errors)).toBe(true)
  })

  test.each([
    ["/runs?limit=20", ["runs"]],
    ["/runs/last~1/cache", ["cache", "last~1", "--budget", "100000"]],
    ["/runs/last~2/cache/6", ["cache", "last~2#6", "--budget", "100000"]],
    ["/runs/last~1/findings", ["diagnose", "last~1", "--budget", "100000"]],
    ["/runs/last~1/decisions", ["decisions", "last~1"]],
    ["/runs/last~1/report", ["report", "last~1"]],
    ["/runs/last~1/contexts", ["context", "last~1", "--budget", "100000"]],
    ["/runs/last~1/contexts/4", ["context", "last~1#4", "--budget", "100000"]],
    ["/runs/last~1/why?item=run_tests", ["context", "last~1", "--why", "run_tests", "--budget", "100000"]],
    ["/search?q=leap", ["search", "leap"]],
    ["/conversations/demo", ["show", "conversation:demo", "--budget", "100000"]],
    ["/analytics", ["stats"]],
    ["/analytics?by=model", ["stats", "--by", "model"]],
    ["/analytics?by=contributor", ["stats", "--by", "contributor"]],
  ])("[O-03] %s is what the command prints", async (path, words) => {
    const typed = await orangebox([...words, "--json", "--data", scratch.path])
    expect(await server.json(path)).toEqual(jsonOf(typed))
  })

  test("[O-03] a run, its steps and a step have the figures of the commands", async () => {
    const shown = jsonOf<Shown>(await orangebox(["show", "last~1", "--all", "--json", "--data", scratch.path]))
    expect(await server.json("/runs/last~1?digest=true")).toMatchObject({ run: shown.run, gaps: shown.gaps })
    expect(await server.json("/runs/last~1")).toMatchObject({ run: { ...shown.run, digest: null } })
    const { words, columns, total } = await server.json<Columns>("/runs/last~1/steps")
    const steps = shown.rows.filter(({ type }) => type === "step")
    expect(total).toBe(steps.length)
    const word = (column: string, at: number): string | null => {
      const index = columns[column]![at]
      return index == null ? null : words[index]!
    }
    steps.forEach((step, at) => {
      expect([columns["n"]![at], columns["parent"]![at], columns["duration_us"]![at]]).toEqual([
        ...[step.n, step.parent, step.duration_us],
      ])
      expect([word("kind", at), word("status", at), word("mode", at)]).toEqual([step.kind, step.status, step.mode])
      const model = step.model
      expect(columns["input_tokens"]![at]).toEqual(model?.["input_tokens"] ?? null)
      expect(columns["output_tokens"]![at]).toEqual(model?.["output_tokens"] ?? null)
      expect(columns["cache_read_tokens"]![at]).toEqual(model?.["cache_read_tokens"] ?? null)
    })
    const step = jsonOf(await orangebox(["step", "last~1#12", "--budget", "100000", "--json", "--data", scratch.path]))
    expect(await server.json("/runs/last~1/steps/12")).toMatchObject(step)
  })

  test("[O-05] the words of a row say first what went wrong", async () => {
    const { words } = await server.json<{ words: { n: number; trouble: string | null; words: string }[] }>(
      "/runs/last~1/words?from=4&limit=9",
    )
    expect(words.find(({ n }) => n === 4)).toMatchObject({ trouble: null, words: "asks read_file×2" })
    expect(words.find(({ n }) => n === 12)!.trouble).toMatch(/^✗ exit 1/)
  })

  test("[O-11] the strata say how many tokens were sent again at full price, and why", async () => {
    const strata = await server.json<Strata>("/runs/last~1/strata")
    const sent = strata.calls.reduce((sum, { prompt_tokens }) => sum + prompt_tokens, 0)
    const again = strata.calls.reduce((sum, call) => sum + call.again, 0)
    expect(strata.again).toMatchObject({ tokens: again, of: sent })
    expect(again / sent).toBeGreaterThan(0.4)
    expect(strata.again.says).toMatch(
      /^\d,\d{3} tokens sent again at full price: no cache mark after the system prompt$/,
    )
    for (const call of strata.calls) expect(call.cached + call.again + call.fresh).toBe(call.prompt_tokens)
    const clocked = await server.json<Strata>("/runs/last~2/strata")
    expect(clocked.calls.slice(1).map(({ broke }) => broke?.cause)).toEqual(["volatile_value", "volatile_value"])
  })

  test("[O-05] a conversation folds what the call before held, and has a torn answer as far as it came", async () => {
    const call = await server.json<Conversation>("/runs/last~1/steps/14/conversation")
    expect(call.since).toMatchObject({ n: 11, pieces: call.pieces.filter(({ state }) => state === "again").length })
    const [asks, result] = call.pieces.filter(({ state }) => state === "new").slice(-2)
    expect(asks!.part).toMatchObject({ type: "call", name: "run_tests", step: 12 })
    expect(result).toMatchObject({ kind: "tool-result", tool: "run_tests", is_error: true, from_step: 12 })
    expect(call.answer!.parts.at(-1)).toMatchObject({ type: "call", name: "edit_file", step: 15 })
    const torn = await server.json<Conversation>("/runs/last/steps/7/conversation")
    expect(torn.answer).toMatchObject({ is_torn: true })
    expect(torn.answer!.byte_size).toBeGreaterThan(2000)
  })

  test("a body comes in slices that add up to it, and raw in ranges", async () => {
    const { bodies } = await server.json<{ bodies: { role: string; hash: string; byte_size: number }[] }>(
      "/runs/last~1/steps/4",
    )
    const { hash, byte_size } = bodies.find(({ role }) => role === "request")!
    const whole = await (await server.ask(`/bodies/${hash}/raw`)).text()
    expect(Buffer.byteLength(whole)).toBe(byte_size)
    let text = ""
    for (let from: number | null = 0; from !== null; ) {
      const slice: { text: string; next_from: number | null } = await server.json(
        `/bodies/${hash}?from=${from}&to=${from + 300}`,
      )
      text += slice.text
      from = slice.next_from
    }
    expect(text).toBe(whole)
    const part = await server.ask(`/bodies/${hash}/raw`, { headers: { range: "bytes=10-19" } })
    expect([part.status, await part.text()]).toEqual([206, whole.slice(10, 20)])
    expect(part.headers.get("content-disposition")).toMatch(/^attachment; filename="[0-9a-f]{64}\.bin"$/)
    const beyond = await server.ask(`/bodies/${hash}/raw`, { headers: { range: "bytes=999999-" } })
    expect(beyond.status).toBe(416)
  })

  test("[O-05] a row of a list has the verdict of the report and the cost of the run", async () => {
    for (const address of ["last", "last~1", "last~2"]) {
      const { summary } = jsonOf<{ summary: { verdict: string; violations: { fail: number } } }>(
        await orangebox(["report", address, "--json", "--data", scratch.path]),
      )
      const { run } = jsonOf<{ run: { run_id: string; money: { usd: number | null; unpriced_calls: number } } }>(
        await orangebox(["show", address, "--json", "--data", scratch.path]),
      )
      expect(await server.json(`/runs/${address}/verdict`)).toMatchObject({
        ...{ run_id: run.run_id, verdict: summary.verdict, violations: summary.violations.fail },
        ...{ usd: run.money.usd, unpriced_calls: run.money.unpriced_calls },
      })
    }
  })

  test("[O-05] a streamed answer is folded into the message that its events make", async () => {
    const folded = await server.json<{ form: string; text: string }>(
      "/runs/last~1/steps/14/bodies/response?form=folded",
    )
    expect(folded.form).toBe("folded")
    expect(JSON.parse(folded.text)).toMatchObject({ role: "assistant", stop_reason: "tool_use" })
    const raw = await server.json<{ form: string; text: string }>("/runs/last~1/steps/14/bodies/response")
    expect([raw.form, raw.text.slice(0, 6)]).toEqual(["text", "event:"])
    // As far as it came, where it was torn off; and what is no stream is what it is.
    const torn = await server.json<{ form: string; text: string }>("/runs/last/steps/7/bodies/response?form=folded")
    expect([torn.form, JSON.parse(torn.text)]).toMatchObject(["folded", { role: "assistant", stop_reason: null }])
    const request = await server.json<{ form: string }>("/runs/last~1/steps/14/bodies/request?form=folded")
    expect(request.form).toBe("text")
  })

  test("runs are found by their model and by words of their input, and a page may begin anywhere", async () => {
    const list = (query: string) => server.json<{ total: number; runs: { entrypoint: string }[] }>(`/runs?${query}`)
    expect(await list("model=scripted-coder&text=LEAP")).toMatchObject({
      total: 1,
      runs: [{ entrypoint: "fix-leap-years" }],
    })
    expect(await list("model=another")).toMatchObject({ total: 0, runs: [] })
    expect(await list("offset=2")).toMatchObject({ total: 3, runs: [{ entrypoint: "name-long-months" }] })
  })

  test("an answer that has not changed is not sent again", async () => {
    const first = await server.ask("/runs/last~1/strata")
    const again = await server.ask("/runs/last~1/strata", { headers: { "if-none-match": first.headers.get("etag")! } })
    expect([first.status, again.status, await again.text()]).toEqual([200, 304, ""])
  })

  test("a diff has no payloads, and each of its items has them", async () => {
    const { items, root, first } = await server.json<{
      items: { payloads: unknown }[]
      root: number | null
      first: number
    }>("/diff?a=last~2&b=last~1")
    expect(items.every(({ payloads }) => payloads === null)).toBe(true)
    const item = await server.json<{ index: number; payloads: unknown[] | null }>(
      `/diff/${root ?? first}?a=last~2&b=last~1`,
    )
    expect(item.index).toBe(root ?? first)
    expect(item.payloads).not.toBeNull()
  })
})

async function examplesFor(server: TestServer): Promise<Record<string, string[]>> {
  const { bodies } = await server.json<{ bodies: { hash: string }[] }>("/runs/last~1/steps/4")
  const all = (path: string): string[] => ["last", "last~1", "last~2"].map((run) => path.replace("*", run))
  return {
    "/meta": ["/meta"],
    "/runs": ["/runs", "/runs?status=crashed", "/runs?limit=1&offset=1", "/runs?model=scripted-coder&text=LEAP"],
    "/runs/{address}": all("/runs/*"),
    "/runs/{address}/steps": all("/runs/*/steps"),
    "/runs/{address}/words": all("/runs/*/words"),
    "/runs/{address}/steps/{n}": Array.from({ length: 21 }, (_, at) => `/runs/last~1/steps/${at + 1}`),
    "/runs/{address}/steps/{n}/conversation": ["/runs/last~1/steps/4/conversation", "/runs/last/steps/7/conversation"],
    "/runs/{address}/strata": all("/runs/*/strata"),
    "/runs/{address}/contexts": all("/runs/*/contexts"),
    "/runs/{address}/contexts/{n}": ["/runs/last~1/contexts/4", "/runs/last~1/contexts/14?all=true"],
    "/runs/{address}/why": ["/runs/last~1/why?item=run_tests"],
    "/runs/{address}/cache": all("/runs/*/cache"),
    "/runs/{address}/cache/{n}": ["/runs/last~2/cache/6"],
    "/runs/{address}/findings": all("/runs/*/findings"),
    "/runs/{address}/decisions": all("/runs/*/decisions"),
    "/runs/{address}/report": all("/runs/*/report"),
    "/runs/{address}/verdict": all("/runs/*/verdict"),
    "/runs/{address}/handoff": all("/runs/*/handoff"),
    "/runs/{address}/find": ["/runs/last~1/find?q=leap", "/runs/last/find?q=nothing-says-this"],
    "/diff": ["/diff?a=last~2&b=last~1"],
    "/diff/{i}": ["/diff/1?a=last~2&b=last~1"],
    "/bodies/{hash}": [`/bodies/${bodies[0]!.hash}`, `/bodies/${bodies[0]!.hash}?form=pretty&to=100`],
    "/runs/{address}/steps/{n}/bodies/{role}": [
      "/runs/last~1/steps/4/bodies/request?form=hex&to=64",
      "/runs/last/steps/7/bodies/response",
    ],
    "/search": ["/search?q=leap"],
    "/conversations/{id}": ["/conversations/demo"],
    "/analytics": ["/analytics", "/analytics?by=tool", "/analytics?by=contributor"],
    "/openapi.json": ["/openapi.json"],
  }
}

interface OpenApi {
  readonly paths: Record<
    string,
    { get?: { responses: Record<string, { content?: Record<string, { schema: object }> }> } }
  >
}
interface Shown {
  readonly run: object
  readonly gaps: object
  readonly rows: {
    readonly type: string
    readonly [name: string]: unknown
    readonly model?: Record<string, unknown> | null
  }[]
}
interface Columns {
  readonly total: number
  readonly words: readonly string[]
  readonly columns: Record<string, readonly (number | null)[]>
}
interface Strata {
  readonly calls: {
    readonly prompt_tokens: number
    readonly cached: number
    readonly again: number
    readonly fresh: number
    readonly broke: { readonly cause: string } | null
  }[]
  readonly again: { readonly says: string }
}
interface Conversation {
  readonly since: object | null
  readonly pieces: { readonly state: string; readonly part: object }[]
  readonly answer: { readonly parts: object[]; readonly byte_size: number } | null
}
