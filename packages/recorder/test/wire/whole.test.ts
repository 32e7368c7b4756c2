import fc from "fast-check"
import { expect, test } from "vitest"
import { openWireCall } from "../../src/index.js"
import { contractProblems, recordInMemory } from "../recording.js"

const HEAD = { status: 200, headers: [["content-type", "application/json"]] } as const
const KEY = ["sk", "proj", "x7Gq2Lw9Rt4Yb8Nc1Vz6Kd3Hs5Pf0Ma"].join("-")

const answer = fc
  .array(fc.oneof(fc.string({ unit: "grapheme" }), fc.constant(`use ${KEY} here`)), { maxLength: 6 })
  .map((texts) =>
    JSON.stringify({
      model: "gpt-x",
      choices: [{ index: 0, message: { role: "assistant", content: texts.join(" ") }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    }),
  )

test.each(["full", "redacted", "hashed"] as const)(
  "[K-02] an answer that is recorded as a whole leaves what one in pieces leaves: %s",
  (capture) => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 0 }), (text, at) => {
        const bytes = Buffer.from(text)
        const cut = 1 + (at % (bytes.length - 1))
        const { recorder, sink, eventsOf } = recordInMemory({ capture, environment: "local", strict: true })
        const run = recorder.startRun({ entrypoint: "whole" })
        const take = (pieces: readonly Uint8Array[], isWhole: boolean): void => {
          const request = {
            method: "POST",
            url: "http://127.0.0.1:9/v1/chat/completions",
            headers: [],
            body: Buffer.from('{"model":"gpt-x","messages":[]}'),
          }
          const call = openWireCall(run, request)!
          call.responseStarted(HEAD)
          for (const piece of pieces) isWhole ? call.whole(piece, 5) : call.chunk(piece, 5)
          call.end("complete")
        }
        take([bytes], true)
        take([bytes.subarray(0, cut), bytes.subarray(cut)], false)
        run.complete()
        const [whole, pieces] = eventsOf("model_result")
        const { latency_ms: _, stream_index_ref: __, ...told } = pieces!.payload
        expect(whole!.payload).toMatchObject(told)
        const responses = [whole!, pieces!].map(({ artifact_refs }) =>
          artifact_refs.find(({ artifact_type }) => artifact_type === "response"),
        )
        expect(responses[0]).toEqual(responses[1])
        expect(sink.bodies.has(whole!.payload.response_ref!)).toBe(capture !== "hashed")
        expect(contractProblems(sink)).toEqual([])
      }),
      { numRuns: 60 },
    )
  },
)
