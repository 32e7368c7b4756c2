import { join } from "node:path"
import { catchUp } from "@orangebox/collector"
import { acquireStoreLock, type Batch, openStore, type TraceStore } from "@orangebox/store"
import { expect, test } from "vitest"
import { problemsIn, readRun, recordedFolder } from "./collector-kit.js"

/** A real store with one weakness: it breaks over a log line that says `line 2`, whatever else is in the batch. */
function fragile(store: TraceStore): TraceStore {
  const breaksOver = (batch: Batch): boolean =>
    (batch.events ?? []).some(({ event }) => event.event_type === "log" && event.payload.message === "line 2")
  return new Proxy(store, {
    get(target, name) {
      if (name === "commit") {
        return async (batch: Batch) => {
          if (breaksOver(batch)) throw new TypeError("cannot read properties of undefined")
          return target.commit(batch)
        }
      }
      const value: unknown = Reflect.get(target, name)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}

test("[L-01] an event the store breaks over becomes a problem on record, and keeps nothing else out", async () => {
  const { folder, run } = recordedFolder(5)
  const storeFolder = join(folder, "store")
  const lock = acquireStoreLock(storeFolder)
  const { store } = openStore(storeFolder)

  const report = await catchUp({ dataFolder: folder, store: fragile(store) })
  await store.close()
  if (lock.isHeld) lock.release()

  expect(report).toMatchObject({ events: 6, behindBytes: 0 })
  expect(await readRun(folder, run.runId)).toMatchObject({ messages: ["line 0", "line 1", "line 3", "line 4"] })
  expect(await problemsIn(folder)).toMatchObject([{ code: "event_refused" }])
  expect(await catchUp({ dataFolder: folder })).toMatchObject({ events: 0, behindBytes: 0 })
})
