// An agent made with the Claude Agent SDK that starts a sub-agent and is refused a tool, recorded and then read back. The model is a script on
// this machine; with the real one, `orangebox run -- node your-agent.mjs` records the model calls as well.
//
//   npm i @anthropic-ai/claude-agent-sdk @orangebox/recorder @orangebox/journal
//   node claude-agent.mjs
import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { query } from "@anthropic-ai/claude-agent-sdk"
import { listJournals, tailJournal } from "@orangebox/journal"
import { Recorder, recordClaudeAgent } from "@orangebox/recorder"
import { anthropicModel } from "./scripted-models.mjs"

const asks = (id, name, input) => [{ type: "tool_use", id, name, input }]
const says = (text) => [{ type: "text", text }]
const model = await anthropicModel(({ messages, tools = [] }) => {
  const heard = JSON.stringify(messages)
  if (tools.length === 0) return says("a title")
  if (!heard.includes("Ask a helper"))
    return heard.includes("toolu_count") ? says("none") : asks("toolu_count", "Bash", { command: "ls | wc -l" })
  if (!heard.includes("toolu_helper"))
    return asks("toolu_helper", tools.some(({ name }) => name === "Agent") ? "Agent" : "Task", {
      description: "count files",
      prompt: "Count the files.",
      subagent_type: "counter",
    })
  return heard.includes("toolu_write") ? says("done") : asks("toolu_write", "Bash", { command: "touch forbidden.txt" })
})

const scratch = await mkdtemp(join(tmpdir(), "orangebox-example-"))
const work = join(scratch, "work")
await mkdir(work)
const recorder = Recorder.open({ app: "files", folder: join(scratch, "data") })

const prompt = "Ask a helper how many files there are, then note it."
const run = recorder.startRun({ entrypoint: "count", input: prompt })
const recorded = recordClaudeAgent(run)
const ownHooks = {
  UserPromptSubmit: [
    {
      hooks: [
        async () => ({ hookSpecificOutput: { hookEventName: "UserPromptSubmit", additionalContext: "Be brief." } }),
      ],
    },
  ],
}
let output
for await (const message of query({
  prompt,
  options: {
    cwd: work,
    model: "claude-sonnet-4-5",
    ...(process.env.CLAUDE_CODE ? { pathToClaudeCodeExecutable: process.env.CLAUDE_CODE } : {}),
    env: {
      ...process.env,
      HOME: scratch,
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_BASE_URL: model.origin,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
    agents: { counter: { description: "counts files", prompt: "You count.", tools: ["Bash"] } },
    hooks: recorded.hooks(ownHooks),
    canUseTool: recorded.canUseTool(async (_name, input) =>
      String(input.command).startsWith("touch")
        ? { behavior: "deny", message: "nothing is written here" }
        : { behavior: "allow", updatedInput: input },
    ),
  },
}))
  if (message.type === "result") output = message.result
recorded.end()
run.complete({ output })
recorder.close()
model.close()

// What was recorded, read straight from the journal.
const events = listJournals(join(scratch, "data", "journal"))
  .flatMap(({ path }) => [...tailJournal(path)])
  .flatMap((item) => (item.kind === "line" && item.line.kind === "event" ? [item.line.event] : []))
const of = (type) => events.filter(({ event_type }) => event_type === type)
const [main, helper] = of("run_started")
assert.equal(helper.payload.entrypoint_name, "counter")
assert.equal(helper.trace_id, main.trace_id)
const tools = of("tool_called").map(({ run_id, payload }) => [
  run_id === helper.run_id ? "counter" : "main",
  payload.tool_call_id,
])
assert.deepEqual(tools.sort(), [
  ["counter", "toolu_count"],
  ["main", "toolu_helper"],
  ["main", "toolu_write"],
])
const refused = of("tool_result").find(({ payload }) => payload.tool_call_id === "toolu_write")
assert.equal(refused.payload.error_class, "PermissionDenied")
assert.ok(
  of("safety_decision").some(({ payload }) => payload.policy_name === "canUseTool" && payload.decision === "block"),
)
assert.ok(of("log").some(({ payload }) => payload.message === "hook UserPromptSubmit gave additionalContext"))
console.log(`${events.length} events: the agent and its ${helper.payload.entrypoint_name}, 3 tools, 1 refused`)
await rm(scratch, { recursive: true, force: true })
