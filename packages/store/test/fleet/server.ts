import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import type { ClickhouseSettings } from "@orangebox/store"

const MODULES =
  process.env["ORANGEBOX_TEST_CLICKHOUSE"] ??
  join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "orangebox-tests", "clickhouse")
const GIVEN = process.env["ORANGEBOX_TEST_CLICKHOUSE_URL"]
const PROCESS = fileURLToPath(new URL("server-process.mjs", import.meta.url))

/** Whether there is a ClickHouse to test with; why not, where there is none. */
export const noServer: string | undefined =
  GIVEN !== undefined || existsSync(join(MODULES, "node_modules", "chdb"))
    ? undefined
    : "no ClickHouse to test with: run scripts/install-clickhouse.sh, or name a server in ORANGEBOX_TEST_CLICKHOUSE_URL"
if (noServer !== undefined) console.warn(`\n${"!".repeat(100)}\nSKIPPED, ${noServer}\n${"!".repeat(100)}\n`)

/** A real ClickHouse: the one that is named, or one of our own that can be killed and started again on the same files. */
export class TestServer {
  readonly #folder: string | undefined
  readonly #config: string | undefined
  readonly #port: number
  #child: ChildProcess | undefined
  #databases = 0

  private constructor(port: number, folder: string | undefined, config: string | undefined) {
    this.#port = port
    this.#folder = folder
    this.#config = config
  }

  static async start(config?: string): Promise<TestServer> {
    if (GIVEN !== undefined) return new TestServer(0, undefined, undefined)
    const server = new TestServer(await freePort(), mkdtempSync(join(tmpdir(), "orangebox-clickhouse-")), config)
    await server.launch()
    return server
  }

  get url(): string {
    return GIVEN ?? `http://127.0.0.1:${this.#port}`
  }

  get port(): number {
    return this.#port
  }

  /** The settings of a collector, in a database of its own unless one is named. */
  settings(collectorId = "one", database = `t${process.pid}_${++this.#databases}`): ClickhouseSettings {
    const { username, password } = new URL(this.url)
    const url = new URL(this.url)
    url.username = ""
    url.password = ""
    return {
      url: url.href.replace(/\/$/, ""),
      database,
      collectorId,
      host: `host-${collectorId}`,
      ...(username === "" ? {} : { user: decodeURIComponent(username), password: decodeURIComponent(password) }),
    }
  }

  async query(sql: string): Promise<string> {
    const response = await fetch(`${this.url}/`, { method: "POST", body: sql })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return text.trim()
  }

  async launch(): Promise<void> {
    if (this.#folder === undefined) return
    const child = spawn(process.execPath, [PROCESS, MODULES, this.#folder, String(this.#port), this.#config ?? ""], {
      stdio: ["pipe", "ignore", "ignore"],
    })
    this.#child = child
    for (let tries = 0; tries < 600; tries++) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error("the ClickHouse of the tests ended")
      try {
        if ((await fetch(`${this.url}/ping`)).ok) return
      } catch {
        // Not listening yet.
      }
      await sleep(50)
    }
    throw new Error("the ClickHouse of the tests does not answer")
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGKILL")
    await ended
  }

  async stop(): Promise<void> {
    await this.kill()
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true })
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once("error", reject)
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
