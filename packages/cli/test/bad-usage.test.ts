import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { newSigningKey } from "@orangebox/reader"
import { Command, type Option } from "commander"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { COMMANDS } from "../src/commands.js"
import type { Session } from "../src/session.js"
import { type Finished, orangebox, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

const SIGNING_KEY = join(tmpdir(), `orangebox-${process.pid}-usage.pem`)
writeFileSync(SIGNING_KEY, newSigningKey().privatePem, { mode: 0o600 })
afterAll(() => rmSync(SIGNING_KEY))

/** How each command is called when nothing is wrong; a new command has to be added here. */
const CALLS: Readonly<Record<string, readonly string[]>> = {
  demo: [],
  run: ["--", "true"],
  proxy: [],
  doctor: [],
  runs: [],
  show: ["last"],
  step: ["last#3"],
  context: ["last"],
  cache: ["last"],
  diagnose: ["last"],
  handoff: ["last"],
  search: ["sheep"],
  diff: ["last~1", "last"],
  stats: [],
  sql: ["SELECT 1"],
  decisions: ["last"],
  check: ["last", "--rule", "steps.max 99"],
  slo: [],
  report: ["last"],
  findings: ["last"],
  override: ["last", "--verdict", "pass", "--reason", "seen"],
  replay: ["last"],
  keep: ["last", "kept.obxrun"],
  fork: ["last#3"],
  export: ["last", "--output", "-"],
  verify: ["last"],
  sign: ["last", "--key", SIGNING_KEY],
  snapshot: ["last"],
  mcp: [],
  ui: ["last", "--no-open"],
  serve: [],
  collect: [],
  store: ["migrate"],
  hosts: [],
  backup: ["copy"],
  restore: ["copy"],
  redact: [],
  prune: ["--max-age", "3000d"],
  import: ["run.obxrun"],
  trust: ["--list"],
  completion: ["bash"],
}
const NAMES = COMMANDS.filter(({ isHidden }) => !isHidden).map(({ name }) => name)
const OF_RUNS = COMMANDS.filter(({ takesRun }) => takesRun).map(({ name }) => name)
/** What waits for connections, or starts programs, is never let so far. */
const STARTING = new Set(["demo", "run", "proxy", "doctor", "mcp", "ui", "serve"])

const SECRET = `ghp_${"7Qk2Vx9LmT4wRz8NcB6pYd3HsJ1fGa5Ue0Xo"}`
const WORD = "hunter2correcthorse"

describe("[D4] whatever is wrong with a command line is told once, in words, with a next step", () => {
  let scratch: Scratch
  let data: string
  let bodyHash = ""
  beforeAll(async () => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
    await record(data, async (recorder) => {
      await recordOrdinaryRun(recorder, "count the goats")
      await recordOrdinaryRun(recorder)
    })
    const read = await orangeboxHere(["step", "last#3", "--body", "request", "--json", "--data", data])
    bodyHash = (JSON.parse(read.stdout) as { hash: string }).hash
    mkdirSync(join(scratch.path, "folder"))
    writeFileSync(join(scratch.path, "empty"), "")
    writeFileSync(join(scratch.path, "binary"), Buffer.from(Array.from({ length: 2_000 }, (_, i) => (i * 37) % 256)))
    writeFileSync(join(scratch.path, "note"), `password = ${SECRET}\n${WORD}\n`)
    writeFileSync(join(scratch.path, "note.json"), `{ "password": "${SECRET}", ${WORD} }`)
    writeFileSync(join(scratch.path, "unreadable"), "x", { mode: 0o000 })
  })
  afterAll(() => scratch.remove())

  /** One failure: what happened and what to do, and none of what only we or the system understand, nor what stood in a file. */
  function expectHelp({ stdout, stderr, exitCode }: Finished, exitCodes: readonly number[] = [2, 3]): void {
    expect(exitCodes, stderr).toContain(exitCode)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(stderr).not.toMatch(/\bE(?:NOENT|ISDIR|NOTDIR|ACCES|PERM|EXIST|INVAL|ROFS|LOOP)\b/)
    expect(stderr).not.toMatch(/internal error|undefined|\[object/)
    expect(stdout + stderr).not.toContain(SECRET)
    expect(stdout + stderr).not.toContain(WORD)
    if (exitCode !== 2 && exitCode !== 3) return
    expect(stderr.match(/^ {2}next {2}\S/gm), stderr).toHaveLength(1)
    const [what] = /^orangebox: .*$/m.exec(stderr) ?? []
    expect(what, stderr).toBeDefined()
    expect(stderr.split(what!.slice("orangebox: ".length))).toHaveLength(2)
  }

  const call = (name: string, ...more: readonly string[]): Promise<Finished> => {
    const [before, after] = splitAt(CALLS[name]!)
    return orangeboxHere([name, ...before, ...more, "--data", data, ...after])
  }
  /** Options stand before `--`. */
  function splitAt(args: readonly string[]): [readonly string[], readonly string[]] {
    const at = args.indexOf("--")
    return at === -1 ? [args, []] : [args.slice(0, at), args.slice(at)]
  }

  async function optionsOf(name: string): Promise<readonly Option[]> {
    const command = new Command(name)
    const { define } = await COMMANDS.find((entry) => entry.name === name)!.load()
    define(command, { terminal: undefined, exitCode: 0 } as unknown as Session)
    return command.options
  }
  const takes = (option: Option, ...values: readonly string[]): boolean =>
    values.some((value) => option.flags.includes(`<${value}>`))

  test("every command is in the table", () => {
    expect(Object.keys(CALLS).sort()).toEqual([...NAMES].sort())
  })

  test.each(NAMES)("%s with an option that it has not", async (name) => {
    expectHelp(await call(name, "--nosuch"), [2])
  })

  test.each(NAMES)("%s without arguments does its work or says what is missing", async (name) => {
    // These start programs, read stdin, or write a file beside whoever calls them.
    if (STARTING.has(name) || name === "redact" || name === "export") return
    expectHelp(await orangeboxHere([name, "--data", data]), [0, 1, 2])
  })

  test.each(NAMES)("%s with numbers, times and sizes that are none", async (name) => {
    for (const option of await optionsOf(name)) {
      if (!takes(option, "n", "tokens", "time", "size", "byte", "ms")) continue
      for (const value of ["ten", "-1", "1e99", ""]) expectHelp(await call(name, option.long!, value), [2])
      if (takes(option, "tokens")) {
        const tooFew = await call(name, option.long!, "10")
        expectHelp(tooFew, [2])
        expect(tooFew.stderr).toMatch(/at least \d+ tokens/)
      }
    }
  })

  test.each(OF_RUNS)("%s with ids that are misspelt, of another kind, or not there", async (name) => {
    const [, ...rest] = CALLS[name]!
    const withId = (id: string) => orangeboxHere([name, id, ...rest, "--data", data])
    for (const id of ["lst", "lats", "lst#3", "Last"]) {
      const misspelt = await withId(id)
      expectHelp(misspelt, [2])
      expect(misspelt.stderr).toContain(`Did you mean "${id.replace(/^[a-z]+/i, "last")}"?`)
    }
    for (const id of [
      "run_0000000000",
      "run_!!",
      "last#999",
      "last~99",
      "sha256:0000",
      "",
      " ",
      "#",
      "last#0",
      "./nosuch",
    ])
      expectHelp(await withId(id), [2])
    if (STARTING.has(name)) return
    for (const id of [bodyHash, "conv-sheep", "toolu_sheep"]) expectHelp(await withId(id), [0, 1, 2])
  })

  test.each(NAMES)("%s with files that are folders, missing, empty, binary or something else", async (name) => {
    for (const option of await optionsOf(name)) {
      if (!takes(option, "file")) continue
      const isWritten = /junit|sarif|html|output|certificate|accept/.test(option.long!)
      const files = isWritten
        ? ["folder", "nosuch/x", "empty/x"]
        : ["folder", "nosuch", "empty", "binary", "note", "note.json"]
      for (const file of files) expectHelp(await call(name, option.long!, join(scratch.path, file)), [2])
    }
  })

  test.each(["show", "verify", "export", "diff", "redact"])("%s of files that hold no run", async (name) => {
    for (const file of ["folder", "nosuch", "empty", "binary", "note"]) {
      const codes = name === "redact" && !["folder", "nosuch"].includes(file) ? [0] : [2]
      const finished = await orangeboxHere([name, join(scratch.path, file), "--data", data])
      if (codes[0] === 2) expectHelp(finished, codes)
      else expect(finished.exitCode).toBe(0)
    }
  })

  test.skipIf(process.getuid?.() === 0)("files nobody may read (root may, so not as root)", async () => {
    const file = join(scratch.path, "unreadable")
    for (const args of [
      ["check", "last", "--rules", file],
      ["show", file],
      ["redact", file],
    ])
      expectHelp(await orangeboxHere([...args, "--data", data]))
  })

  test.each(NAMES.filter((name) => !["completion", "trust", "redact"].includes(name)))(
    "%s with a data folder that is a file, or cannot be made",
    async (name) => {
      const [before, after] = splitAt(CALLS[name]!)
      for (const folder of ["empty", "empty/data"]) {
        const finished = await orangeboxHere([name, ...before, "--data", join(scratch.path, folder), ...after])
        expectHelp(finished, name === "doctor" ? [1, 2, 3] : [2, 3])
      }
    },
  )

  test.each(NAMES)("%s beside a configuration that cannot be used", async (name) => {
    const folder = join(scratch.path, `configured-${name}`)
    cpSync(data, join(folder, ".orangebox"), { recursive: true })
    const env = { HOME: folder, XDG_CONFIG_HOME: join(folder, "config") }
    for (const config of [`{ "password": "${SECRET}", ${WORD}`, '{ "captrue": "full" }']) {
      writeFileSync(join(folder, "orangebox.config.json"), config)
      const finished = await orangebox([name, ...CALLS[name]!], { cwd: folder, env })
      // A shell that starts here asks for its completion, whatever else is wrong.
      if (name === "completion") expect(finished.exitCode).toBe(0)
      else if (name === "doctor") expect(finished.stdout).toContain("FAIL  configuration")
      else {
        expectHelp(finished, [2])
        expect(finished.stderr).toContain("orangebox.config.json")
        expect(finished.stdout).toBe("")
      }
    }
  })

  test.skipIf(process.getuid?.() === 0)("a folder that can only be read (root can write everywhere)", async () => {
    const folder = join(scratch.path, "read-only")
    cpSync(data, folder, { recursive: true })
    for (const path of [folder, join(folder, "store"), join(folder, "journal")]) chmodSync(path, 0o500)
    for (const name of NAMES.filter((one) => !STARTING.has(one))) {
      expectHelp(await orangeboxHere([name, ...CALLS[name]!, "--data", folder]), [0, 1, 2, 3])
    }
    for (const path of [folder, join(folder, "store"), join(folder, "journal")]) chmodSync(path, 0o700)
  })

  test("a file of secrets that is taken for rules is told by its place and not by its text", async () => {
    const { stderr } = await orangeboxHere(["check", "last", "--rules", join(scratch.path, "note"), "--data", data])
    expect(stderr).toMatch(/rule 1 of the file cannot be used: there is no rule of that name/)
    const typed = await orangeboxHere(["check", "last", "--rule", `password ${SECRET}`, "--data", data])
    expectHelp(typed, [2])
  })

  test("help is a command too", async () => {
    const [asked, option] = [await orangeboxHere(["help", "show"]), await orangeboxHere(["show", "--help"])]
    expect(asked).toEqual(option)
    expect((await orangeboxHere(["help"])).stdout).toContain("orangebox demo")
    const unknown = await orangeboxHere(["help", "shwo"])
    expectHelp(unknown, [2])
    expect(unknown.stderr).toContain("Did you mean show?")
  })

  test.each([
    ["SELEC 1", /syntax error[^\n]*\n\s+next +Did you mean SELECT\?/],
    ["SELCT * FROM runs", /syntax error[^\n]*\n\s+next +Did you mean SELECT\?/],
    ["SELECT FROM WHERE", /syntax error/],
    ["FOO", /syntax error/],
    ["DELETE FROM runs", /only reading statements are allowed, not DELETE/],
    ["", /./],
  ])("sql %j", async (query, words) => {
    const finished = await orangebox(["sql", query, "--data", data])
    expectHelp(finished, [2])
    expect(finished.stderr).toMatch(words)
  })
})
