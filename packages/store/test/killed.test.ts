import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { isAbsent, openStore, type RecordedBody } from "@orangebox/store"
import { describe, expect, test } from "vitest"
import { runChild } from "./children/run-child.js"
import { ordinaryRun, RecordedRun, T0 } from "./recorded.js"
import { temporaryFolder } from "./temporary-folder.js"

const DAY = 86_400_000

/** Twelve batches over three interleaved runs, each with bodies, some of them shared. */
function recording(): { batches: { events: RecordedRun["events"]; bodies: RecordedBody[] }[]; runs: RecordedRun[] } {
  const runs = [1, 2, 3].map((no) => {
    const run = new RecordedRun({ no, startedAtMs: T0 })
    const root = run.start()
    for (let turn = 0; turn < 8; turn++) {
      run.model(root, `history of ${turn} `.repeat(200), `answer ${no}.${turn}`)
      run.tool(root, "read_file", `{"turn":${turn}}`, `result ${no}.${turn}`)
    }
    run.complete(root)
    return run
  })
  const batches = Array.from({ length: 12 }, (_, index) => {
    const events = runs.flatMap((run) =>
      run.events.slice(
        Math.floor((run.events.length * index) / 12),
        Math.floor((run.events.length * (index + 1)) / 12),
      ),
    )
    const named = new Set(events.flatMap(({ event }) => event.artifact_refs.map((ref) => ref.artifact_hash)))
    const bodies = runs.flatMap((run) => run.bodies.filter((body) => named.has(body.hash)))
    return { events, bodies }
  })
  return { batches, runs }
}

describe("a process killed while it commits", () => {
  const { batches, runs } = recording()
  const points = ["commit:begin@5", "commit:events@5", "bodies:before-sync@5", "commit:before@5", "commit:after@12"]
  test.for(points)("[L-01] at %s leaves rows and offset that agree, and goes on to every event once", async (point) => {
    const folder = temporaryFolder()
    const file = join(folder, "batches.json")
    writeFileSync(
      file,
      JSON.stringify(
        batches.map(({ events, bodies }) => ({
          events,
          bodies: bodies.map((body) => ({ ...body, bytes: Buffer.from(body.bytes as Uint8Array).toString("base64") })),
        })),
      ),
    )
    const home = join(folder, "store")
    const killed = await runChild("commit-batches.mjs", [home, file], point)
    expect(killed.signal, killed.stderr).toBe("SIGKILL")

    let { store } = openStore(home)
    const done = (await store.offsets()).get("journal") ?? 0
    const expected = new Set(batches.slice(0, done).flatMap(({ events }) => events.map(({ event }) => event.event_id)))
    const stored = new Set<string>()
    for (const run of runs) for (const event of (await store.eventsOf(run.runId)).events) stored.add(event.event_id)
    expect(stored).toEqual(expected)
    expect(await store.integrity({ bodies: "all" })).toEqual([])

    for (let index = done; index < batches.length; index++) {
      await store.commit({ ...batches[index], offsets: [{ file: "journal", offset: index + 1 }] })
    }
    await store.close()
    store = openStore(home).store
    for (const run of runs) {
      expect((await store.eventsOf(run.runId)).events).toEqual(run.events.map(({ event }) => event))
      expect(await store.getRun(run.runId)).toMatchObject({
        status: "completed",
        events: run.events.length,
        openSteps: 0,
      })
      for (const body of run.bodies) expect(isAbsent(await store.readBody(body.hash))).toBe(false)
    }
    expect((await store.rollups({ by: "day", kind: "tool" })).map((row) => row.count)).toEqual([24])
    expect(await store.integrity({ bodies: "all" })).toEqual([])
    await store.close()
  })
})

describe("a process killed while it prunes", () => {
  const points = [
    "prune:bury",
    "prune:events",
    "prune:refs@2",
    "prune:run-removed",
    "prune:chunks-forgotten",
    "bodies:before-unlink",
    "prune:pack-rewritten",
  ]
  test.for(points)("[S-03] at %s leaves nothing dangling, and the next prune reaches the goal", async (point) => {
    const folder = temporaryFolder()
    let now = T0
    let { store } = openStore(folder, { now: () => now })
    const [old, older, young] = [
      ordinaryRun({ no: 1 }),
      ordinaryRun({ no: 2 }),
      ordinaryRun({ no: 3, startedAtMs: T0 + 50 * DAY }),
    ]
    const filler = young.body(Buffer.from("filler ".repeat(4000)), "request", "text/plain")
    await store.commit(old.batch())
    await store.commit(
      older.batch({
        bodies: [
          ...older.bodies,
          { hash: filler.artifact_hash, bytes: young.bodies.at(-1)!.bytes, byteSize: filler.byte_size },
        ],
      }),
    )
    now = T0 + 50 * DAY
    await store.commit(young.batch({ bodies: young.bodies.slice(0, -1) }))
    const rollups = await store.rollups({ by: "day" })
    await store.close()

    now = T0 + 60 * DAY
    const policy = { maxAgeMs: 30 * DAY }
    const killed = await runChild("prune-store.mjs", [folder, JSON.stringify(policy), String(now)], point)
    expect(killed.signal, killed.stderr).toBe("SIGKILL")

    store = openStore(folder, { now: () => now }).store
    expect(await store.integrity({ bodies: "all" })).toEqual([])
    expect(await store.rollups({ by: "day" })).toEqual(rollups)
    for (const run of [old, older, young]) {
      if ((await store.getRun(run.runId)) === undefined) continue
      expect((await store.eventsOf(run.runId)).events).toEqual(run.events.map(({ event }) => event))
    }
    await store.prune(policy)
    expect(await store.rollups({ by: "day" })).toEqual(rollups)
    expect((await store.listRuns()).rows.map((row) => row.runId)).toEqual([young.runId])
    expect((await store.search({ text: "leap years" })).hits).toMatchObject([{ runId: young.runId }])
    expect(await store.status()).toMatchObject({ runs: 1, events: 7, bodies: 4 })
    expect(isAbsent(await store.readBody(young.bodies[0]!.hash))).toBe(false)
    expect(await store.readBody(filler.artifact_hash)).toMatchObject({ absent: "pruned" })
    expect(await store.integrity({ bodies: "all" })).toEqual([])
    await store.close()
  })
})
