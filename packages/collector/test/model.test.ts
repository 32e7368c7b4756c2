import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { catchUp } from "@orangebox/collector"
import { openDataFolder } from "@orangebox/journal"
import { type Batch, type CommitSummary, openStore, type TraceStore } from "@orangebox/store"
import fc from "fast-check"
import { expect, test } from "vitest"
import { type ModelEvent, ModelWriter } from "./model-writer.js"

/**
 * What must be in the store in the end, kept in the most obvious way: everything that was acknowledged and not destroyed by
 * somebody before it was read. The rest of the test is chance.
 */
class World {
  readonly dataFolder = openDataFolder(join(mkdtempSync(join(tmpdir(), "orangebox-model-")), "data")).path
  readonly writers: ModelWriter[] = []
  readonly surelyStored = new Set<ModelEvent>()
  readonly prunedRuns = new Set<string>()
  /** Writers whose process the collector must have heard of. */
  readonly introduced = new Set<ModelWriter>()
  store: TraceStore = this.#open()
  wasCutBehindReader = false

  #open(): TraceStore {
    return openStore(join(this.dataFolder, "store")).store
  }

  acknowledged(): ModelEvent[] {
    return this.writers.flatMap((writer) => writer.files.flatMap((file) => file.events.map(({ event }) => event)))
  }

  async collect(): Promise<void> {
    const before = this.acknowledged()
    for (const writer of this.writers) if (writer.headers > 0) this.introduced.add(writer)
    await catchUp({ dataFolder: this.dataFolder, store: this.store, keep: { ageMs: 0, bytes: 0, files: 0 } })
    for (const event of before) this.surelyStored.add(event)
  }

  /** A collector that dies at its nth commit, before or after it. What it knew is gone; what is committed stays. */
  async collectUntilKilled(nth: number, isAfter: boolean): Promise<void> {
    const dying = dyingStore(this.store, nth, isAfter)
    await catchUp({ dataFolder: this.dataFolder, store: dying }).catch((error: unknown) => {
      if (!(error instanceof Killed)) throw error
    })
    await this.store.close()
    this.store = this.#open()
  }

  async dispose(): Promise<void> {
    for (const writer of this.writers) await writer.kill()
    await this.store.close()
    rmSync(join(this.dataFolder, ".."), { recursive: true, force: true })
  }
}

class Killed extends Error {}

function dyingStore(store: TraceStore, nth: number, isAfter: boolean): TraceStore {
  let commits = 0
  const commit = async (batch: Batch): Promise<CommitSummary> => {
    commits++
    if (commits === nth && !isAfter) throw new Killed()
    const summary = await store.commit(batch)
    if (commits === nth) throw new Killed()
    return summary
  }
  return new Proxy(store, {
    get: (target, name) => {
      if (name === "commit") return commit
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}

type Step = (world: World) => Promise<void> | void

/** Acts on one of the living writers, if there is any. */
const onWriter = (index: number, act: (writer: ModelWriter, world: World) => Promise<void> | void): Step => {
  return (world) => {
    const living = world.writers.filter((writer) => writer.isAlive)
    return living.length === 0 ? undefined : act(living[index % living.length]!, world)
  }
}

const index = fc.nat(7)
const step: fc.Arbitrary<{ name: string; run: Step }> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constant({
      name: "start a writer",
      run: (world: World) => {
        if (world.writers.length < 5) {
          world.writers.push(new ModelWriter(join(world.dataFolder, "journal"), world.writers.length))
        }
      },
    }),
  },
  {
    weight: 8,
    arbitrary: fc
      .record({ index, times: fc.integer({ min: 1, max: 8 }), bodyBytes: fc.constantFrom(0, 0, 100, 5000) })
      .map((given) => ({
        name: `write ${given.times} (bodies ${given.bodyBytes}) by ${given.index}`,
        run: onWriter(given.index, (writer) => {
          for (let i = 0; i < given.times && !writer.hasEnded; i++) writer.write(given.bodyBytes)
        }),
      })),
  },
  ...(
    [
      ["rotate", 3, (writer) => writer.rotate()],
      ["end the run", 1, (writer) => (writer.hasEnded ? undefined : writer.end())],
      ["exit", 1, (writer) => writer.exit()],
      ["kill the writer", 2, (writer) => writer.kill()],
      ["tear the last line", 1, (writer) => writer.tear()],
      ["copy the last file", 1, (writer) => writer.copy()],
    ] satisfies [string, number, (writer: ModelWriter) => Promise<void> | void][]
  ).map(([name, weight, act]) => ({
    weight,
    arbitrary: index.map((at) => ({ name: `${name} ${at}`, run: onWriter(at, act) })),
  })),
  {
    weight: 1,
    arbitrary: fc.record({ index, share: fc.double({ min: 0, max: 0.99, noNaN: true }) }).map((given) => ({
      name: `cut to ${given.share} ${given.index}`,
      run: onWriter(given.index, (writer, world) => {
        for (const event of writer.truncate(given.share)) {
          // A file emptied by somebody whose end nobody will learn of stays empty, and is waited for.
          if (world.surelyStored.has(event)) world.wasCutBehindReader ||= world.introduced.has(writer)
        }
      }),
    })),
  },
  { weight: 5, arbitrary: fc.constant({ name: "collect", run: (world: World) => world.collect() }) },
  {
    weight: 4,
    arbitrary: fc.record({ nth: fc.integer({ min: 1, max: 3 }), isAfter: fc.boolean() }).map(({ nth, isAfter }) => ({
      name: `collect until killed ${isAfter ? "after" : "before"} commit ${nth}`,
      run: (world: World) => world.collectUntilKilled(nth, isAfter),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constant({
      name: "prune",
      run: async (world: World) => {
        await world.collect()
        for (const { rows } of [await world.store.listRuns({ limit: 1000 })]) {
          for (const run of rows) if (run.status !== "running") world.prunedRuns.add(run.runId)
        }
        await world.store.prune({ maxAgeMs: -1000 })
      },
    }),
  },
)

async function check(world: World): Promise<void> {
  for (const writer of world.writers) if (writer.isAlive) await writer.kill()
  await world.collect()
  await world.collect()
  const again = await catchUp({ dataFolder: world.dataFolder, store: world.store })
  expect(again).toMatchObject({ commits: 0, events: 0, duplicates: 0 })
  // A torn line of a writer nobody can ask after is waited for.
  if (world.writers.every((writer) => world.introduced.has(writer))) expect(again.behindBytes).toBe(0)

  const { store } = world
  for (const writer of world.writers) {
    const { runId } = writer.run
    if (world.prunedRuns.has(runId)) {
      expect(await store.getRun(runId)).toBeUndefined()
      continue
    }
    const must = writer.files.flatMap((file) => file.events.map(({ event }) => event))
    const { events } = await store.eventsOf(runId, { limit: 100_000 })
    const stored = events.map((event) => event.event_id)
    expect(new Set(stored).size).toBe(stored.length)
    expect(stored).toEqual(expect.arrayContaining(must.map((event) => event.id)))
    for (const { id, body } of must) {
      if (body === undefined) continue
      const reading = await store.readBody(bodyRefOf(events.find((event) => event.event_id === id)))
      expect("bytes" in reading && body.equals(reading.bytes)).toBe(true)
    }
    if (stored.length === 0 || !world.introduced.has(writer)) continue
    const crashes = (await store.annotationsOf(runId)).filter((event) => event.event_type === "process_crashed")
    const isEnded = events.some((event) => event.event_type === "run_completed")
    expect((await store.getRun(runId))?.status).toBe(isEnded ? "completed" : "crashed")
    if (!isEnded) expect(crashes).toHaveLength(1)
  }
  const status = await store.status()
  expect(status.conflicts).toBe(0)
  if (world.wasCutBehindReader) expect(status.gaps).toBeGreaterThan(0)
  expect(await store.integrity({ bodies: "all" })).toEqual([])
}

function bodyRefOf(event: { event_type: string; payload: object } | undefined): string {
  const ref = event !== undefined && "body_ref" in event.payload ? event.payload.body_ref : undefined
  return typeof ref === "string" ? ref : ""
}

test("[L-01] whatever writers, collectors and vandals do in whatever order, what was acknowledged is stored once and crashes are said once (I1–I6)", async (context) => {
  if (process.platform !== "linux") return context.skip("whether a process is dead is read from /proc")
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
      const world = new World()
      try {
        for (const { run } of steps) await run(world)
        await check(world)
      } finally {
        await world.dispose()
      }
    }),
    { numRuns: 25 },
  )
})
