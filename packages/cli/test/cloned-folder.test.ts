import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { Recorder } from "@orangebox/recorder"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

const isRoot = process.getuid?.() === 0

let scratch: Scratch
let data: string
let outside: string

beforeEach(async () => {
  scratch = scratchFolder()
  data = join(scratch.path, ".orangebox")
  outside = join(scratch.path, "outside")
  mkdirSync(outside, { mode: 0o700 })
})
afterEach(() => scratch.remove())

const here = (...args: string[]) => orangeboxHere([...args, "--data", data])

const recordRun = (input: string): Promise<void> =>
  record(data, async (recorder) => void (await recordOrdinaryRun(recorder, input)))

/** A data folder with everything in it: journals not yet collected beside a store with packs and tombstones. */
async function recordedFolder(): Promise<void> {
  await recordRun("count the goats of lake Sevan")
  await here("runs")
  await here("redact", "--stored", "--value", "lake Sevan")
  await recordRun(`more ${"goats ".repeat(4000)}`)
}

/** Names, types and bytes of everything below a folder. */
function contentsOf(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, entry.isFile() ? createHash("sha256").update(readFileSync(path)).digest("hex") : "folder"]
    }),
  )
}

const firstIn = (folder: string, pattern: RegExp): string =>
  join(folder, readdirSync(join(data, folder)).find((name) => pattern.test(name))!)

const FILES: Record<string, () => string> = {
  "the database": () => "store/trace.db",
  "its log": () => "store/trace.db-wal",
  "the log's index": () => "store/trace.db-shm",
  "its rollback journal": () => "store/trace.db-journal",
  "the lock": () => "store/lock.db",
  "the name of its holder": () => "store/lock.json",
  "the tombstones": () => "store/tombstones.ndjson",
  "the mark of damage": () => "store/damaged",
  "the folder of packs": () => "store/packs",
  "a pack": () => firstIn("store/packs", /\.pack$/),
  "a journal": () => firstIn("journal", /\.ndjson$/),
  "bodies beside a journal": () => firstIn("journal", /\.bodies$/),
  "the reserve of a journal": () => firstIn("journal", /\.ndjson$/).replace(/\.\d+\.ndjson$/, ".reserve"),
  "the spool": () => "spool",
  "the control folder": () => "control",
  "the folder of snapshots": () => "snapshots",
  "the key": () => "store.key",
}

describe("[S-09] a data folder that came with a clone", () => {
  test.each(Object.keys(FILES))(
    "%s is a link to elsewhere: nothing elsewhere is changed, nor read as ours",
    async (name) => {
      await recordedFolder()
      const file = FILES[name]!()
      const isFolder = existsSync(join(data, file))
        ? statSync(join(data, file)).isDirectory()
        : !/\./.test(file.slice(6))
      const target = join(outside, "strangers")
      if (existsSync(join(data, file))) renameSync(join(data, file), target)
      else if (isFolder) mkdirSync(target, { mode: 0o700 })
      else writeFileSync(target, "", { mode: 0o600 })
      symlinkSync(target, join(data, file))
      const before = contentsOf(outside)
      for (const args of [
        ["runs"],
        ["show", "last"],
        ["verify"],
        ["collect", "--status"],
        ["prune", "--max-age", "0s"],
        ["redact", "--stored", "--value", "something else"],
        ["snapshot", "last"],
        ["doctor"],
      ]) {
        const { stderr } = await here(...args)
        expect(stderr).not.toMatch(/^\s+at .*\(/m)
      }
      await recordRun("one more")
      expect(contentsOf(outside)).toEqual(before)
      rmSync(join(data, file), { force: true })
    },
  )

  test("a database of a stranger's is refused by name, with what to do", async () => {
    await recordedFolder()
    renameSync(join(data, "store/trace.db"), join(outside, "strangers.db"))
    symlinkSync(join(outside, "strangers.db"), join(data, "store/trace.db"))
    const { exitCode, stderr } = await here("runs")
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("a file of the data folder is a symbolic link")])
    expect(stderr).toContain("store/trace.db")
  })

  test("a database that has a second name elsewhere is refused as well", async () => {
    await recordedFolder()
    renameSync(join(data, "store/trace.db"), join(outside, "strangers.db"))
    linkSync(join(outside, "strangers.db"), join(data, "store/trace.db"))
    const { exitCode, stderr } = await here("runs")
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("has 2 names (hard links)")])
  })

  test("a journal whose events are nested a hundred thousand deep is read to its end, and says which lines it is not", async () => {
    await recordedFolder()
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`
    const journal = join(data, FILES["a journal"]!())
    const event = readFileSync(journal, "utf8")
      .split("\n")
      .find((line) => line.includes('"run_started"'))!
    const lines = [
      `"k":"event","e":${deep}}`,
      event.slice(event.indexOf('"k":')).replace('"payload":{', `"payload":{"more":${deep},`),
      `"k":${deep}}`,
    ].map((text) => `{"crc":"${crc32(Buffer.from(text)).toString(16).padStart(8, "0")}",${text}\n`)
    writeFileSync(journal, lines.join(""), { flag: "a" })
    const { exitCode, stderr } = await orangebox(["runs", "--data", data])
    expect([exitCode, stderr]).toEqual([0, ""])
    const status = await here("collect", "--status")
    expect(status.stdout).toMatch(/nested deeper than 500 levels/)
  })

  test("a pipe in the place of a file keeps nobody waiting", async () => {
    await recordedFolder()
    for (const file of [FILES["a journal"]!(), "store/tombstones.ndjson", "store/lock.json", "store.key"]) {
      renameSync(join(data, file), join(outside, file.replaceAll("/", "-")))
      spawnSync("mkfifo", [join(data, file)])
    }
    expect(await orangebox(["runs", "--data", data])).toMatchObject({ exitCode: 0 })
    expect(await orangebox(["prune", "--max-age", "0s", "--data", data])).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("is no file"),
    })
  })

  test("files that others can write to are refused, those they can read are closed to them when they are written", async () => {
    await recordedFolder()
    chmodSync(join(data, "store/trace.db"), 0o666)
    expect(await here("runs")).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("chmod go-w") })
    chmodSync(join(data, "store/trace.db"), 0o644)
    expect(await here("runs")).toMatchObject({ exitCode: 0 })
    expect(statSync(join(data, "store/trace.db")).mode & 0o777).toBe(0o600)
  })

  test.skipIf(!isRoot)(
    "files of another user are refused (skipped without root, who alone can give one away)",
    async () => {
      await recordedFolder()
      for (const file of ["store/trace.db", "store/lock.db"]) {
        chownSync(join(data, file), 12_345, 12_345)
        expect(await here("runs")).toMatchObject({
          exitCode: 3,
          stderr: expect.stringContaining("belongs to user 12345"),
        })
        chownSync(join(data, file), 0, 0)
      }
      const journal = join(data, FILES["a journal"]!())
      chownSync(journal, 12_345, 12_345)
      expect(await here("runs")).toMatchObject({ stderr: expect.stringContaining("belongs to user 12345") })
      chownSync(journal, 0, 0)
    },
  )
})

describe("[S-09] a store's key", () => {
  const SECRET = `sk-ant-api03-${createHash("sha512").update("a canary").digest("base64url").repeat(2).slice(0, 93)}AA`
  const tagOf = (): string => {
    const [file] = readdirSync(join(data, "journal"))
      .filter((name) => name.endsWith(".ndjson"))
      .slice(-1)
    return /"tag":"[^"]*"/.exec(readFileSync(join(data, "journal", file!), "utf8"))![0]
  }
  const recordSecret = (warnings: string[]): void => {
    const onWarning = ({ message }: Error): void => void warnings.push(message)
    const recorder = Recorder.open({ app: "a", folder: data, onWarning })
    expect(recorder.isRecording).toBe(true)
    recorder.startRun({ entrypoint: "e", input: `the key is ${SECRET}` }).complete()
    recorder.close()
  }

  test("that came with a clone keys nothing: recording goes on under another, and says so", async () => {
    mkdirSync(data, { mode: 0o700 })
    // What git writes under the umask of a careful user: owner and mode say nothing.
    writeFileSync(join(data, "store.key"), Buffer.alloc(64, 7), { mode: 0o600 })
    const warnings: string[] = []
    recordSecret(warnings)
    expect(warnings).toEqual([expect.stringContaining("was not made by you")])
    expect(warnings[0]).toContain("orangebox trust --key")
    const first = tagOf()
    recordSecret(warnings)
    expect(tagOf()).not.toBe(first)
    // The secret part of the proxy's address would be known to whoever knows the key.
    const proxy = await orangebox(["proxy", "--data", data], { stopAfter: /http:/ })
    expect(proxy).toMatchObject({ exitCode: 3, stdout: "", stderr: expect.stringContaining("was not made by you") })
  })

  test("that the user agrees to is used from then on; one of the user's own needs no word", async () => {
    mkdirSync(data, { mode: 0o700 })
    mkdirSync(join(data, "journal"), { mode: 0o700 })
    writeFileSync(join(data, "store.key"), Buffer.alloc(32, 7), { mode: 0o600 })
    expect(await here("trust", "--key")).toMatchObject({ exitCode: 1 })
    expect(await here("trust", "--key", "--yes")).toMatchObject({ exitCode: 0 })
    expect(readFileSync(join(data, "store.key")).subarray(0, 32)).toEqual(Buffer.alloc(32, 7))
    const warnings: string[] = []
    recordSecret(warnings)
    const first = tagOf()
    recordSecret(warnings)
    expect([tagOf(), warnings]).toEqual([first, []])
    expect((await here("trust", "--key")).stdout).toContain("already")
  })

  test("that others can read is refused", () => {
    mkdirSync(data, { mode: 0o700 })
    writeFileSync(join(data, "store.key"), Buffer.alloc(32, 7), { mode: 0o644 })
    const warnings: string[] = []
    recordSecret(warnings)
    expect(warnings).toEqual([expect.stringContaining("can be read by others")])
  })
})
