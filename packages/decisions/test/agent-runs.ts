import type { RecordedRun } from "../src/index.js"
import { recordInMemory } from "./recorded.js"

/** What an Anthropic model answers. */
export function answer(id: string, text: string, ...tools: { id: string; name: string; input: unknown }[]) {
  return {
    id,
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...tools.map((tool) => ({ type: "tool_use", ...tool })),
    ],
    stop_reason: tools.length > 0 ? "tool_use" : "end_turn",
    usage: { input_tokens: 412, output_tokens: 12 },
  }
}

export const SYSTEM = "You fix bugs."
export const TOOLS = [
  { name: "Edit", description: "Edits a file.", input_schema: { type: "object", properties: {} } },
  { name: "Bash", description: "Runs a command.", input_schema: { type: "object", properties: {} } },
]

export function request(messages: readonly unknown[]) {
  return {
    model: "claude-x",
    max_tokens: 1024,
    temperature: 0.2,
    system: SYSTEM,
    tools: TOOLS,
    messages,
  }
}

export const REQUEST = "Fix the date test. Touch only src/."
const EDIT = { file_path: "src/date.ts", old_string: "const d = 28", new_string: "const d = 29\nconst leap = true" }
const VITEST = " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 10 passed | 2 skipped (13)\n"

/** A small agent recorded with the SDK: it edits, tests, commits, and says so. */
export async function fixerRun(options: Parameters<typeof recordInMemory>[0] = {}): Promise<RecordedRun> {
  const { recorder, recorded } = recordInMemory(options)
  const run = recorder.startRun({
    entrypoint: "fix-issue",
    input: REQUEST,
    conversationId: "talk-1",
    agentId: "fixer",
    agentVersion: "1.2.0",
    requestId: "req-7",
    constraints: [{ id: "scope.src", type: "scope", rule: "paths.only src/**" }],
    channel: "cli",
    repo: "acme/dates",
    branch: "main",
    ticket: "T-1",
  })
  const step = run.step("fix")
  const first = answer("msg_1", "I change the constant.", { id: "tu_1", name: "Edit", input: EDIT })
  const asked = { role: "user", content: REQUEST }
  await step.model({ provider: "anthropic", model: "claude-x", request: request([asked]) }, async () => first)
  await step.tool({ name: "Edit", callId: "tu_1", args: EDIT }, async () => "The file src/date.ts has been updated.")
  const edited = [
    asked,
    { role: "assistant", content: first.content },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "tu_1", content: "The file src/date.ts has been updated." }],
    },
  ]
  const test = { command: "npx vitest run" }
  const commit = { command: 'git commit -am "Leap years"' }
  const second = answer(
    "msg_2",
    "",
    { id: "tu_2", name: "Bash", input: test },
    { id: "tu_3", name: "Bash", input: commit },
  )
  await step.model({ provider: "anthropic", model: "claude-x", request: request(edited) }, async () => second)
  await step.tool({ name: "Bash", callId: "tu_2", args: test, describe: () => ({ exitCode: 1 }) }, async () => VITEST)
  await step.tool(
    { name: "Bash", callId: "tu_3", args: commit },
    async () => "[main 1a2b3c4] Leap years\n 1 file changed, 2 insertions(+), 1 deletion(-)",
  )
  step.end()
  run.complete({ output: "Done." })
  return recorded()
}
