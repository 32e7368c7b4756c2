import { join } from "node:path"
import { estimateTokens } from "@orangebox/text"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { recordEnding } from "./ending-agent.js"
import { startModelServer } from "./model-server.js"
import { record } from "./recorded-run.js"

const PARAGRAPH = "You are a careful engineer who fixes one bug at a time and never touches unrelated files. "

interface Turn {
  readonly clock?: string
  readonly swapped?: boolean
  readonly markAt?: number
}

/** One call of an agent with a long prompt. Whatever differs between two calls differs here alone. */
function requestOf({ clock = "09:41:07", swapped = false, markAt = 0 }: Turn): object {
  const schema = { type: "object", properties: { path: { type: "string" } } }
  const input_schema = swapped ? { properties: schema.properties, type: schema.type } : schema
  const messages = Array.from({ length: 3 }, (_, i) => ({
    role: i === 1 ? "assistant" : "user",
    content: [{ type: "text", text: `part ${i}`, ...(i === markAt ? { cache_control: { type: "ephemeral" } } : {}) }],
  }))
  return {
    model: "claude-x",
    max_tokens: 64,
    tools: [{ name: "read_file", input_schema }],
    system: [{ type: "text", text: `${PARAGRAPH.repeat(20)}The time is ${clock}.` }],
    messages,
  }
}

describe("[Q-09] a story is told in three commands and 1,000 tokens, from nothing but an id", () => {
  let scratch: Scratch
  let data: string
  beforeAll(() => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
  })
  afterAll(() => scratch.remove())

  /** What the commands print, and that they are few and thin. */
  async function told(story: string, ...commands: readonly (readonly string[])[]): Promise<string> {
    const said: string[] = []
    for (const command of commands) said.push((await orangeboxHere([...command, "--data", data])).stdout)
    const tokens = said.reduce((sum, text) => sum + estimateTokens(text), 0)
    console.log(`${story}: ${commands.map(([name]) => name).join(", ")}: ${tokens} tokens`)
    expect(commands.length).toBeLessThanOrEqual(3)
    expect(tokens).toBeLessThanOrEqual(1_000)
    return said.join("\n")
  }

  async function recordCalls(...turns: readonly Turn[]): Promise<string> {
    let runId = ""
    await record(data, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "fix-issue", input: "Fix the failing date test" })
      runId = run.runId
      for (const [index, turn] of turns.entries()) {
        const usage = { prompt: 12_000, completion: 40, cache_read: index === 0 ? 11_800 : 0 }
        await run.model(
          { provider: "anthropic", model: "claude-x", request: requestOf(turn), describe: () => ({ usage }) },
          () => ({ type: "message", role: "assistant", model: "claude-x", content: [{ type: "text", text: "next" }] }),
        )
        await run.tool({ name: "read_file", args: { path: `src/${index}.ts` } }, () => "text")
      }
      run.complete({ output: "done" })
    })
    return runId
  }

  test.each([
    [
      "a clock",
      { clock: "09:43:12" },
      /from byte \d+ in \/system\/0\/text\n {2}there: ".*time is 09:41:07.*" -> ".*time is 09:43:12/,
    ],
    ["key order", { swapped: true }, /key order \/tools\/0\/input_schema: "type,properties" -> "properties,type"/],
    ["a moved mark", { markAt: 2 }, /cache marks: \/messages\/0\/content\/0 -> \/messages\/2\/content\/0/],
  ] as const)("the cache is read at 0 %% because of %s", async (cause, turn, words) => {
    const id = await recordCalls({}, turn)
    const story = await told(`cache, ${cause}`, ["show", id], ["diff", `${id}#2`, `${id}#4`])
    expect(story).toMatch(/#4 .*cache 0 %/)
    expect(story).toMatch(words)
  })

  test("killed in the middle of an answer: where, and what had come", async () => {
    const server = await startModelServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const frame = (value: { type: string }): string => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
      const message = {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude-x",
        content: [],
        usage: { input_tokens: 9 },
      }
      response.write(
        [
          { type: "message_start", message },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          ...Array.from({ length: 40 }, (_, i) => ({
            type: "content_block_delta",
            index: 0,
            delta: {
              type: "text_delta",
              text: i === 0 ? "I will change the leap rule. " : `Then I look at file ${i}. `,
            },
          })),
        ]
          .map(frame)
          .join(""),
      )
    })
    const id = await recordEnding(data, "killed mid-stream", server.origin)
    await server.close()
    const overview = (await orangeboxHere(["show", id, "--data", data])).stdout
    const n = /#(\d+) .*✗ crashed/.exec(overview)?.[1]
    const story = await told("crash", ["show", id], ["step", `${id}#${n}`, "--brief"])
    expect(story).toMatch(/CRASHED/)
    expect(story).toMatch(/✗ crashed after [\d.]+ k?B of the response/)
    expect(story).toContain("I will change the leap rule")
  })

  test("an uncaught error: which, and where in the code", async () => {
    const id = await recordEnding(data, "throws")
    const story = await told("uncaught error", ["show", id], ["step", `${id}#1`, "--brief"])
    expect(story).toMatch(/CRASHED/)
    expect(story).toMatch(/SyntaxError/)
    expect(story).toContain("ending-agent.mjs")
  })
})
