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
  readonly is: "tool" | "model" | "work" | "retried" | "nested" | "skill"
  readonly name: number
  readonly ends: boolean
  readonly isGood: boolean
  readonly tookMs: number
  readonly hasUsage: boolean
}

const act: fc.Arbitrary<Act> = fc.record({
  is: fc.constantFrom("tool", "model", "work", "retried", "nested", "skill"),
  name: fc.nat(2),
  ends: fc.boolean(),
  isGood: fc.boolean(),
  tookMs: fc.nat(5000),
  hasUsage: fc.boolean(),
})

const MODELS = ["claude-sonnet-4-5", "gpt-4o", "nobody-prices-this"]

const REPLAY: NonNullable<Event["replay"]> = {
  source_run_id: "run_00000000000000000000000001",
  fork_step_id: null,
  override_profile_id: null,
  replay_reason_code: "reproduce",
}

function record(no: number, acts: readonly Act[], isEnded: boolean): RecordedRun {
  const run = new RecordedRun({ no, app: `app-${no % 2}`, startedAtMs: T0 + no * DAY })
  const root = run.start()
  Object.assign(run.events[0]!.event.payload, { agent_version: `v${no % 3}` })
  for (const one of acts) {
    const stepId = run.newStepId()
    const place = { stepId, parentId: root, source: `source-${one.name}` }
    if (one.is === "skill") {
      const skill = run.tool(
        root,
        "Skill",
        `{"skill":"web"}`,
        one.ends ? "# Web" : null,
        one.isGood ? "success" : "error",
      )
      const called = run.events.findLast(({ event }) => event.step_id === skill && event.event_type === "tool_called")
      Object.assign(called!.event.payload, { args_summary: `{"skill":"web"}` })
    } else if (one.is === "tool")
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
    ...(name === 1 ? [{ contributor: "skill:web", kind: "skill" as const, role: "system", length: 0 }] : []),
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
      ...(isGood && hasUsage ? { requested_tools: [`tool-${name}`, "tool-0"] } : {}),
    },
    // One call of three of a replay went out all the same.
    REPLAYED.has(run.runId) ? { ...place, replay: REPLAY, determinism_mode: name === 0 ? "live" : "exact" } : place,
  )
}

const REPLAYED: ReadonlySet<string> = new Set(["run_00000000000000000000000003"])

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

test("[Q-04] [S-07] what was replayed and what was imported is told apart from what was recorded, also when it is pruned", async () => {
  const { store, later } = await storeOf([], () => false)
  const call = (name: number): Act => ({ is: "model", name, ends: true, isGood: true, tookMs: 10, hasUsage: true })
  const real = record(1, [call(0)], true)
  const replay = record(3, [call(0), call(1)], true)
  const foreign = record(4, [call(0)], true)
  for (const { event } of replay.events)
    if (event.event_type.startsWith("run_")) Object.assign(event, { replay: REPLAY, determinism_mode: "exact" })
  await store.commit({ events: [...real.events, ...replay.events] })
  await store.commit({ events: foreign.events.map(({ event }) => ({ event, writerId: null })) })
  const told = async () =>
    (await store.rollups({ by: "day" })).map(({ period, kind, name, origin, count }) => [
      period.slice(8),
      kind,
      name,
      origin,
      count,
    ])
  const expected = [
    ["03", "model", "claude-sonnet-4-5", "recorded", 1],
    ["03", "run", "fix-issue", "recorded", 1],
    // The call that a replay let through was sent and paid.
    ["05", "model", "claude-sonnet-4-5", "recorded", 1],
    ["05", "model", "gpt-4o", "replayed", 1],
    ["05", "run", "fix-issue", "replayed", 1],
    ["06", "model", "claude-sonnet-4-5", "imported", 1],
    ["06", "run", "fix-issue", "imported", 1],
  ]
  expect(await told()).toEqual(expected)
  expect((await store.contributors({ by: "day", origin: "imported" })).map(({ contributor }) => contributor)).toContain(
    "persona",
  )
  later(400)
  await store.prune({ maxAgeMs: DAY })
  expect((await store.listRuns()).total).toBe(0)
  expect(await told()).toEqual(expected)
  await store.close()
})

test("[Q-05] [S-07] how often a model asked for a tool and a skill was loaded or came in is kept", async () => {
  const { store } = openStore(temporaryFolder())
  const ask = (name: number, hasUsage = true): Act => ({
    is: "model",
    name,
    ends: true,
    isGood: true,
    tookMs: 10,
    hasUsage,
  })
  const load: Act = { is: "skill", name: 0, ends: true, isGood: true, tookMs: 0, hasUsage: false }
  // The skill is in no prompt at first, is loaded, and stands in the prompts from then on.
  await store.commit(record(1, [ask(0), load, { ...load, isGood: false }, ask(1), ask(1), ask(2, false)], true).batch())
  const [web] = await store.contributors({ by: "day", contributor: "skill:web" })
  expect(web).toMatchObject({ prompts: 2, uses: 1, entries: 1 })
  const tools = (await store.contributors({ by: "day" })).filter(({ kind }) => kind === "tool-def")
  expect(
    tools.map(({ contributor, prompts, uses, unheardPrompts }) => [contributor, prompts, uses, unheardPrompts]),
  ).toEqual([
    ["tool:tool-0", 1, 4, 0],
    ["tool:tool-1", 2, 2, 0],
    // Nothing says what that answer asked for.
    ["tool:tool-2", 1, null, 1],
  ])
  await store.close()
})

test("[S-07] sums of many runs, added up in blocks, are those of the runs one by one", async () => {
  const { store, later } = await storeOf([], () => false)
  const runs = Array.from({ length: 1500 }, (_, index) => {
    const run = new RecordedRun({ no: index + 1, app: `app-${index % 3}`, startedAtMs: T0 + (index % 9) * DAY })
    const root = run.start()
    run.model(root, "{}", "{}")
    if (index % 7 > 0) run.complete(root)
    return run
  })
  const own = (run: RecordedRun): RecordedEvent[] => run.events
  for (let from = 0; from < runs.length; from += 100)
    await store.commit({ events: runs.slice(from, from + 100).flatMap(own) }).then(() => later(from === 300 ? 1 : 0))
  const calls = async (app?: string) => {
    const rows = await store.rollups({ by: "day", kind: "model", ...(app === undefined ? {} : { app }) })
    return rows.reduce((sum, { count, tokens }) => [sum[0]! + count, sum[1]! + tokens.prompt!], [0, 0])
  }
  const ended = async () =>
    (await store.rollups({ by: "day", kind: "run" })).reduce((sum, row) => sum + row.successes, 0)
  expect(await calls()).toEqual([1500, 150_000])
  expect(await calls("app-1")).toEqual([500, 50_000])
  expect(await ended()).toBe(1500 - 215)
  // A run of the first block goes on, another is told again from its beginning.
  const first = runs[0]!
  first.tool(first.events[0]!.event.step_id!, "late", "{}", "x")
  first.complete(first.events[0]!.event.step_id!)
  await store.commit({ events: first.events.slice(-3) })
  expect(await ended()).toBe(1500 - 214)
  expect(await store.rollups({ by: "day", name: "late" })).toMatchObject([{ count: 1 }])
  const before = await picture(store)
  // Retention takes the first block and half of the second, but for what is open or was heard of lately.
  await store.prune({ maxAgeMs: DAY / 2 })
  expect(await store.getRun(runs[1]!.runId)).toBeUndefined()
  expect(await store.getRun(runs[500]!.runId)).toBeDefined()
  expect(await picture(store)).toEqual(before)
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
