import { dialectOf, foldResponse } from "@orangebox/dialects"
import { createRuleset, redactText, taggedBytes } from "@orangebox/redaction"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { drawn, FAKES, fakePem, KEY } from "../../../redaction/test/fake-secrets.js"
import { Capture } from "../../src/capture/capture.js"
import { captureStream, type StoredStream } from "../../src/capture/captured-stream.js"
import { MemorySink } from "../../src/index.js"

const ruleset = createRuleset({ key: KEY })
const capture = new Capture({ mode: "redacted", key: KEY })

function throughCapture(
  pieces: readonly Uint8Array[],
  mimeType: string | undefined,
): { bytes: Buffer; stored: StoredStream; writtenBeforeEnd: number } {
  const sink = new MemorySink()
  let written = 0
  const stream = captureStream(
    capture,
    { eventType: "model_result", field: "response_ref", mimeType, isEncoded: false },
    () => {
      const inner = sink.openStream()
      return {
        ...inner,
        write: (bytes) => {
          written += bytes.length
          return inner.write(bytes)
        },
      }
    },
  )
  pieces.forEach((piece, i) => {
    stream.write(piece, i * 10)
  })
  const writtenBeforeEnd = written
  const stored = stream.finish()
  return { bytes: Buffer.from(sink.bodies.get(stored.hash)!), stored, writtenBeforeEnd }
}

/** Cuts at the given places, wherever they fall. */
function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((at, i) => bytes.subarray(at, places[i] ?? bytes.length))
}

const cutText = (text: string, cuts: readonly number[]): string[] => {
  const places = [...new Set(cuts.map((at) => at % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((at, i) => text.slice(at, places[i] ?? text.length))
}

const frame = (data: object, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`

type Speaker = (pieces: readonly string[]) => { wire: string; text: (bytes: Buffer) => string }

/** Each provider's way to send a text a few characters at a time. */
const SPEAKERS: { readonly [name: string]: Speaker } = {
  "anthropic-messages": (pieces) => ({
    wire: [
      frame(
        {
          type: "message_start",
          message: { id: "msg_01", role: "assistant", content: [], usage: { input_tokens: 1 } },
        },
        "message_start",
      ),
      frame(
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        "content_block_start",
      ),
      ...pieces.map((text) =>
        frame({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }, "content_block_delta"),
      ),
      frame({ type: "content_block_stop", index: 0 }, "content_block_stop"),
      frame(
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
        "message_delta",
      ),
      frame({ type: "message_stop" }, "message_stop"),
    ].join(""),
    text: (bytes) => foldResponse(dialectOf("anthropic-messages")!, bytes).text,
  }),
  "openai-chat": (pieces) => ({
    wire: `${pieces
      .map((content) =>
        frame({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content } }] }),
      )
      .join(
        "",
      )}${frame({ id: "chatcmpl-1", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}data: [DONE]\n\n`,
    text: (bytes) => foldResponse(dialectOf("openai-chat")!, bytes).text,
  }),
  "openai-responses": (pieces) => {
    const whole = pieces.join("")
    const message = { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: whole }] }
    return {
      wire: [
        frame({ type: "response.created", response: { id: "resp_1", output: [] } }, "response.created"),
        frame({ type: "response.output_item.added", output_index: 0, item: { ...message, content: [] } }),
        ...pieces.map((delta) =>
          frame({ type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta }),
        ),
        frame({ type: "response.output_text.done", item_id: "msg_1", output_index: 0, content_index: 0, text: whole }),
        frame({ type: "response.output_item.done", output_index: 0, item: message }),
        frame({ type: "response.completed", response: { id: "resp_1", status: "completed", output: [message] } }),
      ].join(""),
      text: (bytes) => foldResponse(dialectOf("openai-responses")!, bytes).text,
    }
  },
  gemini: (pieces) => ({
    wire: pieces
      .map((text, i) =>
        frame({
          candidates: [
            {
              content: { role: "model", parts: [{ text }] },
              index: 0,
              ...(i === pieces.length - 1 ? { finishReason: "STOP" } : {}),
            },
          ],
        }),
      )
      .join(""),
    text: (bytes) => foldResponse(dialectOf("gemini")!, bytes).text,
  }),
}

const secret = fc.constantFrom(...Object.values(FAKES), fakePem(2), `password = "${drawn(18)}"`)
const words = fc.constantFrom("Hello ", "wörld ", "世界 ", 'quoted "text" ', "line\nbreak ", '{"a": 1} ', "", "a ")
const cuts = fc.array(fc.nat(4000), { maxLength: 40 })

describe("[X-04] a secret that a provider sends a few characters at a time", () => {
  test.each(Object.keys(SPEAKERS))(
    "%s: is masked as it would be in the whole text, wherever frames and reads were cut",
    (name) => {
      fc.assert(
        fc.property(
          fc.array(words, { maxLength: 6 }),
          secret,
          fc.array(words, { maxLength: 6 }),
          cuts,
          cuts,
          (before, hidden, after, deltaCuts, readCuts) => {
            const text = `${before.join("")}${hidden} ${after.join("")}`
            const { wire, text: fold } = SPEAKERS[name]!(cutText(text, deltaCuts))
            const { bytes, stored } = throughCapture(cut(Buffer.from(wire), readCuts), "text/event-stream")
            expect(fold(bytes)).toBe(redactText(text, ruleset).text)
            for (const line of bytes.toString().split("\n")) {
              if (line.startsWith("data: {")) expect(() => JSON.parse(line.slice(6))).not.toThrow()
            }
            expect(stored.status).toBe("redacted")
            for (const { offset, length } of stored.masks) {
              expect(bytes.subarray(offset, offset + length).toString()).toContain("…redacted…")
            }
            expect(stored.masks.length).toBeGreaterThan(0)
            expect(bytes.length).toBe(stored.byteSize)
          },
        ),
        { numRuns: 60 },
      )
    },
  )

  test("two secrets that mask alike stay two: their tags differ, and so does what signatures are taken of", () => {
    const key = Object.values(FAKES)[0]!
    const other = `${key.slice(0, 30)}${key[30] === "x" ? "y" : "x"}${key.slice(31)}`
    const [one, two] = [key, other].map((text) =>
      throughCapture([Buffer.from(SPEAKERS["openai-chat"]!([text]).wire)], "text/event-stream"),
    )
    expect(one!.bytes.equals(two!.bytes)).toBe(true)
    expect(one!.stored.masks[0]!.tag).not.toBe(two!.stored.masks[0]!.tag)
    expect(taggedBytes(one!.bytes, one!.stored.masks)).not.toEqual(taggedBytes(two!.bytes, two!.stored.masks))
  })
})

describe("what holds no secret", () => {
  test("any bytes at all, cut anywhere and called anything, are stored as they came", () => {
    const mime = fc.constantFrom("text/event-stream", "application/json", "application/x-ndjson", undefined)
    const quiet = fc.array(
      fc.constantFrom(
        "data: ",
        "event: x\n",
        "\n\n",
        "\r\n\r\n",
        "{",
        "}",
        '"a"',
        "é",
        "世",
        "\n",
        ": ping\n\n",
        "[1,2]",
      ),
      { maxLength: 30 },
    )
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
      quiet.map((parts) => Buffer.from(parts.join(""))),
    )
    fc.assert(
      fc.property(content, mime, cuts, (bytes, mimeType, places) => {
        const { bytes: kept, stored } = throughCapture(
          cut(bytes, places).filter((piece) => piece.length > 0),
          mimeType,
        )
        expect(kept.equals(bytes)).toBe(true)
        expect(stored.status).toBe("not_required")
      }),
      { numRuns: 300 },
    )
  })

  test("[J-07] a stream is in the journal while it runs: only the word still being written is held back", () => {
    const text = "The answer to your question is a long one and goes on for a while."
    for (const name of Object.keys(SPEAKERS)) {
      const { wire } = SPEAKERS[name]!(text.split(/(?<= )/))
      const withoutEnd = wire.slice(0, wire.lastIndexOf("while."))
      const frames = withoutEnd.split(/(?<=\n\n)/)
      const { writtenBeforeEnd } = throughCapture(
        frames.map((one) => Buffer.from(one)),
        "text/event-stream",
      )
      const lag = Buffer.byteLength(frames.slice(-3).join(""))
      expect({ name, lag: Buffer.byteLength(withoutEnd) - writtenBeforeEnd <= lag }).toEqual({ name, lag: true })
    }
  })

  test("[F-08] a process that is killed at any read has written no piece of a key, and said how much it had not written", () => {
    const key = FAKES["anthropic-key"]!
    const audited = new Capture({ mode: "redacted", key: KEY, pii: true })
    for (const name of Object.keys(SPEAKERS)) {
      for (let at = 1; at < key.length; at++) {
        const { wire } = SPEAKERS[name]!([
          "Use ",
          `the key ${key.slice(0, at)}`,
          `${key.slice(at)}, `,
          "and call +49 30",
        ])
        const frames = wire.split(/(?<=\n\n)/)
        let [written, told, read] = ["", 0, 0]
        const inner = new MemorySink().openStream()
        const stream = captureStream(
          audited,
          { eventType: "model_result", field: "response_ref", mimeType: "text/event-stream", isEncoded: false },
          () => ({
            ...inner,
            write: (bytes, withheld = 0) => {
              written += Buffer.from(bytes).toString()
              told = withheld
              return true
            },
          }),
        )
        frames.slice(0, name === "openai-responses" ? 6 : -3).forEach((frame, i) => {
          stream.write(Buffer.from(frame), i)
          read += Buffer.byteLength(frame)
          expect(written).not.toContain(key.slice(4, 10))
          expect(written).not.toContain(key.slice(-10, -4))
          if (!written.includes("…redacted…")) expect([at, written.length + told]).toEqual([at, read])
          expect(told).toBeLessThanOrEqual(1024)
        })
      }
    }
  })

  test("[P-08] the index of a stream tells with which read each stored byte came", () => {
    const { wire } = SPEAKERS["anthropic-messages"]!(["one ", "two ", "three "])
    const frames = wire.split(/(?<=\n\n)/).map((one) => Buffer.from(one))
    const { stored } = throughCapture(frames, "text/event-stream")
    expect(stored.index.length).toBe(frames.length)
    expect(stored.index.map(([, micros]) => micros)).toEqual(frames.map((_, i) => i * 10))
  })
})

test("[X-04] a secret is found in tool arguments that stream as pieces of JSON, and in the second of two blocks", () => {
  const key = FAKES.github ?? Object.values(FAKES)[0]!
  const json = JSON.stringify({ command: `curl -H "Authorization: token ${key}" https://example.com` })
  const wire = [
    frame({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    frame({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "I will run" } }),
    frame({ type: "content_block_stop", index: 0 }),
    frame({
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id: "toolu_01", name: "Bash", input: {} },
    }),
    ...(json.match(/.{1,7}/gs) ?? []).map((partial_json) =>
      frame({ type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json } }),
    ),
    frame({ type: "content_block_stop", index: 1 }),
    frame({ type: "message_stop" }),
  ].join("")
  const { bytes } = throughCapture(cut(Buffer.from(wire), [100, 101, 500]), "text/event-stream")
  const folded = foldResponse(dialectOf("anthropic-messages")!, bytes)
  expect(JSON.stringify(folded.toolCalls[0])).toContain("…redacted…")
  expect(JSON.stringify(folded)).not.toContain(key)
  expect(bytes.toString()).toContain('"id":"toolu_01"')
})

describe("[X-04] streams as they come in the wild", () => {
  test("two answers that come interleaved each keep their own text: a secret in either is found", () => {
    fc.assert(
      fc.property(secret, secret, cuts, cuts, (one, two, oneCuts, twoCuts) => {
        const answers = [cutText(`lorem ${one} end`, oneCuts), cutText(`ipsum ${two} end`, twoCuts)]
        const longest = Math.max(...answers.map(({ length }) => length))
        const frames = Array.from({ length: longest }, (_, i) =>
          answers.flatMap((pieces, index) =>
            pieces[i] === undefined ? [] : [frame({ choices: [{ index, delta: { content: pieces[i] } }] })],
          ),
        ).flat()
        const wire = `${frames.join("")}data: [DONE]\n\n`
        const { bytes } = throughCapture([Buffer.from(wire)], "text/event-stream")
        const texts = ["", ""]
        for (const line of bytes.toString().split("\n")) {
          if (!line.startsWith("data: {")) continue
          const [choice] = (JSON.parse(line.slice(6)) as { choices: { index: 0 | 1; delta: { content: string } }[] })
            .choices
          texts[choice!.index] += choice!.delta.content
        }
        expect(texts).toEqual([`lorem ${one} end`, `ipsum ${two} end`].map((text) => redactText(text, ruleset).text))
      }),
      { numRuns: 40 },
    )
  })

  test("frames with other line ends, without the space behind the colon, and line protocols are read too", () => {
    const key = Object.values(FAKES)[0]!
    const halves = [key.slice(0, 20), key.slice(20)]
    const crlf = halves.map(
      (content) => `data:${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\r\n\r\n`,
    )
    const lines = [
      ...halves.map((content) => ({ message: { role: "assistant", content }, done: false })),
      { done: true },
    ]
    for (const [wire, mime] of [
      [crlf.join(""), "text/event-stream; charset=utf-8"],
      [lines.map((line) => `${JSON.stringify(line)}\n`).join(""), "application/x-ndjson"],
    ] as const) {
      const { bytes, stored } = throughCapture([Buffer.from(wire)], mime)
      expect(bytes.toString()).not.toContain(halves[1])
      expect(stored.masks).toHaveLength(1)
    }
  })
})
