import { expect, test } from "vitest"
import { jsonOf, orangebox, scratchFolder } from "./command.js"
import { startModelServer } from "./model-server.js"

/** Asks twice; says what came of an answer that breaks off, and asks again. Ends as it is told to. */
const AGENT = `
const ask = async (content) => {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "claude-x", max_tokens: 9, stream: true, messages: [{ role: "user", content }] }),
  })
  let text = ""
  try {
    for await (const piece of response.body) text += Buffer.from(piece).toString()
  } catch (error) {
    return [...text.matchAll(/"text":"([^"]+)"/g)].map(([, word]) => word).join("") + " | " + error.message
  }
  return [...text.matchAll(/"text":"([^"]+)"/g)].map(([, word]) => word).join("")
}
const first = await ask("hello")
console.log(first)
if (process.argv[1] === "gives-up") process.exit(7)
console.log(await ask("hello again"))
`

const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
const START = event("message_start", {
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [],
    usage: { input_tokens: 9 },
  },
})
const delta = (text: string): string => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })
const END =
  event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }) +
  event("message_stop", {})

for (const how of ["goes-on", "gives-up"]) {
  test(`[P-11] a stream that broke off replays as the same failure, and the run is certified: the agent ${how}`, async () => {
    const server = await startModelServer((body, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(START)
      response.write(delta("Half an "))
      if (String(body).includes("again")) response.end(delta("answer") + END)
      else setTimeout(() => response.socket?.destroy(), 50)
    })
    const folder = scratchFolder()
    const data = ["--data", folder.path]
    const command = ["--", process.execPath, "--input-type=module", "-e", AGENT, how]
    const env = { ANTHROPIC_BASE_URL: server.origin }
    const recorded = await orangebox(["run", "--quiet", ...data, ...command], { env })
    await server.close()
    expect(recorded.stdout).toMatch(/^Half an {2}\| terminated\n/)

    const replayed = await orangebox(["replay", "last", "--json", ...data, ...command], { env })
    expect(replayed.stdout).toBe(recorded.stdout)
    expect(replayed.exitCode, replayed.stderr).toBe(0)
    const { run } = JSON.parse(replayed.stderr.slice(replayed.stderr.indexOf("{"))) as { run: string }
    const errorsOf = async (address: string): Promise<string[]> => {
      const { rows } = jsonOf<{ rows: { error?: string }[] }>(await orangebox(["show", address, "--json", ...data]))
      return rows.flatMap(({ error }) => (error === undefined ? [] : [error]))
    }
    expect(await errorsOf(run)).toEqual(await errorsOf("last~1"))
    const diff = await orangebox(["diff", "last~1", "last", ...data])
    expect(diff.exitCode, diff.stdout).toBe(0)
  })
}
