import { spawnSync } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { CONFIG_FILE, Recorder } from "@orangebox/recorder"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { orangebox, type Scratch, scratchFolder } from "./command.js"
import { answerMessage, type ModelServer, startModelServer } from "./model-server.js"
import { record, recordOrdinaryRun } from "./recorded-run.js"

let upstream: ModelServer
beforeAll(async () => {
  upstream = await startModelServer((_, response) => answerMessage(response, { text: "all is well" } as never))
})
afterAll(() => upstream.close())

let scratch: Scratch
let data: string
let repository: string
beforeEach(() => {
  scratch = scratchFolder()
  data = join(scratch.path, "data")
  repository = join(scratch.path, "repository")
  mkdirSync(repository)
})
afterEach(() => {
  vi.unstubAllEnvs()
  scratch.remove()
})

const AGENT = `
await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "how is it?" }] }),
}).then((response) => response.text())`

const run = (env: Record<string, string>, ...options: string[]) =>
  orangebox(["run", "--data", data, ...options, "--", process.execPath, "--input-type=module", "-e", AGENT], {
    cwd: repository,
    env: { XDG_CONFIG_HOME: join(scratch.path, "xdg"), ...env },
  })

describe("[X-14] a repository's configuration", () => {
  test("that turns recording off closes the gate that asks for a capture, and is named", async () => {
    writeFileSync(join(repository, CONFIG_FILE), JSON.stringify({ enabled: false }))
    const ended = await run({ ANTHROPIC_BASE_URL: upstream.origin }, "--require-capture")
    expect(ended.exitCode).toBe(1)
    expect(ended.stderr).toContain("NOTHING WAS CAPTURED: recording is off")
    expect(ended.stderr).toContain(join(repository, CONFIG_FILE))
    const plain = await run({ ANTHROPIC_BASE_URL: upstream.origin })
    expect([plain.exitCode, plain.stderr]).toEqual([0, expect.stringContaining("NOTHING WAS CAPTURED")])
  })

  test.each([
    ["no JSON", "{"],
    ["an option that does not exist", '{"nonsense":1}'],
    ["a rule that cannot be used", '{"redaction":{"values":[{"id":"x","pattern":"(a+)+"}]}}'],
    ["nothing but brackets", "[".repeat(200_000)],
  ])("that is invalid (%s) does not throw into an application: recording is off, and that is said", (_, text) => {
    writeFileSync(join(repository, CONFIG_FILE), text)
    const warnings: string[] = []
    const onWarning = ({ message }: Error): void => void warnings.push(message)
    const recorder = Recorder.open({ app: "a", folder: data, cwd: repository, onWarning })
    expect(recorder.isRecording).toBe(false)
    expect(warnings).toEqual([expect.stringContaining("recording is off")])
    expect(warnings[0]).toContain(CONFIG_FILE)
    expect(recorder.startRun({ entrypoint: "e" }).id).toBeTypeOf("string")
    // Whoever relies on the recording has to hear of it.
    expect(() => Recorder.open({ app: "a", folder: data, cwd: repository, audit: "required" })).toThrow(CONFIG_FILE)
  })

  test.each<[string, (path: string) => void]>([
    ["a folder", (path) => mkdirSync(path)],
    ["a link to a device without end", (path) => symlinkSync("/dev/zero", path)],
    ["a pipe that nobody writes to", (path) => void spawnSync("mkfifo", [path])],
    [
      "larger than any configuration",
      (path) => {
        writeFileSync(path, "")
        truncateSync(path, 2 ** 32)
      },
    ],
  ])("that is %s neither throws nor holds anything up", (_, make) => {
    make(join(repository, CONFIG_FILE))
    const warnings: unknown[] = []
    const open = () =>
      Recorder.open({ app: "a", folder: data, cwd: repository, onWarning: (one) => warnings.push(one) })
    expect(open().isRecording).toBe(false)
    expect(warnings).toHaveLength(1)
  })

  test("cannot have journals deleted, nor records throw", () => {
    const config = { app: "a", strict: true, journal: { maxTotalBytes: 65_536, fsync: "never" } }
    writeFileSync(join(repository, CONFIG_FILE), JSON.stringify(config))
    const warnings: string[] = []
    const recorder = Recorder.open({
      folder: data,
      cwd: repository,
      onWarning: ({ message }) => warnings.push(message),
    })
    for (let no = 0; no < 40; no++)
      recorder.startRun({ entrypoint: "e", input: `${no} ${"x".repeat(10_000)}` }).complete()
    recorder.close()
    expect(warnings).toEqual([expect.stringMatching(/journal\.fsync, journal\.maxTotalBytes, strict/)])
    const lines = readdirSync(join(data, "journal")).filter((name) => name.endsWith(".ndjson"))
    const starts = lines.map(
      (name) => readFileSync(join(data, "journal", name), "utf8").split('"run_started"').length - 1,
    )
    expect(starts.reduce((sum, count) => sum + count, 0)).toBe(40)
  })
})

describe("[X-14] credentials and reports", () => {
  test.each([
    ["a login in a base URL", "https://me:hunter2-canary@models.example/v1"],
    ["a password alone", "https://:hunter2-canary@models.example/v1"],
    ["a key in the wrong variable", "hunter2-canary"],
    ["another scheme", "ftp://me:hunter2-canary@models.example"],
  ])("%s is printed by neither run nor doctor, and not recorded", async (_, value) => {
    const ended = await run({ ANTHROPIC_BASE_URL: upstream.origin, OPENAI_BASE_URL: value })
    expect(ended.stdout + ended.stderr).not.toContain("hunter2")
    expect(ended.stderr).toContain("OPENAI_BASE_URL")
    const env = { OPENAI_BASE_URL: value, XDG_CONFIG_HOME: join(scratch.path, "xdg") }
    const doctor = await orangebox(["doctor", "--data", data, "--json"], { cwd: repository, env })
    expect(doctor.stdout + doctor.stderr).not.toContain("hunter2")
    for (const args of [
      ["--variable", value],
      ["--variable", `X=${value}`],
    ]) {
      const wrong = await orangebox(["run", "--data", data, ...args, "--", "true"], { cwd: repository, env })
      expect(wrong.stdout + wrong.stderr).not.toContain("hunter2")
    }
    for (const name of readdirSync(join(data, "journal"))) {
      expect(readFileSync(join(data, "journal", name), "latin1")).not.toContain("hunter2")
    }
  })

  test("an error of fetch that quotes a URL is searched before it is stored", async () => {
    await record(data, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "e" })
      for (const url of [
        "https://me:hunter2-canary@127.0.0.1:1/v1/messages",
        "http://127.0.0.1:1/v1/messages?api_key=hunter2-canary-4711",
        "http://me:hunter2-canary@[bad/v1",
      ]) {
        const step = run.step("call")
        const error = await step.fetch(url, { method: "POST", body: "{}" }).catch((one: unknown) => one)
        step.log.error("the call failed", { err: error })
        step.end({ error } as never)
        await recorder.fetch(url, { method: "POST", body: "{}" }).catch(() => {})
      }
      run.fail(
        new TypeError("Failed to parse URL from https://me:hunter2-canary@models.example/v1?token=hunter2-canary"),
      )
    })
    for (const name of readdirSync(join(data, "journal"))) {
      expect(readFileSync(join(data, "journal", name), "latin1")).not.toContain("hunter2")
    }
  })

  test("reports are for their owner alone; a file that is there keeps its mode", async () => {
    await record(data, async (recorder) => void (await recordOrdinaryRun(recorder)))
    const [junit, sarif, html] = ["junit.xml", "check.sarif", "report.html"].map((name) => join(scratch.path, name))
    writeFileSync(sarif!, "", { mode: 0o644 })
    const before = process.umask(0o022)
    try {
      const rule = ["--rule", "commands.deny rm", "--data", data]
      await orangebox(["check", "last", "--junit", junit!, "--sarif", sarif!, ...rule])
      await orangebox(["report", "last", "--html", html!, "--data", data])
    } finally {
      process.umask(before)
    }
    expect([junit, sarif, html].map((path) => existsSync(path!) && (statSync(path!).mode & 0o777).toString(8))).toEqual(
      ["600", "644", "600"],
    )
  })
})
