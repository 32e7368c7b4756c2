import { execFile } from "node:child_process"
import { Recorder, type Step } from "@orangebox/recorder"
import { describe, expect, test } from "vitest"
import { jsonOf, orangeboxHere } from "./command.js"
import { dataOfEachTest } from "./data-of-each-test.js"
import { startModelServer } from "./model-server.js"

// Small programs as people write them, and what is said of each from nothing but its id.

const here = dataOfEachTest()
const { said } = here

const RECORDER = new URL("../../recorder/dist/index.js", import.meta.url).href

/** A program of its own that records into the data folder, up to its end. */
const program = (body: string): Promise<void> => {
  const text = `const { Recorder } = await import(${JSON.stringify(RECORDER)})
    const recorder = Recorder.open({ app: "agent", folder: ${JSON.stringify(here.data)} })
    const run = recorder.startRun({ entrypoint: "job", input: "x" })\n${body}`
  return new Promise((resolve) => void execFile(process.execPath, ["--input-type=module", "-e", text], () => resolve()))
}

const requestOf = (...texts: string[]) => ({
  model: "claude-x",
  max_tokens: 9,
  messages: texts.map((content, at) => ({ role: at % 2 === 0 ? "user" : "assistant", content })),
})
const ANSWER = { type: "message", role: "assistant", model: "claude-x", content: [{ type: "text", text: "fine" }] }

describe("[S-10] how a run ended that could not say so", () => {
  test("errors of an error that a timer threw are told whole, beside the tool that was under way", async () => {
    await program(`run.tool({ name: "db", args: { q: 1 } }, () => new Promise(() => {}))
      setTimeout(() => { throw new AggregateError([new Error("shard 1 down")], "all shards failed", { cause: new Error("no route") }) }, 20)`)
    expect(await said("show", "last")).toMatch(/✗ uncaught exception in #2: AggregateError: "all shards failed"/)
    expect(await said("step", "last#2")).toMatch(/shard 1 down[\s\S]*caused by Error: no route/)
    expect(await said("report", "last")).toMatch(/ended by +uncaught exception in #2: AggregateError/)
  })

  test("a promise that was rejected with a text is told by that text", async () => {
    await program(`run.step("work"); Promise.reject("out of quota")`)
    expect(await said("show", "last")).toMatch(/✗ unhandled rejection in #2: NonError: "out of quota"/)
  })

  test("a program that just leaves is no crash of unknown cause", async () => {
    await program(`run.step("work"); process.exit(3)`)
    expect(await said("show", "last")).toMatch(/process \d+ exited in #2 with code 3 and left the run open/)
  })
})

test("[F-08] a message comes from the conversation of its run, and a delivery after a failed one is no second", async () => {
  const recorder = Recorder.open({ app: "agent", folder: here.data })
  const sender = recorder.startRun({ entrypoint: "send", conversationId: "A" })
  const message = sender.queue.enqueue({ messageId: "m-9", targetConversationId: "B" })
  sender.complete()
  const failing = recorder.startRun({ entrypoint: "work", conversationId: "B" })
  failing.queue.deliver(message, { acknowledged: false })
  failing.fail(new Error("worker lost"))
  const again = recorder.startRun({ entrypoint: "work", conversationId: "B" })
  again.queue.deliver(message, { acknowledged: true })
  again.complete({ output: "done" })
  recorder.close()
  const places = await said("show", "m-9")
  expect(places.match(/m-9 · A → B/g)).toHaveLength(3)
  expect(await said("diagnose", again.runId)).not.toMatch(/double_delivery/)
})

test("[M-07] a field of a told context that is not known is named, once, and the rest is recorded", async () => {
  const warnings: string[] = []
  const onWarning = ({ message }: Error): void => void warnings.push(message)
  const recorder = Recorder.open({ app: "agent", folder: here.data, onWarning })
  const run = recorder.startRun({ entrypoint: "job", input: "x" })
  for (const text of ["one", "two"]) {
    const step = run.step(text)
    const item = { id: "q", type: "user_input", text, source_ref: "user:1" } as const
    step.context({ items: [item], excluded: [], request: requestOf(text) })
    await step.model({ provider: "anthropic", model: "claude-x", request: requestOf(text) }, () => ANSWER)
    step.end()
  }
  run.complete()
  recorder.close()
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toMatch(/step\.context does not record items\.source_ref; known are: id, type, text, sourceRef,/)
  expect(await said("context", "last#3")).toMatch(/1 item · 0 left out · from the application's manifest/)
})

test("[M-06] sub-agents that work side by side with one persona are told apart, and none of them lost its history", async () => {
  const recorder = Recorder.open({ app: "agent", folder: here.data })
  const run = recorder.startRun({ entrypoint: "job", input: "x" })
  const ask = (step: Step, system: string, ...texts: string[]) =>
    step.model({ provider: "anthropic", model: "claude-x", request: { ...requestOf(...texts), system } }, () => ANSWER)
  const lead = run.step("lead")
  await ask(lead, "You lead", "plan")
  const look = async (name: string): Promise<void> => {
    const child = lead.child(name)
    await ask(child, "You research", `look at ${name}`)
    await ask(child, "You research", `look at ${name}`, "fine", "more")
    child.end()
  }
  await Promise.all([look("north"), look("south")])
  await ask(lead, "You lead", "plan", "fine", "sum up")
  lead.end()
  run.complete()
  recorder.close()
  const contexts = await said("context", "last")
  expect(contexts.match(/\+2 −0 ~0 =2/g)).toHaveLength(3)
  expect(contexts.match(/ first /g)).toHaveLength(3)
  expect(contexts).not.toMatch(/compacted|rewritten/)
})

test("[Q-08] an answer that broke off reads alike whether its attempt is folded or not, and is counted as no error", async () => {
  const server = await startModelServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    const start = {
      type: "message_start",
      message: { ...ANSWER, id: "msg_1", content: [], usage: { input_tokens: 12 } },
    }
    const block = { type: "content_block_start", index: 0, content_block: { type: "text", text: "half an" } }
    for (const event of [start, block]) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    setTimeout(() => response.destroy(), 50)
  })
  const recorder = Recorder.open({ app: "agent", folder: here.data })
  const run = recorder.startRun({ entrypoint: "job", input: "x" })
  const request = { ...requestOf("hi"), stream: true }
  await run
    .model({ provider: "anthropic", model: "claude-x", request }, async (_, step) => {
      const answer = await step.fetch(`${server.origin}/v1/messages`, { method: "POST", body: JSON.stringify(request) })
      return { ...answer, text: await answer.text().catch(() => "") }
    })
    .catch(() => undefined)
  run.complete()
  recorder.close()
  await server.close()
  const folded = (await said("show", "last")).split("\n")[2]!
  const attempt = (await said("show", "last", "--all")).split("\n").find((line) => line.includes("attempt 1"))!
  expect(folded).toContain("1 of 1 attempts broke off: ")
  expect(attempt).toMatch(/partial · "half an" · \S*Error/)
  expect(folded).not.toContain("✗")
  const [row] = jsonOf<{ runs: { errors: number }[] }>(
    await orangeboxHere(["runs", "--json", "--data", here.data]),
  ).runs
  expect(row!.errors).toBe(0)
})
