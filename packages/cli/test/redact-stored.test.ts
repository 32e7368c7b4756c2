import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { searchForValue } from "@orangebox/reader"
import { scanPack } from "@orangebox/store"
import { afterEach, beforeEach, expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

/** Not the form of any secret: only somebody who knows it can name it. */
const VALUE = 'the "purple" walrus sleeps at nine'

let scratch: Scratch
let data: string

beforeEach(() => {
  scratch = scratchFolder()
  data = join(scratch.path, "data")
})
afterEach(() => scratch.remove())

const here = (...args: string[]) => orangeboxHere([...args, "--data", data])
const json = async <T = Record<string, unknown>>(...args: string[]): Promise<T> =>
  jsonOf<T>(await here(...args, "--json"))

interface Report {
  events: number
  bodies: number
  run_ids: string[]
  journals_removed: number
  not_reached: { what: string; where: string; reason: string }[]
}

/** A run that says the value in a prompt, a tool's output, a log line, an attribute, a summary and an error. */
async function recordLeak(): Promise<void> {
  await record(data, async (recorder) => {
    await recordOrdinaryRun(recorder, `remember: ${VALUE}`)
    const run = recorder.startRun({ entrypoint: "leak", input: "again" })
    await run.tool({ name: "read_file", args: { path: "secret.txt" } }, () => `contents: ${VALUE}\n`)
    await run
      .tool({ name: "open_gate", args: {} }, () => {
        throw new Error(`cannot open ${VALUE}`)
      })
      .catch(() => {})
    run.log.info(`saw ${VALUE}`, { note: VALUE })
    run.complete({ output: "done" })
    await recordOrdinaryRun(recorder, "count the goats")
  })
}

const filesWith = (value: string): string[] => {
  const { isIn } = searchForValue(value)
  return readdirSync(data, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => isIn(readFileSync(path), null))
}

test("[X-09] a value is taken out of store, index and journals; verify says redacted, not corrupt", async () => {
  await recordLeak()
  const before = await json<{ runs: { run_id: string; digest: string }[] }>("verify")
  expect((await json<{ hits: unknown[] }>("search", "walrus")).hits).not.toEqual([])
  const report = await json<Report>("redact", "--stored", "--value", VALUE)
  expect(report).toMatchObject({ dry_run: false, not_reached: [], journals_removed: 1 })
  expect(report.events).toBeGreaterThanOrEqual(4)
  expect(report.bodies).toBeGreaterThanOrEqual(4)
  expect(report.run_ids).toHaveLength(2)
  expect(filesWith(VALUE)).toEqual([])
  expect((await json<{ hits: unknown[] }>("search", "walrus")).hits).toEqual([])
  expect((await json<{ hits: unknown[] }>("search", "goats")).hits).not.toEqual([])

  const verdict = await here("verify")
  expect(verdict).toMatchObject({ exitCode: 0, stderr: "" })
  expect(verdict.stdout).toMatch(
    /redacted later \(.*\); its digest is a new one, and certificates of before are void: not corruption/,
  )
  expect(verdict.stdout).toContain("3 runs verified, 0 findings")
  const after = await json<{ runs: { run_id: string; digest: string; redacted: { events: number } }[] }>("verify")
  for (const { run_id, digest } of before.runs) {
    const run = after.runs.find((other) => other.run_id === run_id)!
    expect(run.digest === digest, run_id).toBe(run.redacted.events === 0)
  }
  const leaky = after.runs.find(({ redacted }) => redacted.events > 0)!
  const old = before.runs.find(({ run_id }) => run_id === leaky.run_id)!
  const proof = await here("verify", leaky.run_id, "--digest", old.digest)
  expect(proof.exitCode).toBe(1)
  expect(proof.stdout).toContain("events were redacted, so a digest of before cannot be proven any more")
})

test("[X-09] nothing comes back from a copy of the journals, with a lost database neither", async () => {
  await recordLeak()
  const copy = join(scratch.path, "copy")
  cpSync(join(data, "journal"), copy, { recursive: true })
  await here("redact", "--stored", "--value", VALUE)
  for (const name of readdirSync(join(data, "store"))) {
    if (name !== "tombstones.ndjson") rmSync(join(data, "store", name), { recursive: true })
  }
  for (const name of readdirSync(copy))
    if (!name.endsWith(".committed")) cpSync(join(copy, name), join(data, "journal", name))
  await here("collect")
  expect((await json<{ hits: unknown[] }>("search", "walrus")).hits).toEqual([])
  expect((await json<{ hits: unknown[] }>("search", "goats")).hits).not.toEqual([])
  expect(await here("verify")).toMatchObject({ exitCode: 0 })
  await here("redact", "--stored", "--value", VALUE)
  expect(filesWith(VALUE)).toEqual([])
})

test("[X-09] --dry-run says what would go and changes nothing; --run keeps to one run", async () => {
  await recordLeak()
  const dry = await json<Report>("redact", "--stored", "--value", VALUE, "--dry-run")
  expect(dry).toMatchObject({ dry_run: true, journals_removed: 0 })
  expect(dry.run_ids).toHaveLength(2)
  expect((await json<{ hits: unknown[] }>("search", "walrus")).hits).not.toEqual([])
  const { runs } = await json<{ runs: { run_id: string; entrypoint: string }[] }>("runs")
  const leak = runs.find(({ entrypoint }) => entrypoint === "leak")!.run_id
  const one = await json<Report>("redact", "--stored", "--value", VALUE, "--run", leak)
  expect(one.run_ids).toEqual([leak])
  const { hits } = await json<{ hits: { run_id: string }[] }>("search", "walrus")
  expect(hits).not.toEqual([])
  expect(hits.every(({ run_id }) => run_id !== leak)).toBe(true)
})

test("[X-09] rules can be applied after the fact, one or all of them", async () => {
  const mail = "walrus@mail.example-host.org"
  const phone = "badge WAL-4711"
  await record(data, async (recorder) => {
    const run = recorder.startRun({ entrypoint: "mail", input: "go" })
    run.log.info(`write to ${mail}`)
    await run.tool({ name: "lookup", args: {} }, () => `${mail} has ${phone}`)
    run.complete({ output: "done" })
  })
  expect(await json<Report>("redact", "--stored", "--all-rules")).toMatchObject({ events: 0, bodies: 0 })
  expect(await json<Report>("redact", "--stored", "--pattern", "pii-email")).toMatchObject({ not_reached: [] })
  expect(filesWith(mail)).toEqual([])
  expect((await json<{ hits: { snippet: string }[] }>("search", "write to")).hits[0]?.snippet).toBe(
    "write to wal…redacted…org",
  )
  expect(await here("verify")).toMatchObject({ exitCode: 0 })
})

test("[X-09] the journal of a process that still runs is named, and a second call reaches it", async () => {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL("children/leaky-writer.mjs", import.meta.url)), data, VALUE],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  )
  try {
    await once(child.stdout, "data")
    const first = await orangebox(["redact", "--stored", "--value", VALUE, "--json", "--data", data])
    expect(first.exitCode).toBe(1)
    expect(jsonOf<Report>(first).not_reached).toMatchObject([
      { what: "journal", reason: expect.stringContaining(`process ${child.pid} (leaky) is still writing it`) },
    ])
    expect((await json<{ hits: unknown[] }>("search", "walrus")).hits).toEqual([])
  } finally {
    child.stdin.end()
    await once(child, "exit")
  }
  expect(await json<Report>("redact", "--stored", "--value", VALUE)).toMatchObject({
    journals_removed: 1,
    not_reached: [],
  })
  expect(filesWith(VALUE)).toEqual([])
})

test("[X-09] anything else in the data folder that holds the value is named", async () => {
  await recordLeak()
  mkdirSync(join(data, "exports"))
  writeFileSync(join(data, "exports", "notes.txt"), `x${"-".repeat(5_000_000)}${VALUE}`)
  const { not_reached } = await json<Report>("redact", "--stored", "--value", VALUE)
  expect(not_reached).toMatchObject([{ what: "file", where: join(data, "exports", "notes.txt") }])
})

test("the value can be given on stdin, so that it is typed nowhere", async () => {
  await recordLeak()
  const args = ["redact", "--stored", "--value", "-", "--json", "--data", data]
  const report = jsonOf<Report>(await orangebox(args, { input: `${VALUE}\n` }))
  expect(report.run_ids).toHaveLength(2)
})

test.each([
  [["redact", "--stored"], "USAGE"],
  [["redact", "--stored", "--all-rules", "--value", "something"], "USAGE"],
  [["redact", "--stored", "--value", "abc"], "USAGE"],
  [["redact", "--stored", "--pattern", "no-such-rule"], "UNKNOWN_RULE"],
  [["redact", "--stored", "--all-rules", "file.txt"], "USAGE"],
  [["redact", "--dry-run"], "USAGE"],
  [["redact", "--stored", "--all-rules"], "NO_DATA"],
])("%j is refused", async (args, code) => {
  const { stderr, exitCode } = await here(...args, "--json")
  expect(exitCode).toBe(2)
  expect(JSON.parse(stderr)).toMatchObject({ error: { code } })
})

const FIRST = "otter-lagoon-quartz-4417"
const SECOND = "badger-meadow-topaz-9926"

/** What is in the packs counts as well, and there it is compressed. */
const packsHolding = (value: string): string[] =>
  readdirSync(join(data, "store/packs"))
    .map((name) => join(data, "store/packs", name))
    .filter((path) => [...scanPack(path)].some((block) => block.includes(value)))

test("[X-09] a second value of an event that was redacted before goes from its tombstones as well", async () => {
  await record(data, async (recorder) => {
    const run = recorder.startRun({ entrypoint: "two", input: `${FIRST} and ${SECOND}` })
    run.log.info(`first ${FIRST}, then ${SECOND}`, { note: `${SECOND} ${FIRST}` })
    run.complete({ output: "done" })
  })
  const copy = join(scratch.path, "copy")
  cpSync(join(data, "journal"), copy, { recursive: true })
  expect(await here("redact", "--stored", "--value", FIRST)).toMatchObject({ exitCode: 0 })
  expect(readFileSync(join(data, "store/tombstones.ndjson"), "utf8")).toContain(SECOND)
  expect(await here("redact", "--stored", "--value", SECOND)).toMatchObject({ exitCode: 0 })
  expect([...filesWith(FIRST), ...filesWith(SECOND), ...packsHolding(FIRST), ...packsHolding(SECOND)]).toEqual([])
  // The journal is read again, into a new database: the last words hold, and both values stay out.
  for (const name of readdirSync(join(data, "store")))
    if (name.startsWith("trace.db")) rmSync(join(data, "store", name))
  rmSync(join(data, "journal"), { recursive: true })
  cpSync(copy, join(data, "journal"), { recursive: true })
  const shown = await here("show", "last", "--json")
  expect(shown.exitCode).toBe(0)
  expect(shown.stdout).not.toMatch(/otter-lagoon|badger-meadow/)
  expect((await json<{ hits: unknown[] }>("search", "badger-meadow")).hits).toEqual([])
})

test("[X-09] also from the tombstones of an event whose run was pruned since", async () => {
  await record(data, async (recorder) => {
    const run = recorder.startRun({ entrypoint: "two", input: "x" })
    run.log.info(`first ${FIRST}, then ${SECOND}`)
    run.complete({ output: "done" })
  })
  await here("redact", "--stored", "--value", FIRST)
  expect(await here("prune", "--max-age", "0s")).toMatchObject({ exitCode: 0 })
  expect(await here("redact", "--stored", "--value", SECOND)).toMatchObject({ exitCode: 0 })
  expect(filesWith(SECOND)).toEqual([])
})

test("[X-09] what cannot be looked into is named, and the exit code says that it is not done", async () => {
  await recordLeak()
  await here("runs")
  writeFileSync(join(data, "outside.txt"), "nothing")
  symlinkSync(join(scratch.path, "elsewhere"), join(data, "a-link"))
  const pack = join(data, "store/packs", "1.pack")
  writeFileSync(pack, "no pack at all", { mode: 0o600 })
  writeFileSync(join(data, "store/tombstones.ndjson"), `{"torn":"${VALUE}\n`, { mode: 0o600 })
  writeFileSync(join(data, "store/left.json"), JSON.stringify({ kept: Buffer.from(VALUE).toString("base64") }))
  const { exitCode, stdout } = await here("redact", "--stored", "--value", VALUE, "--json")
  const report = JSON.parse(stdout) as Report
  expect(exitCode).toBe(1)
  expect(report.not_reached.map(({ where }) => where.slice(data.length + 1)).sort()).toEqual([
    "a-link",
    "store/left.json",
  ])
  expect(readFileSync(join(data, "store/tombstones.ndjson"), "utf8")).not.toContain("walrus")
})
