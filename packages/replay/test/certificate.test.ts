import { createHash } from "node:crypto"
import type { Event } from "@orangebox/contract"
import { MemorySink, Recorder, type Run } from "@orangebox/recorder"
import { expect, test } from "vitest"
import { ReplayDivergence, replayRecorder, type Tape } from "../src/index.js"
import { recordingOf, tapeFrom } from "./recorded.js"

const KEY = Buffer.alloc(32, 7)
const redacted = { app: "test", capture: "redacted", key: KEY } as const

async function record(agent: (run: Run) => unknown, options: object = { app: "test", capture: "full" }) {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", ...options, sink })
  await agent(recorder.startRun({ entrypoint: "agent", input: "go" }))
  recorder.close()
  return recordingOf(sink)
}

async function replay(tape: Tape, agent: (run: Run) => unknown, options: object = { capture: "full" }) {
  const sink = new MemorySink()
  const recorder = replayRecorder(tape, { app: "test", ...options, sink })
  const run = recorder.startRun({ entrypoint: "agent", input: "go" })
  const said = await Promise.resolve(agent(run)).catch((error: unknown) => error)
  recorder.close()
  return { recorder, said, recording: recordingOf(sink) }
}

const secret = (letter: string): string =>
  `sk-ant-api03-${["1", "2"]
    .map((n) =>
      createHash("sha512")
        .update(letter + n)
        .digest("base64url"),
    )
    .join("")
    .slice(0, 93)}AA`

test("[P-10] two secrets that changed places in a question, masked alike, are another question", async () => {
  const agent = (first: string, second: string) => async (run: Run) => {
    // Of a secret that came back from a tape only the mask is left, and that is the same question again.
    const found = String(await run.tool({ name: "env", args: {} }, () => `KEY=${secret("z")}`))
    const args = { use: `${first} for reading, ${second} for writing`, found }
    run.complete({ output: await run.tool({ name: "login", args }, () => "ok") })
  }
  const { tape } = await record(agent(secret("x"), secret("y")), redacted)
  const same = await replay(tape, agent(secret("x"), secret("y")), redacted)
  expect(same.recorder.session.report({ isOver: true })).toMatchObject({ counts: { masked: 1, missed: 0 } })
  const swapped = await replay(tape, agent(secret("y"), secret("x")), redacted)
  expect(swapped.said).toBeInstanceOf(ReplayDivergence)
})

const WRITTEN_BY_US = ["call_signature_hash", "canon_version", "wire_digest", "shape_digest"]

/** A model call as the specification has it, without a field that came later. */
const asSpecified = (events: readonly Event[]): Event[] =>
  events.map((event) => {
    if (event.event_type !== "model_called" && event.event_type !== "retrieval_executed") return event
    const payload = Object.fromEntries(Object.entries(event.payload).filter(([name]) => !WRITTEN_BY_US.includes(name)))
    return { ...event, payload } as Event
  })

test.each([
  ["a known protocol", "anthropic", { model: "m", max_tokens: 9, messages: [{ role: "user", content: "hello" }] }],
  ["one nobody knows", "own", { question: "hello", n: 12.5, deep: { b: 1, a: [true, null] } }],
  ["plain text", "own", "hello"],
])("[P-10] a call recorded without our signatures, with its full body in %s, replays", async (_, provider, request) => {
  const agent = async (run: Run) => {
    const said = await run.model({ provider, model: "m", request }, () => ({ text: "hi" }))
    await run.retrieval({ retriever: "docs", query: "q", topK: 2 }, () => [{ chunkId: "c1", content: "text" }])
    run.complete({ output: said })
  }
  const { events, bodies } = await record(agent)
  const tape = tapeFrom({ events: asSpecified(events), bodies })
  expect(tape.calls.map(({ sig }) => sig)).not.toContain(null)
  const again = await replay(tape, agent)
  expect(again.said).toBeUndefined()
  expect(again.recorder.session.report({ isOver: true })).toMatchObject({
    fidelity: "exact",
    counts: { unconsumed: 0 },
  })
})
