import { Chain } from "./claude-code-chain.js"
import { promptOf } from "./claude-code-message.js"
import { SentRequests } from "./claude-code-requests.js"
import type { SessionPlaces, SessionReader } from "./session-file.js"
import { type Json, recordOf, timeOf, wordOf } from "./told-values.js"

/*
 * Claude Code's transcripts: one JSON line per content block, `~/.claude/projects/<folder>/<session>.jsonl`.
 *
 *   run          a session, until it rests for an hour with nothing open; taken up again it is the next run of the conversation
 *   child run    `<session>/subagents/agent-<id>.jsonl`, and sidechains inside older files, linked to the tool call that started them
 *   turn         from one prompt of the user to the next
 *   model call   all lines of one `message.id`: blocks in order, usage by the maximum of each field; `<synthetic>` is no call
 *   request      put together from `api-request` lines, checked by their hashes; before 2.1.326 the new messages only
 *   tools        `tool_use` and its `tool_result`
 *   hooks        `attachment` lines of type `hook_…` and what a stop hook said, as logs; other attachments are messages to the model
 *   copies       lines whose `uuid` was read before belong to the run that had them first
 *   absent       wire bytes; without `api-request` lines system prompt, tool definitions and settings
 */
export interface ClaudeCodePlaces extends SessionPlaces {
  /** The session's id: the name of its file. */
  readonly session: string
  /** Of a sub-agent's file. */
  readonly agent?: SubAgent
  /** The run that told a line before, where another file of the session's project did. */
  readonly knownLine?: (uuid: string) => string | undefined
  readonly learnLine?: (uuid: string, runId: string) => void
  /** A tool result named a sub-agent: the call that started it. */
  readonly learnAgent?: (agentId: string, by: StartedBy) => void
  /** A call that starts a sub-agent, by its own id. */
  readonly learnTask?: (callId: string, by: StartedBy) => void
}

/** Whose transcript a file is, where it is a sub-agent's. */
export interface SubAgent {
  readonly id: string
  /** What sort of agent, where a file beside the transcript says so. */
  readonly type?: string | undefined
  readonly startedBy: StartedBy | undefined
}

export interface StartedBy {
  readonly runId: string
  readonly stepId: string
  readonly traceId: string
  /** What sort of agent the call asked for. */
  readonly agentType?: string | undefined
}

export class ClaudeCodeSession implements SessionReader {
  readonly #places: ClaudeCodePlaces
  readonly #main: Chain
  /** Sidechains inside the file, by the line they began with; and which line belongs to which. */
  readonly #chains = new Map<string, Chain>()
  readonly #chainOfLine = new Map<string, Chain>()
  /** Calls that start a sub-agent, by the prompt they give it. */
  readonly #tasks = new Map<string, StartedBy>()
  readonly #unknownTypes = new Set<string>()
  /** Of the session itself, or of the sub-agent whose file this is. */
  readonly #requests = new SentRequests()
  #lastAtMs: number | undefined

  constructor(places: ClaudeCodePlaces) {
    this.#places = places
    const { session, agent } = places
    const name = agent === undefined ? session : `${session}/${agent.id}`
    this.#main = new Chain(this, places, { name, startedBy: agent?.startedBy, requests: this.#requests })
  }

  take(value: unknown, lineNo: number): void {
    const line = recordOf(value)
    const type = wordOf(line["type"])
    if (type === undefined) {
      this.#places.problem({ line: lineNo, reason: "a line without a type" })
      return
    }
    if (SILENT_TYPES.has(type) || this.#requests.take(line, type)) return
    const atMs = timeOf(line["timestamp"]) ?? this.#lastAtMs
    if (!TOLD_TYPES.has(type)) {
      if (!this.#unknownTypes.has(type)) {
        this.#unknownTypes.add(type)
        this.#places.problem({
          line: lineNo,
          reason: `lines of type ${JSON.stringify(type.slice(0, 60))} are not known and left out`,
        })
      }
      return
    }
    if (atMs === undefined) {
      this.#places.problem({ line: lineNo, reason: `a line of type ${type} without a usable timestamp` })
      return
    }
    if (timeOf(line["timestamp"]) === undefined)
      this.#places.problem({
        line: lineNo,
        reason: "a line without a usable timestamp is taken at the time of the one before",
      })
    this.#lastAtMs = atMs
    const uuid = wordOf(line["uuid"]) ?? `line ${lineNo}`
    this.#chainFor(line, uuid).take(line, type, uuid, atMs)
  }

  finish(nowMs: number): void {
    for (const chain of [this.#main, ...this.#chains.values()]) chain.finish(nowMs)
  }

  /** A call whose arguments hold the prompt of a sub-agent. */
  noteTask(prompt: string, by: StartedBy): void {
    this.#tasks.set(prompt, by)
  }

  taskOf(prompt: string): StartedBy | undefined {
    return this.#tasks.get(prompt)
  }

  /** In a sub-agent's own file everything is a sidechain; in the session's file a sidechain is somebody else's line of calls. */
  #chainFor(line: Json, uuid: string): Chain {
    if (line["isSidechain"] !== true || this.#places.agent !== undefined) return this.#main
    const parent = wordOf(line["parentUuid"])
    const known = parent === undefined ? undefined : this.#chainOfLine.get(parent)
    const { session } = this.#places
    let chain = known
    if (chain === undefined) {
      const startedBy = this.taskOf(promptOf(recordOf(line["message"])["content"]))
      chain = new Chain(this, this.#places, { name: `${session}/${uuid}`, startedBy, traceId: this.#main.traceId })
      this.#chains.set(uuid, chain)
    }
    this.#chainOfLine.set(uuid, chain)
    return chain
  }
}

const TOLD_TYPES: ReadonlySet<string> = new Set(["user", "assistant", "system", "attachment"])
/** What the program keeps for itself. */
const SILENT_TYPES: ReadonlySet<string> = new Set([
  ...["summary", "progress", "queue-operation", "file-history-snapshot", "last-prompt", "custom-title", "ai-title"],
  ...["agent-name", "permission-mode", "pr-link", "tag", "mode", "worktree-state", "content-replacement", "tools-used"],
  ...["cost-state", "atis-latch"],
])
