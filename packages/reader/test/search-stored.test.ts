import { expect, test } from "vitest"
import { searchForValue } from "../src/redact-stored/search.js"

/** Not the form of any secret: only somebody who knows it can name it. */
const VALUE = 'the "purple" walrus sleeps at nine'

test("[X-09] a value is found however it is written", () => {
  const { isIn, redact } = searchForValue(VALUE)
  const written = {
    json: JSON.stringify({ text: VALUE }),
    "json in json": JSON.stringify({ text: JSON.stringify({ text: VALUE }) }),
    url: `https://example.org/?q=${encodeURIComponent(VALUE)}`,
    form: new URLSearchParams({ q: VALUE }).toString(),
    hex: Buffer.from(`x${VALUE}`).toString("hex"),
    "base64 at 0": Buffer.from(`${VALUE}!`).toString("base64"),
    "base64 at 1": Buffer.from(`a${VALUE}!`).toString("base64url"),
    "base64 at 2": Buffer.from(`ab${VALUE}!`).toString("base64"),
  }
  for (const [how, text] of Object.entries(written)) {
    expect(isIn(Buffer.from(text), null), how).toBe(true)
    expect(isIn(Buffer.from(redact(text)), null), how).toBe(false)
  }
  expect(redact(`a summary that was cut: ${VALUE.slice(0, 14)}…`)).toBe("a summary that was cut: the…redacted…ine…")
  const frames = [...VALUE].map(
    (text) =>
      `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: text } }] })}\n\n`,
  )
  expect(isIn(Buffer.from(frames.join("")), "text/event-stream")).toBe(true)
})
