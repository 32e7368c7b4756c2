import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openStore } from "@orangebox/store"
import { describeTraceStore } from "./conformance.js"

describeTraceStore("SQLite", async (nowMs) => {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-store-"))
  let now = nowMs
  let store = openStore(folder, { now: () => now }).store
  return {
    store,
    isSweptAtOnce: true,
    setNow: (atMs) => {
      now = atMs
    },
    reopen: async () => {
      await store.close()
      store = openStore(folder, { now: () => now }).store
      return store
    },
    destroy: async () => {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
})
