import { asThrown } from "../described-error.js"
import type { SafetyDecisionMade, Step, ToolStep } from "../step.js"
import { type Fields, fieldsOf } from "./fields.js"

/**
 * What the wire of agents made with the OpenAI Agents SDK does not show: which agent speaks, who hands over to whom, the tools with the times they
 * took, guardrails and approvals. One recording for one run of a runner of its own:
 *
 * ```ts
 * const recorded = recordOpenAiAgents(step)
 * // new Runner({ modelProvider: new OpenAIProvider({ openAIClient: new OpenAI({ fetch: recorded.fetch }) }) })
 * recorded.watch(runner)
 * const result = await recorded.run(() => runner.run(agent, "How long is February?"))
 * ```
 *
 * With `recorded.fetch` each model call stands below the agent that made it, to the byte.
 */
export function recordOpenAiAgents(step: Step): OpenAiAgentsRecording {
  const recording = new RunnerRecording(step)
  return {
    fetch: (input, init) => recording.speaking.fetch(input, init),
    watch: (runner) => recording.watch(runner),
    run: (work) => recording.run(work),
  }
}

export interface OpenAiAgentsRecording {
  /** For the client that the runner's model provider uses. */
  readonly fetch: typeof globalThis.fetch
  /** Listens to a `Runner`. */
  watch(runner: OpenAiRunner): void
  /** Waits for a run and records what only its result says: guardrails, calls that wait for approval, the output. */
  run<T>(work: () => PromiseLike<T>): Promise<T>
}

/** The part of a `Runner` that is used, told by its shape: the package itself is not needed to record. */
export interface OpenAiRunner {
  // biome-ignore lint/suspicious/noExplicitAny: each event has arguments of its own.
  on(event: any, listener: (...args: any[]) => void): unknown
}

class RunnerRecording {
  readonly #step: Step
  /** The agents at work, the one that speaks last. */
  #agents: { readonly agent: unknown; readonly step: Step }[] = []
  /** The agent that has handed over, until the next one starts. */
  #handedOver: unknown
  readonly #tools = new Map<string, ToolStep>()

  constructor(step: Step) {
    this.#step = step
  }

  get speaking(): Step {
    return this.#agents.at(-1)?.step ?? this.#step
  }

  watch(runner: OpenAiRunner): void {
    runner.on("agent_start", (_context, agent, input) => this.#start(agent, input))
    runner.on("agent_end", (_context, agent, output) => this.#end(agent, { body: output }))
    runner.on("agent_handoff", (_context, from) => {
      this.#handedOver = from
    })
    runner.on("agent_tool_start", (_context, agent, tool, details) => this.#callTool(agent, tool, details))
    runner.on("agent_tool_end", (_context, _agent, tool, result, details) => this.#endTool(tool, result, details))
  }

  async run<T>(work: () => PromiseLike<T>): Promise<T> {
    try {
      const result = await work()
      this.#noteResult(fieldsOf(result))
      this.#endAll({})
      return result
    } catch (thrown) {
      const err = asThrown(thrown)
      // A guardrail that stops a run says so in the error it throws.
      const tripped = fieldsOf(fieldsOf(thrown)["result"])
      if (tripped["guardrail"] !== undefined) this.#guardrail(tripped)
      this.#endAll({ err })
      throw thrown
    }
  }

  #start(agent: unknown, input: unknown): void {
    if (this.#handedOver !== undefined) this.#endHandOver(this.#handedOver, agent, listOf(input))
    // The same agent again is its next turn.
    if (this.#agents.at(-1)?.agent === agent) return
    const step = this.#step.child(nameOf(agent), undefined, { kind: "agent" })
    this.#agents.push({ agent, step })
  }

  /** Handing over is a tool to the model that asked for it; what it was told stands in what the next agent is given. */
  #endHandOver(from: unknown, to: unknown, given: readonly unknown[]): void {
    this.#handedOver = undefined
    const told = fieldsOf(given.findLast((item) => fieldsOf(item)["type"] === "function_call_result"))
    const callId = idOf(told)
    const asked = fieldsOf(
      given.find((item) => fieldsOf(item)["type"] === "function_call" && idOf(fieldsOf(item)) === callId),
    )
    if (callId !== undefined) {
      const args = parsed(asked["arguments"] ?? {})
      const call = this.#stepOf(from).startTool({ name: nameOf(told), args, callId })
      call.endTool({ result: fieldsOf(told["output"])["text"] ?? told["output"] })
    }
    this.#end(from, { attributes: { handed_over_to: nameOf(to) } })
  }

  #end(agent: unknown, outcome: Parameters<Step["end"]>[0]): void {
    const at = this.#agents.findLastIndex((one) => one.agent === agent)
    const [ended] = at === -1 ? [] : this.#agents.splice(at, 1)
    ended?.step.end(outcome)
  }

  #callTool(agent: unknown, tool: unknown, details: unknown): void {
    const call = fieldsOf(fieldsOf(details)["toolCall"])
    const callId = idOf(call)
    const step = this.#stepOf(agent).startTool({
      name: nameOf(tool),
      args: parsed(call["arguments"] ?? call["action"] ?? {}),
      ...(callId === undefined ? {} : { callId }),
    })
    this.#tools.set(callId ?? nameOf(tool), step)
  }

  #endTool(tool: unknown, result: unknown, details: unknown): void {
    const key = idOf(fieldsOf(fieldsOf(details)["toolCall"])) ?? nameOf(tool)
    this.#tools.get(key)?.endTool({ result })
    this.#tools.delete(key)
  }

  #noteResult(result: Fields): void {
    for (const name of GUARDRAIL_RESULTS) for (const one of listOf(result[name])) this.#guardrail(fieldsOf(one))
    for (const waiting of listOf(result["interruptions"])) {
      const call = fieldsOf(fieldsOf(waiting)["rawItem"])
      this.#decided({ policy: "approval", decision: "escalate", reason: { tool: call["name"], call_id: idOf(call) } })
    }
  }

  #guardrail(result: Fields): void {
    const { tripwireTriggered, behavior, outputInfo } = fieldsOf(result["output"])
    const isStopped =
      tripwireTriggered === true || /reject|throw/i.test(String(fieldsOf(behavior)["type"] ?? behavior ?? ""))
    this.#decided({
      policy: `guardrail ${nameOf(result["guardrail"])}`,
      decision: isStopped ? "block" : "allow",
      ...(outputInfo === undefined ? {} : { reason: outputInfo }),
    })
  }

  #decided(made: SafetyDecisionMade): void {
    this.#step.safetyDecision(made)
  }

  #endAll(outcome: { readonly err?: unknown }): void {
    for (const tool of this.#tools.values()) tool.endTool(outcome)
    this.#tools.clear()
    for (const { step } of this.#agents.splice(0).reverse()) step.end(outcome)
  }

  #stepOf(agent: unknown): Step {
    return this.#agents.findLast((one) => one.agent === agent)?.step ?? this.#step
  }
}

const GUARDRAIL_RESULTS = [
  ...["inputGuardrailResults", "outputGuardrailResults"],
  ...["toolInputGuardrailResults", "toolOutputGuardrailResults"],
]

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function nameOf(value: unknown): string {
  const { name } = fieldsOf(value)
  return typeof name === "string" && name !== "" ? name : "?"
}

function idOf(call: Fields): string | undefined {
  const { callId, call_id } = call
  const id = callId ?? call_id
  return typeof id === "string" && id !== "" ? id : undefined
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
