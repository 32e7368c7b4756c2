import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Event } from "@orangebox/contract"
import { BUILT_IN_PRICES, priceOf } from "@orangebox/dialects"
import { type Figures, GROUPINGS, type Grouping, type Stats, type StatsGroup } from "@orangebox/query"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { openStore, type TraceStore } from "@orangebox/store"
import fc from "fast-check"
import { afterEach, expect, test } from "vitest"
import { loadCostBenefit, loadOverview, loadStats } from "../../src/index.js"

const DAY = 86_400_000
const T0 = Date.UTC(2026, 2, 2, 10)

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A store in which runs are kept, and a clock that can be put forward. */
function emptyStore(): { store: TraceStore; later(days: number): void } {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-stats-"))
  folders.push(folder)
  let now = T0 + 20 * DAY
  const { store } = openStore(folder, { now: () => now })
  return {
    store,
    later: (days) => {
      now += days * DAY
    },
  }
}

const writtenHere = (events: readonly Event[]) => ({ events: events.map((event) => ({ event, writerId: "writer-1" })) })

// ── Random runs, as the SDK records them ────────────────────────────────────────────────────────────────────────────────────────

const MODELS = ["claude-sonnet-4-5", "gpt-4o", "nobody-prices-this"]

interface Act {
  readonly is: "model" | "tool" | "work"
  readonly name: number
  readonly end: "good" | "bad" | "none"
  readonly tookMs: number
  readonly firstByteMs: number | null
  readonly usage: { readonly prompt: number; readonly completion: number; readonly cache_read?: number } | null
  readonly asks: readonly number[]
}

const act: fc.Arbitrary<Act> = fc.record({
  is: fc.constantFrom("model", "tool", "work"),
  name: fc.nat(2),
  end: fc.constantFrom("good", "good", "bad", "none"),
  tookMs: fc.nat(100_000),
  firstByteMs: fc.option(fc.nat(50)),
  usage: fc.option(
    fc.record({ prompt: fc.integer({ min: 1000, max: 9000 }), completion: fc.nat(500), cache_read: fc.nat(999) }),
  ),
  asks: fc.array(fc.nat(3), { maxLength: 2 }),
})

const script = fc.record({
  app: fc.nat(1),
  version: fc.option(fc.nat(1)),
  day: fc.nat(9),
  acts: fc.array(act, { maxLength: 7 }),
  end: fc.constantFrom("good", "bad", "none"),
})
type Script = typeof script extends fc.Arbitrary<infer T> ? T : never

function record({ app, version, day, acts, end }: Script): readonly Event[] {
  const sink = new MemorySink()
  let atMs = T0 + day * DAY
  const recorder = Recorder.open({
    app: `app-${app}`,
    cwd: "/",
    sink,
    now: () => ({ wallMs: atMs, monoUs: (atMs - T0) * 1000 }),
    ...(version === null ? {} : { agentVersion: `v${version}` }),
  })
  const run = recorder.startRun({ entrypoint: "fix", input: "x" })
  for (const { is, name, end: ends, tookMs, firstByteMs, usage, asks } of acts) {
    const err = ends === "bad" ? Object.assign(new Error("no"), { name: `Bad${name}` }) : undefined
    if (is === "model") {
      const call = run.startModel({ provider: "someone", model: MODELS[name]!, request: "{}" })
      call.promptAssembled({
        segments: [
          { contributor: "tool:t0", kind: "tool-def", content: "x".repeat(100) },
          { contributor: `tool:t${name + 1}`, kind: "tool-def", content: "x".repeat(50) },
          { contributor: "persona", kind: "persona", role: "system", content: "x".repeat(200) },
        ],
      })
      atMs += tookMs
      if (ends === "none") continue
      call.endModel({
        finishReason: asks.length > 0 ? "tool_use" : "end_turn",
        requestedTools: asks.map((no) => `t${no}`),
        ...(usage === null ? {} : { usage }),
        ...(firstByteMs === null ? {} : { firstByteMs }),
        ...(err === undefined ? {} : { err }),
      })
    } else if (is === "tool") {
      const call = run.startTool({ name: `t${name}`, args: {} })
      atMs += tookMs
      if (ends !== "none") call.endTool(err === undefined ? { result: "x" } : { err })
    } else {
      const step = run.step(
        `work-${name}`,
        ["retrieval", "queue.deliver", undefined][name] === undefined
          ? {}
          : { kind: ["retrieval", "queue.deliver"][name]! },
      )
      atMs += tookMs
      if (ends !== "none") step.end(err === undefined ? {} : { err })
    }
  }
  if (end === "good") run.complete({ output: "x" })
  if (end === "bad") run.fail({ err: new Error("over") })
  recorder.close()
  const events = sink.events.filter(({ run_id }) => run_id !== null)
  return end === "none" ? [...events, crashOf(events.at(-1)!)] : events
}

/** What a collector says of a run whose process is gone: retention takes only runs that are over. */
const crashOf = (last: Event): Event =>
  ({
    ...last,
    event_id: last.event_id.replace(/^.{8}/, "0fffffff"),
    event_type: "process_crashed",
    sequence_no: null,
    step_id: null,
    parent_step_id: null,
    artifact_refs: [],
    payload: { writer_id: "writer-1", evidence: "gone" },
  }) as unknown as Event

// ── The same figures, the slow and obvious way ──────────────────────────────────────────────────────────────────────────────────

interface PlainStep {
  readonly kind: "run" | "model" | "tool" | "step"
  readonly opened: Event
  readonly closed: Event | undefined
  readonly app: string
  readonly version: string | null
}

const OPENINGS: Readonly<Record<string, PlainStep["kind"]>> = {
  run_started: "run",
  model_called: "model",
  tool_called: "tool",
  step_started: "step",
}
const ENDINGS: ReadonlySet<string> = new Set([
  "run_completed",
  "run_failed",
  "model_result",
  "tool_result",
  "step_ended",
])

function plainSteps(runs: readonly (readonly Event[])[]): PlainStep[] {
  return runs.flatMap((events) => {
    const start = events[0]!.payload as Record<string, unknown>
    return events.flatMap((opened) => {
      const kind = OPENINGS[opened.event_type]
      if (kind === undefined) return []
      const closed = events.find((event) => event.step_id === opened.step_id && ENDINGS.has(event.event_type))
      return [
        {
          kind,
          opened,
          closed,
          app: String(start["app_id"]),
          version: (start["agent_version"] as string | undefined) ?? null,
        },
      ]
    })
  })
}

const payload = (event: Event | undefined): Record<string, unknown> => (event?.payload ?? {}) as Record<string, unknown>

const nameOf = ({ kind, opened, closed }: PlainStep): string =>
  String(
    kind === "model"
      ? (payload(closed)["model_id"] ?? payload(opened)["model_id"])
      : payload(opened)[{ run: "entrypoint_name", tool: "tool_name", step: "name" }[kind]],
  )

const dayOf = ({ opened }: PlainStep): string => opened.timestamp_utc.slice(0, 10)

const KEYS: Readonly<Record<Grouping, (step: PlainStep) => string | null>> = {
  model: nameOf,
  tool: nameOf,
  kind: ({ kind, opened }) => (payload(opened)["kind"] as string | undefined) ?? kind,
  day: dayOf,
  week: (step) => {
    const date = new Date(dayOf(step))
    date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
    return date.toISOString().slice(0, 10)
  },
  app: ({ app }) => app,
  version: ({ app, version }) => (version === null ? null : `${app} ${version}`),
  provider: ({ opened }) => String(payload(opened)["provider"]),
  source: ({ opened }) => opened.source,
}

function plainFigures(steps: readonly PlainStep[]) {
  const ended = steps.filter(({ closed }) => closed !== undefined)
  const failed = (event: Event | undefined): boolean =>
    event?.event_type === "run_failed" || payload(event)["status"] === "error"
  const usage = (step: PlainStep) => payload(step.closed)["token_usage"] as Record<string, number | null> | undefined
  const sum = (numbers: readonly (number | null | undefined)[]): number | null => {
    const known = numbers.filter((value) => typeof value === "number")
    return known.length === 0 ? null : known.reduce((total, value) => total + value, 0)
  }
  const prices = ended
    .filter(({ kind }) => kind === "model")
    .map((step) => {
      const { prompt = null, completion = null, cache_read = null } = usage(step) ?? {}
      const tokens = { prompt, completion, total: null, cache_read, cache_write: null }
      const given = { tokens, cacheWrite5m: null, cacheWrite1h: null, serviceTier: null, billedExtras: {}, raw: null }
      return priceOf(given, nameOf(step), Date.parse(step.opened.timestamp_utc), BUILT_IN_PRICES).usd
    })
  const took = ended
    .map(({ opened, closed }) => (closed!.mono_us - opened.mono_us) / 1000)
    .sort((one, other) => one - other)
  const at = (share: number): number | null => (took.length === 0 ? null : took[Math.ceil(share * took.length) - 1]!)
  const usd = sum(prices)
  return {
    count: steps.length,
    successes: ended.filter(({ closed }) => !failed(closed)).length,
    errors: ended.filter(({ closed }) => failed(closed)).length,
    open: steps.length - ended.length,
    prompt: sum(ended.map((step) => usage(step)?.["prompt"])),
    completion: sum(ended.map((step) => usage(step)?.["completion"])),
    cacheRead: sum(ended.map((step) => usage(step)?.["cache_read"])),
    callsWithoutUsage: ended.filter(
      (step) => step.kind === "model" && usage(step)?.["prompt"] == null && usage(step)?.["completion"] == null,
    ).length,
    usd: usd === null ? null : Math.round(usd * 1e9),
    unpriced: prices.filter((price) => price === null).length,
    sumMs: took.reduce((total, ms) => total + ms, 0),
    p50: at(0.5),
    p95: at(0.95),
  }
}

const told = (figures: Figures) => ({
  count: figures.count,
  successes: figures.successes,
  errors: figures.errors,
  open: figures.open,
  prompt: figures.tokens.prompt,
  completion: figures.tokens.completion,
  cacheRead: figures.tokens.cacheRead,
  callsWithoutUsage: figures.callsWithoutUsage,
  usd: figures.usd === null ? null : Math.round(figures.usd * 1e9),
  unpriced: figures.unpricedCalls,
  sumMs: figures.duration.sumMs,
})

const PARTS = { run: "runs", model: "modelCalls", tool: "toolCalls", step: "steps" } as const

/** Every figure of every group against the plain computation; percentiles exactly, or within their bounds. */
function compare(stats: Stats, steps: readonly PlainStep[], isExact: boolean): void {
  const only = { model: "model", provider: "model", tool: "tool" }[stats.by as string]
  const own = steps.filter(({ kind }) => only === undefined || kind === only)
  const keys = [...new Set(own.map(KEYS[stats.by]))]
  expect(new Set(stats.groups.map(({ key }) => key))).toEqual(new Set(keys))
  for (const group of stats.groups) {
    for (const [kind, part] of Object.entries(PARTS)) {
      const of = own.filter((step) => step.kind === kind && KEYS[stats.by](step) === group.key)
      const figures = group[part as keyof typeof group] as Figures | undefined
      expect(figures?.count ?? 0).toBe(of.length)
      if (figures !== undefined) compareOne(figures, of, isExact)
    }
  }
}

function compareOne(figures: Figures, steps: readonly PlainStep[], isExact: boolean): void {
  const { p50, p95, ...plain } = plainFigures(steps)
  const { sumMs, usd, ...rest } = told(figures)
  expect(rest).toEqual((({ sumMs: _sum, usd: _usd, ...other }) => other)(plain))
  expect(sumMs).toBeCloseTo(plain.sumMs, 6)
  // Each call is rounded to a billionth of a dollar.
  if (plain.usd === null) expect(usd).toBeNull()
  else expect(Math.abs(usd! - plain.usd)).toBeLessThanOrEqual(steps.length)
  for (const [got, wanted] of [
    [figures.duration.p50, p50],
    [figures.duration.p95, p95],
  ] as const) {
    if (wanted === null) expect(got).toBeNull()
    else if (isExact) expect(got).toEqual({ fromMs: wanted, toMs: wanted })
    else {
      expect(got!.fromMs).toBeLessThanOrEqual(wanted)
      expect(got!.toMs).toBeGreaterThanOrEqual(wanted)
      expect(got!.toMs).toBeLessThanOrEqual(got!.fromMs * 2)
    }
  }
  if (figures.duration.count > 0) expect(figures.duration.isExact).toBe(isExact)
}

test("[Q-04] [S-07] every figure of stats is that of its events, and the same when retention has taken the runs", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(script, { minLength: 1, maxLength: 4 }), async (scripts) => {
      const { store, later } = emptyStore()
      const runs = scripts.map(record)
      for (const events of runs) await store.commit(writtenHere(events))
      const steps = plainSteps(runs)
      for (const by of GROUPINGS) compare(await loadStats(store, by, {}), steps, true)
      const before = await loadCostBenefit(store, {})

      later(400)
      await store.prune({ maxAgeMs: DAY })
      expect((await store.listRuns()).total).toBe(0)
      for (const by of GROUPINGS) compare(await loadStats(store, by, {}), steps, false)
      expect(await loadCostBenefit(store, {})).toEqual(before)
      await store.close()
    }),
    { numRuns: 15 },
  )
})

test("[Q-04] days, apps and names narrow what is counted, and a name that nobody recorded is refused", async () => {
  const { store } = emptyStore()
  const call = { is: "model", name: 0, end: "good", tookMs: 5, firstByteMs: null, usage: null, asks: [] } as const
  const runs = [0, 1, 3].map((day) =>
    record({ app: day % 2, version: null, day, end: "good", acts: [call, { ...call, is: "tool" }] }),
  )
  for (const events of runs) await store.commit(writtenHere(events))
  const counted = async (question: Parameters<typeof loadOverview>[1]): Promise<unknown[]> => {
    const { total } = (await loadOverview(store, question)).day
    return [total.runs?.count, total.modelCalls?.count, total.toolCalls?.count]
  }
  expect(await counted({})).toEqual([3, 3, 3])
  // A moment counts the whole day it falls on; the day that `until` begins is not in it.
  expect(await counted({ since: T0 + DAY + 5_000_000 })).toEqual([2, 2, 2])
  expect(await counted({ until: Date.UTC(2026, 2, 3) })).toEqual([1, 1, 1])
  expect(await counted({ app: "app-1" })).toEqual([2, 2, 2])
  expect(await counted({ model: "claude-*" })).toEqual([undefined, 3, undefined])
  expect(await counted({ tool: "t0" })).toEqual([undefined, undefined, 3])
  await expect(loadOverview(store, { app: "app-2" })).rejects.toThrow(/--app "?app-2"?.*Did you mean: "?app-[01]/)
  await expect(loadOverview(store, { model: "zzzzzzzzzzzz" })).rejects.toThrow(/There are: "?claude-sonnet-4-5/)
  await store.close()
})

test("[Q-05] what stands in prompts is set against its use, never called first", async () => {
  const { store } = emptyStore()
  const call = (name: number, asks: readonly number[]): Act => ({
    ...{ is: "model", name, end: "good", tookMs: 5, firstByteMs: null, asks },
    usage: { prompt: 1000, completion: 10 },
  })
  const run = (name: number, end: Act["end"]): Act => ({ ...call(name, []), is: "tool", end })
  await store.commit(
    writtenHere(
      record({
        ...{ app: 0, version: null, day: 0, end: "good" },
        // t0 runs and fails once, t1 is asked for and runs nowhere, t2 and t3 nobody asks for.
        acts: [call(0, [0, 0, 1]), run(0, "good"), run(0, "bad"), call(1, []), call(2, [])],
      }),
    ),
  )
  const { standing, rest } = await loadCostBenefit(store, {})
  expect(rest).toEqual([])
  expect(
    standing.map(({ contributor, prompts, uses, calls, successes, note }) => [
      contributor,
      prompts,
      uses,
      calls,
      successes,
      note,
    ]),
  ).toEqual([
    ["tool:t2", 1, 0, 0, 0, "never_called"],
    ["tool:t3", 1, 0, 0, 0, "never_called"],
    ["persona", 3, null, null, null, null],
    ["tool:t0", 3, 2, 2, 1, null],
    ["tool:t1", 1, 1, 0, 0, "never_run"],
  ])
  // 350 bytes are 1000 tokens; of the three models one has no price.
  const persona = standing.find(({ contributor }) => contributor === "persona")!
  expect(persona).toMatchObject({
    tokensEstimated: 3 * 571,
    tokensPerPrompt: 571,
    unpricedPrompts: 1,
    uncountedPrompts: 0,
  })
  expect(persona.usd).toBeCloseTo((571.43 * 3 + 571.43 * 2.5) / 1e6, 6)
  await store.close()
})

test("[Q-04] an empty store and a store with nothing but replays say so", async () => {
  const { store } = emptyStore()
  const empty: StatsGroup[] = []
  expect((await loadStats(store, "day", {})).groups).toEqual(empty)
  const events = record({ app: 0, version: null, day: 0, acts: [], end: "good" })
  const replay = {
    source_run_id: events[0]!.run_id!,
    fork_step_id: null,
    override_profile_id: null,
    replay_reason_code: "reproduce",
  } as const
  await store.commit(writtenHere(events.map((event) => ({ ...event, replay, determinism_mode: "exact" }) as Event)))
  const stats = await loadStats(store, "day", {})
  expect(stats.groups).toEqual(empty)
  expect(stats.notCounted).toEqual([{ origin: "replayed", runs: 1, steps: 0 }])
  expect((await loadStats(store, "day", { origin: "all" })).total.runs?.count).toBe(1)
  await store.close()
})
