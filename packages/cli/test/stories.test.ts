import { join } from "node:path"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
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
    const tokens = said.reduce((sum, text) => sum + countTokens(text), 0)
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

  test("a history that was corrupted on the way: what was sent, what the provider said to it, and what the agent had built", async () => {
    const rejection =
      "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_7. Each `tool_use` block must have a corresponding `tool_result` block"
    const server = await startModelServer((_, response) => {
      response.writeHead(400, { "content-type": "application/json" })
      response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: rejection } }))
    })
    let id = ""
    await record(data, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "fix-issue", input: "Fix the failing date test" })
      id = run.runId
      const called = { type: "tool_use", id: "toolu_7", name: "read_file", input: { path: "src/date.ts" } }
      const result = { type: "tool_result", tool_use_id: "toolu_7", content: "export const leap = 4" }
      const request = {
        model: "claude-x",
        max_tokens: 64,
        messages: [
          { role: "user", content: "Fix the failing date test" },
          { role: "assistant", content: [called] },
          { role: "user", content: [result, { type: "text", text: "Go on." }] },
        ],
      }
      // A transform of the client's loses the result on its way to the wire.
      const sent = { ...request, messages: [...request.messages.slice(0, 2), { role: "user", content: "Go on." }] }
      const call = { provider: "anthropic", model: "claude-x", request }
      await run
        .model(call, async (_send, step) => {
          const body = JSON.stringify(sent)
          const response = await step.fetch(`${server.origin}/v1/messages`, { method: "POST", body })
          await response.text()
          throw new Error(`the model could not be asked: ${response.status}`)
        })
        .catch((err: unknown) => run.fail(err))
    })
    await server.close()
    const n = /#(\d+) .*model claude-x/.exec((await orangeboxHere(["show", id, "--data", data])).stdout)?.[1]
    const story = await told(
      "corrupted history",
      ["show", id],
      ["step", `${id}#${n}`, "--brief"],
      [...["step", `${id}#${n}`, "--before-after"]],
    )
    expect(story).toMatch(/FAILED/)
    expect(story).toContain("`tool_use` ids were found without `tool_result`")
    expect(story).toMatch(/- .*tool_result|tool_result.*toolu_7/)
    expect(story).toContain("toolu_7")
  })

  test("a message delivered twice, and one that went to the wrong chat, by nothing but its id", async () => {
    await record(data, (recorder) => {
      const sending = recorder.startRun({ entrypoint: "send", conversationId: "chat-a" })
      const sent = ["m-twice", "m-astray"].map((messageId) =>
        sending.queue.enqueue({ messageId, sourceConversationId: "chat-a", targetConversationId: "chat-b" }),
      )
      sending.complete()
      const deliver = (message: (typeof sent)[number], conversationId: string): void => {
        const run = recorder.startRun({ entrypoint: "receive", conversationId })
        run.queue.deliver(message)
        run.complete()
      }
      deliver(sent[0]!, "chat-b")
      deliver(sent[0]!, "chat-b")
      deliver(sent[1]!, "chat-c")
    })
    const twice = await told("double delivery", ["show", "m-twice"])
    expect(twice).toContain("3 places in 3 runs · queue.enqueue 1 · queue.deliver 2")
    const astray = await told("misroute", ["show", "m-astray"])
    expect(astray).toMatch(/chat-a → chat-b · delivered chat-c/)
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
