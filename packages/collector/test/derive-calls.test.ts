import { catchUp } from "@orangebox/collector"
import { bodyHash, type Event, randomIds, validate } from "@orangebox/contract"
import { fillDerived, foldRun } from "@orangebox/runs"
import { expect, test } from "vitest"
import { dataFolder, openWriter, readStore, sayGoodbye } from "./collector-kit.js"
import { SampleRun } from "./sample-run.mjs"

const ids = randomIds()
const REQUEST = {
  model: "gpt-4o",
  max_tokens: 64,
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "When?" },
  ],
}
const ANSWER = {
  id: "chatcmpl-1",
  object: "chat.completion",
  model: "gpt-4o-2024",
  choices: [{ index: 0, message: { role: "assistant", content: "In four years." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
}

/** A call as a recorder writes it that knows no protocol: the bytes, and nothing of what they mean. */
function recordCall(run: SampleRun, request: unknown, answer: unknown, url: string): string {
  const stepId = ids.step()
  const append = (type: string, payload: object, field: string, value: unknown): void => {
    const bytes = Buffer.from(JSON.stringify(value))
    const hash = bodyHash(bytes)
    const ref = {
      artifact_hash: hash,
      artifact_type: field,
      byte_size: bytes.length,
      content_encoding: "identity",
      mime_type: "application/json",
      redaction_profile: "none",
    }
    run.append(type, stepId, run.rootId, { ...payload, [`${field}_ref`]: hash }, [ref], [{ hash, bytes }])
  }
  const silent = { temperature: null, top_p: null, max_tokens: null }
  const called = { provider: "api.openai.com", model_id: "gpt-4o", model_api_version: null, http_method: "POST", url }
  append("model_called", { ...called, ...silent }, "request", request)
  const usage = { prompt: null, completion: null, total: null }
  const result = {
    provider: "api.openai.com",
    model_id: "gpt-4o",
    finish_reason: null,
    token_usage: usage,
    latency_ms: 5,
  }
  append("model_result", { ...result, status: "success" }, "response", answer)
  return stepId
}

async function collected(request: unknown, answer: unknown, url = "https://api.openai.com/v1/chat/completions") {
  const folder = dataFolder()
  const journal = openWriter(folder)
  const run = new SampleRun(journal)
  run.start()
  const stepId = recordCall(run, request, answer, url)
  run.complete()
  sayGoodbye(journal)
  await catchUp({ dataFolder: folder })
  await catchUp({ dataFolder: folder })
  const store = readStore(folder)
  const [row, { events }, annotations] = [
    await store.getRun(run.runId),
    await store.eventsOf(run.runId),
    await store.annotationsOf(run.runId),
  ]
  return { row, events: events as readonly Event[], annotations: annotations as readonly Event[], stepId }
}

test("[I-05] a call recorded without a dialect is derived once: usage, signature, segments, marked inferred", async () => {
  const { row, events, annotations, stepId } = await collected(REQUEST, ANSWER)
  expect(annotations).toHaveLength(1)
  expect(annotations.flatMap(validate)).toEqual([])
  expect(annotations[0]).toMatchObject({
    event_type: "wire_derived",
    inferred_by: "collector",
    step_id: stepId,
    sequence_no: null,
    payload: {
      provider: "openai",
      model_id: "gpt-4o-2024",
      max_tokens: 64,
      finish_reason: "stop",
      token_usage: { prompt: 11, completion: 7, total: 18 },
      output_summary: "In four years.",
    },
  })
  expect(row).toMatchObject({ events: 4, tokens: { prompt: 11, completion: 7 } })
  // What was recorded stays as it was.
  expect(events.find(({ event_type }) => event_type === "model_result")?.payload).toMatchObject({ finish_reason: null })
})

test("[I-05] readers see what was derived where the events are silent, and the prompt behind its call", async () => {
  const { events, annotations } = await collected(REQUEST, ANSWER)
  const filled = fillDerived(events, annotations)
  expect(filled.map(({ event_type }) => event_type)).toEqual([
    ...["run_started", "model_called", "prompt_assembled", "model_result", "run_completed"],
  ])
  expect(filled[1]!.payload).toMatchObject({ provider: "openai", max_tokens: 64, canon_version: 1 })
  expect(filled[2]).toMatchObject({
    inferred_by: "collector",
    payload: { segments: [{ kind: "persona" }, { kind: "user-msg" }] },
  })
  expect(filled[3]!.payload).toMatchObject({ finish_reason: "stop", token_usage: { prompt: 11 } })
  expect(foldRun([...events, ...annotations]).totals.tokens).toMatchObject({ input: 11, output: 7 })
})

test("[I-05] of a call in no known protocol nothing is derived", async () => {
  const { annotations } = await collected({ model: "m", ask: "?" }, { said: "x" }, "https://models.example/ask")
  expect(annotations).toEqual([])
})
