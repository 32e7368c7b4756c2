// Two agents made with the OpenAI Agents SDK, one handing over to the other, with a tool, a guardrail and a call that waits for approval,
// recorded and then read back. The model is a script on this machine.
//
//   npm i @openai/agents openai zod @orangebox/recorder @orangebox/journal
//   node openai-agents.mjs
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents"
import { listJournals, tailJournal } from "@orangebox/journal"
import { Recorder, recordOpenAiAgents } from "@orangebox/recorder"
import { OpenAI } from "openai"
import { z } from "zod"
import { openAiModel } from "./scripted-models.mjs"

const call = (id, name, args) => ({
  ...{ type: "function_call", id: `fc_${id}`, call_id: id, status: "completed" },
  ...{ name, arguments: JSON.stringify(args) },
})
const says = (text) => ({
  ...{ type: "message", id: "msg_1", role: "assistant", status: "completed" },
  content: [{ type: "output_text", text, annotations: [] }],
})
const model = await openAiModel(({ input }) => {
  const heard = JSON.stringify(input)
  if (heard.includes("Delete")) return [call("call_delete", "delete_year", { year: 1900 })]
  if (!heard.includes("call_over")) return [call("call_over", "transfer_to_researcher", {})]
  return heard.includes("call_look") ? [says("29 days")] : [call("call_look", "look_up", { word: "leap year" })]
})

const scratch = await mkdtemp(join(tmpdir(), "orangebox-example-"))
const recorder = Recorder.open({ app: "dates", folder: join(scratch, "data") })

const lookUp = tool({
  name: "look_up",
  description: "Looks a word up",
  parameters: z.object({ word: z.string() }),
  execute: async ({ word }) => `${word}: February has 29 days`,
})
const deleteYear = tool({
  name: "delete_year",
  description: "Removes a year",
  parameters: z.object({ year: z.number() }),
  needsApproval: true,
  execute: async () => "gone",
})
const noSecrets = { name: "no_secrets", execute: async () => ({ tripwireTriggered: false, outputInfo: "nothing" }) }
const researcher = new Agent({ name: "researcher", instructions: "Look things up.", tools: [lookUp] })
const triage = new Agent({
  name: "triage",
  instructions: "Send questions where they belong.",
  handoffs: [researcher],
  tools: [deleteYear],
  inputGuardrails: [noSecrets],
})

async function ask(question) {
  const run = recorder.startRun({ entrypoint: "ask", input: question })
  const recorded = recordOpenAiAgents(run)
  const client = new OpenAI({ apiKey: "none", baseURL: `${model.origin}/v1`, fetch: recorded.fetch })
  const runner = new Runner({
    model: "gpt-5-mini",
    modelProvider: new OpenAIProvider({ openAIClient: client }),
    tracingDisabled: true,
  })
  recorded.watch(runner)
  const result = await recorded.run(() => runner.run(triage, question))
  const isWaiting = result.interruptions.length > 0
  run.complete({ output: isWaiting ? "waits for approval" : result.finalOutput })
}
await ask("How long is February in a leap year?")
await ask("Delete 1900")
recorder.close()
model.close()

// What was recorded, read straight from the journal.
const events = listJournals(join(scratch, "data", "journal"))
  .flatMap(({ path }) => [...tailJournal(path)])
  .flatMap((item) => (item.kind === "line" && item.line.kind === "event" ? [item.line.event] : []))
const of = (type) => events.filter(({ event_type }) => event_type === type)
const agents = of("step_started").filter(({ payload }) => payload.kind === "agent")
const agentOf = (event) => agents.find(({ step_id }) => step_id === event.parent_step_id)?.payload.name
assert.deepEqual(
  agents.map(({ payload }) => payload.name),
  ["triage", "researcher", "triage"],
)
assert.deepEqual(
  of("model_called").map((event) => agentOf(event)),
  ["triage", "researcher", "researcher", "triage"],
)
assert.deepEqual(
  of("tool_called").map((event) => [agentOf(event), event.payload.tool_name]),
  [
    ["triage", "transfer_to_researcher"],
    ["researcher", "look_up"],
  ],
)
assert.deepEqual(
  of("safety_decision").map(({ payload }) => [payload.policy_name, payload.decision]),
  [
    ["guardrail no_secrets", "allow"],
    ["guardrail no_secrets", "allow"],
    ["approval", "escalate"],
  ],
)
assert.equal(of("run_completed").length, 2)
console.log(`${events.length} events: agents ${agents.map(({ payload }) => payload.name).join(", ")}`)
await rm(scratch, { recursive: true, force: true })
