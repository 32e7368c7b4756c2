/**
 * A small coding agent, in a process of its own so that it can be killed like a real one. It asks a model over HTTP, streams the answer,
 * uses tools on a project, and records all of it with the SDK. Nothing in here knows that its model is scripted.
 */
import { realpathSync } from "node:fs"
import type { Constraint } from "@orangebox/contract"
import { given } from "@orangebox/contract"
import { Recorder, type Run, type Step } from "@orangebox/recorder"
import { compilePrompt, cutAtPrefix } from "./agent-context.js"
import { TOOLS, useTool } from "./agent-tools.js"
import { MessageReader, type ReadMessage } from "./message-reader.js"
import { API_VERSION, type Message, type MessagesRequest, type ToolUseBlock } from "./messages-api.js"

/** What the process is started with, as one JSON argument. */
export interface AgentTask {
  readonly modelUrl: string
  readonly workspace: string
  readonly dataFolder: string
  readonly conversationId: string
  readonly entrypoint: string
  readonly request: string
  readonly constraints: readonly Constraint[]
  /** Writes the time into its system prompt. */
  readonly hasClock: boolean
}

/** What it tells its parent while it works. */
export type AgentReport =
  | { readonly kind: "started"; readonly runId: string }
  /** So many bytes of the current answer are recorded, by the recorder's word. */
  | { readonly kind: "recorded"; readonly answerBytes: number }
  | { readonly kind: "done"; readonly written: number; readonly dropped: number }

const MODEL = "scripted-coder"
const MOST_TURNS = 12
const PERSONA = "You are a careful programmer. Answer what is asked from what the project says, and change nothing."

async function main(task: AgentTask): Promise<void> {
  const workspace = realpathSync(task.workspace)
  const recorder = Recorder.open({ app: "demo-coder", folder: task.dataFolder, cwd: workspace, agentVersion: "1.0.0" })
  const run = recorder.startRun({
    entrypoint: task.entrypoint,
    input: task.request,
    conversationId: task.conversationId,
    constraints: task.constraints,
    repo: "calendar",
  })
  report({ kind: "started", runId: run.runId })
  try {
    run.complete({ output: await work(run, task, workspace) })
  } catch (error) {
    run.fail(error)
    process.exitCode = 1
  }
  report({ kind: "done", ...recorder.counts() })
  recorder.close()
  process.disconnect?.()
}

async function work(run: Run, task: AgentTask, workspace: string): Promise<string> {
  const messages: Message[] = []
  let system = ""
  for (let turn = 1; turn <= MOST_TURNS; turn++) {
    const step = run.step(`turn-${turn}`)
    if (task.hasClock) {
      // One line of good intentions: the model is to know the time. What stands behind it is not read from the cache again.
      system = `The time is ${new Date().toISOString()}. ${PERSONA}`
      if (turn === 1) messages.push({ role: "user", content: task.request })
    } else if (turn === 1) {
      const context = compilePrompt(step, workspace, task.request)
      step.context(context)
      const cut = cutAtPrefix(context)
      system = cut.system
      messages.push({ role: "user", content: cut.question })
    }
    const { content } = await askModel(step, task.modelUrl, system, messages)
    messages.push({ role: "assistant", content })
    const calls = content.filter((block): block is ToolUseBlock => block.type === "tool_use")
    const results = []
    for (const call of calls) results.push(await useTool(step, workspace, call))
    step.end()
    if (calls.length === 0) return textOf(content)
    messages.push({ role: "user", content: results })
  }
  throw new Error(`not done after ${MOST_TURNS} turns`)
}

async function askModel(
  turn: Step,
  modelUrl: string,
  system: string,
  messages: readonly Message[],
): Promise<ReadMessage> {
  const request: MessagesRequest = {
    model: MODEL,
    max_tokens: 1024,
    stream: true,
    system: [{ type: "text", text: system, cache_control: { type: "ephemeral" } }],
    tools: TOOLS,
    messages,
  }
  // The first prompt was compiled, and its parts are on record with their reasons; later ones grow by what was said since.
  if (messages.length > 1 || system.endsWith(PERSONA)) turn.promptAssembled({ segments: segmentsOf(request, system) })
  const model = turn.startModel({ provider: "anthropic", model: MODEL, apiVersion: API_VERSION, request })
  try {
    const sentAt = performance.now()
    const response = await fetch(`${modelUrl}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "anthropic-version": API_VERSION, "x-api-key": "none-needed" },
      body: JSON.stringify(request),
      signal: turn.signal,
    })
    if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}: ${await response.text()}`)
    const reader = new MessageReader()
    let firstByteMs: number | undefined
    let answerBytes = 0
    for await (const bytes of response.body) {
      firstByteMs ??= performance.now() - sentAt
      model.chunk(bytes)
      answerBytes += bytes.length
      report({ kind: "recorded", answerBytes })
      reader.push(bytes)
    }
    const message = reader.finish()
    model.endModel({
      ...descriptionOf(message),
      httpStatus: response.status,
      ...(firstByteMs === undefined ? {} : { firstByteMs }),
      ...(response.headers.has("request-id") ? { requestId: response.headers.get("request-id")! } : {}),
    })
    return message
  } catch (err) {
    model.endModel({ err })
    throw err
  }
}

function descriptionOf({ model, content, stopReason, usage }: ReadMessage) {
  const requestedTools = content.flatMap((block) => (block.type === "tool_use" ? [block.name] : []))
  return {
    outputText: textOf(content),
    requestedTools,
    ...given({ model, finishReason: stopReason }),
    // Anthropic counts cached input apart from the rest; what the model was sent is the sum.
    ...(usage && {
      rawUsage: usage,
      usage: {
        prompt: usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
        completion: usage.output_tokens,
        cache_read: usage.cache_read_input_tokens,
        cache_write: usage.cache_creation_input_tokens,
      },
    }),
  }
}

function segmentsOf(request: MessagesRequest, system: string): Parameters<Step["promptAssembled"]>[0]["segments"] {
  const [task, ...history] = request.messages
  return [
    ...request.tools.map((tool) => ({
      contributor: tool.name,
      kind: "tool-def" as const,
      content: JSON.stringify(tool),
    })),
    { contributor: "demo-coder", kind: "persona", role: "system", content: system },
    { contributor: "user", kind: "user-msg", role: "user", content: String(task?.content) },
    ...(history.length === 0
      ? []
      : [{ contributor: "conversation", kind: "history" as const, content: JSON.stringify(history) }]),
  ]
}

function textOf(content: ReadMessage["content"]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
}

function report(said: AgentReport): void {
  if (process.connected) process.send?.(said)
}

// An agent whose demo is gone has no work to do.
process.on("disconnect", () => process.exit())
// One that died while this process was loading is noticed in the first turn of the loop: before anything is written into a folder that the
// next demo may be removing.
await new Promise((resolve) => setImmediate(resolve))
await main(JSON.parse(process.argv[2] ?? "{}") as AgentTask)
