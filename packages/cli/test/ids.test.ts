import { Recorder } from "@orangebox/recorder"
import { estimateTokens } from "@orangebox/text"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch
beforeEach(() => {
  scratch = scratchFolder()
})
afterEach(() => scratch.remove())

type Capture = "redacted" | "hashed"

function open(app: string, capture: Capture = "redacted"): Recorder {
  return Recorder.open({ app, folder: scratch.path, capture })
}

const ask = (...args: string[]) => orangeboxHere([...args, "--data", scratch.path])

/** A message enqueued in one process and delivered by two workers. */
function deliverTwice(capture: Capture = "redacted") {
  const sender = open("sender", capture)
  const sending = sender.startRun({ entrypoint: "send", conversationId: "chat-a" })
  sending.queue.enqueue({ messageId: "m-1", sourceConversationId: "chat-a", targetConversationId: "chat-b" })
  const message = sending.queue.enqueue({
    messageId: "m-2",
    sourceConversationId: "chat-a",
    targetConversationId: "chat-b",
    body: "are you there?",
  })
  sending.complete()
  sender.close()
  const onTheWire = JSON.parse(JSON.stringify(message)) as typeof message
  const worker = open("worker", capture)
  const runs = [1, 2].map(() => {
    const run = worker.startRun({ entrypoint: "receive", conversationId: "chat-b" })
    run.queue.deliver(onTheWire)
    run.complete()
    return run
  })
  worker.close()
  return { sending, runs }
}

describe("a message delivered twice", () => {
  test.each(["redacted", "hashed"] as const)(
    "[Q-09] its id alone shows the enqueue and both deliveries in order (%s)",
    async (capture) => {
      const { sending, runs } = deliverTwice(capture)
      const { stdout, exitCode } = await ask("show", "m-2")
      expect(exitCode).toBe(0)
      expect(stdout).toContain("message m-2 · 3 places in 3 runs · queue.enqueue 1 · queue.deliver 2")
      const at = [sending, ...runs].map(({ runId }) => stdout.indexOf(runId))
      expect(at.every((place, index) => place > (at[index - 1] ?? -1))).toBe(true)
      expect(stdout).not.toContain("m-1")
      expect(estimateTokens(stdout)).toBeLessThan(500)
      if (capture === "redacted") expect(stdout).toContain("queue.deliver m-2 · chat-a → chat-b · delivered chat-b")
      else expect(stdout).not.toContain("chat-b")
    },
  )

  test("[Q-09] the same as JSON, page by page, with n of N", async () => {
    deliverTwice()
    const all = jsonOf<{ places: { queue: { message_id: string } }[]; total: number; next_cursor: null }>(
      await ask("show", "message:m-2", "--json"),
    )
    expect(all).toMatchObject({ id: "m-2", kind: "message", total: 3, next_cursor: null })
    expect(all.places.map((place) => (place as { work_kind?: string }).work_kind)).toEqual([
      "queue.enqueue",
      "queue.deliver",
      "queue.deliver",
    ])
    const second = jsonOf<{ places: unknown[] }>(await ask("show", "m-2", "--cursor", "1", "--json"))
    expect(second.places).toEqual(all.places.slice(1))
    const { stdout } = await ask("show", "m-2", "--cursor", "2")
    expect(stdout).toContain("places 3–3 of 3")
  })
})

test("[Q-09] a message in the wrong chat is told by its id: source, target and where it went", async () => {
  const app = open("mailer")
  const sending = app.startRun({ entrypoint: "send", conversationId: "chat-a" })
  const message = sending.queue.enqueue({
    messageId: "m-7",
    sourceConversationId: "chat-a",
    targetConversationId: "chat-b",
  })
  sending.complete()
  const worker = app.startRun({ entrypoint: "dispatch" })
  worker.queue.dequeue(message)
  const wrong = app.startRun({ entrypoint: "answer", conversationId: "chat-c", input: "are you there?" })
  worker.queue.deliver(message, { causedRun: wrong })
  wrong.complete()
  worker.complete()
  app.close()

  const shown = await ask("show", "m-7")
  expect(shown.stdout).toContain("queue.deliver m-7 · chat-a → chat-b · delivered chat-c")
  expect(shown.stdout).toContain("✗ not its target")
  expect(shown.stdout).toContain(`caused ${wrong.runId}`)
  const caused = await ask("show", wrong.runId)
  expect(caused.stdout).toMatch(new RegExp(`caused by +${worker.runId}#3 deliver`))
  expect(estimateTokens(shown.stdout) + estimateTokens(caused.stdout)).toBeLessThan(1000)
  // From the other end: the chat that never got it, and the one that did.
  expect((await ask("show", "chat-b")).stdout).toContain("queue.enqueue m-7")
  expect((await ask("show", "conversation:chat-c")).stdout).toContain("queue.deliver m-7")
})

describe("any recorded id", () => {
  /** Two runs of one conversation that ask the same question and run the same tool call. */
  async function recordTwice() {
    const app = open("asker")
    const runs = []
    for (const no of [1, 2]) {
      const run = app.startRun({ entrypoint: "ask", conversationId: "chat-1", requestId: "web-77" })
      const call = { provider: "p", model: "m", request: "the same question" }
      await run.model({ ...call, describe: () => ({ requestId: `req_${no}` }) }, () => "answer")
      await run.tool({ name: "read", args: { path: "a" }, callId: "toolu_7" }, () => `line ${no}`)
      run.complete()
      runs.push(run)
    }
    app.close()
    return runs
  }
  const placesOf = async (...id: string[]) =>
    jsonOf<{ places: { run_id: string; n: number; event_id?: string }[]; total: number }>(
      await ask("show", ...id, "--json"),
    ).places?.map(({ run_id, n }) => [run_id, n])

  test("[Q-09] message, tool call, provider request, request, body, conversation, trace, run, step and event lead to their places", async () => {
    const [first, second] = await recordTwice()
    const both = (n: number) => [first, second].map((run) => [run!.runId, n])
    expect(await placesOf("toolu_7")).toEqual(both(3))
    expect(await placesOf("web-77")).toEqual(both(1))
    expect(await placesOf("conversation:chat-1", "--places")).toEqual(both(1))
    expect(await placesOf("req_1", "--places")).toEqual(both(2).slice(0, 1))
    expect(await placesOf(first!.traceId, "--places")).toEqual(both(1).slice(0, 1))
    expect(await placesOf(first!.runId, "--places")).toEqual(both(1).slice(0, 1))
    expect(await placesOf(second!.id, "--places")).toEqual(both(1).slice(1))
    const { rows } = jsonOf<{ rows: { name: string; value: string }[] }>(
      await ask("step", `${first!.runId}#2`, "--json"),
    )
    const hash = rows.find(({ name }) => name === "request")!.value
    expect(await placesOf(hash)).toEqual(both(2))
    const event = rows.find(({ name }) => name === "event_id")!.value
    expect(await placesOf(event, "--places")).toEqual(both(2).slice(0, 1))
  })

  test("[Q-09] a step that is one of several places says so, and an id with one place opens its run as before", async () => {
    await recordTwice()
    const step = await ask("step", "toolu_7")
    expect(step.stderr).toContain("stands in 2 steps")
    expect((await ask("show", "req_1")).stdout).toContain("#2")
    expect((await ask("show", "req_1")).stdout).not.toContain("places")
  })

  const awkward = [
    "<CAF=x.1@mail.example>",
    "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a==",
    "0199b3c2-7d1e-7f00-8a3b-5c6d7e8f9a0b",
    "1731784800.000200",
    "m 1#2",
    "../m",
    "msg/1?x=1",
    "ghp_0123456789abcdefghijABCDEFGHIJ456789",
    "ключ-7",
  ]
  test.each(awkward)("[R-17] a message id of any form joins and resolves: %s", async (messageId) => {
    for (const capture of ["redacted", "hashed"] as const) {
      const app = open(capture, capture)
      const run = app.startRun({ entrypoint: "send", conversationId: `chat ${messageId}` })
      run.queue.deliver(run.queue.enqueue({ messageId, targetConversationId: `chat ${messageId}` }))
      run.complete()
      app.close()
    }
    const { stdout, stderr } = await ask("show", `message:${messageId}`)
    expect([stdout, stderr]).toEqual([expect.stringContaining("4 places in 2 runs"), ""])
    expect(stdout).not.toContain("not its target")
    expect((await ask("show", messageId)).stdout).toContain("4 places in 2 runs")
    expect((await ask("runs", "--conversation", `chat ${messageId}`)).stdout).toContain("2 runs")
  })
})
