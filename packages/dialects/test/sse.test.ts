import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type SseFrame, sseParser } from "../src/index.js"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function parse(...chunks: Uint8Array[]): SseFrame[] {
  const parser = sseParser()
  const frames = chunks.flatMap((chunk) => parser.push(chunk))
  const rest = parser.finish()
  return rest ? [...frames, rest] : frames
}

const told = (frames: readonly SseFrame[]) => frames.map(({ event, data }) => [event, data])

describe("the event-stream format", () => {
  test("lines may end in LF, CRLF or CR", () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      const text = ["event: a", "data: 1", "", "data: 2", "", ""].join(end)
      expect(told(parse(bytes(text)))).toEqual([
        ["a", "1"],
        [null, "2"],
      ])
    }
  })

  test("comments and a byte order mark say nothing, several data lines are one value, one blank after the colon is no data", () => {
    const text = "\uFEFF: hello\ndata:  first\ndata\ndata:third\nid: 7\nretry: 10\nunknown: x\n\n: ping\n\n"
    const [frame, ...others] = parse(bytes(text))
    expect(frame).toMatchObject({ event: null, data: " first\n\nthird", id: "7" })
    expect(others).toEqual([])
  })

  test("a frame names the bytes it was made of", () => {
    const text = ": c\n\ndata: é\n\ndata: 2\n\n"
    const body = bytes(text)
    const slices = parse(body).map(({ start, end }) => new TextDecoder().decode(body.subarray(start, end)))
    expect(slices).toEqual(["data: é\n\n", "data: 2\n\n"])
  })

  test("what is left without its empty line is given at the end", () => {
    expect(told(parse(bytes("data: 1\n\ndata: [DO"), bytes("NE]")))).toEqual([
      [null, "1"],
      [null, "[DONE]"],
    ])
    expect(parse(bytes("event: only"))).toEqual([])
  })

  test("the caller may reuse its read buffer", () => {
    const parser = sseParser()
    const buffer = Buffer.from("data: ab")
    parser.push(buffer)
    buffer.fill("x")
    expect(told(parser.push(bytes("c\n\n")))).toEqual([[null, "abc"]])
  })

  test("a frame of ten megabytes in small reads is one frame", () => {
    const payload = "0123456789é".repeat(900_000)
    const body = bytes(`data: ${payload}\n\n`)
    const chunks: Uint8Array[] = []
    for (let at = 0; at < body.length; at += 16_001) chunks.push(body.subarray(at, at + 16_001))
    const frames = parse(...chunks)
    expect(frames).toHaveLength(1)
    expect(frames[0]!.data === payload).toBe(true)
  })

  test("[P7] any cut of any stream gives the same frames with the same spans", () => {
    const line = fc.oneof(
      fc.constantFrom("", "", "data", "data:", ": note", "event: größe", "id: 1"),
      fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
    )
    const stream = fc
      .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 20 })
      .map((lines) => lines.map(([text, end]) => text + end).join(""))
    fc.assert(
      fc.property(fc.boolean(), stream, fc.array(fc.nat(), { maxLength: 12 }), (mark, text, cuts) => {
        const body = bytes((mark ? "\uFEFF" : "") + text)
        expect(parse(...cutAt(body, cuts))).toEqual(parse(body))
      }),
    )
  })
})

function cutAt(body: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length]
  return places.slice(1).map((end, index) => body.subarray(places[index], end))
}
