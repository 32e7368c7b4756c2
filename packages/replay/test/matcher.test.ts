import { toolSignature } from "@orangebox/dialects"
import fc from "fast-check"
import { expect, test } from "vitest"
import { DivergenceReport } from "../src/generated.js"
import { type Ask, asRecorded, type Outcome, openReplay, reportText, type Tape, type TapeCall } from "../src/index.js"
import { haltResponse } from "../src/stream/wire-answer.js"
import { signStored } from "../src/tape/sign.js"
import { anthropicAnswer, messages, post, recordRun, withUpstream } from "./recorded.js"

/** A tape of model calls over the wire, each answered with its own number. */
const modelTape = (bodies: readonly string[], concurrent = false): Promise<Tape> =>
  withUpstream(
    ({ count }, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(anthropicAnswer(`answer ${count}`))
    },
    async (url) => {
      const { tape } = await recordRun(async (run) => {
        if (concurrent) await Promise.all(bodies.map((body) => post(run.fetch, url, body)))
        else for (const body of bodies) await post(run.fetch, url, body)
      })
      return tape
    },
  )

/** A call of the tape asked again with another body. */
function askWith(tape: Tape, call: TapeCall, body: string, over: Partial<Ask> = {}): Ask {
  const asked = asRecorded(call, tape)
  const request = { ...asked.request!, body: Buffer.from(body, "utf8") }
  const { method, url, headers } = request
  const signature = signStored({ method: method!, url: url!, headers: headers ?? [], body: request.body, masks: [] })!
  return { ...asked, ...signature, request, ...over }
}

const answerOf = (outcome: Outcome): string =>
  outcome.outcome === "served"
    ? (/answer \d+/.exec(Buffer.from(outcome.bytes ?? []).toString())?.[0] ?? "")
    : outcome.outcome === "diverged"
      ? outcome.divergence.code
      : outcome.outcome

test("[P-01] equal questions get answers 1 to n in order, and one more is exhaustion, never the next best", () =>
  fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), async (n) => {
      const { tape } = await recordRun(async (run) => {
        for (let i = 1; i <= n; i++) await run.tool({ name: "dice", args: { sides: 6 } }, () => `answer ${i}`)
      })
      const session = openReplay(tape)
      const ask: Ask = { kind: "tool", name: "dice", lane: "main", sig: toolSignature("dice", { sides: 6 }) }
      const answers = Array.from({ length: n + 1 }, () => session.ask(ask))
      expect(answers.slice(0, n).map(answerOf)).toEqual(Array.from({ length: n }, (_, i) => `answer ${i + 1}`))
      expect(answers[n]).toMatchObject({
        outcome: "diverged",
        divergence: { code: "OCCURRENCE_EXHAUSTED", at: { occurrence: n } },
      })
    }),
    { numRuns: 12 },
  ))

test("[P-01] thirty concurrent calls of one shape, in a hundred orders of arrival: each gets its own answer", async () => {
  const bodies = Array.from({ length: 30 }, (_, i) => messages([`question ${i}`]))
  const tape = await modelTape(bodies, true)
  expect(new Set(tape.calls.map((call) => call.shape)).size).toBe(1)
  fc.assert(
    fc.property(fc.shuffledSubarray([...tape.calls], { minLength: 30 }), (arrival) => {
      const session = openReplay(tape)
      for (const call of arrival) {
        const outcome = session.ask({ ...asRecorded(call, tape), lane: `lane-${session.state.tickets + 1}` })
        expect(outcome).toMatchObject({
          outcome: "served",
          mode: "exact",
          tier: "wire",
          source: { stepId: call.stepId },
        })
      }
      expect(session.report({ isOver: true })).toMatchObject({ fidelity: "exact", counts: { wire: 30, unconsumed: 0 } })
    }),
    { numRuns: 100 },
  )
})

test("[P-01] one changed value halts at exactly that step, with that pointer and both values", async () => {
  const histories = [["a"], ["a", "b", "c"], ["a", "b", "c", "d", "e"]].map((texts) => messages(texts))
  const tape = await modelTape(histories)
  fc.assert(
    fc.property(fc.nat(2), fc.nat(4), fc.string({ minLength: 1 }), (at, place, added) => {
      const session = openReplay(tape)
      for (const call of tape.calls.slice(0, at)) expect(session.ask(asRecorded(call, tape)).outcome).toBe("served")
      const request = JSON.parse(histories[at]!) as { messages: { content: string }[] }
      const index = place % request.messages.length
      const before = request.messages[index]!.content
      request.messages[index]!.content = `${before}${added}`
      const outcome = session.ask(askWith(tape, tape.calls[at]!, JSON.stringify(request)))
      if (outcome.outcome !== "diverged") throw new Error(outcome.outcome)
      const { code, step, nearest } = outcome.divergence
      expect(code).toBe("REQ_CHANGED")
      expect(step).toBe(tape.calls[at]!.stepId)
      expect(nearest[0]!.diffs).toEqual([
        expect.objectContaining({ ptr: `/messages/${index}/content`, class: index % 2 === 0 ? "user" : "assistant" }),
      ])
      expect(nearest[0]!.diff_leaves).toBe(1)
    }),
    { numRuns: 60 },
  )
})

test("[P-01] key order, spacing and cache marks are the same question: grade sig; the same bytes are grade wire", async () => {
  const tape = await modelTape([messages(["hello"])])
  const [call] = tape.calls
  const other = `{ "messages": [{"content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}],"role":"user"}], "max_tokens":100,"model":"claude-x"}`
  const plain = `{ "messages": [{"content":"hello","role":"user"}], "max_tokens":100,"model":"claude-x", "metadata":{"user_id":"u"}}`
  expect(openReplay(tape).ask(askWith(tape, call!, plain))).toMatchObject({
    outcome: "served",
    tier: "sig",
    mode: "exact",
  })
  expect(openReplay(tape).ask(askWith(tape, call!, messages(["hello"])))).toMatchObject({ tier: "wire" })
  expect(openReplay(tape).ask(askWith(tape, call!, other)).outcome).toBe("diverged")
})

test("[P-01] a parameter, a model, a framing: each miss is called what it is", async () => {
  const tape = await modelTape([messages(["hello"])])
  const [call] = tape.calls
  const code = (body: string) => answerOf(openReplay(tape).ask(askWith(tape, call!, body)))
  expect(code(messages(["hello"], { max_tokens: 200 }))).toBe("PARAM_DRIFT")
  expect(code(messages(["hello"], { model: "claude-y" }))).toBe("MODEL_ALIAS")
  const framed = openReplay(tape).ask(askWith(tape, call!, messages(["hello"], { stream: true }), { stream: true }))
  expect(framed).toMatchObject({ divergence: { code: "REQ_CHANGED", cause: "FRAMING" } })
})

test("[P-06] [P-11] the advice on a miss can be followed, and none is given that would change nothing", async () => {
  const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
  const tape = await modelTape([messages([`session ${id}`])])
  const adviceOn = (body: string): readonly string[] => {
    const missed = openReplay(tape).ask(askWith(tape, tape.calls[0]!, body))
    return missed.outcome === "diverged" ? missed.divergence.suggest : []
  }
  expect(adviceOn(messages([`session ${id}`], { model: "claude-y" }))).toEqual([
    "ask that on purpose: orangebox fork … --set model=claude-y",
  ])
  // A mask for the id leaves the other word as it is.
  const both = messages(["session 00000000-0000-4000-8000-000000000000"], { system: "be brief" })
  expect(adviceOn(both)).toEqual(["--on-miss nearest, to explore with an answer that was given to another question"])
  const drifted = await modelTape([withResult("took 41 ms")])
  const more = withResult("took 39 ms").replace("time it", "time that")
  const missed = openReplay(drifted).ask(askWith(drifted, drifted.calls[0]!, more))
  // Serving drift is what happens anyway, and this is more than drift.
  expect(missed).toMatchObject({
    outcome: "diverged",
    divergence: { suggest: [expect.not.stringContaining("on-drift")] },
  })
})

const withResult = (result: string): string =>
  JSON.stringify({
    model: "claude-x",
    max_tokens: 100,
    messages: [
      { role: "user", content: "time it" },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "run", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: result }] },
    ],
  })

test("[P-01] a request that differs only in a tool's output is drift: served as cached, said, and not certified", async () => {
  const tape = await modelTape([withResult("took 41 ms")])
  const session = openReplay(tape)
  const outcome = session.ask(askWith(tape, tape.calls[0]!, withResult("took 39 ms").replaceAll("t1", "t9")))
  expect(outcome).toMatchObject({
    outcome: "served",
    mode: "cached",
    tier: "drift",
    divergence: { code: "TOOL_DRIFT", cause: "TOOL_OUTPUT" },
  })
  const halted = openReplay(tape, { onDrift: "halt" }).ask(askWith(tape, tape.calls[0]!, withResult("took 39 ms")))
  expect(halted).toMatchObject({
    divergence: {
      code: "REQ_CHANGED",
      cause: "TOOL_OUTPUT",
      suggest: ["--on-drift serve"],
      nearest: [
        {
          diffs: [
            { ptr: "/messages/2/content/0/content", class: "tool_result", recorded: "took 41 ms", now: "took 39 ms" },
          ],
        },
      ],
    },
  })
  const changedMore = withResult("took 39 ms").replace("time it", "time that")
  expect(openReplay(tape).ask(askWith(tape, tape.calls[0]!, changedMore)).outcome).toBe("diverged")
})

test("[P-01] an accepted mask lets values of its type stand for each other, in its place and nowhere else", async () => {
  const id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
  const tape = await modelTape([messages([`session ${id}`])])
  const body = messages(["session 00000000-0000-4000-8000-000000000000"])
  const masks = [{ id: "uuid@user", type: "uuid" as const, at: "/messages/*/content" }]
  const missed = openReplay(tape).ask(askWith(tape, tape.calls[0]!, body))
  expect(missed).toMatchObject({
    divergence: { suggest: [expect.stringMatching(/^mask uuid at \/messages\/\*\/content, by --calibrate/)] },
  })
  const session = openReplay(tape, { masks })
  expect(session.ask(askWith(tape, tape.calls[0]!, body))).toMatchObject({
    mode: "exact",
    tier: "masked",
    maskIds: ["uuid@user"],
  })
  expect(session.report().masks).toEqual(["uuid@user"])
  const elsewhere = [{ ...masks[0]!, at: "/system" }]
  expect(openReplay(tape, { masks: elsewhere }).ask(askWith(tape, tape.calls[0]!, body)).outcome).toBe("diverged")
  expect(openReplay(tape, { masks }).ask(askWith(tape, tape.calls[0]!, messages(["session none"]))).outcome).toBe(
    "diverged",
  )
})

/** Two sub-agents that asked the same and were told different things. */
const twoLanes = async (): Promise<Tape> => {
  const tape = await modelTape([messages(["same"]), messages(["same"])])
  return { ...tape, calls: tape.calls.map((call, i) => ({ ...call, lane: `sub:${i + 1}`, occurrence: 0 })) }
}

test("[P-01] an agent that polls gets its answers in their order, whatever number its traffic gives the lane of each", async () => {
  const recorded = await modelTape([messages(["poll"]), messages(["poll"]), messages(["poll"])])
  const tape = { ...recorded, calls: recorded.calls.map((call, i) => ({ ...call, lane: `lane-${2 * i + 1}` })) }
  const session = openReplay(tape)
  const poll = (lane: string) => answerOf(session.ask({ ...asRecorded(tape.calls[0]!, tape), lane }))
  expect(["lane-1", "lane-5", "lane-6"].map(poll)).toEqual(["answer 1", "answer 2", "answer 3"])
})

test("[P-01] the same question in two lanes is answered by lane, and ambiguous where the lane is unknown", async () => {
  const tape = await twoLanes()
  const [first, second] = tape.calls
  const session = openReplay(tape)
  expect(answerOf(session.ask(asRecorded(second!, tape)))).toBe("answer 2")
  expect(answerOf(session.ask(asRecorded(first!, tape)))).toBe("answer 1")
  const blind = openReplay(tape).ask({ ...asRecorded(first!, tape), lane: undefined })
  expect(blind).toMatchObject({ divergence: { code: "AMBIGUOUS" } })
  const alike = { ...tape, calls: tape.calls.map((call) => ({ ...call, answer: first!.answer })) }
  expect(openReplay(alike).ask({ ...asRecorded(first!, tape), lane: undefined }).outcome).toBe("served")
})

test("[P-01] calls that were never asked for are missing, extra ones are extra, and no call at all is an error", async () => {
  const tape = await modelTape([messages(["one"]), messages(["two"])])
  const session = openReplay(tape)
  session.ask(asRecorded(tape.calls[0]!, tape))
  const report = session.report({ isOver: true })
  expect(report.divergences.map(({ code, step }) => [code, step])).toEqual([["REQ_MISSING", tape.calls[1]!.stepId]])
  session.ask(asRecorded(tape.calls[1]!, tape))
  expect(answerOf(session.ask(askWith(tape, tape.calls[0]!, messages(["three"]))))).toBe("REQ_EXTRA")
  expect(openReplay(tape).report({ isOver: true }).divergences.at(-1)).toMatchObject({
    code: "NO_TRAFFIC",
    severity: "halt",
  })
})

test("[P-01] an answer whose client left is given again, also when the same question was asked in between", async () => {
  const { tape } = await recordRun(async (run) => {
    for (let i = 1; i <= 3; i++) await run.tool({ name: "dice", args: { sides: 6 } }, () => `answer ${i}`)
  })
  const session = openReplay(tape)
  const ask: Ask = { kind: "tool", name: "dice", lane: "main", sig: toolSignature("dice", { sides: 6 }) }
  const first = session.ask(ask)
  expect([session.ask(ask), session.ask(ask)].map(answerOf)).toEqual(["answer 2", "answer 3"])
  expect(answerOf(session.ask(ask))).toBe("OCCURRENCE_EXHAUSTED")
  if (first.outcome !== "served") throw new Error("not served")
  session.release(first)
  expect(answerOf(session.ask(ask))).toBe("answer 1")
})

test("[P-01] a client that dropped our answer asks again and gets the same one", async () => {
  const tape = await modelTape([messages(["one"]), messages(["one"])])
  const session = openReplay(tape)
  const ask = asRecorded(tape.calls[0]!, tape)
  const first = session.ask(ask)
  if (first.outcome !== "served") throw new Error(first.outcome)
  session.release(first)
  expect([session.ask(ask), session.ask(ask)].map(answerOf)).toEqual(["answer 1", "answer 2"])
})

test("[P-02] cached serves any recorded answer again and again, and says that it is not exact", async () => {
  const tape = await modelTape([messages(["one"])])
  const session = openReplay(tape, { mode: "cached" })
  const ask = asRecorded(tape.calls[0]!, tape)
  for (let i = 0; i < 3; i++)
    expect(session.ask(ask)).toMatchObject({ outcome: "served", mode: "cached", tier: "cached" })
  expect(session.report()).toMatchObject({ fidelity: "exact_prefix", exact_prefix: 0, counts: { cached: 3 } })
})

test("[P-02] whatever follows an inexact answer is tainted by it, and the run says how far it was exact", async () => {
  const tape = await modelTape([messages(["one"]), withResult("a"), messages(["two"])])
  const session = openReplay(tape)
  expect(session.ask(asRecorded(tape.calls[0]!, tape))).toMatchObject({ taint: [] })
  session.ask(askWith(tape, tape.calls[1]!, withResult("b")))
  expect(session.ask(asRecorded(tape.calls[2]!, tape))).toMatchObject({ mode: "exact", taint: ["cached"] })
  expect(session.report()).toMatchObject({ fidelity: "mixed", exact_prefix: 1 })
})

test("[P-02] a replay that goes on after it was refused an answer is degraded", async () => {
  const tape = await modelTape([messages(["one"]), messages(["two"])])
  const session = openReplay(tape)
  session.ask(askWith(tape, tape.calls[0]!, messages(["other"])))
  expect(session.report().fidelity).toBe("exact_prefix")
  session.ask(asRecorded(tape.calls[1]!, tape))
  expect(session.report().fidelity).toBe("degraded")
})

test("[P-01] the nearest answer is served only when asked for, and then as simulated", async () => {
  const tape = await modelTape([messages(["one"])])
  const outcome = openReplay(tape, { onMiss: "nearest" }).ask(askWith(tape, tape.calls[0]!, messages(["oné"])))
  expect(outcome).toMatchObject({ outcome: "served", mode: "simulated", tier: "nearest" })
})

test("[P-06] the report keeps its schema, reads thin, and recorded text in it cannot move the cursor", async () => {
  const tape = await modelTape([messages(["hello"]), messages(["two"])])
  const session = openReplay(tape)
  const outcome = session.ask(askWith(tape, tape.calls[0]!, messages(["hello \u001b[2J"])))
  const report = session.report({ isOver: true, runId: "run_00000000000000000000000000" })
  expect(DivergenceReport.parse(JSON.parse(JSON.stringify(report)))).toEqual(report)
  const text = reportText(report)
  expect(text).not.toContain("\u001b")
  expect(text.split("\n").slice(0, 5)).toEqual([
    `replay of ${tape.runId} as run_00000000000000000000000000: exact for the first 0`,
    "  1 asked: none answered; 1 not answered, 2 never asked for, upstream connections 0",
    `  REQ_CHANGED ${tape.calls[0]!.stepId} model claude-x: asks something else than what was recorded here`,
    `    nearest ${tape.calls[0]!.stepId}: 3 of 4 values equal, cause USER_INPUT`,
    `    /messages/0/content  recorded "hello"  now "hello \\u001b[2J"`,
  ])
  const numbered = reportText(report, { numberOf: (stepId) => (stepId === tape.calls[0]!.stepId ? 2 : undefined) })
  expect(numbered).toContain("REQ_CHANGED #2 model claude-x: asks")
  expect(numbered).toContain("nearest #2: 3 of 4")
  if (outcome.outcome !== "diverged") throw new Error(outcome.outcome)
  const halt = haltResponse(outcome.divergence)
  expect(halt.status).toBe(422)
  expect(halt.headers).toContainEqual(["x-should-retry", "false"])
  expect(JSON.parse(Buffer.from(halt.body).toString())).toMatchObject({ error: { code: "REQ_CHANGED", divergence: 1 } })
})

test("[P-01] a copied replay goes its own way and leaves the first where it was", async () => {
  const tape = await modelTape([messages(["one"]), messages(["one"])])
  const session = openReplay(tape)
  const ask = asRecorded(tape.calls[0]!, tape)
  session.ask(ask)
  const copy = session.copy()
  expect(answerOf(copy.ask(ask))).toBe("answer 2")
  expect(answerOf(session.ask(ask))).toBe("answer 2")
})

test("[P-01] tries that failed are served again as they were, or collapsed to the last", async () => {
  const tape = await withUpstream(
    ({ count }, response) => {
      response.writeHead(count === 1 ? 529 : 200, { "content-type": "application/json" })
      response.end(anthropicAnswer(`answer ${count}`))
    },
    async (url) => {
      const { tape } = await recordRun((run) =>
        run.model({ provider: "anthropic", model: "claude-x", request: { q: 1 } }, async (_send, step) => {
          await post(step.fetch, url, messages(["one"]))
          return post(step.fetch, url, messages(["one"]))
        }),
      )
      return tape
    },
  )
  const [logical, first, second] = tape.calls
  expect(logical!.attempts).toEqual([first!.stepId, second!.stepId])
  const ask = asRecorded(first!, tape)
  const faithful = openReplay(tape)
  expect([faithful.ask(ask), faithful.ask(ask)].map(answerOf)).toEqual(["answer 1", "answer 2"])
  expect(faithful.report({ isOver: true }).counts.unconsumed).toBe(0)
  expect(answerOf(openReplay(tape, { retries: "collapse" }).ask(ask))).toBe("answer 2")
})
