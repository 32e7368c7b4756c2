import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { Recorder } from "../src/index.js"
import { breachesIn, readFolder, runChild, scratchFolder } from "./recorded-folder.js"

let folder: ReturnType<typeof scratchFolder>
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(() => folder.remove())

describe("recording into a journal", () => {
  test("[R-06] everything is on disk when the call returned, bodies included, without any close", async () => {
    const recorder = Recorder.open({ app: "x", folder: folder.path })
    const run = recorder.startRun({ entrypoint: "e", input: "the question" })
    const step = run.step("open and visible")
    const request = { messages: [{ role: "user", content: "z".repeat(50_000) }] }
    const model = step.startModel({ provider: "p", model: "m", request })
    model.chunk(Buffer.from("first piece"))

    const read = readFolder(folder.path)
    expect(read.events.map((event) => event.event_type)).toEqual([
      "process_started",
      "run_started",
      "step_started",
      "model_called",
    ])
    const called = read.events[3]!
    const requestRef = called.event_type === "model_called" ? called.payload.request_ref : ""
    expect(JSON.parse(Buffer.from(read.bodies.get(requestRef)!).toString())).toEqual(request)
    expect(breachesIn(read)).toEqual([])
    recorder.close()
  })

  test("[R-12] process start and end are recorded, with the reason", async () => {
    const endings: [string, number, string][] = [
      ["exit", 7, "exit"],
      ["return", 0, "exit"],
      ["throw", 1, "uncaught_exception"],
    ]
    for (const [ending, exitCode, reason] of endings) {
      const own = scratchFolder()
      expect((await runChild("agent.mjs", [own.path, ending])).code).toBe(exitCode)
      const read = readFolder(own.path)
      const last = read.events.at(-1)!
      expect(last).toMatchObject({ event_type: "process_exited", payload: { exit_code: exitCode, reason } })
      if (ending === "throw")
        expect(last.payload).toMatchObject({ error_class: "TypeError", error_summary: "uncaught in the agent" })
      expect(read.kinds.at(-1)).toBe("exit")
      expect(breachesIn(read)).toEqual([])
      own.remove()
    }
  })

  test("[R-12] several recorders, workers and processes in one folder never collide", async () => {
    const here = Array.from({ length: 3 }, (_, i) => Recorder.open({ app: `r${i}`, folder: folder.path }))
    for (const recorder of here) recorder.startRun({ entrypoint: "e" }).complete()
    await Promise.all([runChild("worker.mjs", [folder.path]), runChild("worker.mjs", [folder.path])])
    for (const recorder of here) recorder.close()
    const read = readFolder(folder.path)
    expect(read.problems).toEqual([])
    expect(read.events.filter((event) => event.event_type === "log")).toHaveLength(2 * 4 * 500)
    expect(new Set(read.events.map((event) => event.event_id)).size).toBe(read.events.length)
    expect(breachesIn(read)).toEqual([])
  })

  test("[J-02] an agent killed at any moment keeps every acknowledged call, and its runs break no rule but being open", async () => {
    const rounds = Array.from({ length: 24 }, (_, i) => i)
    const killOnce = async (round: number): Promise<void> => {
      const own = scratchFolder()
      const child = spawn(process.execPath, [new URL("children/agent.mjs", import.meta.url).pathname, own.path], {
        stdio: ["ignore", "pipe", "inherit"],
      })
      let acknowledged = ""
      const firstWord = new Promise<void>((resolve) => {
        child.stdout.on("data", (data: Buffer) => {
          acknowledged += data.toString()
          resolve()
        })
      })
      await firstWord
      await new Promise((resolve) => setTimeout(resolve, (round * 7) % 60))
      child.kill("SIGKILL")
      await new Promise((resolve) => child.on("close", resolve))

      const read = readFolder(own.path)
      const whole = acknowledged.slice(0, acknowledged.lastIndexOf("\n")).split("\n")
      const opened = new Set(
        read.events.filter((event) => event.event_type === "model_called").map((event) => event.step_id),
      )
      const ended = new Set(
        read.events.filter((event) => event.event_type === "model_result").map((event) => event.step_id),
      )
      const completed = new Set(
        read.events.filter((event) => event.event_type === "run_completed").map((event) => event.run_id),
      )
      for (const line of whole) {
        const [id, what] = line.split(" ")
        expect((what === "completed" ? completed : what === "ended" ? ended : opened).has(id!), line).toBe(true)
      }
      expect(new Set(read.events.map((event) => event.event_id)).size).toBe(read.events.length)
      expect(read.problems).toEqual([])
      expect(breachesIn(read)).toEqual([])
      own.remove()
    }
    for (let i = 0; i < rounds.length; i += 3) await Promise.all(rounds.slice(i, i + 3).map(killOnce))
  })
})

describe("bad input at open", () => {
  const thrown = (open: () => unknown): string => {
    try {
      open()
    } catch (error) {
      return (error as Error).message
    }
    return "nothing was thrown"
  }
  const open = (options: object) => () => Recorder.open({ cwd: folder.path, ...options } as never)

  test("wrong options are named with value and remedy", () => {
    expect(thrown(open({ app: "x", folderr: "y" }))).toMatch(/no option "folderr".*Options are: app, folder/)
    expect(thrown(open({ app: "x", journal: { fsnc: "never" } }))).toMatch(/journal\.fsnc/)
    expect(thrown(open({ app: "x", profile: "turbo" }))).toMatch(/option profile is "turbo"/)
    expect(thrown(open({ app: "x", now: 3 }))).toMatch(/option now is 3: must be a function/)
    expect(thrown(open({ app: "x", onAny: {} }))).toMatch(/option onAny is \{\}: must be a function/)
    expect(thrown(open({ app: "x", capture: "partial" }))).toMatch(/option capture is "partial"/)
    expect(thrown(open({ app: "x", journal: { fsync: "sometimes" } }))).toMatch(/option journal\.fsync is "sometimes"/)
    expect(thrown(open({ app: "x", audit: "maybe" }))).toMatch(/option audit is "maybe"/)
    expect(thrown(open({ app: 5 }))).toMatch(/option app is 5/)
    expect(thrown(open({}))).toMatch(/option app.*name of its application/)
    expect(thrown(() => Recorder.open(null as never))).toMatch(/options is null/)
  })

  test("[X-01] full capture is for local work; anywhere else it needs a second word, and the refusal says which", () => {
    const full = { app: "x", capture: "full" } as const
    expect(thrown(open({ ...full, environment: "prod" }))).toMatch(/environment is "prod".*allowFull: true/)
    expect(thrown(open({ ...full, environment: "ci" }))).toMatch(/allowFull/)
    for (const options of [
      { ...full, environment: "local" },
      { ...full, environment: "prod", allowFull: true },
    ] as const) {
      const recorder = Recorder.open({ ...options, cwd: folder.path })
      expect(recorder.isRecording).toBe(true)
      recorder.close()
    }
  })

  test("[X-06] a redaction rule that cannot hold is refused at open with its place and the reason", () => {
    const refused = (redaction: object): string => thrown(open({ app: "x", redaction }))
    expect(refused({ values: [{ id: "a", pattern: "(" }] })).toMatch(/redaction\.values\[0\]\.pattern:/)
    expect(refused({ values: [{ id: "a", pattern: "(a+)+$" }] })).toMatch(/values\[0\]\.pattern:\d/)
    expect(refused({ deny: [{ path: "tool_called.args_ref" }], allow: [{ path: "tool_called.args_ref" }] })).toMatch(
      /contradicts the deny/,
    )
  })

  test("[X-14] a configuration file with a mistake is named with file and option, in a warning; under audit: required it is an error", () => {
    const told = (): string => {
      const warnings: string[] = []
      const recorder = Recorder.open({ cwd: folder.path, onWarning: ({ message }) => warnings.push(message) })
      expect(recorder.isRecording).toBe(false)
      return warnings.join("\n")
    }
    writeFileSync(join(folder.path, "orangebox.config.json"), '{ "app": "x", "jurnal": {} }')
    expect(told()).toMatch(/recording is off: there is no option "jurnal".*orangebox\.config\.json/)
    writeFileSync(join(folder.path, "orangebox.config.json"), "{ app: x }")
    expect(told()).toMatch(/not valid JSON.*orangebox\.config\.json/)
    expect(thrown(open({ audit: "required" }))).toMatch(/not valid JSON.*orangebox\.config\.json/)
    writeFileSync(join(folder.path, "orangebox.config.json"), '{ "app": "from-file", "enabled": false }')
    expect(told()).toMatch(/recording is off: the repository's configuration says so/)
  })

  test("a place that cannot be written: one warning, recording off, the program goes on; under audit: required it is an error", async () => {
    const file = join(folder.path, "a-file")
    writeFileSync(file, "")
    const link = join(folder.path, "a-link")
    mkdirSync(join(folder.path, "elsewhere"))
    symlinkSync(join(folder.path, "elsewhere"), link)
    const shared = join(folder.path, "shared")
    mkdirSync(shared)
    chmodSync(shared, 0o777)
    for (const place of [file, link, shared, join(file, "below")]) {
      const warnings: string[] = []
      const recorder = Recorder.open({
        app: "x",
        folder: place,
        onWarning: (warning) => warnings.push(warning.message),
      })
      expect(recorder.isRecording).toBe(false)
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toMatch(/recording is off/)
      expect(warnings[0]).toContain(place)
      await expect(recorder.startRun({ entrypoint: "e" }).tool({ name: "t", args: {} }, () => 1)).resolves.toBe(1)
      expect(thrown(open({ app: "x", folder: place, audit: "required" }))).toContain(place)
    }
  })

  test("without a listener for warnings the warning goes to stderr, once", () => {
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true)
    const file = join(folder.path, "a-file")
    writeFileSync(file, "")
    Recorder.open({ app: "x", folder: file })
    const said = write.mock.calls.map(([text]) => String(text))
    write.mockRestore()
    expect(said).toHaveLength(1)
    expect(said[0]).toMatch(/^orangebox: recording is off/)
  })

  test("the data folder is private and keeps itself out of git", () => {
    const place = join(folder.path, "project", ".orangebox")
    mkdirSync(join(folder.path, "project"))
    Recorder.open({ app: "x", folder: place }).close()
    expect(statSync(place).mode & 0o777).toBe(0o700)
    expect(statSync(join(place, ".gitignore")).isFile()).toBe(true)
  })
})
