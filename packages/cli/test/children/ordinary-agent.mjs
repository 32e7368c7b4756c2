// Agents as their makers write them: node ordinary-agent.mjs FOLDER WHAT. Each says its run's id first.
import { writeSync } from "node:fs"
import { Recorder } from "@orangebox/recorder"

const [folder, what] = process.argv.slice(2)
const recorder = Recorder.open({ app: "ordinary", folder })
const run = recorder.startRun({ entrypoint: "fix", input: "Fix it" })
writeSync(1, run.runId)
const step = run.step("work")
const ask = (text) =>
  step.model(
    {
      provider: "anthropic",
      model: "claude-x",
      request: { model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: text }] },
    },
    () => ({ content: [{ type: "text", text: "ok" }] }),
  )

switch (what) {
  case "refused context":
    for (let times = 0; times < 3; times++) step.context({ items: [{ id: "a", type: "sausage", text: "x" }] })
    await ask("x")
    break
  case "missing item":
    step.context({
      items: [
        { id: "question", type: "user_input", text: "Why?" },
        { id: "doc", type: "evidence", text: "Because.", sourceRef: "user:doc" },
      ],
    })
    await ask("Why?")
    break
  case "retrieved chunks": {
    const chunks = await step.retrieval({ retriever: "docs", query: "date" }, () => [
      { chunkId: "kept", score: 1, content: "Months begin at 0." },
      { chunkId: "bare", score: 0.5 },
      { score: 0.1, content: "no id" },
    ])
    step.context({
      items: [
        { id: "kept", type: "evidence", text: chunks[0].content, sourceRef: "chunk:kept" },
        { id: "bare", type: "evidence", text: "Days at 1.", sourceRef: "chunk:bare" },
        { id: "made-up", type: "evidence", text: "Weeks at 2.", sourceRef: "chunk:made-up" },
        { id: "result", type: "tool_output", text: "3", sourceRef: "results#count" },
      ],
    })
    await ask("Months begin at 0.\n\nDays at 1.\n\nWeeks at 2.\n\n3")
    break
  }
  case "tool error":
    await ask("run the tests")
    await step.tool({ name: "read", args: {} }, () => "fine")
    await step.tool({ name: "run_tests", args: {} }, () => {
      throw new RangeError("month 13 is no month")
    })
    break
  case "killed": {
    const call = step.startModel({ provider: "anthropic", model: "claude-x", request: { messages: [] } })
    call.chunk(
      Buffer.from('data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half an "}}\n\n'),
    )
    process.kill(process.pid, "SIGKILL")
  }
}
step.end()
run.complete()
