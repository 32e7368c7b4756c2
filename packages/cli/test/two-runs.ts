import type { Recorder, Run } from "@orangebox/recorder"
import { orangebox } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"
import { record } from "./recorded-run.js"

/** What the world and the model answer a small agent: it reads a file, asks a model what to do about it, and does it. */
export interface World {
  readonly file?: string
  readonly advice?: string
  readonly tool?: string
  readonly output?: string
}

/** The agent's program; only the answers it gets differ. */
export async function recordAgent(recorder: Pick<Recorder, "startRun">, world: World = {}): Promise<Run> {
  const { file = "retries: 3", advice = "write 3", tool = "write_file", output = "done" } = world
  const run = recorder.startRun({ entrypoint: "agent", input: "set the retries" })
  const messages: object[] = [{ role: "user", content: "set the retries" }]
  for (const path of ["a.yaml", "b.yaml", "c.yaml"]) {
    const text = await run.tool({ name: "read_file", args: { path }, effect: "read" }, () =>
      path === "c.yaml" ? file : "x: 1",
    )
    messages.push({ role: "user", content: `${path}: ${text}` })
  }
  const content = [
    { type: "text", text: advice },
    { type: "tool_use", id: "toolu_1", name: tool, input: { path: "c.yaml", text: advice } },
  ]
  await run.model(
    {
      provider: "anthropic",
      model: "claude-x",
      request: { model: "claude-x", max_tokens: 9, messages },
      describe: () => ({
        finishReason: "tool_use",
        outputText: advice,
        requestedTools: [tool],
        usage: { prompt: 30, completion: 9 },
      }),
    },
    () => ({ type: "message", role: "assistant", model: "claude-x", content, stop_reason: "tool_use" }),
  )
  await run.tool({ name: tool, args: { path: "c.yaml", text: advice }, effect: "write" }, () => "ok")
  run.complete({ output })
  return run
}

/** The ids of runs recorded one after the other, one for each world. */
export async function recordAgents(folder: string, ...worlds: readonly World[]): Promise<string[]> {
  const runIds: string[] = []
  for (const world of worlds) {
    await record(folder, async (recorder) => void runIds.push((await recordAgent(recorder, world)).runId), "agent")
  }
  return runIds
}

const WIRE_AGENT = `
const messages = [{ role: "user", content: "count to three" }]
for (let i = 0; i < 3; i++) {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "sk-none" },
    body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages }),
  })
  const { content } = await response.json()
  messages.push({ role: "assistant", content }, { role: "user", content: "and then?" })
}
`

/** Records an agent that nobody instrumented, once for each list of answers, through `orangebox run`. */
export async function recordOnTheWire(folder: string, ...answers: readonly (readonly string[])[]): Promise<void> {
  const left = answers.flat()
  const server = await startModelServer((_, response) =>
    answerMessage(response, { id: `msg_${left.length}`, content: [{ type: "text", text: left.shift() }] }),
  )
  const env = { ANTHROPIC_BASE_URL: server.origin }
  try {
    for (const _ of answers) {
      const agent = [process.execPath, "--input-type=module", "-e", WIRE_AGENT]
      const { exitCode, stderr } = await orangebox(
        ["run", "--data", folder, "--capture", "full", "--allow-full", "--", ...agent],
        {
          env,
        },
      )
      if (exitCode !== 0) throw new Error(stderr)
    }
  } finally {
    await server.close()
  }
}
