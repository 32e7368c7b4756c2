// The ClickHouse of the tests for scripts and benchmarks: undefined where it is not installed.
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

const MODULES =
  process.env.ORANGEBOX_TEST_CLICKHOUSE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "orangebox-tests", "clickhouse")
const PROCESS = fileURLToPath(new URL("server-process.mjs", import.meta.url))

export async function startServer() {
  if (!existsSync(join(MODULES, "node_modules", "chdb"))) return undefined
  const folder = mkdtempSync(join(tmpdir(), "orangebox-clickhouse-"))
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
  const url = `http://127.0.0.1:${port}`
  let child
  const launch = async () => {
    child = spawn(process.execPath, [PROCESS, MODULES, folder, String(port), ""], {
      stdio: ["pipe", "ignore", "ignore"],
    })
    for (let tries = 0; tries < 600; tries++) {
      const isUp = await fetch(`${url}/ping`).then(
        (answer) => answer.ok,
        () => false,
      )
      if (isUp) return
      await sleep(50)
    }
    throw new Error("the ClickHouse of the tests does not answer")
  }
  const kill = async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGKILL")
    await ended
  }
  await launch()
  return {
    url,
    launch,
    kill,
    query: async (sql) => {
      const answer = await fetch(url, { method: "POST", body: sql })
      const text = await answer.text()
      if (!answer.ok) throw new Error(text)
      return text.trim()
    },
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
