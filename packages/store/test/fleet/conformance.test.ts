import { ClickhouseStore } from "@orangebox/store"
import { afterAll, beforeAll, describe } from "vitest"
import { describeTraceStore } from "../conformance.js"
import { noServer, TestServer } from "./server.js"

describe.skipIf(noServer !== undefined)("[S-08] the real ClickHouse", () => {
  let server: TestServer
  beforeAll(async () => {
    server = await TestServer.start()
  })
  afterAll(() => server?.stop())

  describeTraceStore("ClickHouse", async (nowMs) => {
    const settings = server.settings()
    let now = nowMs
    let store = new ClickhouseStore(settings, { now: () => now })
    await store.migrate()
    return {
      store,
      isSweptAtOnce: false,
      setNow: (atMs) => {
        now = atMs
      },
      reopen: async () => {
        await store.close()
        store = new ClickhouseStore(settings, { now: () => now })
        return store
      },
      destroy: async () => {
        await store.close()
        await server.query(`DROP DATABASE ${settings.database}`)
      },
    }
  })
})
