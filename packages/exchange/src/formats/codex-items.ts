import type { TokenUsage } from "@orangebox/contract"
import { NOT_IN_TRANSCRIPTS, type ToldStart } from "./conversation-teller.js"
import { contentText, countOf, exitCodeIn, type Json, jsonText, recordOf, wordOf } from "./told-values.js"

/** What the items of a Codex rollout are, and what stands in them. */

export const TOOL_CALLS: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "local_shell_call",
  "tool_search_call",
])
export const TOOL_OUTPUTS: ReadonlySet<string> = new Set([
  ...["function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"],
])

export const isOutput = (item: Json, kind: string): boolean =>
  kind === "message" ? item["role"] === "assistant" : kind === "reasoning" || /_call$/.test(kind)

/** What is not said is unknown: a rollout tells of no call's usage until it counts. */
export function usageOf(told: Json | undefined): TokenUsage {
  const count = (name: string): number | null => (told === undefined ? null : countOf(told[name]))
  const prompt = count("input_tokens")
  const completion = count("output_tokens")
  return {
    prompt,
    completion,
    total: count("total_tokens") ?? (prompt === null || completion === null ? null : prompt + completion),
    cache_read: count("cached_input_tokens"),
    cache_write: count("cache_write_input_tokens"),
    reasoning: count("reasoning_output_tokens"),
  }
}

function parsed(text: string): unknown {
  if (!text.startsWith("{")) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface ToldOutput {
  readonly text: string
  readonly exitCode: number | undefined
  readonly isError: boolean | null
}

/** What a tool gave back: as a text, as a text of JSON with its exit code, or as parts. */
export function outputOf(output: unknown): ToldOutput {
  const inner = recordOf(typeof output === "string" ? parsed(output) : output)
  const text =
    typeof inner["output"] === "string"
      ? inner["output"]
      : typeof inner["content"] === "string"
        ? inner["content"]
        : Array.isArray(output)
          ? contentText(output)
          : jsonText(output ?? "")
  const said = recordOf(inner["metadata"])["exit_code"]
  const exitCode = Number.isInteger(said) ? (said as number) : exitCodeIn(text)
  return { text, exitCode, isError: inner["success"] === false ? true : exitCode === undefined ? null : exitCode !== 0 }
}

/** What a run is called and was started with, by the head of its file. */
export function startOf(meta: Json, session: string, copied: Json): ToldStart {
  const git = recordOf(meta["git"])
  const cwd = wordOf(meta["cwd"])
  const kept = ["originator", "agent_role", "parent_thread_id"].filter((name) => wordOf(meta[name]) !== undefined)
  return {
    app: "codex",
    entrypoint: wordOf(meta["agent_nickname"]) ?? cwd?.split(/[\\/]/).findLast((part) => part !== "") ?? "session",
    agentVersion: wordOf(meta["cli_version"]),
    branch: wordOf(git["branch"]),
    commit: wordOf(git["commit_hash"]),
    attributes: {
      session_id: session,
      ...(cwd === undefined ? {} : { cwd }),
      ...Object.fromEntries(kept.map((name) => [name, meta[name]])),
      ...copied,
      not_in_the_record:
        meta["base_instructions"] === undefined ? NOT_IN_TRANSCRIPTS : "wire bytes, tool definitions, settings",
    },
  }
}

/** A command that was run on the way to a tool's output. */
export function commandOf({ exit_code: code, command, cwd }: Json): {
  readonly words: string
  readonly failed: boolean
  readonly attributes: Json
} {
  const line = Array.isArray(command) ? command.map(String).join(" ") : String(command ?? "?")
  const isKnown = Number.isInteger(code)
  return {
    words: `${line} exited with ${isKnown ? code : "an unknown code"}`,
    failed: isKnown && code !== 0,
    attributes: { ...(isKnown ? { exit_code: code } : {}), ...(typeof cwd === "string" ? { cwd } : {}) },
  }
}

/** Newer versions repeat the instructions of the session as the first message. */
export function withoutRepeats(messages: readonly unknown[]): readonly unknown[] {
  const [first, ...rest] = messages
  const { type, text } = recordOf(first)
  const isRepeated =
    type === "base_instructions" && rest.some((item) => contentText(recordOf(item)["content"]) === text)
  return isRepeated ? rest : messages
}
