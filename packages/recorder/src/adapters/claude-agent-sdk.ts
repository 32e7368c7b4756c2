import type { LogAttributes } from "../logger.js"
import type { Run } from "../run.js"
import type { SafetyDecisionMade, Step, ToolStep } from "../step.js"
import { type Fields, fieldsOf } from "./fields.js"

/**
 * What the wire of a Claude agent does not show: the names of its sub-agents, what hooks said, who allowed a tool and who did not, and the tools
 * themselves with the times they took. For `query` of the Claude Agent SDK:
 *
 * ```ts
 * const recorded = recordClaudeAgent(run)
 * const options = { hooks: recorded.hooks(), canUseTool: recorded.canUseTool(async () => ({ behavior: "deny", message: "not today" })) }
 * ```
 *
 * A sub-agent becomes a run of its own below the tool call that started it. The model calls happen in a process of the SDK's: `orangebox run`
 * has them, byte for byte.
 */
export function recordClaudeAgent(step: Step): ClaudeAgentRecording {
  const recording = new HookRecording(step)
  return {
    hooks: (own) => recording.hooks(own),
    canUseTool: (decide) => recording.canUseTool(decide),
    end: () => recording.end(),
  }
}

export interface ClaudeAgentRecording {
  /** For `options.hooks`. The application's own hooks go in and are recorded by what they answer. */
  hooks<T extends ClaudeHooks>(own?: T): T & ClaudeHooks
  /** For `options.canUseTool`: the same function, its verdicts recorded. */
  canUseTool<D extends ClaudePermission>(decide: D): D
  /** Ends the runs of sub-agents that nobody said had ended, when the query is over. */
  end(): void
}

/** The part of the SDK's types that is used, told by its shape: the package itself is not needed to record. */
export type ClaudeHooks = { readonly [Event in ClaudeHookEvent]?: ClaudeHookMatcher[] }

export interface ClaudeHookMatcher {
  matcher?: string
  hooks: ClaudeHook[]
  timeout?: number
}

// biome-ignore lint/suspicious/noExplicitAny: input and answer are the SDK's own, and pass through as they are.
export type ClaudeHook = (input: any, toolUseId: string | undefined, options: any) => Promise<any>
// biome-ignore lint/suspicious/noExplicitAny: as above.
export type ClaudePermission = (toolName: string, input: any, options: any) => Promise<any>

const HOOK_EVENTS = [
  ...(["PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest"] as const),
  ...(["PermissionDenied", "SubagentStart", "SubagentStop", "UserPromptSubmit", "SessionStart", "SessionEnd"] as const),
  ...(["PreCompact", "PostCompact", "Notification", "InstructionsLoaded", "Stop", "StopFailure"] as const),
] as const
export type ClaudeHookEvent = (typeof HOOK_EVENTS)[number]

class HookRecording {
  readonly #step: Step
  readonly #tools = new Map<string, { readonly call: ToolStep; readonly name: string; readonly args: Fields }>()
  readonly #agents = new Map<string, Run>()
  /** Tool calls whose sub-agent has come. */
  readonly #taken = new Set<string>()

  constructor(step: Step) {
    this.#step = step
  }

  hooks<T extends ClaudeHooks>(own?: T): T & ClaudeHooks {
    const watched = Object.fromEntries(
      Object.entries(own ?? {}).map(([event, matchers]) => [
        event,
        (matchers ?? []).map((matcher) => ({
          ...matcher,
          hooks: matcher.hooks.map((hook) => this.#watched(event, hook)),
        })),
      ]),
    )
    // Ours first: a call is on record before any hook speaks about it.
    const both = HOOK_EVENTS.map((event) => [event, [{ hooks: [this.#hook] }, ...(watched[event] ?? [])]])
    return { ...watched, ...Object.fromEntries(both) } as T & ClaudeHooks
  }

  canUseTool<D extends ClaudePermission>(decide: D): D {
    const decided: ClaudePermission = async (toolName, input, options) => {
      const answer = await decide(toolName, input, options)
      const { behavior, message } = fieldsOf(answer)
      const id = textIn(fieldsOf(options), "toolUseID")
      const place = this.#toolOr(id, this.#placeOf(textIn(fieldsOf(options), "agentID")))
      const isDenied = behavior === "deny"
      place.safetyDecision({ policy: "canUseTool", decision: isDenied ? "block" : "allow", ...reasonOf(message) })
      if (isDenied) this.#refuse(id, message)
      return answer
    }
    return decided as D
  }

  end(): void {
    for (const agent of this.#agents.values()) agent.fail(new Error("the query ended before the sub-agent said it had"))
    this.#agents.clear()
  }

  /** Records, and has nothing to say: what it answers changes nothing. */
  readonly #hook: ClaudeHook = async (input) => {
    this.#take(fieldsOf(input))
    return {}
  }

  #take(input: Fields): void {
    const place = this.#placeOf(textIn(input, "agent_id"))
    const take = this.#byEvent[input["hook_event_name"] as ClaudeHookEvent]
    if (take === undefined) this.#log(place, input)
    else take(input, textIn(input, "tool_use_id"), place)
  }

  readonly #byEvent: {
    readonly [Event in ClaudeHookEvent]?: (input: Fields, id: string | undefined, place: Step) => void
  } = {
    PreToolUse: (input, id, place) => this.#open(place, id, input),
    PostToolUse: (input, id) => this.#close(id, { result: input["tool_response"] }),
    PostToolUseFailure: (input, id) => this.#close(id, { err: namedError("ToolError", input["error"]) }),
    PostToolBatch: (input) => this.#closeBatch(input),
    PermissionRequest: (input, _id, place) =>
      place.safetyDecision({ policy: "permission", decision: "escalate", ...reasonOf(input["tool_name"]) }),
    PermissionDenied: (input, id, place) => {
      const { reason } = input
      this.#toolOr(id, place).safetyDecision({ policy: "permission", decision: "block", ...reasonOf(reason) })
      this.#refuse(id, reason)
    },
    SubagentStart: (input) => this.#startAgent(input),
    SubagentStop: (input) => this.#endAgent(input),
    UserPromptSubmit: (input, _id, place) =>
      place.inputReceived({ channels: ["user"], value: input["prompt"] ?? null }),
  }

  #open(place: Step, id: string | undefined, input: Fields): void {
    const name = textIn(input, "tool_name") ?? "?"
    const call = place.startTool({
      name,
      args: input["tool_input"] ?? {},
      ...(id === undefined ? {} : { callId: id }),
    })
    if (id !== undefined) this.#tools.set(id, { call, name, args: fieldsOf(input["tool_input"]) })
  }

  #close(id: string | undefined, end: Parameters<ToolStep["endTool"]>[0]): void {
    const tool = id === undefined ? undefined : this.#tools.get(id)
    if (id === undefined || tool === undefined) return
    this.#tools.delete(id)
    const agent = this.#agents.get(textIn(fieldsOf(end.result), "agentId") ?? "")
    if (agent !== undefined && !this.#taken.has(id)) tool.call.addLink({ runId: agent.runId, kind: "mentions" })
    this.#taken.delete(id)
    tool.call.endTool(end)
  }

  /** The last word on every call of an answer: also on those that were refused by a rule, of which no other hook tells. */
  #closeBatch(input: Fields): void {
    const calls = input["tool_calls"]
    for (const one of Array.isArray(calls) ? calls : []) {
      const call = fieldsOf(one)
      this.#close(textIn(call, "tool_use_id"), { err: namedError("ToolError", call["tool_response"]) })
    }
  }

  #refuse(id: string | undefined, why: unknown): void {
    this.#close(id, { err: namedError("PermissionDenied", why) })
  }

  #startAgent(input: Fields): void {
    const id = textIn(input, "agent_id")
    if (id === undefined) return
    const type = textIn(input, "agent_type") ?? "sub-agent"
    // Nothing says which call started it. Where only one can have, it did; where several can, none is named.
    const waiting = [...this.#tools].filter(([at, { args }]) => args["subagent_type"] === type && !this.#taken.has(at))
    const [callId, starter] = waiting.length === 1 ? waiting[0]! : []
    if (callId !== undefined) this.#taken.add(callId)
    const agent = (starter?.call ?? this.#step).startRun({
      entrypoint: type,
      agentId: type,
      ...(starter?.args["prompt"] === undefined ? {} : { input: starter.args["prompt"] }),
      attributes: { agent_id: id },
    })
    this.#agents.set(id, agent)
  }

  #endAgent(input: Fields): void {
    const id = textIn(input, "agent_id") ?? ""
    const output = input["last_assistant_message"]
    this.#agents.get(id)?.complete(output === undefined ? {} : { output })
    this.#agents.delete(id)
  }

  #log(place: Step, input: Fields): void {
    const event = String(input["hook_event_name"])
    const said = ["message", "error", "compact_summary", "last_assistant_message", "file_path"].map((name) =>
      textIn(input, name),
    )
    const text = said.find((one) => one !== undefined)
    place.log.info(text === undefined ? event : `${event}: ${text}`, attributesOf(input))
  }

  #watched(event: string, hook: ClaudeHook): ClaudeHook {
    return async (input, toolUseId, options) => {
      const place = (): Step => this.#toolOr(toolUseId, this.#placeOf(textIn(fieldsOf(input), "agent_id")))
      try {
        const answer = await hook(input, toolUseId, options)
        this.#answered(event, fieldsOf(answer), place())
        return answer
      } catch (err) {
        place().log.error(`hook ${event} failed`, { err })
        throw err
      }
    }
  }

  #answered(event: string, answer: Fields, place: Step): void {
    const said = fieldsOf(answer["hookSpecificOutput"])
    const verdict =
      said["permissionDecision"] ??
      fieldsOf(said["decision"])["behavior"] ??
      answer["decision"] ??
      (answer["continue"] === false ? "block" : undefined)
    const decision = VERDICTS[String(verdict)]
    const reason = said["permissionDecisionReason"] ?? answer["reason"] ?? answer["stopReason"]
    if (decision !== undefined) place.safetyDecision({ policy: `hook ${event}`, decision, ...reasonOf(reason) })
    // What a hook puts before the model stands in no transcript of the application.
    for (const name of ["additionalContext", "updatedInput", "updatedToolOutput"])
      if (said[name] !== undefined) place.log.info(`hook ${event} gave ${name}`, { [name]: said[name] })
  }

  #placeOf(agentId: string | undefined): Step {
    return (agentId === undefined ? undefined : this.#agents.get(agentId)) ?? this.#step
  }

  #toolOr(id: string | undefined, place: Step): Step {
    return (id === undefined ? undefined : this.#tools.get(id)?.call) ?? place
  }
}

const VERDICTS: Readonly<Record<string, SafetyDecisionMade["decision"] | undefined>> = {
  allow: "allow",
  approve: "allow",
  deny: "block",
  block: "block",
  ask: "escalate",
  defer: "escalate",
}

const textIn = (fields: Fields, name: string): string | undefined => {
  const value = fields[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

const reasonOf = (reason: unknown): { reason?: unknown } => (reason === undefined || reason === null ? {} : { reason })

function namedError(name: string, said: unknown): Error {
  const error = new Error(typeof said === "string" && said !== "" ? said : (JSON.stringify(said) ?? name))
  error.name = name
  return error
}

const KEPT = [
  ...["session_id", "prompt_id", "permission_mode", "transcript_path", "trigger", "reason", "source", "model"],
  ...["notification_type", "memory_type", "load_reason", "stop_hook_active"],
]

const attributesOf = (input: Fields): LogAttributes =>
  Object.fromEntries(KEPT.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]])))
