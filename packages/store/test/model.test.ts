import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Event } from "@orangebox/contract"
import { isAbsent, openStore, type TraceStore } from "@orangebox/store"
import fc from "fast-check"
import { expect, test } from "vitest"
import { RecordedRun, T0 } from "./recorded.js"

const DAY = 86_400_000

/** The slow, obvious store: all events of all runs in a list, looked through every time. */
class Model {
  readonly events = new Map<string, Event[]>()
  readonly lastArrival = new Map<string, number>()
  readonly buried = new Set<string>()
  toolSteps = 0

  commit(runId: string, events: readonly Event[], now: number): void {
    if (this.buried.has(runId)) return
    const known = this.events.get(runId) ?? []
    const fresh = events.filter((event) => !known.some((other) => other.event_id === event.event_id))
    if (fresh.length === 0) return
    const all = [...known, ...fresh].sort((one, other) => one.sequence_no! - other.sequence_no!)
    this.toolSteps += endedTools(all) - endedTools(known)
    this.events.set(runId, all)
    this.lastArrival.set(runId, now)
  }

  prune(maxAgeMs: number, now: number): void {
    for (const [runId, events] of this.events) {
      const end = events.find((event) => event.event_type === "run_completed")
      if (end === undefined) continue
      const ended = Date.parse(end.timestamp_utc)
      const agedAt = ended > now ? this.lastArrival.get(runId)! : Math.max(ended, this.lastArrival.get(runId)!)
      if (agedAt >= now - maxAgeMs) continue
      this.events.delete(runId)
      this.buried.add(runId)
    }
  }
}

function endedTools(events: readonly Event[]): number {
  return events.filter((event) => event.event_type === "tool_result").length
}

const RUNS = 4

function recordings(): RecordedRun[] {
  return Array.from({ length: RUNS }, (_, index) => {
    const run = new RecordedRun({ no: index + 1 })
    const root = run.start()
    for (let turn = 0; turn < 3; turn++) {
      run.model(root, `shared history ${"of all runs ".repeat(30)} up to ${turn}`, `answer ${index} ${turn}`)
      run.tool(root, "read_file", `{"turn":${turn}}`, `unique ${index} ${turn}`)
      run.log(root, null, `line ${turn}`)
    }
    run.complete(root)
    return run
  })
}

const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("commit" as const),
      run: fc.nat(RUNS - 1),
      from: fc.nat(16),
      count: fc.integer({ min: 1, max: 17 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), days: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("prune" as const), days: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.constant({ do: "reopen" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "rebuild" as const }) },
)

test("[S-03] whatever is committed, repeated, pruned, reopened and rebuilt, the store says what the obvious model says", async () => {
  const runs = recordings()
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 14 }), async (operations) => {
      const folder = mkdtempSync(join(tmpdir(), "orangebox-model-"))
      let now = T0 + DAY
      let store = openStore(folder, { now: () => now }).store
      const model = new Model()
      try {
        for (const step of operations) {
          if (step.do === "commit") {
            const run = runs[step.run]!
            const recorded = run.events.slice(step.from, step.from + step.count)
            const named = new Set(recorded.flatMap(({ event }) => event.artifact_refs.map((ref) => ref.artifact_hash)))
            await store.commit({ events: recorded, bodies: run.bodies.filter((body) => named.has(body.hash)) })
            model.commit(
              run.runId,
              recorded.map(({ event }) => event),
              now,
            )
          } else if (step.do === "wait") now += step.days * DAY
          else if (step.do === "prune") {
            await store.prune({ maxAgeMs: step.days * DAY })
            model.prune(step.days * DAY, now)
          } else if (step.do === "rebuild") await store.rebuild()
          else {
            await store.close()
            store = openStore(folder, { now: () => now }).store
          }
        }
        await compare(store, model, runs)
      } finally {
        await store.close()
        rmSync(folder, { recursive: true, force: true })
      }
    }),
    { numRuns: 30 },
  )
})

async function compare(store: TraceStore, model: Model, runs: readonly RecordedRun[]): Promise<void> {
  const listed = await store.listRuns()
  expect(listed.rows.map((row) => row.runId).sort()).toEqual([...model.events.keys()].sort())
  for (const row of listed.rows) {
    const events = model.events.get(row.runId)!
    expect((await store.eventsOf(row.runId)).events).toEqual(events)
    const isEnded = events.some((event) => event.event_type === "run_completed")
    expect([row.events, row.status]).toEqual([events.length, isEnded ? "completed" : "running"])
  }
  const held = new Set(
    [...model.events.values()].flatMap((events) =>
      events.flatMap((event) => event.artifact_refs.map((ref) => ref.artifact_hash)),
    ),
  )
  for (const body of new Map(runs.flatMap((run) => run.bodies).map((body) => [body.hash, body])).values()) {
    const reading = await store.readBody(body.hash)
    // Shared bodies that were pruned come back only when they are recorded anew, so a held one may be pruned, never the reverse.
    if (!isAbsent(reading)) expect(held.has(body.hash)).toBe(true)
    else if (held.has(body.hash)) expect(reading.absent).toBe("pruned")
  }
  const rollups = await store.rollups({ by: "day", kind: "tool" })
  expect(rollups.reduce((sum, row) => sum + row.count - row.open, 0)).toBe(model.toolSteps)
  expect(await store.integrity({ bodies: "all" })).toEqual([])
}
