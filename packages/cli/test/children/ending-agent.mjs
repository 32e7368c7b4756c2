// An agent that does the same every time and ends as it is told: node ending-agent.mjs <folder> <ending> [origin of a model server]
import { Recorder } from "@orangebox/recorder"

const [folder, ending, origin] = process.argv.slice(2)
const recorder = Recorder.open({ app: "fixer", folder })
const run = recorder.startRun({ entrypoint: "fix-issue", input: "Fix the failing date test" })
process.stdout.write(`${run.runId}\n`)

const request = {
  model: "claude-x",
  max_tokens: 64,
  messages: [{ role: "user", content: "Fix the failing date test" }],
}
const answer = { type: "message", role: "assistant", model: "claude-x", content: [{ type: "text", text: "all done" }] }
const never = () => new Promise(() => setTimeout(() => {}, 60_000))
const die = () => {
  process.kill(process.pid, "SIGKILL")
  return never()
}

await run.tool({ name: "read_file", args: { path: "src/date.ts" } }, () => "export const leap = 4\n")
if (ending === "killed mid-stream") {
  const response = await run.fetch(`${origin}/v1/messages`, { method: "POST", body: JSON.stringify(request) })
  for await (const _piece of response.body) process.stdout.write("a piece is here\n")
}
await run.model({ provider: "anthropic", model: "claude-x", request }, () => answer)
if (ending === "tests pass") await run.tool({ name: "run_tests", args: {} }, () => "ok")
if (ending === "killed in a tool") await run.tool({ name: "run_tests", args: {} }, die)
if (ending === "killed") await die()
if (ending === "throws") JSON.parse("{ not json", undefined)
if (ending === "fails") run.fail(new Error("the tests are red"))
run.complete(ending === "gives nothing" ? {} : { output: "all done" })
recorder.close()
