import { createRuleset, redactText } from "@orangebox/redaction"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { ALPHANUMERIC, drawn, FAKES, fakePem, KEY } from "../../../redaction/test/fake-secrets.js"
import { Capture } from "../../src/capture/capture.js"
import { captureStream, type StoredStream } from "../../src/capture/captured-stream.js"
import { MemorySink } from "../../src/index.js"

const ruleset = createRuleset({ key: KEY })

/** Each stream has a recording of its own: what one found, the next must not know. */
function captured(
  pieces: readonly Uint8Array[],
  mimeType: string,
): { bytes: Buffer; stored: StoredStream; early: number } {
  const sink = new MemorySink()
  let early = 0
  const stream = captureStream(
    new Capture({ mode: "redacted", key: KEY }),
    { eventType: "model_result", field: "response_ref", mimeType, isEncoded: false },
    () => {
      const inner = sink.openStream()
      return {
        ...inner,
        write: (bytes) => {
          early += bytes.length
          return inner.write(bytes)
        },
      }
    },
  )
  for (const piece of pieces) stream.write(piece, 0)
  const before = early
  const stored = stream.finish()
  return { bytes: Buffer.from(sink.bodies.get(stored.hash)!), stored, early: before }
}

const cutText = (text: string, cuts: readonly number[]): string[] => {
  const places = [...new Set(cuts.map((at) => at % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((at, i) => text.slice(at, places[i] ?? text.length))
}
const cutBytes = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [...new Set(cuts.map((at) => at % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((at, i) => bytes.subarray(at, places[i] ?? bytes.length))
}

const event = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`
type Said = { readonly block: number; readonly text: string }

interface Protocol {
  readonly mime: string
  /** Several texts at once, their pieces in any order. */
  readonly write: (said: readonly Said[]) => string
  /** What each text became. */
  readonly read: (stored: string) => string[]
}

const jsonEvents = (stored: string): Record<string, unknown>[] =>
  stored
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)

// biome-ignore lint/suspicious/noExplicitAny: test data of many shapes
type Any = any
const gather = (events: readonly Any[], of: (event: Any) => [block: number, text: string] | undefined): string[] => {
  const texts: string[] = ["", "", ""]
  for (const one of events) {
    const found = of(one)
    if (found?.[1] !== undefined) texts[found[0]] += found[1]
  }
  return texts
}

const PROTOCOLS: { readonly [name: string]: Protocol } = {
  "content blocks that come interleaved": {
    mime: "text/event-stream",
    write: (said) =>
      said
        .map(({ block, text }) =>
          event({ type: "content_block_delta", index: block, delta: { type: "text_delta", text } }),
        )
        .join("") +
      [0, 1, 2].map((index) => event({ type: "content_block_stop", index })).join("") +
      event({ type: "message_stop" }),
    read: (stored) => gather(jsonEvents(stored), (e) => e.delta && [e.index, e.delta.text]),
  },
  "blocks of which each ends while the others go on": {
    mime: "text/event-stream",
    write: (said) =>
      said
        .map(({ block, text }, i) => {
          const isLast = !said.slice(i + 1).some((later) => later.block === block)
          const delta = event({
            type: "content_block_delta",
            index: block,
            delta: { type: "input_json_delta", partial_json: text },
          })
          return isLast ? delta + event({ type: "content_block_stop", index: block }) : delta
        })
        .join(""),
    read: (stored) => gather(jsonEvents(stored), (e) => e.delta && [e.index, e.delta.partial_json]),
  },
  "parallel tool calls": {
    mime: "text/event-stream",
    write: (said) =>
      `${said
        .map(({ block, text }) =>
          event({ choices: [{ index: 0, delta: { tool_calls: [{ index: block, function: { arguments: text } }] } }] }),
        )
        .join("")}${event({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] })}data: [DONE]\n\n`,
    read: (stored) =>
      gather(jsonEvents(stored), (e) => {
        const call = e.choices[0].delta.tool_calls?.[0]
        return call && [call.index, call.function.arguments]
      }),
  },
  "completions of before there were messages": {
    mime: "text/event-stream",
    write: (said) =>
      `${said.map(({ block, text }) => event({ object: "text_completion", choices: [{ index: block, text, logprobs: null }] })).join("")}data: [DONE]\n\n`,
    read: (stored) => gather(jsonEvents(stored), (e) => [e.choices[0].index, e.choices[0].text]),
  },
  "one long JSON array": {
    mime: "application/json",
    write: (said) =>
      `[${said
        .map(({ block, text }) =>
          JSON.stringify({ candidates: [{ index: block, content: { parts: [{ text }] } }] }, null, 2),
        )
        .join("\n,\n")}\n]\n`,
    read: (stored) => gather(JSON.parse(stored), (e) => [e.candidates[0].index, e.candidates[0].content.parts[0].text]),
  },
  "parts of a message with ids of their own": {
    mime: "text/event-stream",
    write: (said) =>
      said.map(({ block, text }) => event({ type: "text-delta", id: `t${block}`, delta: text })).join("") +
      [0, 1, 2].map((block) => event({ type: "text-end", id: `t${block}` })).join(""),
    read: (stored) => gather(jsonEvents(stored), (e) => e.delta && [Number(e.id[1]), e.delta]),
  },
  "lines with a letter before their text": {
    mime: "text/plain",
    write: (said) => said.map(({ block, text }) => `${["0", "g", "h"][block]}:${JSON.stringify(text)}\n`).join(""),
    read: (stored) =>
      gather(
        stored.split("\n").filter((line) => line !== ""),
        (line: string) => [["0", "g", "h"].indexOf(line[0]!), JSON.parse(line.slice(2)) as string],
      ),
  },
}

const secret = fc.constantFrom(...Object.values(FAKES), fakePem(2), `password = "${drawn(18)}"`)
const words = fc.constantFrom("Hello ", "wörld ", 'quoted "text" ', "line\nbreak ", "a ", "\u2028 ")
const cuts = fc.array(fc.nat(4000), { maxLength: 30 })
const text = fc
  .tuple(fc.array(words, { maxLength: 4 }), secret, fc.array(words, { maxLength: 4 }))
  .map(([before, hidden, after]) => `${before.join("")}${hidden} ${after.join("")}`)

describe("[X-04] [X-11] a secret in one of several texts that come at once", () => {
  test.each(Object.keys(PROTOCOLS))("%s: each is masked as it would be alone", (name) => {
    const { mime, write, read } = PROTOCOLS[name]!
    fc.assert(
      fc.property(
        fc.tuple(text, text, text),
        fc.tuple(cuts, cuts, cuts),
        fc.array(fc.nat(2), { maxLength: 90 }),
        cuts,
        (texts, pieceCuts, order, readCuts) => {
          const queues = texts.map((one, block) => cutText(one, pieceCuts[block]!).map((text) => ({ block, text })))
          const said: Said[] = []
          for (const block of order) said.push(...queues[block]!.splice(0, 1))
          said.push(...queues.flat())
          const { bytes } = captured(cutBytes(Buffer.from(write(said)), readCuts), mime)
          expect(read(bytes.toString())).toEqual(texts.map((one) => redactText(one, ruleset).text))
        },
      ),
      { numRuns: 60 },
    )
  })
})

/** Streams of nobody's protocol: what they hold cannot be followed for certain, so it is enough that nothing of the secret is left. */
const FOREIGN: { readonly [name: string]: (pieces: readonly string[]) => string } = {
  "events of plain text": (pieces) => pieces.map((piece) => `data: ${piece}\n\n`).join(""),
  "events of JSON strings": (pieces) => pieces.map((piece) => event(piece)).join(""),
  "events of unknown objects": (pieces) =>
    pieces.map((token, i) => event({ seq: i, id: `evt_${i}`, chunk: { token } })).join(""),
  "events of arrays": (pieces) => pieces.map((piece, i) => event([i, piece])).join(""),
  "unknown lines": (pieces) => pieces.map((answer) => `${JSON.stringify({ answer })}\n`).join(""),
}

describe("[X-04] a stream of no known protocol", () => {
  test.each(Object.keys(FOREIGN))("%s: a key in pieces is withheld", (name) => {
    const keys = [FAKES["github-token"]!, FAKES["anthropic-key"]!, `password="${drawn(20, ALPHANUMERIC, 3)}7"`]
    for (const size of [3, 5, 11]) {
      for (const key of keys) {
        const pieces = `Here you go: ${key} and that was it. `.match(new RegExp(`.{1,${size}}`, "gs"))!
        const { bytes, stored } = captured(
          [Buffer.from(FOREIGN[name]!(pieces))],
          "text/event-stream".repeat(name === "unknown lines" ? 0 : 1) || "application/x-ndjson",
        )
        const left = bytes.toString()
        const hidden = key.replace(/^password="|"$/g, "")
        for (const piece of pieces.filter(
          (one) =>
            hidden.slice(3, -3).includes(one) && one.length > 2 && !hidden.endsWith(one) && !hidden.startsWith(one),
        )) {
          expect({ name, size, piece, left: left.includes(piece) }).toEqual({ name, size, piece, left: false })
        }
        expect(stored.status).toBe("redacted")
      }
    }
  })

  test("what repeats in every frame, and ordinary words, go on as they came", () => {
    const pieces = "An ordinary answer, told word by word, goes on and on. ".repeat(40).match(/\S+\s/g)!
    const wire = pieces.map((token, i) => event({ version: "v1.2", region: "eu-west-1a", n: i, token })).join("")
    const { bytes, stored, early } = captured(
      wire.split(/(?<=\n\n)/).map((one) => Buffer.from(one)),
      "text/event-stream",
    )
    expect(bytes.toString()).toBe(wire)
    expect(stored.status).toBe("not_required")
    expect(wire.length - early).toBeLessThan(10_000)
  })
})

describe("[X-04] what cannot be followed is withheld, not passed", () => {
  const delta = (index: number, text: string): string =>
    event({ type: "content_block_delta", index, delta: { type: "text_delta", text } })

  test("a block that rests in the middle of a key while others go on for long", () => {
    const key = FAKES["github-token"]!
    const wire = [
      delta(0, `it is ${key.slice(0, 22)}`),
      ...Array.from({ length: 2000 }, (_, i) => delta(1, `word ${i} `)),
      delta(0, `${key.slice(22)} and more`),
      event({ type: "message_stop" }),
    ]
    const { bytes, early } = captured(
      wire.map((one) => Buffer.from(one)),
      "text/event-stream",
    )
    expect(bytes.toString()).not.toContain(key.slice(4, 20))
    expect(bytes.toString()).not.toContain(key.slice(24, 36))
    expect(bytes.toString()).toContain("word 1999")
    expect(early).toBeGreaterThan(50_000)
  })

  test("a block that rests in an ordinary word holds up nothing and loses nothing", () => {
    const wire = [delta(0, "I will run it now"), ...Array.from({ length: 400 }, (_, i) => delta(1, `word ${i} `))]
    const { bytes, stored, early } = captured(
      wire.map((one) => Buffer.from(one)),
      "text/event-stream",
    )
    expect(bytes.toString()).toBe(wire.join(""))
    expect(stored.status).toBe("not_required")
    expect(early).toBeGreaterThan(wire.join("").length - 1000)
  })

  test("a stream that dies in the middle of a frame, with half a key in it", () => {
    const key = FAKES["anthropic-key"]!
    const whole = delta(0, `the key: ${key.slice(0, 30)}`) + delta(0, key.slice(30))
    for (const cutAt of [1, 2, 4]) {
      const { bytes } = captured([Buffer.from(whole.slice(0, whole.length - cutAt))], "text/event-stream")
      expect(bytes.toString()).not.toContain(key.slice(8, 24))
      expect(bytes.toString()).not.toContain(key.slice(30, 40))
    }
  })
})

describe("[X-04] a mask never damages the structure around it", () => {
  const texts = ["Please enter your password", "the api_key", "my secret:", "password = ", "password: "]
  test.each([
    [
      "an event",
      "text/event-stream",
      (text: string) =>
        event({
          type: "response.output_text.delta",
          item_id: "m",
          delta: text,
          logprobs: [],
          citations: [{ a: [{ refusal: 1 }] }],
        }),
    ],
    [
      "a body",
      "application/json",
      (text: string) =>
        JSON.stringify({
          role: "assistant",
          content: text,
          logprobs: [],
          citations: "x",
          nested: [[{ a: { b: text } }], { refusal: null }],
        }),
    ],
    [
      "JSON in JSON",
      "application/json",
      (text: string) =>
        JSON.stringify({
          arguments: JSON.stringify({ note: text, citations: [], deep: [[[{ a: text }], { logprobs: 1 }]] }),
        }),
    ],
    [
      "an array",
      "application/json",
      (text: string) =>
        JSON.stringify([
          { text, refusal: null },
          { text, citations: [] },
        ]),
    ],
  ] as const)("%s: a text that ends in a telling word does not eat what follows", (_, mime, write) => {
    for (const text of texts) {
      const wire = write(text)
      for (const size of [7, 1000]) {
        const { bytes } = captured(
          cutBytes(
            Buffer.from(wire),
            Array.from({ length: 60 }, (_, i) => i * size),
          ),
          mime,
        )
        expect(bytes.toString()).toBe(wire)
      }
      if (mime !== "application/json") continue
      const body = new Capture({ mode: "redacted", key: KEY }).content("tool_called", "args_ref", Buffer.from(wire))
      expect(Buffer.from(body.bytes!).toString()).toBe(wire)
    }
  })

  test("JSON in JSON that is cut between a quote and its backslash, or where the window of the search ends, stays JSON", () => {
    const inner = { api_key: ["my secret:"], list: [-1, ["x ".repeat(9_000), "my secret:"], -1], note: "end" }
    const text = JSON.stringify({ arguments: JSON.stringify(inner) })
    const quotes = [...text.matchAll(/\\"/g)].map(({ index }) => index + 1)
    for (const places of [...quotes.map((at) => [at]), [text.length - 90, text.length - 60], [9_000, 17_500]]) {
      const { bytes } = captured(cutBytes(Buffer.from(text), places), "application/json")
      expect(Object.keys(JSON.parse((JSON.parse(bytes.toString()) as { arguments: string }).arguments))).toEqual(
        Object.keys(inner),
      )
    }
  })

  test("any JSON stays JSON with the same keys, whatever stands in it", () => {
    const leaf = fc.oneof(fc.constantFrom(...texts, ...Object.values(FAKES), "x", ""), fc.string(), fc.integer())
    const key = fc.constantFrom("password", "token", "note", "api_key", "citations", "logprobs")
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      ),
    })).value
    const shape = (one: unknown): unknown =>
      Array.isArray(one)
        ? one.map(shape)
        : typeof one === "object" && one !== null
          ? Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, shape(inner)]))
          : "leaf"
    fc.assert(
      fc.property(fc.dictionary(key, value, { minKeys: 1 }), fc.boolean(), cuts, (object, isNested, places) => {
        const text = JSON.stringify(isNested ? { arguments: JSON.stringify(object) } : object)
        const { bytes } = captured(cutBytes(Buffer.from(text), places), "application/json")
        const read = JSON.parse(bytes.toString()) as { arguments: string }
        expect(shape(isNested ? JSON.parse(read.arguments) : read)).toEqual(shape(object))
      }),
      { numRuns: 400 },
    )
  })
})
