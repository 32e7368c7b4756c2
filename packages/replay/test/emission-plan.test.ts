import { sseParser } from "@orangebox/dialects"
import fc from "fast-check"
import { expect, test } from "vitest"
import { parseChunking, parseTiming } from "../src/index.js"
import { emissionPlan } from "../src/stream/emission-plan.js"

const stream = (text: string, over: Partial<Parameters<typeof emissionPlan>[0]> = {}) => ({
  bytes: Buffer.from(text, "utf8"),
  isEventStream: true,
  index: null,
  end: "complete" as const,
  ...over,
})
const joined = (plan: ReturnType<typeof emissionPlan>): Buffer => Buffer.concat(plan.pieces.map(({ bytes }) => bytes))

const sse = fc
  .array(
    fc.record({
      data: fc.string({ unit: "grapheme" }).map((text) => text.replace(/[\r\n]/g, " ")),
      end: fc.constantFrom("\n\n", "\r\n\r\n", "\r\r"),
    }),
    { maxLength: 12 },
  )
  .map((events) => events.map(({ data, end }) => `event: x${end.slice(0, end.length / 2)}data: ${data}${end}`).join(""))

test("[P-08] whatever the chunking, the pieces join to the recorded bytes", () => {
  const chunkings = fc.constantFrom("event" as const, "recorded" as const, "single" as const, "fuzz:7" as const)
  fc.assert(
    fc.property(sse, chunkings, fc.array(fc.nat(400), { maxLength: 8 }), (text, chunking, offsets) => {
      const reads = [...new Set([0, ...offsets])].sort((a, b) => a - b).map((at, i): [number, number] => [at, i * 1000])
      const body = stream(text, { index: { end: "complete", bytes: Buffer.byteLength(text), reads } })
      const plan = emissionPlan(body, { chunking, timing: "recorded" })
      expect(joined(plan).equals(body.bytes)).toBe(true)
      const times = plan.pieces.map(({ atMs }) => atMs)
      expect(times).toEqual([...times].sort((a, b) => a - b))
      expect(plan.pieces.every(({ bytes }) => bytes.length > 0)).toBe(true)
    }),
  )
})

test("[P-08] a stream cut at any byte positions parses to the same events", () => {
  fc.assert(
    fc.property(sse, fc.string({ minLength: 1 }), (text, seed) => {
      const events = (plan: ReturnType<typeof emissionPlan>) => {
        const parser = sseParser()
        return [...plan.pieces.flatMap(({ bytes }) => parser.push(bytes)), parser.finish()]
      }
      const whole = emissionPlan(stream(text), { chunking: "single" })
      expect(events(emissionPlan(stream(text), { chunking: `fuzz:${seed}` }))).toEqual(events(whole))
      expect(events(emissionPlan(stream(text), { chunking: "event" }))).toEqual(events(whole))
    }),
  )
})

test("[P-08] event chunking writes one event at a time and keeps pings, comments and padding", () => {
  const text = ": hello\n\nevent: ping\ndata: {}\n\nevent: a\r\ndata: 1\r\n\r\ndata: unfinished"
  const plan = emissionPlan(stream(text))
  expect(plan.pieces.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([
    ": hello\n\n",
    "event: ping\ndata: {}\n\n",
    "event: a\r\ndata: 1\r\n\r\n",
    "data: unfinished",
  ])
  expect(emissionPlan(stream('{"a":\n\n1}', { isEventStream: false })).pieces).toHaveLength(1)
})

test("[P-08] fuzz is the same for the same seed and another for another", () => {
  const body = stream("x".repeat(2000))
  const cuts = (seed: string) =>
    emissionPlan(body, { chunking: `fuzz:${seed}` }).pieces.map(({ bytes }) => bytes.length)
  expect(cuts("a")).toEqual(cuts("a"))
  expect(cuts("a")).not.toEqual(cuts("b"))
})

test("[P-08] timing follows the recording, a scale of it, its first byte, or a fixed step", () => {
  const index = {
    end: "complete" as const,
    bytes: 30,
    reads: [[0, 10_000] as const, [10, 20_000] as const, [20, 50_000] as const],
  }
  const body = stream("0123456789".repeat(3), { index })
  const times = (timing: Parameters<typeof parseTiming>[0]) =>
    emissionPlan(body, { chunking: "recorded", timing: parseTiming(timing)! }).pieces.map(({ atMs }) => atMs)
  expect(times("none")).toEqual([0, 0, 0])
  expect(times("recorded")).toEqual([10, 20, 50])
  expect(times("scale:0.5")).toEqual([5, 10, 25])
  expect(times("ttft")).toEqual([10, 10, 10])
  expect(times("fixed:7")).toEqual([0, 7, 14])
})

test("[P-08] a recorded reset is a reset behind the same byte, a client that left is waited for", () => {
  const reset = emissionPlan(stream("data: 1\n\ndata: ha", { end: "upstream_reset" }))
  expect(reset.end.how).toBe("reset")
  expect(joined(reset).toString()).toBe("data: 1\n\ndata: ha")
  expect(emissionPlan(stream("data: 1\n\n", { end: "client_abort" })).end.how).toBe("hold")
})

test("[P-08] words that are no chunking or timing are refused", () => {
  expect(["events", "fuzz:", ""].map(parseChunking)).toEqual([undefined, undefined, undefined])
  expect(["scale:", "scale:-1", "fixed:x", "fast"].map(parseTiming)).toEqual(Array(4).fill(undefined))
})
