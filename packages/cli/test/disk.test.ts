import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Recorder } from "@orangebox/recorder"
import { afterEach, beforeEach, expect, test } from "vitest"
import { jsonOf, orangebox, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

let scratch: Scratch
let folder: string
beforeEach(() => {
  scratch = scratchFolder()
  folder = join(scratch.path, ".orangebox")
})
afterEach(() => scratch.remove())

const call = (args: readonly string[], env: Record<string, string> = {}) =>
  orangebox([...args, "--data", folder], {
    cwd: scratch.path,
    env: { XDG_CONFIG_HOME: join(scratch.path, "xdg"), ...env },
  })

interface Journals {
  readonly bytes: number
  readonly kept: { readonly files: number; readonly bytes: number; readonly until_ms: number | null }
  readonly in_use: { readonly files: number }
  readonly unread: { readonly files: number; readonly bytes: number }
}
interface Pruned {
  readonly runs_pruned: number
  readonly events_pruned: number
  readonly bodies_pruned: number
  readonly is_dry_run: boolean
  readonly journals_removed: number
  readonly journals: Journals
  readonly policy: Record<string, number | null>
}
const journalsNow = async (): Promise<Journals> =>
  jsonOf<{ journals: Journals }>(await call(["collect", "--status", "--json"])).journals
const prune = async (args: readonly string[] = [], env = {}) =>
  jsonOf<Pruned>(await call(["prune", "--json", ...args], env))
const totals = async () => jsonOf<{ total: number }>(await call(["runs", "--json"])).total

test("[S-10] status and prune say what journals hold and until when; prune --journals lets go of what is in the store, and of nothing else", async () => {
  await record(folder, async (recorder) => void (await recordOrdinaryRun(recorder)))
  expect(await journalsNow()).toMatchObject({ unread: { files: 1 }, kept: { files: 0, until_ms: null } })
  await call(["runs"])
  const kept = await journalsNow()
  expect(kept).toMatchObject({ kept: { files: 1 }, unread: { files: 0 }, in_use: { files: 0 } })
  expect(kept.kept.until_ms! - Date.now()).toBeGreaterThan(23 * 3_600_000)
  expect((await call(["collect", "--status"])).stdout).toMatch(
    /wholly in the store, kept as a second copy, until 20\d\d-/,
  )

  // A process that has not ended writes to a journal of its own.
  const living = Recorder.open({ app: "living", folder })
  const run = living.startRun({ entrypoint: "long", input: "wait" })
  const before = await prune(["--journals", "--dry-run"])
  expect(before).toMatchObject({
    is_dry_run: true,
    journals_removed: 0,
    journals: { kept: { files: 1 }, in_use: { files: 1 } },
  })
  const said = await call(["prune"])
  expect(said.stdout).toMatch(/journals still hold [\d.]+ k?B in \d+ files: .* until 20\d\d-/)
  expect(said.stdout).toMatch(/orangebox prune .*--journals$/m)
  expect(await prune(["--journals"])).toMatchObject({
    journals_removed: 1,
    journals: { kept: { files: 0 }, in_use: { files: 1 } },
  })
  run.complete({ output: "done" })
  living.close()
  expect(await totals()).toBe(2)
  expect(await prune(["--journals"])).toMatchObject({ journals_removed: 1 })
  expect(readdirSync(join(folder, "journal")).filter((name) => name.endsWith(".ndjson"))).toEqual([])
  expect(await totals()).toBe(2)
  expect((await call(["verify"])).exitCode).toBe(0)
})

test("[S-10] a dry run says what the prune then takes, and what is gone says so", async () => {
  await record(folder, async (recorder) => void (await recordOrdinaryRun(recorder)))
  await call(["runs"])
  for (const args of [
    ["--body-max-age", "0s"],
    ["--max-age", "0s"],
  ]) {
    const planned = await prune([...args, "--dry-run"])
    const counts = ({ runs_pruned, events_pruned, bodies_pruned }: Pruned) => [
      runs_pruned,
      events_pruned,
      bodies_pruned,
    ]
    expect(counts(planned).some((count) => count > 0)).toBe(true)
    const before = await totals()
    expect(before).toBe(1)
    const done = await prune(args)
    expect(counts(done)).toEqual(counts(planned))
    if (args[0] === "--max-age") continue
    const { stdout } = await call(["step", "last#3", "--body", "request"])
    expect((await call(["step", "last#3", "--body", "request"])).stderr + stdout).toMatch(/pruned on 20\d\d/)
    expect((await call(["verify", "last"])).exitCode).toBe(0)
  }
  expect(await totals()).toBe(0)
})

test("[R-17] the money in roll-ups goes by the prices that hold where the data lies, and a rebuild prices again", async () => {
  const config = join(scratch.path, "orangebox.config.json")
  writeFileSync(config, JSON.stringify({ prices: [{ model: "test-model", input: 1_000_000, output: 0 }] }))
  await record(folder, async (recorder) => void (await recordOrdinaryRun(recorder)))
  const usd = async (): Promise<unknown> =>
    jsonOf<{ rows: unknown[][] }>(
      await call(["sql", "--json", "SELECT sum(usd), sum(unpriced_calls) FROM rollups WHERE kind = 'model'"]),
    ).rows[0]
  expect(await usd()).toEqual([12, 0])
  writeFileSync(config, JSON.stringify({ prices: [{ model: "test-model", input: 2_000_000, output: 0 }] }))
  expect(await usd()).toEqual([12, 0])
  await call(["collect", "--rebuild"])
  expect(await usd()).toEqual([24, 0])
})

test("[S-10] retention is set per class by the user's file and the environment; a repository's file does nothing until it is trusted, and never to data elsewhere", async () => {
  await record(folder, async (recorder) => void (await recordOrdinaryRun(recorder)))
  const DAY = 86_400_000
  expect((await prune()).policy).toEqual({
    max_age_ms: 180 * DAY,
    body_max_age_ms: 30 * DAY,
    snapshot_max_age_ms: 14 * DAY,
    manifest_max_age_ms: 180 * DAY,
    rollup_max_age_ms: null,
    problem_max_age_ms: 180 * DAY,
    max_total_body_bytes: 4 * 1024 ** 3,
  })
  mkdirSync(join(scratch.path, "xdg/orangebox"), { recursive: true })
  writeFileSync(
    join(scratch.path, "xdg/orangebox/config.json"),
    JSON.stringify({ retention: { bodies: "7d", rollups: "forever" } }),
  )
  expect((await prune()).policy).toMatchObject({
    body_max_age_ms: 7 * DAY,
    max_age_ms: 180 * DAY,
    rollup_max_age_ms: null,
  })
  const env = {
    ORANGEBOX_RETENTION_BODIES: "12h",
    ORANGEBOX_RETENTION_PROBLEMS: "2w",
    ORANGEBOX_RETENTION_MAX_BODY_BYTES: "1000000",
  }
  expect((await prune([], env)).policy).toMatchObject({
    body_max_age_ms: DAY / 2,
    problem_max_age_ms: 14 * DAY,
    max_total_body_bytes: 1_000_000,
  })
  const wrong = await call(["prune"], { ORANGEBOX_RETENTION_BODIES: "soon" })
  expect(wrong.exitCode).toBeGreaterThan(1)
  expect(wrong.stderr).toContain('ORANGEBOX_RETENTION_BODIES is "soon"')

  writeFileSync(
    join(scratch.path, "orangebox.config.json"),
    JSON.stringify({ retention: { events: "0s", journals: "0s" } }),
  )
  expect(await prune()).toMatchObject({ runs_pruned: 0, journals_removed: 0, policy: { max_age_ms: 180 * DAY } })
  expect((await call(["trust"])).stdout).toContain("retention.events")
  const here = { cwd: scratch.path, env: { XDG_CONFIG_HOME: join(scratch.path, "xdg") } }
  expect((await orangebox(["trust", "--yes"], here)).exitCode).toBe(0)
  const elsewhere = scratchFolder()
  try {
    const other = join(elsewhere.path, ".orangebox")
    await record(other, async (recorder) => void (await recordOrdinaryRun(recorder)))
    const asked = jsonOf<Pruned>(await orangebox(["prune", "--json", "--data", other], here))
    expect(asked).toMatchObject({ runs_pruned: 0, policy: { max_age_ms: 180 * DAY } })
  } finally {
    elsewhere.remove()
  }
  expect(await prune()).toMatchObject({ runs_pruned: 1, policy: { max_age_ms: 0 } })
})
