import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readPortable } from "@orangebox/replay"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Finished, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

const frame = (data: { readonly type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

/** Asks for the tool first, and then answers with what the tool said; no two answers are alike. */
async function startModel() {
  let asked = 0
  const server = await startModelServer((body, response) => {
    const { messages, stream } = JSON.parse(String(body)) as { stream: boolean; messages: { content: unknown }[] }
    const last = messages.at(-1)!.content
    const said = Array.isArray(last) ? (last[0] as { content: string }).content : undefined
    const content =
      said === undefined
        ? { type: "tool_use", id: `toolu_${++asked}`, name: "look", input: {} }
        : { type: "text", text: `answer ${++asked} about ${said} ✓` }
    if (!stream) return answerMessage(response, { id: "m", content: [content], usage: {} })
    const message = { id: "m", type: "message", role: "assistant", model: "claude-x", content: [] }
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(frame({ type: "message_start", ...{ message } }))
    setTimeout(() => {
      response.write(frame({ type: "content_block_start", ...{ index: 0, content_block: content } }))
      response.end(frame({ type: "content_block_stop", ...{ index: 0 } }) + frame({ type: "message_stop" }))
    }, 20)
  })
  return { ...server, asked: () => asked }
}

/** Looks, and tells what it saw. Its arguments are the question, what its tool says, and whether it streams. */
const AGENT = `
const [question, seen, how] = process.argv.slice(1)
const stream = how === "stream"
const ask = async (messages) => {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "claude-x", max_tokens: 64, stream, messages }),
  })
  const text = await response.text()
  if (!response.ok) { console.log("refused with " + response.status); process.exit(9) }
  return text
}
const user = { role: "user", content: question }
const first = await ask([user])
console.log(first)
const id = /toolu_\\d+/.exec(first)[0]
const history = [user, { role: "assistant", content: [{ type: "tool_use", id, name: "look", input: {} }] }]
const result = { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: seen }] }
const second = await ask([...history, result])
console.log(second)
if (how === "more") {
  const text = JSON.parse(second).content[0].text
  const told = { role: "assistant", content: [{ type: "text", text }] }
  const again = { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "again " + text }] }
  console.log(await ask([...history, result, told, again]))
}
`
const agent = (question: string, seen: string, how = "whole"): string[] => [
  ...[process.execPath, "--input-type=module", "-e", AGENT],
  ...[question, seen, how],
]

let scratch: Scratch
let model: Awaited<ReturnType<typeof startModel>>

const start = (args: readonly string[], command: readonly string[]): Promise<Finished> =>
  orangebox([...args, "--data", scratch.path, "--", ...command], {
    env: { ANTHROPIC_BASE_URL: model.origin },
    cwd: scratch.path,
  })
const here = (args: readonly string[]): Promise<Finished> => orangeboxHere([...args, "--data", scratch.path])

async function recorded(command: readonly string[]): Promise<{ readonly runId: string; readonly stdout: string }> {
  const { stdout, stderr } = await start(["run"], command)
  return { runId: /show (run_\w+)/.exec(stderr)![1]!, stdout }
}

interface ReplayDocument {
  readonly run: string
  readonly certified: boolean
  readonly report: {
    readonly fidelity: string
    readonly counts: Readonly<Record<string, number>>
    readonly egress: { readonly upstream_sockets: number }
    readonly divergences: readonly { readonly code: string; readonly severity: string; readonly message: string }[]
  }
}

/** Replays with the tool running for real, as a proxied agent's tools do. */
async function replayed(runId: string, options: readonly string[], command: readonly string[]) {
  const finished = await start(["replay", runId, "--allow-tool-exec", ...options, "--json"], command)
  const document = JSON.parse(finished.stderr.slice(finished.stderr.indexOf("{\n"))) as ReplayDocument
  return { ...finished, ...document, codes: document.report.divergences.map(({ code }) => code) }
}

const modesOf = async (runId: string): Promise<string[]> =>
  [...(await here(["show", runId])).stdout.matchAll(/\[(\w+)\] model/g)].map(([, mode]) => mode!)

beforeAll(async () => {
  scratch = scratchFolder()
  model = await startModel()
})
afterAll(() => {
  model.close()
  scratch.remove()
})

describe("orangebox replay: what happens to a request that is not the recorded one", () => {
  test("[P-02] --on-miss live sends it to the upstream, nearest answers it with the most similar one, each with its mark", async () => {
    const { runId, stdout } = await recorded(agent("the door", "open"))
    const live = await replayed(runId, ["--on-miss", "live"], agent("the gate", "open"))
    expect(live.exitCode).toBe(1)
    expect(live.report).toMatchObject({ counts: { live: 2, missed: 0 }, egress: { upstream_sockets: 2 } })
    expect(live.stdout).not.toBe(stdout)
    expect(live.codes).toContain("REQ_CHANGED")
    expect(await modesOf(live.run)).toEqual(["live", "live"])

    const before = model.asked()
    const nearest = await replayed(runId, ["--on-miss", "nearest"], agent("the gate", "open"))
    expect({ exitCode: nearest.exitCode, stdout: nearest.stdout }).toEqual({ exitCode: 1, stdout })
    expect(nearest).toMatchObject({ certified: false, report: { counts: { simulated: 2 } } })
    expect(model.asked()).toBe(before)
    expect(await modesOf(nearest.run)).toEqual(["simulated", "simulated"])
  })

  test("[P-02] --on-drift serve answers as cached, halt refuses, fork asks the upstream from there on", async () => {
    const { runId, stdout } = await recorded(agent("the door", "open", "more"))
    const drifted = agent("the door", "ajar", "more")
    const before = model.asked()

    const served = await replayed(runId, ["--on-drift", "serve"], drifted)
    expect({ exitCode: served.exitCode, stdout: served.stdout }).toEqual({ exitCode: 1, stdout })
    expect(served.codes).toEqual(["TOOL_DRIFT", "TOOL_DRIFT"])
    expect(await modesOf(served.run)).toEqual(["exact", "cached", "cached"])

    const halted = await replayed(runId, ["--on-drift", "halt"], drifted)
    expect(halted.stdout).toContain("refused with 422")
    expect(halted.codes).toEqual(["REQ_CHANGED", "REQ_MISSING", "REQ_MISSING"])
    expect(model.asked()).toBe(before)

    const forked = await replayed(runId, ["--on-drift", "fork"], drifted)
    expect(forked.stdout).toContain("about ajar")
    expect(forked.codes).toEqual(["TOOL_DRIFT"])
    expect(forked.report).toMatchObject({ fidelity: "exact_prefix", counts: { wire: 1, live: 2, unconsumed: 0 } })
    expect(await modesOf(forked.run)).toEqual(["exact", "live", "live"])
    expect(model.asked()).toBe(before + 2)
  })

  test("[P-08] --chunking and --timing change how a stream is cut and when it leaves, never its bytes", async () => {
    const { runId, stdout } = await recorded(agent("the door", "open", "stream"))
    const cuts = async (run: string): Promise<(readonly (readonly [number, number])[])[]> => {
      const file = join(scratch.path, `${run}.obxrun`)
      await here(["export", run, "--output", file, "--force"])
      const { events, bodies } = await readPortable(readFileSync(file))
      return events.flatMap((event) => {
        const hash = event.event_type === "model_result" ? event.payload.stream_index_ref : undefined
        if (hash === undefined) return []
        return [(JSON.parse(Buffer.from(bodies.get(hash)!).toString()) as { reads: [number, number][] }).reads]
      })
    }
    const played = async (...options: string[]) => {
      const { stdout: said, certified, run } = await replayed(runId, options, agent("the door", "open", "stream"))
      expect({ options, said, certified }).toEqual({ options, said: stdout, certified: true })
      return cuts(run)
    }
    const source = await cuts(runId)
    for (const reads of await played("--chunking", "single")) expect(reads).toHaveLength(1)
    for (const reads of await played("--chunking", "event")) expect(reads).toHaveLength(4)
    await played("--chunking", "fuzz:7", "--timing", "none")
    const offsets = (all: typeof source): number[][] => all.map((reads) => reads.map(([offset]) => offset))
    expect(offsets(await played("--chunking", "recorded", "--timing", "ttft"))).toEqual(offsets(source))
    await played("--chunking", "recorded", "--timing", "recorded")
    await played("--timing", "scale:0.1")
    await played("--timing", "fixed:2")
  })
})
