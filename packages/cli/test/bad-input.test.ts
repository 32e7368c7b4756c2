import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

interface Sqlite {
  readonly DatabaseSync: new (
    path: string,
  ) => { exec(sql: string): void; prepare(sql: string): { get(...values: string[]): unknown }; close(): void }
}

/** Writes into a store's database behind its back. */
function tamper(database: string, sql: string): void {
  const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite") as Sqlite
  const connection = new DatabaseSync(database)
  connection.exec(sql)
  connection.close()
}

function rootPageOf(database: string, table: string): number {
  const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite") as Sqlite
  const connection = new DatabaseSync(database)
  const row = connection.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table)
  connection.close()
  return (row as { rootpage: number }).rootpage
}

describe("[O-02] what goes wrong is told with what, where and next, and with an exit code", () => {
  let scratch: Scratch
  let good: string
  let runIds: string[]

  beforeAll(async () => {
    scratch = scratchFolder()
    good = join(scratch.path, "good")
    runIds = []
    await record(good, async (recorder) => {
      for (const input of ["count the sheep", "count the goats"]) {
        runIds.push((await recordOrdinaryRun(recorder, input)).runId)
      }
    })
    expect((await orangeboxHere(["collect", "--data", good])).exitCode).toBe(0)
  })
  afterAll(() => scratch.remove())

  /** A copy of the good folder, damaged in one way. */
  function damaged(name: string, damage: (folder: string) => void): string {
    const folder = join(scratch.path, name)
    cpSync(good, folder, { recursive: true })
    damage(folder)
    return folder
  }

  const cases: readonly [name: string, args: () => string[], exitCode: number, message: RegExp][] = [
    ["an unknown command", () => ["shwo"], 2, /unknown command 'shwo'[\s\S]*Did you mean show\?/],
    ["an unknown option", () => ["runs", "--limt", "3"], 2, /unknown option '--limt'[\s\S]*Did you mean --limit\?/],
    ["an option without its value", () => ["runs", "--limit"], 2, /argument missing[\s\S]*orangebox runs --help/],
    ["a value of the wrong kind", () => ["prune", "--max-age", "soon"], 2, /30d/],
    ["a status that does not exist", () => ["runs", "--status", "happy"], 2, /running, completed, failed, crashed/],
    [
      "before and after of a step that sent nothing",
      () => ["step", "last#1", "--before-after", "--data", good],
      2,
      /no prompt both as it was built and as it was sent/,
    ],
    ["too many arguments", () => ["show", "a", "b"], 2, /too many arguments/],
    [
      "no data folder",
      () => ["runs", "--data", join(scratch.path, "nowhere")],
      2,
      /there is no data folder here[\s\S]*orangebox demo/,
    ],
    ["a folder that is no data folder", () => ["runs", "--data", scratch.path], 2, /neither a journal nor a store/],
    ["a file instead of a folder", () => ["runs", "--data", join(good, ".gitignore")], 2, /a file, not a data folder/],
    ["an unknown id", () => ["show", "run_0000000000", "--data", good], 2, /nothing recorded here[\s\S]*Nearest/],
    ["an ambiguous prefix", () => ["show", "run_0", "--data", good], 2, /fits 2 things[\s\S]*run_0/],
    ["something that is no address", () => ["show", "run_!!", "--data", good], 2, /is not the beginning of a run id/],
    ["a step that is not there", () => ["step", "last#99", "--data", good], 2, /no step #99, this run has 5/],
    [
      "a body that is not there",
      () => ["step", "last#4", "--body", "soul", "--data", good],
      2,
      /no body "soul"[\s\S]*args, result/,
    ],
    [
      "a slice behind the end of a body",
      () => ["step", "last#4", "--body", "result", "--from", "14", "--data", good],
      2,
      /--from 14 is behind the end: there are 14 bytes, the last one is 13/,
    ],
    [
      "raw bytes behind the end of a body",
      () => ["step", "last#4", "--body", "result", "--raw", "--from", "99", "--data", good],
      2,
      /--from 99 is behind the end/,
    ],
    ["a cursor from elsewhere", () => ["runs", "--cursor", "x", "--data", good], 2, /cursor/],
    ["half a digest", () => ["verify", "last", "--digest", "sha256:12", "--data", good], 2, /64 hex digits/],
    [
      "a digest without a run",
      () => ["verify", "--digest", `sha256:${"0".repeat(64)}`, "--data", good],
      2,
      /about one run/,
    ],
    ["contrary options", () => ["collect", "--watch", "--status", "--data", good], 2, /exclude each other/],
    ["an unknown shell", () => ["completion", "tcsh"], 2, /bash, zsh, fish/],
    [
      "a store from a newer version",
      () => [
        "runs",
        "--data",
        damaged("newer", (folder) => tamper(join(folder, "store/trace.db"), "PRAGMA user_version = 99")),
      ],
      3,
      /schema 99[\s\S]*Upgrade/,
    ],
    [
      "a folder that others can write to",
      () => ["runs", "--data", damaged("open", (folder) => chmodSync(folder, 0o777))],
      3,
      /can be written by others[\s\S]*chmod/,
    ],
    [
      "a folder that cannot be made",
      () => ["demo", "--data", join(good, ".gitignore/data")],
      3,
      /the folder cannot be/,
    ],
  ]

  test.each(cases)("%s", async (_, args, exitCode, message) => {
    const finished = await orangeboxHere(args())
    expect(finished.stderr).toMatch(message)
    expect(finished.stderr).not.toMatch(/^\s+at /m)
    expect(finished.stdout).toBe("")
    expect(finished.exitCode).toBe(exitCode)
  })

  test.skipIf(process.getuid?.() === 0)(
    "a folder that cannot be written (root can write everywhere, so not as root)",
    async () => {
      const folder = damaged("read-only", (path) => chmodSync(join(path, "store"), 0o500))
      const { stderr, exitCode } = await orangeboxHere(["runs", "--data", folder])
      chmodSync(join(folder, "store"), 0o700)
      expect(stderr).toMatch(/orangebox: .+\n[\s\S]*next/)
      expect(exitCode).toBe(3)
    },
  )

  test("the exit code of the process is the same", async () => {
    expect(await orangebox(["shwo"])).toMatchObject({ exitCode: 2, stdout: "" })
    expect(await orangebox(["runs", "--data", join(scratch.path, "newer")])).toMatchObject({ exitCode: 3, stdout: "" })
  })

  test("with --json an error is one line of JSON on stderr", async () => {
    const { stderr, exitCode } = await orangeboxHere(["show", "run_0", "--data", good, "--json"])
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "AMBIGUOUS_ID", where: null } })
    expect(exitCode).toBe(2)
  })

  test("a corrupt database is put aside and read again from the journals, and verify calls it a finding", async () => {
    const folder = damaged("corrupt", (path) =>
      writeFileSync(join(path, "store/trace.db"), "this is no database, it is a poem"),
    )
    const verified = await orangeboxHere(["verify", "--data", folder])
    expect(verified.stderr).toContain("the database was damaged")
    expect(verified.stdout).toContain("database_damaged")
    expect(verified.exitCode).toBe(1)
    const runs = await orangeboxHere(["runs", "--data", folder])
    for (const runId of runIds) expect(runs.stdout).toContain(runId)
    expect(runs.exitCode).toBe(0)
  })

  test("damage that only reading meets is told as such, and the next command reads the journals into a new database", async () => {
    const folder = damaged("corrupt-inside", (path) => {
      const database = join(path, "store/trace.db")
      const start = (rootPageOf(database, "text_runs") - 1) * 4096
      writeFileSync(database, readFileSync(database).fill(0xff, start, start + 4096))
    })
    const verified = await orangeboxHere(["verify", "--data", folder])
    expect(verified.stderr).toContain("the database is damaged")
    expect(verified.exitCode).toBe(3)
    const again = await orangeboxHere(["verify", "--data", folder])
    expect(again.stdout).toContain("database_damaged")
    for (const runId of runIds) expect(again.stdout).toContain(runId)
    expect(again.exitCode).toBe(1)
  })

  test("[J-06] a journal cut in the middle of a line gives what is whole and no error", async () => {
    const folder = join(scratch.path, "cut")
    mkdirSync(folder, { mode: 0o700 })
    cpSync(join(good, "journal"), join(folder, "journal"), { recursive: true })
    const [journal] = readdirSync(join(folder, "journal")).filter((name) => name.endsWith(".ndjson"))
    const path = join(folder, "journal", journal!)
    truncateSync(path, Math.floor(readFileSync(path).length * 0.7))
    const { stdout, exitCode } = await orangeboxHere(["runs", "--data", folder])
    expect(stdout).toContain(runIds[0])
    expect(exitCode).toBe(0)
  })

  test("an internal error says that it is one, in one line; the stack is for ORANGEBOX_DEBUG", async () => {
    const folder = damaged("dropped", (path) =>
      tamper(join(path, "store/trace.db"), "DROP VIEW runs; DROP TABLE conflict_rows"),
    )
    const quiet = await orangeboxHere(["verify", "last", "--data", folder])
    expect(quiet.exitCode).toBe(3)
    expect(quiet.stderr).toMatch(/conflict_rows/)
    expect(quiet.stderr).not.toMatch(/^\s+at /m)
    const loud = await orangebox(["verify", "last", "--data", folder], { env: { ORANGEBOX_DEBUG: "1" } })
    expect(loud.stderr).toMatch(/^\s+at /m)
  })
})
