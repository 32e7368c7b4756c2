import fc from "fast-check"
import { expect, onTestFinished, test, vi } from "vitest"
import { contractProblems, recordInMemory } from "../recording.js"
import { messagesStream, sseFrame } from "./loopback.js"

/**
 * Cuts are made in process: a network joins and cuts small writes as it likes, so only a stream made here is cut where the test says.
 */
function answering(): { answerWith: (pieces: readonly Uint8Array[]) => void } {
  let next: readonly Uint8Array[] = []
  const replaced = vi.spyOn(globalThis, "fetch").mockImplementation(
    async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const piece of next) controller.enqueue(piece)
            controller.close()
          },
        }),
        { headers: { "content-type": "text/event-stream" } },
      ),
  )
  onTestFinished(() => replaced.mockRestore())
  return {
    answerWith: (pieces) => {
      next = pieces
    },
  }
}

/** One recorder for all cuts of a stream, a run for each. */
function recordingCuts() {
  const { recorder, sink } = recordInMemory({ strict: true })
  const passThrough = async (path: string) => {
    const run = recorder.startRun({ entrypoint: "cut" })
    const response = await run.fetch(`https://api.example${path}`, {
      method: "POST",
      body: '{"model":"m","messages":[]}',
    })
    const pieces: Uint8Array[] = []
    for await (const piece of response.body!) pieces.push(piece)
    run.complete()
    const { event } = sink.records.findLast(({ content }) => content.type === "model_result")!
    if (event.event_type !== "model_result") throw new Error("no result")
    const { latency_ms: _, first_byte_ms: __, stream_index_ref: ___, ...told } = event.payload
    return { pieces, told, stored: Buffer.from(sink.bodies.get(told.response_ref!)!) }
  }
  return { passThrough, sink }
}

const chatChunk = (delta: object, more: object = {}): string =>
  sseFrame({
    id: "c1",
    object: "chat.completion.chunk",
    model: "gpt-x-1",
    choices: [{ index: 0, delta, finish_reason: null }],
    ...more,
  })

const STREAMS: Record<string, { path: string; text: string }> = {
  "Messages, several bytes to a character": {
    path: "/v1/messages",
    text: messagesStream(["Zürich ", "🌦 sonnig"], { id: "toolu_1", name: "weather", input: '{"city":"Zürich"}' }).join(
      "",
    ),
  },
  "Messages with CRLF, comments and a byte order mark": {
    path: "/v1/messages",
    text: `\uFEFF: hello\r\n\r\n${messagesStream(["a", "b"]).join(": keep-alive\n\n").replaceAll("\n", "\r\n")}`,
  },
  "Chat Completions": {
    path: "/v1/chat/completions",
    text: [
      chatChunk({ role: "assistant", content: "Grü" }),
      chatChunk({ content: "ße 👋" }),
      sseFrame({
        id: "c1",
        object: "chat.completion.chunk",
        model: "gpt-x-1",
        choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
      }),
      sseFrame({
        id: "c1",
        object: "chat.completion.chunk",
        model: "gpt-x-1",
        choices: [],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      }),
      sseFrame("[DONE]"),
    ].join(""),
  },
}

test.each(Object.entries(STREAMS))(
  "[K-02] every cut of a stream passes as it was and means the same: %s",
  async (_, { path, text }) => {
    const { answerWith } = answering()
    const { passThrough, sink } = recordingCuts()
    const bytes = Buffer.from(text)
    answerWith([bytes])
    const whole = await passThrough(path)
    expect(whole.told).toMatchObject({ status: "success", stream_end: "complete" })
    expect(whole.told.output_summary).toBeTruthy()
    const check = async (cut: Uint8Array[]): Promise<void> => {
      answerWith(cut)
      const seen = await passThrough(path)
      expect(
        seen.pieces.every((piece, i) => Buffer.compare(piece, cut[i]!) === 0) && seen.pieces.length === cut.length,
      ).toBe(true)
      expect(seen.stored.equals(bytes)).toBe(true)
      expect(seen.told).toEqual(whole.told)
    }
    for (let at = 1; at < bytes.length; at++) await check([bytes.subarray(0, at), bytes.subarray(at)])
    await check([...bytes].map((byte) => Uint8Array.of(byte)))
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(cuts, (places) => {
        const ends = [...places.sort((a, b) => a - b), bytes.length]
        return check(ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end)))
      }),
      { numRuns: 50 },
    )
    expect(contractProblems(sink)).toEqual([])
  },
)

test("[K-02] a frame of ten megabytes in small pieces passes and is understood", async () => {
  const { answerWith } = answering()
  const bytes = Buffer.from(messagesStream(["ü".repeat(5_000_000), "end"]).join(""))
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += 16_381) pieces.push(bytes.subarray(at, at + 16_381))
  answerWith(pieces)
  const seen = await recordingCuts().passThrough("/v1/messages")
  expect(Buffer.concat(seen.pieces).equals(bytes)).toBe(true)
  expect(seen.stored.equals(bytes)).toBe(true)
  expect(seen.told).toMatchObject({ status: "success", finish_reason: "end_turn", stored_bytes: bytes.length })
})
