import { describe, expect, test } from "vitest"
import { dialectOf, readableText } from "../src/index.js"
import { ANTHROPIC, CHAT, STREAMS } from "./streams.js"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe("[S-06] the words of a body", () => {
  test("a streamed answer reads as the text it adds up to", () => {
    expect(readableText(bytes(CHAT.stream), "text/event-stream")).toBe("Let me look. ✓\nread a.ts\nlist ")
    expect(readableText(bytes(ANTHROPIC.stream), "", dialectOf("anthropic-messages"))).toContain(
      "Ich sehe in Zürich nach. 🌦",
    )
    for (const { stream } of STREAMS) expect(readableText(bytes(stream), "text/event-stream")).not.toContain('"')
  })

  test("a JSON body reads as its strings, also those in JSON inside JSON", () => {
    const body = {
      messages: [{ role: "user", content: "first\nsecond" }],
      call: { arguments: '{"path":"src/ä.ts","text":"a\\nb"}' },
      n: 5,
    }
    expect(readableText(bytes(JSON.stringify(body)), "application/json")).toBe("user\nfirst\nsecond\nsrc/ä.ts\na\nb")
  })

  test("pictures are not words, neither as bytes nor as base64", () => {
    const picture = Buffer.from(Array.from({ length: 900 }, (_, i) => (i * 7919) % 256))
    expect(readableText(picture, "image/png")).toBe("")
    const body = JSON.stringify({ url: `data:image/png;base64,${picture.toString("base64")}`, alt: "a cat" })
    expect(readableText(bytes(body), "application/json")).toBe("a cat")
  })

  test("anything else is read as it is", () => {
    expect(readableText(bytes("plain words"), "text/plain")).toBe("plain words")
    expect(readableText(bytes('{"cut": "half'), "application/json")).toBe('{"cut": "half')
    expect(readableText(bytes('{"a":"x"}\n{"b":"y"}\n'), "application/x-ndjson")).toBe("x\ny\n")
    expect(readableText(bytes('data: hello\n\ndata: {"odd":"world"}\n\n'), "text/event-stream")).toBe("hello\nworld")
    expect(readableText(new Uint8Array(), "")).toBe("")
  })

  test("a body nested a hundred thousand deep is walked, not recursed into", () => {
    const deep = `${"[".repeat(100_000)}"bottom"${"]".repeat(100_000)}`
    expect(readableText(bytes(deep), "application/json")).toBe("bottom")
  })
})
