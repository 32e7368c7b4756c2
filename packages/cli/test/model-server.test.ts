import { afterEach, beforeEach, expect, test } from "vitest"
import { editDiff } from "../src/demo/edit-diff.js"
import { MessageReader } from "../src/demo/message-reader.js"
import { ADD_WEEKDAYS, FIX_LEAP_YEARS, SCRIPT } from "../src/demo/model-script.js"
import { type ModelServer, startModelServer } from "../src/demo/model-server.js"

let server: ModelServer
beforeEach(async () => {
  server = await startModelServer(SCRIPT)
})
afterEach(() => server.close())

const ask = (messages: unknown[], headers: Record<string, string> = {}) =>
  fetch(`${server.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01", ...headers },
    body: JSON.stringify({ model: "m", max_tokens: 10, stream: true, system: [], tools: [], messages }),
  })

test("the scripted model streams the events of the Messages API in their order", async () => {
  const text = await (await ask([{ role: "user", content: FIX_LEAP_YEARS.request }])).text()
  const types = [...text.matchAll(/^event: (\w+)$/gm)].map((match) => match[1])
  const withoutRepeats = types.filter((type, index) => type !== types[index - 1])
  const block = ["content_block_start", "content_block_delta", "content_block_stop"]
  expect(withoutRepeats).toEqual([
    "message_start",
    "content_block_start",
    "ping",
    "content_block_delta",
    "content_block_stop",
    ...block,
    ...block,
    "message_delta",
    "message_stop",
  ])
})

test("what the server streams is what the agent's reader puts together, however the bytes are cut", async () => {
  const bytes = new Uint8Array(await (await ask([{ role: "user", content: FIX_LEAP_YEARS.request }])).arrayBuffer())
  for (const size of [1, 7, 4096]) {
    const reader = new MessageReader()
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
    const message = reader.finish()
    const [reply] = FIX_LEAP_YEARS.replies
    expect(message.stopReason).toBe("tool_use")
    expect(
      message.content.map((block) => (block.type === "text" ? block.text : block.type === "tool_use" && block.input)),
    ).toEqual([reply!.text, ...reply!.tools!.map((tool) => tool.input)])
    expect(message.usage?.output_tokens).toBeGreaterThan(1)
  }
})

test("an answer that broke off is an error to the agent, not half a message", () => {
  const reader = new MessageReader()
  reader.push(new TextEncoder().encode('event: ping\ndata: {"type":"ping"}\n\n'))
  expect(() => reader.finish()).toThrow(/broke off/)
})

test("a reply that is never finished stops in the middle and says how much was sent", async () => {
  const history = [
    { role: "user", content: ADD_WEEKDAYS.request },
    { role: "assistant", content: [] },
    { role: "user", content: [] },
  ]
  const response = await ask(history)
  const stoppedAt = await server.stopped
  let received = 0
  for await (const chunk of response.body!) {
    received += chunk.length
    if (received >= stoppedAt) break
  }
  expect(received).toBe(stoppedAt)
})

test.each([
  ["an unknown conversation", "hello", {}, 400, "invalid_request_error"],
  ["a request without API version", FIX_LEAP_YEARS.request, { "anthropic-version": "" }, 400, "invalid_request_error"],
  ["a request without key", FIX_LEAP_YEARS.request, { "x-api-key": "" }, 401, "authentication_error"],
])("%s is refused as a provider refuses it", async (_, content, headers, status, type) => {
  const response = await ask([{ role: "user", content }], headers)
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ type: "error", error: { type } })
})

test("an edit is told as a unified diff that patch understands", () => {
  const before = "a\nb\nc\nd\ne\nf\n"
  const { text, linesAdded, linesRemoved } = editDiff("x.txt", before, "a\nb\nc\nD\nD2\ne\nf\n")
  expect({ linesAdded, linesRemoved }).toEqual({ linesAdded: 2, linesRemoved: 1 })
  expect(text).toBe("--- a/x.txt\n+++ b/x.txt\n@@ -1,7 +1,8 @@\n a\n b\n c\n-d\n+D\n+D2\n e\n f\n \n")
})
