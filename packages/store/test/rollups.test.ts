import type { Event } from "@orangebox/contract"
import { openStore, type RecordedEvent, type TraceStore } from "@orangebox/store"
import fc from "fast-check"
import { expect, test } from "vitest"
import { RecordedRun, T0 } from "./recorded.js"
import { temporaryFolder } from "./temporary-folder.js"

const DAY = 86_400_000

const picture = async (store: TraceStore) => ({
  days: await store.rollups({ by: "day" }),
  weeks: await store.rollups({ by: "week" }),
  contributors: await store.contributors({ by: "day" }),
})

interface Act {
  readonly is: "tool" | "model" | "work" | "retried" | "nested"
  readonly name: number
  readonly ends: boolean
  readonly isGood: boolean
  readonly tookMs: number
  readonly hasUsage: boolean
}

const act: fc.Arbitrary<Act> = fc.record({
  is: fc.constantFrom("tool", "model", "work", "retried", "nested"),
  name: fc.nat(2),
  ends: fc.boolean(),
  isGood: fc.boolean(),
  tookMs: fc.nat(5000),
  hasUsage: fc.boolean(),
})

const MODELS = ["claude-sonnet-4-5", "gpt-4o", "nobody-prices-this"]

function record(no: number, acts: readonly Act[], isEnded: boolean): RecordedRun {
  const run = new RecordedRun({ no, app: `app-${no % 2}`, startedAtMs: T0 + no * DAY })
  const root = run.start()
  Object.assign(run.events[0]!.event.payload, { agent_version: `v${no % 3}` })
  for (const one of acts) {
    const stepId = run.newStepId()
    const place = { stepId, parentId: root, source: `source-${one.name}` }
    if (one.is === "tool")
      run.tool(root, `tool-${one.name}`, "{}", one.ends ? "x" : null, one.isGood ? "success" : "error")
    else if (one.is === "work") {
      run.emit(
        "step_started",
        { name: `work-${one.name}`, kind: ["queue.deliver", "retrieval", undefined][one.name] },
        place,
      )
      if (one.ends) run.emit("step_ended", { status: one.isGood ? "success" : "timeout", latency_ms: 1 }, place)
    } else if (one.is === "nested") {
      // A step that is only ever named as a parent, and one whose end came without its opening.
      run.log(run.newStepId(), stepId, "inside something nobody opened")
      if (one.ends) run.emit("step_ended", { status: "success", latency_ms: 1 }, { ...place, stepId: run.newStepId() })
    } else {
      call(run, place, one)
      if (one.is === "retried") call(run, { ...place, stepId: run.newStepId(), parentId: stepId, attempt_no: 1 }, one)
      if (one.ends) answer(run, place, one)
    }
  }
  if (isEnded) run.complete(root)
  else run.annotate("process_crashed", { writer_id: "writer-1", evidence: "gone" } as never)
  return run
}

type Place = Parameters<RecordedRun["emit"]>[2]

function call(run: RecordedRun, place: Place, { name, ends, is }: Act): void {
  const request = run.body(`{"ask":${name}}`, "request")
  run.emit(
    "model_called",
    {
      provider: "anthropic",
      model_id: MODELS[name]!,
      model_api_version: null,
      temperature: null,
      top_p: null,
      max_tokens: null,
      request_ref: request.artifact_hash,
    },
    place,
    [request],
  )
  const segments = [
    { contributor: "persona", kind: "persona" as const, role: "system", length: 300 },
    { contributor: `tool:tool-${name}`, kind: "tool-def" as const, role: null, length: 100 },
    { contributor: "history", kind: "history" as const, role: "user", length: 400 + 7 * name },
  ]
  run.emit("prompt_assembled", { segments, total_length: 800 + 7 * name }, place)
  if (place.attempt_no !== undefined && ends)
    answer(run, place, { name, is, ends, hasUsage: true, isGood: false, tookMs: 3 })
}

function answer(run: RecordedRun, place: Place, { name, isGood, tookMs, hasUsage }: Act): void {
  run.emit(
    "model_result",
    {
      provider: "anthropic",
      model_id: MODELS[name]!,
      finish_reason: null,
      token_usage: hasUsage
        ? { prompt: 1000 + name, completion: 50, total: null, cache_read: 600 }
        : { prompt: null, completion: null, total: null },
      response_ref: null,
      latency_ms: tookMs,
      first_byte_ms: tookMs / 2,
      status: isGood ? "success" : "error",
      error_class: isGood ? null : `Error${name}`,
    },
    place,
  )
}

const runs = fc.array(fc.record({ acts: fc.array(act, { maxLength: 6 }), isEnded: fc.boolean() }), {
  minLength: 1,
  maxLength: 3,
})

/** The events of all runs in any order, in batches of any size, some of them twice. */
function arrivals(
  recorded: readonly RecordedRun[],
  order: readonly number[],
  sizes: readonly number[],
): RecordedEvent[][] {
  const all = recorded.flatMap((run) => run.events)
  const shuffled = all
    .map((event, index) => ({ event, at: order[index % order.length]! * 1000 + index }))
    .sort((one, other) => one.at - other.at)
    .map(({ event }) => event)
  const batches: RecordedEvent[][] = []
  for (let from = 0, n = 0; from < shuffled.length; n++) {
    const size = sizes[n % sizes.length]!
    batches.push(shuffled.slice(Math.max(0, from - 1), from + size))
    from += size
  }
  return batches
}

async function storeOf(batches: readonly (readonly RecordedEvent[])[], isReopened: (batch: number) => boolean) {
  const folder = temporaryFolder()
  let now = T0 + 10 * DAY
  const open = () => openStore(folder, { now: () => now }).store
  let store = open()
  for (const [index, events] of batches.entries()) {
    await store.commit({ events })
    if (!isReopened(index)) continue
    await store.close()
    store = open()
  }
  const later = (days: number): void => {
    now += days * DAY
  }
  return { store, later }
}

test("[R-17] roll-ups are the same whatever order events came in, after a rebuild, and when retention has taken the runs", async () => {
  await fc.assert(
    fc.asyncProperty(
      runs,
      fc.array(fc.nat(9), { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }),
      async (scripts, order, sizes) => {
        const recorded = scripts.map(({ acts, isEnded }, index) => record(index + 1, acts, isEnded))
        const straight = await storeOf([recorded.flatMap((run) => run.events)], () => false)
        const expected = await picture(straight.store)
        await straight.store.close()

        const { store, later } = await storeOf(arrivals(recorded, order, sizes), (batch) => batch % 3 === 1)
        expect(await picture(store)).toEqual(expected)
        await store.rebuild()
        expect(await picture(store)).toEqual(expected)
        later(400)
        await store.prune({ maxAgeMs: 30 * DAY })
        expect((await store.listRuns()).total).toBe(0)
        expect(await picture(store)).toEqual(expected)
        await store.rebuild()
        expect(await picture(store)).toEqual(expected)
        await store.close()
      },
    ),
    { numRuns: 12 },
  )
})

test("[R-17] a roll-up keeps source, kind of work, error class, version, tries, first byte, durations and money", async () => {
  const { store } = openStore(temporaryFolder())
  const run = record(
    1,
    [
      { is: "work", name: 0, ends: true, isGood: true, tookMs: 0, hasUsage: false },
      { is: "retried", name: 0, ends: true, isGood: true, tookMs: 1000, hasUsage: true },
      { is: "model", name: 2, ends: true, isGood: false, tookMs: 10, hasUsage: false },
      { is: "model", name: 1, ends: false, isGood: false, tookMs: 10, hasUsage: false },
    ],
    true,
  )
  await store.commit(run.batch())
  const [delivery] = await store.rollups({ by: "day", workKind: "queue.deliver" })
  expect(delivery).toMatchObject({
    kind: "step",
    name: "work-0",
    source: "source-0",
    app: "app-1",
    agentVersion: "v1",
    count: 1,
  })
  const models = await store.rollups({ by: "day", kind: "model" })
  expect(models).toMatchObject([
    {
      name: "claude-sonnet-4-5",
      count: 1,
      attempts: 1,
      // Five events, ten milliseconds each: 50 ms are 16 binary digits of microseconds.
      durations: { 16: 1 },
      firstByteMsSum: 500,
      firstByteMsMax: 500,
      firstBytes: { 19: 1 },
      // 400 new tokens at 3 dollars a million, 600 read at 0.30, 50 written at 15.
      usd: 0.00213,
      unpricedCalls: 0,
      callsWithoutUsage: 0,
    },
    { name: "gpt-4o", count: 1, open: 1, attempts: null, usd: null, unpricedCalls: null },
    {
      name: "nobody-prices-this",
      errorClasses: { Error2: 1 },
      errors: 1,
      usd: null,
      unpricedCalls: 1,
      callsWithoutUsage: 1,
    },
  ])
  expect(await store.contributors({ by: "day", contributor: "persona" })).toMatchObject([
    // 375 of 1000 tokens, all of them read from the cache; of the other call nobody knows.
    { kind: "persona", app: "app-1", prompts: 2, bytes: 600, tokensEstimated: 375, usd: 0.0001125, unpricedPrompts: 1 },
  ])
  await store.close()
})

test("[S-07] steps whose opening or whole record was lost are counted as the run counts them", async () => {
  const { store } = openStore(temporaryFolder())
  const run = new RecordedRun({ no: 1 })
  const root = run.start()
  run.tool(root, "lost", "{}", "x")
  run.log(run.newStepId(), root, "in a step that was never opened")
  run.complete(root)
  const kept = run.events.filter(({ event }: { event: Event }) => event.event_type !== "tool_called")
  await store.commit({ events: kept })
  const rows = await store.rollups({ by: "day" })
  expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe((await store.getRun(run.runId))!.steps)
  expect(rows).toMatchObject([
    { kind: "run", count: 1, open: 0 },
    { kind: "tool", name: "lost", period: "2026-03-02", count: 1, open: 0 },
    { kind: "unknown", period: "2026-03-02", count: 1, open: 1 },
  ])
  await store.close()
})
