import { openStore, openStoreReader } from "@orangebox/store"
import { expect, test } from "vitest"
import { RecordedRun } from "./recorded.js"
import { temporaryFolder } from "./temporary-folder.js"

test("[L-04] a reader beside the writer sees whole batches, each as it was recorded", async () => {
  const folder = temporaryFolder()
  const { store } = openStore(folder)
  const reader = openStoreReader(folder)
  const run = new RecordedRun()
  const root = run.start()
  for (let turn = 0; turn < 20; turn++) run.tool(root, "read_file", `{"turn":${turn}}`, `text ${turn}`)
  run.complete(root)
  const own = run.events.map(({ event }) => event)
  for (let from = 0; from < own.length; from += 3) {
    const recorded = run.events.slice(from, from + 3)
    const named = new Set(recorded.flatMap(({ event }) => event.artifact_refs.map((ref) => ref.artifact_hash)))
    await store.commit({ events: recorded, bodies: run.bodies.filter((body) => named.has(body.hash)) })
    const seen = (await reader.eventsOf(run.runId)).events
    expect(seen).toEqual(own.slice(0, from + 3))
    expect((await reader.search({ text: "read_file" })).hits.length).toBe(1)
  }
  expect(await reader.getRun(run.runId)).toMatchObject({ status: "completed", openSteps: 0 })
  for (const body of run.bodies) expect(await reader.readBody(body.hash)).toMatchObject({ byteSize: body.byteSize })
  await store.prune({ maxTotalBodyBytes: 0 })
  for (const body of run.bodies) expect(await reader.readBody(body.hash)).toMatchObject({ absent: "pruned" })
  await reader.close()
  await store.close()
})
