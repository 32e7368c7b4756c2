import type { Event, EventType } from "@orangebox/contract"
import { startProxy } from "@orangebox/proxy"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { expect, onTestFinished, test } from "vitest"
import { answerMessage, startModelServer } from "./model-server.js"

const BODY = JSON.stringify({
  model: "claude-x",
  max_tokens: 9,
  system: "Be careful.",
  messages: [{ role: "user", content: "Fix the failing date test." }],
})

/** A model and the recording proxy before it, under audit. `whenAsked` is called as a request reaches the model. */
async function proxyUnderAudit(sink: MemorySink, whenAsked: () => void) {
  const upstream = await startModelServer((_, response) => {
    whenAsked()
    answerMessage(response, { content: [] })
  })
  const recorder = Recorder.open({ app: "proxy", cwd: "/", sink, profile: "audit" })
  const run = recorder.startRun({ entrypoint: "agent" })
  const proxy = await startProxy({ recorder, run, upstreams: { anthropic: upstream.origin } })
  onTestFinished(async () => {
    await proxy.close()
    await upstream.close()
  })
  return () => fetch(`${proxy.urlFor("anthropic")}/v1/messages`, { method: "POST", body: BODY })
}

const eventsOf = <T extends EventType>(sink: MemorySink, type: T): Event<T>[] =>
  sink.events.filter((event) => event.event_type === type) as Event<T>[]

test("[F-06] through the proxy the manifest is derived from the request, and on record before the model is asked", async () => {
  const sink = new MemorySink()
  let manifestsWhenAsked = -1
  const ask = await proxyUnderAudit(sink, () => {
    manifestsWhenAsked = eventsOf(sink, "context_manifest").length
  })
  expect((await ask()).status).toBe(200)
  expect(manifestsWhenAsked).toBe(1)
  const [event] = eventsOf(sink, "context_manifest")
  expect(event!.inferred_by).toBe("dialects")
  const manifest = JSON.parse(sink.textOf(event!.payload.manifest_ref)!) as Record<string, unknown>
  expect(manifest).toMatchObject({
    run_id: event!.run_id,
    step_id: event!.step_id,
    intent: null,
    exclusion_log: null,
    token_budget: null,
    inclusion_log: [
      { kind: "persona", included_reason: null },
      { kind: "user-msg", included_reason: null },
    ],
  })
  expect(JSON.stringify(manifest)).not.toContain("failing date test")
})

test("[F-02] a derived manifest that cannot be written is a 502 before anything is forwarded, and so is every later request", async () => {
  const sink = new MemorySink()
  let asked = 0
  const ask = await proxyUnderAudit(sink, () => {
    asked++
  })
  sink.commit = () => {
    throw Object.assign(new Error("no space left"), { code: "ENOSPC" })
  }
  for (let i = 0; i < 2; i++) {
    const refused = await ask()
    expect(refused.status).toBe(502)
    expect(await refused.text()).toContain("recording is required and failed")
  }
  expect(asked).toBe(0)
  expect(sink.words.join()).toContain("context_manifest")
})
