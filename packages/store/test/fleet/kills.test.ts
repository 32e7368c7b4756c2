import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { OrangeboxError, runDigest } from "@orangebox/contract"
import { type Batch, ClickhouseStore, openStore, type TraceStore } from "@orangebox/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { ordinaryRun, T0 } from "../recorded.js"
import { noServer, TestServer } from "./server.js"

const CHILD = fileURLToPath(new URL("committing-process.mjs", import.meta.url))
const TABLES = [
  ...["block_rows", "body_rows", "text_rows", "text_runs", "id_rows", "ref_rows"],
  ...["event_rows", "step_rows", "run_rows", "fact_rows"],
]
/** `npm run torture -- --fleet` asks for a thousand and a hundred. */
const KILLS = Number(process.env["ORANGEBOX_FLEET_KILLS"] ?? 20)
const SERVER_KILLS = Number(process.env["ORANGEBOX_FLEET_SERVER_KILLS"] ?? 8)
const NOW = T0 + 3_600_000

/** Runs in batches that each end in the middle of one. */
function batches(count: number): Batch[] {
  const runs = Array.from({ length: count }, (_, index) => ordinaryRun({ no: index + 1 }))
  const events = runs.flatMap((run) => run.events)
  const bodies = runs.flatMap((run) => run.bodies)
  const all: Batch[] = []
  for (let at = 0; at < events.length; at += 5) all.push({ events: events.slice(at, at + 5), bodies })
  return all
}

describe.skipIf(noServer !== undefined)("a ClickHouse under kills", () => {
  let server: TestServer
  const folder = mkdtempSync(join(tmpdir(), "orangebox-kills-"))
  beforeAll(async () => {
    server = await TestServer.start()
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const committed = async (store: TraceStore, count: number) => {
    const picture = []
    for (let no = 1; no <= count; no++) {
      const { runId } = ordinaryRun({ no })
      const { events, total } = await store.eventsOf(runId)
      picture.push({
        runId,
        total,
        digest: runDigest(events),
        row: await store.getRun(runId),
        steps: await store.stepsOf(runId),
      })
    }
    const { runs, events, bodies } = await store.status()
    return {
      picture,
      runs,
      events,
      bodies,
      rollups: await store.rollups({ by: "day" }),
      hits: (await store.search({ text: "leap years", limit: 200 })).total,
    }
  }

  const expected = async (count: number) => {
    const store = openStore(join(folder, `sqlite-${count}`), { now: () => NOW }).store
    for (const batch of batches(count))
      await store.commit({ ...batch, writers: [{ writerId: "writer-1", records: batch.events!.length }] })
    const picture = await committed(store, count)
    await store.close()
    return picture
  }

  test(`[L-01] [Z-01] a collector killed ${KILLS} times, before and after each insert, leaves each event once and every sum right`, async () => {
    const count = 6
    const settings = server.settings()
    const file = join(folder, "batches.json")
    const encoded = batches(count).map(({ events, bodies }) => ({
      events,
      bodies: bodies!.map((body) => ({ ...body, bytes: Buffer.from(body.bytes as Uint8Array).toString("base64") })),
    }))
    writeFileSync(file, JSON.stringify(encoded))
    const store = new ClickhouseStore(settings, { now: () => NOW })
    await store.migrate()
    const points = TABLES.flatMap((table) => [`clickhouse:before:${table}`, `clickhouse:after:${table}`])
    let kills = 0
    for (let round = 0; kills < KILLS; round++) {
      const point = points[(round * 7) % points.length]!
      const died = await runChild([JSON.stringify(settings), file, String(NOW)], `${point}@1`)
      if (!died) break
      kills++
    }
    await runChild([JSON.stringify(settings), file, String(NOW)])
    expect(kills).toBeGreaterThan(0)
    expect((await store.offsets()).get("journal")).toBe(encoded.length)
    expect(await committed(store, count)).toEqual(await expected(count))
    expect((await store.writers()).map(({ records }) => records)).toEqual([
      encoded.reduce((sum, { events }) => sum + events!.length, 0),
    ])
    expect(await store.integrity({ bodies: "all" })).toEqual([])
    await store.close()
  })

  test(`[L-01] [Z-01] a server killed ${SERVER_KILLS} times while it takes batches has each event once when the batches were sent again`, async () => {
    const count = 8
    const settings = server.settings()
    const store = new ClickhouseStore(settings, { now: () => NOW })
    await store.migrate()
    let kills = 0
    for (const [index, batch] of batches(count).entries()) {
      const isKilled = index % 2 === 0 && kills < SERVER_KILLS
      const killing = isKilled ? sleep(5 + ((index * 37) % 120)).then(() => server.kill()) : Promise.resolve()
      if (isKilled) kills++
      let isDone = false
      for (let tries = 0; !isDone && tries < 20; tries++) {
        try {
          await store.commit({ ...batch, writers: [{ writerId: "writer-1" }] })
          isDone = true
        } catch (error) {
          if (!(error instanceof OrangeboxError)) throw error
        }
        if (isKilled && tries === 0) {
          await killing
          await server.launch()
        }
      }
      expect(isDone).toBe(true)
    }
    expect(await committed(store, count)).toEqual(await expected(count))
    await store.close()
  })

  test("[L-01] answers that are cut off on the way are batches sent again, and change nothing", async () => {
    const count = 3
    const proxy = await CuttingProxy.start(server.port)
    const settings = { ...server.settings(), url: `http://127.0.0.1:${proxy.port}` }
    const store = new ClickhouseStore(settings, { now: () => NOW })
    await store.migrate()
    let cuts = 0
    for (const [index, batch] of batches(count).entries()) {
      for (let tries = 0; ; tries++) {
        // A few answers pass before one is cut, another number of them in each batch.
        if (tries === 0) proxy.cutAfter(index % 9)
        try {
          await store.commit({ ...batch, writers: [{ writerId: "writer-1" }] })
          break
        } catch (error) {
          expect(error).toMatchObject({ code: "STORE_AWAY" })
          cuts++
        }
      }
      proxy.cutAfter(Number.POSITIVE_INFINITY)
    }
    expect(cuts).toBeGreaterThan(0)
    expect(await committed(store, count)).toEqual(await expected(count))
    await store.close()
    await proxy.stop()
  })
})

/** Whether the failpoint killed it. */
function runChild(args: readonly string[], failpoint?: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD, ...args], {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, ...(failpoint === undefined ? {} : { ORANGEBOX_FAILPOINT: failpoint }) },
    })
    child.once("exit", (code, signal) => {
      if (signal === "SIGKILL") resolve(true)
      else if (code === 0) resolve(false)
      else reject(new Error(`the committing process ended with ${code}`))
    })
  })
}

/** Passes everything on to the server, and at some moment keeps an answer back and drops the connection. */
class CuttingProxy {
  #left = Number.POSITIVE_INFINITY
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(target: number) {
    this.#server = createServer((client) => {
      const upstream = connect(target, "127.0.0.1")
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket)
        socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket))
      }
      client.on("data", (data) => upstream.write(data)).on("close", () => upstream.destroy())
      upstream.on("close", () => client.destroy())
      upstream.on("data", (data) => {
        if (data.subarray(0, 5).toString("latin1") === "HTTP/" && this.#left-- <= 0) {
          this.#left = Number.POSITIVE_INFINITY
          client.destroy()
        } else client.write(data)
      })
    })
  }

  static async start(target: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(target)
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve))
    return proxy
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  cutAfter(answers: number): void {
    this.#left = answers
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
