import { join } from "node:path"
import { estimateTokens } from "@orangebox/text"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record } from "./recorded-run.js"

interface Message {
  readonly role: string
  readonly content: readonly object[]
}

const text = (said: string, isMarked = false): object => ({
  type: "text",
  text: said,
  ...(isMarked ? { cache_control: { type: "ephemeral" } } : {}),
})
const SCHEMA = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
const OTHER_ORDER = { required: ["path"], properties: { path: { type: "string" } }, type: "object" }
const HISTORY: readonly Message[] = [
  { role: "user", content: [text("Fix the failing date test")] },
  { role: "assistant", content: [text("Let me look.")] },
  { role: "user", content: [text("Go on.")] },
]

interface Prompt {
  readonly system?: readonly object[]
  readonly schema?: object
  readonly messages?: readonly Message[]
}

const requestOf = ({ system = [text("You fix bugs.", true)], schema = SCHEMA, messages = HISTORY }: Prompt) => ({
  model: "claude-x",
  max_tokens: 512,
  tools: [{ name: "read_file", description: "Read a file", input_schema: schema }],
  system,
  messages,
})

/** A run that asks a model once for each prompt; the cache is read only by the first of them. */
async function recordCalls(folder: string, ...prompts: readonly Prompt[]): Promise<string> {
  let runId = ""
  await record(folder, async (recorder) => {
    const run = recorder.startRun({ entrypoint: "fix", input: "Fix the failing date test", conversationId: "conv-fix" })
    runId = run.runId
    for (const [index, prompt] of prompts.entries()) {
      await run.model(
        {
          provider: "anthropic",
          model: "claude-x",
          request: requestOf(prompt),
          describe: () => ({ usage: { prompt: 12_000, completion: 9, cache_read: index === 0 ? 11_900 : 0 } }),
        },
        () => ({
          type: "message",
          role: "assistant",
          model: "claude-x",
          content: [text("ok")],
          stop_reason: "end_turn",
        }),
      )
    }
    run.complete({ output: "done" })
  })
  return runId
}

describe("[Q-09] orangebox diff of two steps or two bodies", () => {
  let scratch: Scratch
  let data: string
  beforeAll(() => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
  })
  afterAll(() => scratch.remove())
  const diff = (...args: string[]) => orangeboxHere(["diff", ...args, "--data", data])
  const hashesOf = async (runId: string, ...steps: readonly number[]): Promise<string[]> => {
    const hashes: string[] = []
    for (const n of steps)
      hashes.push(
        jsonOf<{ hash: string }>(
          await orangeboxHere(["step", `${runId}#${n}`, "--body", "request", "--json", "--data", data]),
        ).hash,
      )
    return hashes
  }

  test("two steps of one run that sent the same bytes are the same, and their runs are not looked at", async () => {
    const runId = await recordCalls(data, {}, {}, { system: [text("Other.")] })
    const { stdout, exitCode } = await diff(`${runId}#2`, `${runId}#3`)
    expect(stdout).toMatch(/^diff steps: the same, byte for byte$/m)
    expect(stdout).toMatch(/^request: the same \d+ bytes sha256:[0-9a-f]{10}$/m)
    expect(exitCode).toBe(0)
    expect((await diff(`${runId}#2`, `${runId}#4`)).exitCode).toBe(1)
  })

  test("steps of two runs are compared where they are named, not where they align", async () => {
    const a = await recordCalls(data, {}, { messages: HISTORY.slice(0, 1) })
    const b = await recordCalls(data, { messages: HISTORY.slice(0, 1) })
    expect((await diff(`${a}#3`, `${b}#2`)).stdout).toContain("the same, byte for byte")
    expect((await diff(`${a}#2`, `${b}#2`)).stdout).toMatch(/^diff steps: different$/m)
  })

  test("[H-03] a time in the prompt is named with its byte, its place and both values", async () => {
    const at = (time: string) => ({ system: [text(`You fix bugs. It is now ${time}.`, true)] })
    const runId = await recordCalls(data, at("09:41:07"), at("09:43:12"))
    const { stdout, exitCode } = await diff(`${runId}#2`, `${runId}#3`)
    expect(stdout).toMatch(/^request: .* from byte \d+ in \/system\/0\/text$/m)
    expect(stdout).toMatch(/\/system\/0\/text: .*41.*43/)
    expect(exitCode).toBe(1)
  })

  test("another key order is the same value in other bytes; --exact counts it, and says every place", async () => {
    const runId = await recordCalls(data, {}, { schema: OTHER_ORDER })
    for (const args of [[`${runId}#2`, `${runId}#3`], await hashesOf(runId, 2, 3)]) {
      const { stdout, exitCode } = await diff(...args)
      expect(stdout).toContain("the same value in other bytes")
      expect(stdout).toContain(
        'key order /tools/0/input_schema: "type,properties,required" -> "required,properties,type"',
      )
      expect(exitCode).toBe(0)
      expect((await diff(...args, "--exact")).exitCode).toBe(1)
    }
  })

  test("a cache mark that moved is told with both places, and no text is called different", async () => {
    const marked = (at: number) => ({
      system: [text("You fix bugs.")],
      messages: HISTORY.map(({ role, content }, index) => ({
        role,
        content: index === at ? content.map((part) => ({ ...part, cache_control: { type: "ephemeral" } })) : content,
      })),
    })
    const runId = await recordCalls(data, marked(0), marked(2))
    const { stdout, exitCode } = await diff(`${runId}#2`, `${runId}#3`)
    expect(stdout).toMatch(/cache marks: \/messages\/0\/content\/0 -> \/messages\/2\/content\/0$/m)
    expect(stdout).toContain("the same value in other bytes")
    expect(exitCode).toBe(0)
    const found = jsonOf<{ bodies: { role: string; changes: unknown[]; marks: unknown }[] }>(
      await diff(`${runId}#2`, `${runId}#3`, "--json"),
    )
    expect(found.bodies.find(({ role }) => role === "request")).toMatchObject({
      changes: [],
      marks: {
        a: [{ ptr: "/messages/0/content/0", mark: '{"type":"ephemeral"}' }],
        b: [{ ptr: "/messages/2/content/0", mark: '{"type":"ephemeral"}' }],
      },
    })
  })

  test("two bodies by their hashes are compared and nothing else, whatever runs they stand in", async () => {
    const runId = await recordCalls(data, {}, { system: [text("You fix typos.", true)] })
    const [a, b] = await hashesOf(runId, 2, 3)
    const { stdout, exitCode } = await diff(a!.slice(0, 22), b!)
    expect(stdout).toMatch(/^diff bodies: different$/m)
    expect(stdout).toMatch(/\/system\/0\/text: "You fix bugs\." -> "You fix typos\."/)
    expect(exitCode).toBe(1)
    expect((await diff(a!, a!)).stdout).toContain("the same, byte for byte")
  })

  test("what cannot be compared is refused with what can", async () => {
    const runId = await recordCalls(data, {})
    const [hash] = await hashesOf(runId, 2)
    for (const args of [[`${runId}#2`], [hash!, `${runId}#2`], [runId, hash!]]) {
      const { stderr, stdout, exitCode } = await diff(...args)
      expect(stderr).toMatch(/the first is a \w+ and the second a \w+\n\s+next +Compare two runs, two steps/)
      expect(stdout).toBe("")
      expect(exitCode).toBe(2)
    }
    expect((await diff(`${runId}#2`, `${runId}#2`, "--columns")).stderr).toContain("--columns is about two runs")
    expect((await diff(runId, runId, "--exact")).stderr).toContain("--exact is about two steps or two bodies")
    expect((await diff(`${runId}#2`, `${runId}#2`, "--body", "soul")).stderr).toMatch(/There is: .*request/)
  })

  test("the text stays within its budget and ends with a command that reads the differing bytes", async () => {
    const many = (word: string) => ({
      messages: Array.from({ length: 60 }, (_, i) => ({
        role: "user",
        content: [text(`${word} ${i} ${"x ".repeat(40)}`)],
      })),
    })
    const runId = await recordCalls(data, many("one"), many("two"))
    const { stdout } = await diff(`${runId}#2`, `${runId}#3`, "--budget", "300")
    expect(estimateTokens(stdout)).toBeLessThanOrEqual(300)
    const command = /next: orangebox (.*)$/m.exec(stdout)![1]!.split(" ")
    const read = await orangeboxHere(command)
    expect(read.stdout).toContain("two 0")
  })
})
