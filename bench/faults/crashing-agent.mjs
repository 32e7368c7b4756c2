// An agent that is killed where its plan says: before a request leaves, while an answer streams in, inside a tool, or between steps.
import { setTimeout as sleep } from "node:timers/promises"
import { Agent } from "./agent.mjs"

const { folder, origin, shape, key, phase } = JSON.parse(process.argv[2])
const stage = { folder, server: { origin, putUp() {} } }
const agent = await new Agent(stage, shape, key).open()
const die = () => process.kill(process.pid, "SIGKILL")
process.stdout.write(`${agent.run.runId}\n`)
await sleep(5)
const call = { id: `call_${key}_1`, name: "read", args: { path: "a.js" } }
await agent.ask({ text: "Next.", tools: [call] })
agent.turns.push({ results: [await agent.use(call)] })
if (phase === "between") die()
if (phase === "tool") await agent.run.tool({ name: "edit", args: { path: "b.js" } }, () => die() && sleep(1000))
if (phase === "before") {
  agent.run.startModel({ provider: "anthropic", model: agent.model, request: agent.protocol.request(agent.built()) })
  die()
}
const asking = agent.ask({ text: "" })
await Promise.race([asking, sleep(400)])
die()
