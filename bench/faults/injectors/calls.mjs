/** Model calls that are refused, break off, or are sent over and over. */
import { streamedError } from "../protocols.mjs"
import { HASHED, lastCall, pick, SDK } from "./places.mjs"

const OVERFLOWS = {
  anthropic: "prompt is too long: 210000 tokens > 200000 maximum",
  chat: "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
  responses: "Your input exceeds the context window of this model. Please adjust your input and try again.",
}
const LONG_ANSWER = "I will now think about this for a while and then say more about it."
const REFUSALS = { not_authenticated: 401, not_found: 404, rate_limited: 429, provider_error: 502 }
const TRIES = 5

export const CALL_FAULTS = {
  context_overflow: {
    confidence: "proven",
    // Without its words a refusal is only a refusal.
    hiddenIn: HASHED,
    fails: "too long",
    async lay(agent, { shape }) {
      await agent.work(1)
      await agent.ask({ refuse: { status: 400, message: OVERFLOWS[shape.protocol] } })
      return { cause: lastCall(agent) }
    },
  },
  call_failed: {
    confidence: "proven",
    fails: "the model cannot be asked",
    async lay(agent, { random }) {
      await agent.work(1)
      const kind = pick(random, Object.keys(REFUSALS))
      await agent.ask({ refuse: { status: REFUSALS[kind], message: "not now" } })
      return { cause: lastCall(agent), kind }
    },
  },
  output_cut: {
    confidence: "proven",
    shapes: { isSub: [false] },
    async lay(agent) {
      await agent.work(1)
      await agent.ask({ text: "The fix is to", isCut: true })
      return { cause: lastCall(agent), kind: "output" }
    },
  },
  output_filtered: {
    detector: "output_cut",
    confidence: "proven",
    shapes: { isSub: [false] },
    async lay(agent) {
      await agent.work(1)
      await agent.ask({ text: "I cannot", isFiltered: true })
      return { cause: lastCall(agent), kind: "filtered" }
    },
  },
  stream_broken: {
    confidence: "proven",
    shapes: { isStreamed: [true], isSub: [false] },
    fails: "the stream broke",
    async lay(agent) {
      await agent.work(1)
      await agent.ask({ text: LONG_ANSWER, breaksOff: true })
      return { cause: lastCall(agent) }
    },
  },
  stream_error_taken_for_an_answer: {
    detector: "stream_broken",
    confidence: "proven",
    shapes: { protocol: ["anthropic"], isStreamed: [true], isSub: [false] },
    async lay(agent) {
      await agent.work(1)
      await agent.ask({ text: LONG_ANSWER, verbatim: { type: "text/event-stream", text: streamedError(LONG_ANSWER) } })
      return { cause: lastCall(agent), kind: "error_event" }
    },
  },
  retry_storm: {
    confidence: "proven",
    shapes: { isStreamed: [false], isSub: [false] },
    fails: "overloaded",
    async lay(agent, { stage, shape, key }) {
      await agent.work(1)
      for (let at = 0; at < TRIES; at++) stage.server.putUp(key, { refuse: { status: 529, message: "overloaded" } })
      const cause = { call: agent.calls + 1 }
      if (shape.door === "proxy") for (let at = 0; at < TRIES; at++) await agent.send(agent.built())
      else await agent.sendTold(TRIES)
      return { cause }
    },
  },
  schema_repair_failure: {
    confidence: "proven",
    shapes: SDK,
    fails: "never valid",
    async lay(agent) {
      await agent.work(1)
      await agent.ask({ text: "{ not json" })
      const step = agent.run.step("repair")
      step.repair({ kind: "schema", before: "{ not json", attempt: 3, maxAttempts: 3, reason: "never valid" })
      step.end()
      return { cause: { named: "repair" } }
    },
  },
}
