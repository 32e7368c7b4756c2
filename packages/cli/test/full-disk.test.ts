import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { listJournals, readReserve } from "@orangebox/journal"
import { expect, onTestFinished, test } from "vitest"
import { jsonOf, orangeboxHere } from "./command.js"

/** A disk of its own, small enough to fill; undefined where none may be mounted. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-full-disk-"))
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs", folder]).status === 0
  onTestFinished(() => {
    if (mounted) spawnSync("umount", ["-l", folder])
    rmSync(folder, { recursive: true, force: true })
  })
  return mounted ? folder : undefined
}

/** Until not one byte more goes in. */
function fill(path: string): void {
  for (const size of [65_536, 4096, 1]) {
    const piece = Buffer.alloc(size)
    try {
      for (;;) appendFileSync(path, piece)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error
    }
  }
}

test("[F-02] a full disk under audit: the run stops with SYSTEM_ERROR, nothing is sent, and the last words reach a reader", async (context) => {
  const disk = smallDisk()
  if (disk === undefined) return context.skip("mounting a tmpfs needs root")
  let requests = 0
  const server = createServer((_, response) => {
    requests++
    response.end("{}")
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => void server.close())
  const data = join(disk, ".orangebox")
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("children/full-disk-agent.mjs", import.meta.url)), data, origin],
    { stdio: ["pipe", "pipe", "inherit"] },
  )
  onTestFinished(() => void child.kill("SIGKILL"))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const exited = once(child, "exit")
  const runId = (await lines.next()).value as string
  const filler = join(disk, "filler")
  fill(filler)
  child.stdin.write("go\n")
  expect(JSON.parse((await lines.next()).value as string)).toEqual({
    context: "SYSTEM_ERROR",
    model: "SYSTEM_ERROR",
    fetch: "SYSTEM_ERROR",
    tool: "SYSTEM_ERROR",
    isAborted: true,
  })
  await exited
  expect(requests).toBe(0)

  const words = listJournals(join(data, "journal")).map(({ reservePath }) => readReserve(reservePath)?.lastWords?.text)
  expect(words.join()).toContain(runId)
  expect(words.join()).toContain("context_manifest")

  rmSync(filler)
  const shown = await orangeboxHere(["show", runId, "--data", data])
  expect(shown.stdout).toMatch(/later: fault system_error "the run was stopped at context_manifest: .*ENOSPC/)
  expect(shown.stdout).toMatch(/[1-9] lost/)
  const verified = await orangeboxHere(["verify", runId, "--json", "--data", data])
  expect(jsonOf(verified)).toMatchObject({ ok: true, runs: [{ status: "crashed", findings: [] }] })
})
