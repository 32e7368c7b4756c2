import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Recorder } from "@orangebox/recorder"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { BIN, jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

interface Verified {
  readonly ok: boolean
  readonly runs: readonly { readonly run_id: string; readonly digest: string }[]
}

describe("[O-15] a backup keeps every digest", () => {
  let scratch: Scratch
  let data: string
  const at = (name: string) => join(scratch.path, name)
  const digests = async (folder: string) => {
    const { ok, runs } = jsonOf<Verified>(await orangeboxHere(["verify", "--json", "--data", folder]))
    expect(ok).toBe(true)
    return new Map(runs.map(({ run_id, digest }) => [run_id, digest]))
  }

  beforeAll(async () => {
    scratch = scratchFolder()
    data = at("data")
    await record(data, async (recorder) => {
      for (let n = 0; n < 8; n += 1) await recordOrdinaryRun(recorder, `count ${n} ${"sheep ".repeat(2_000)}`)
    })
  })
  afterAll(() => scratch.remove())

  test("laid out elsewhere it verifies, with the digests and signatures it had, and replaces nothing", async () => {
    await orangeboxHere(["sign", "--new-key", at("key.pem")])
    await orangeboxHere(["sign", "--all", "--key", at("key.pem"), "--data", data])
    const made = await orangeboxHere(["backup", at("copy"), "--data", data])
    expect([made.exitCode, made.stdout], made.stderr).toEqual([0, expect.stringContaining("8 runs")])
    const restored = await orangeboxHere(["restore", at("copy"), "--data", at("elsewhere")])
    expect(restored.exitCode, restored.stderr).toBe(0)
    expect(await digests(at("elsewhere"))).toEqual(await digests(data))
    const signed = await orangeboxHere(["verify", "--signed-by", at("key.pem"), "--data", at("elsewhere")])
    expect(signed.stdout).toContain("8 signatures checked, 0 findings")
    for (const again of [
      await orangeboxHere(["restore", at("copy"), "--data", at("elsewhere")]),
      await orangeboxHere(["backup", at("copy"), "--data", data]),
    ])
      expect([again.exitCode, again.stderr]).toEqual([2, expect.stringMatching(/already/)])
    // What was restored goes on where it stopped.
    await record(at("elsewhere"), (recorder) => recordOrdinaryRun(recorder).then(() => {}))
    expect((await digests(at("elsewhere"))).size).toBe(9)
  })

  test("made while agents record, it holds whole runs as they were", async () => {
    const busy = at("busy")
    let isOver = false
    const writing = record(busy, async (recorder: Recorder) => {
      while (!isOver) {
        await recordOrdinaryRun(recorder, `busy ${"sheep ".repeat(500)}`)
        await sleep(60)
      }
    })
    await sleep(100)
    for (const name of ["busy-1", "busy-2"]) {
      const { exitCode, stderr } = await orangebox(["backup", at(name), "--data", busy])
      expect(exitCode, stderr).toBe(0)
    }
    isOver = true
    await writing
    const now = await digests(busy)
    for (const name of ["busy-1", "busy-2"]) {
      await orangeboxHere(["restore", at(name), "--data", at(`${name}-back`)])
      const ended = jsonOf<{ runs: { run_id: string; status: string }[] }>(
        await orangeboxHere(["runs", "--limit", "10000", "--json", "--data", at(`${name}-back`)]),
      ).runs.filter(({ status }) => status === "completed")
      const kept = await digests(at(`${name}-back`))
      expect(ended.length).toBeGreaterThan(0)
      for (const { run_id } of ended) expect(kept.get(run_id)).toBe(now.get(run_id))
    }
  })

  test("killed at any moment it leaves nothing of the name it was to have, or all of it", async () => {
    const started = performance.now()
    await orangebox(["backup", at("timed"), "--data", data])
    const whole = performance.now() - started
    for (let n = 0; n < 6; n += 1) {
      const target = at(`killed-${n}`)
      const child = spawn(process.execPath, [BIN, "backup", target, "--data", data], { stdio: "ignore" })
      const gone = once(child, "exit")
      await sleep(whole * (0.35 + n * 0.12))
      child.kill("SIGKILL")
      await gone
      if (!existsSync(target)) continue
      const restored = await orangeboxHere(["restore", target, "--data", at(`killed-${n}-back`)])
      expect(restored.exitCode, restored.stderr).toBe(0)
      expect(await digests(at(`killed-${n}-back`))).toEqual(await digests(data))
    }
    // A folder that was not finished is told from a backup.
    mkdirSync(at("half"))
    expect((await orangeboxHere(["restore", at("half"), "--data", at("no")])).stderr).toContain("no backup")
  })

  test("a backup that was changed, or lacks a file, is refused whole", async () => {
    await orangeboxHere(["backup", at("sound"), "--data", data])
    const pack = join(at("sound"), "store", "packs", readdirSync(join(at("sound"), "store", "packs"))[0]!)
    const bytes = readFileSync(pack)
    const tryRestore = async () => {
      const { exitCode, stderr } = await orangeboxHere(["restore", at("sound"), "--data", at("refused")])
      expect(existsSync(at("refused"))).toBe(false)
      return [exitCode, stderr]
    }
    appendFileSync(pack, "x")
    expect(await tryRestore()).toEqual([2, expect.stringContaining("not as it was when the backup was made")])
    rmSync(pack)
    expect(await tryRestore()).toEqual([2, expect.stringContaining("is missing")])
    writeFileSync(pack, bytes, { mode: 0o600 })
    const described = join(at("sound"), "backup.json")
    const text = readFileSync(described, "utf8")
    writeFileSync(described, text.replace(/("digest": "sha256:)./, "$1x"))
    expect(await tryRestore()).toEqual([2, expect.stringContaining("description cannot be read")])
    writeFileSync(described, text.replace(/"path": "store.key"/, '"path": "../store.key"'))
    expect(await tryRestore()).toEqual([2, expect.stringContaining("description cannot be read")])
  })
})
