import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { ALPHANUMERIC, drawn } from "../../../redaction/test/fake-secrets.js"
import { recordInMemory } from "../recording.js"

/** Without form and without name: only that it was seen before gives it away. */
let made = 0
const bare = (length = 22): string => `${drawn(length - 2, ALPHANUMERIC, 7000 + made++)}7q`

let server: Server
let origin: string
let answer = ""
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "content-type": "text/plain", "set-cookie": `sid=${cookie}; Path=/` })
      response.end(answer)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())
const cookie = bare(24)

const variables: string[] = []
function setVariable(name: string, value: string): void {
  process.env[name] = value
  variables.push(name)
}
afterEach(() => {
  for (const name of variables.splice(0)) delete process.env[name]
})

/** Everything that was stored, as text. */
function stored({ events, bodies }: { events: readonly unknown[]; bodies: ReadonlyMap<string, Uint8Array> }): string {
  return [
    ...events.map((event) => JSON.stringify(event)),
    ...[...bodies.values()].map((body) => Buffer.from(body)),
  ].join("\n")
}

/** A secret by every way into a recording that no rule would find there. */
function sayEverywhere(recorder: ReturnType<typeof recordInMemory>["recorder"], value: string): void {
  const run = recorder.startRun({ entrypoint: `fix ${value}`, input: `use ${value}`, conversationId: `chat ${value}` })
  const step = run.step(`plan ${value}`, { note: value, path: `/tmp/${value}/x` })
  step.log.info(`tried ${value}`, { err: new Error(`no ${value}`) })
  step.startTool({ name: `t_${value}`, args: { command: `echo ${value}` } }).endTool({ result: `${value}\n` })
  step.startTool({ name: "shell", args: Buffer.from(value).toString("base64") }).endTool({ err: `E ${value}` })
  step.queue.enqueue({ messageId: `m-${value}`, body: encodeURIComponent(`${value} &`) })
  step.repair({ kind: "schema", before: value, after: value, reason: `${"long ".repeat(60)}${value}` })
  step.artifact({ id: "a", type: "diff", summary: value, content: `+${value}`, path: `src/${value}.ts` })
  const call = step.startModel({ provider: "p", model: `m-${value}`, request: { messages: [value] } })
  call.chunk(
    Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: value.slice(0, 9) } }] })}\n\n`),
  )
  call.chunk(
    Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: value.slice(9) } }] })}\n\n`),
  )
  call.endModel({ outputText: value })
  step.end()
  run.fail(new Error(value))
}

describe("[X-12] a secret found once is masked everywhere in that process's recording", () => {
  test("the value of an environment variable with a telling name", () => {
    const [password, url] = [bare(), bare(14)]
    setVariable("SERVICE_PASSWORD", password)
    setVariable("DATABASE_URL", `postgres://app:${url}@db.example/app`)
    const { recorder, sink } = recordInMemory()
    sayEverywhere(recorder, password)
    sayEverywhere(recorder, url)
    expect(stored(sink)).not.toContain(password)
    expect(stored(sink)).not.toContain(url)
  })

  test("what one tool printed under a name, another prints without it", () => {
    const value = bare()
    const { recorder, sink } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "e" })
    run.startTool({ name: "cat", args: ".env" }).endTool({ result: `API_TOKEN=${value}\n` })
    sayEverywhere(recorder, value)
    expect(stored(sink)).not.toContain(value)
    expect(stored(sink)).not.toContain(Buffer.from(value).toString("base64").slice(0, 20))
  })

  test("what stood in a header or in the address of a request, and in the cookie of an answer", async () => {
    const [bearer, password, key] = [bare(), bare(), bare()]
    const { recorder, sink } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "e" })
    answer = `you are ${bearer}, ${password}, ${key}, ${cookie}`
    const headers = {
      authorization: `Bearer ${bearer}`,
      "x-upstream-authorization": "no",
      "proxy-authorization": `Basic ${Buffer.from(`me:${password}`).toString("base64")}`,
    }
    await (await run.fetch(`${origin}/x?key=${key}`, { method: "POST", headers, body: bearer })).text()
    for (const value of [bearer, password, key, cookie]) {
      sayEverywhere(recorder, value)
      expect(stored(sink)).not.toContain(value)
    }
  })

  test("masked at its second place it has the tag of its first, so that requests still match", () => {
    const value = bare()
    const { recorder, eventsOf } = recordInMemory()
    const run = recorder.startRun({ entrypoint: "e" })
    run.startTool({ name: "cat", args: ".env" }).endTool({ result: `API_TOKEN=${value}` })
    run.startTool({ name: "cat", args: "x" }).endTool({ result: `and ${value} again` })
    const tags = eventsOf("tool_result").map(({ artifact_refs }) => artifact_refs[0]!.masks![0]!.tag)
    expect(tags[0]).toBe(tags[1])
  })

  test("each recording knows its own, and nothing of it is kept where everything is kept", () => {
    const value = bare()
    const first = recordInMemory()
    first.recorder.startRun({ entrypoint: "e", input: `API_TOKEN=${value}` })
    const second = recordInMemory()
    second.recorder.startRun({ entrypoint: "e", input: `say ${value}` })
    expect(stored(second.sink)).toContain(value)
  })
})
