import { derivedIds, type Link, type TokenUsage } from "@orangebox/contract"
import { dialectOf } from "@orangebox/dialects"
import { ConversationTeller, NOT_IN_TRANSCRIPTS } from "./conversation-teller.js"
import { IDLE_MS, type SessionPlaces, type SessionReader } from "./session-file.js"
import {
  contentText,
  countOf,
  exitCodeIn,
  type Json,
  jsonText,
  listOf,
  recordOf,
  timeOf,
  wordOf,
} from "./told-values.js"

/*
 * Claude Code's transcripts: one JSON line per content block, `~/.claude/projects/<folder>/<session>.jsonl`.
 *
 *   run          a session, until it rests for an hour with nothing open; taken up again it is the next run of the conversation
 *   child run    `<session>/subagents/agent-<id>.jsonl`, and sidechains inside older files, linked to the tool call that started them
 *   turn         from one prompt of the user to the next
 *   model call   all lines of one `message.id`: blocks in order, usage by the maximum of each field; `<synthetic>` is no call
 *   tools        `tool_use` and its `tool_result`
 *   copies       lines whose `uuid` was read before belong to the run that had them first
 *   absent       system prompt, tool definitions, settings, wire bytes
 */
export const CLAUDE_CODE = "import:claude-code"

export interface ClaudeCodePlaces extends SessionPlaces {
  /** The session's id: the name of its file. */
  readonly session: string
  /** Of a sub-agent's file. */
  readonly agent?: { readonly id: string; readonly startedBy: StartedBy | undefined }
  /** The run that told a line before, where another file of the session's project did. */
  readonly knownLine?: (uuid: string) => string | undefined
  readonly learnLine?: (uuid: string, runId: string) => void
  /** A tool result named a sub-agent: the call that started it. */
  readonly learnAgent?: (agentId: string, by: StartedBy) => void
}

export interface StartedBy {
  readonly runId: string
  readonly stepId: string
  readonly traceId: string
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
  #lastAtMs: number | undefined

  constructor(places: ClaudeCodePlaces) {
    this.#places = places
    const { session, agent } = places
    this.#main = new Chain(this, places, agent === undefined ? session : `${session}/${agent.id}`, agent?.startedBy)
  }

  take(value: unknown, lineNo: number): void {
    const line = recordOf(value)
    const type = wordOf(line["type"])
    if (type === undefined) {
      this.#places.problem({ line: lineNo, reason: "a line without a type" })
      return
    }
    if (SILENT_TYPES.has(type)) return
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
      chain = new Chain(this, this.#places, `${session}/${uuid}`, startedBy, this.#main.traceId)
      this.#chains.set(uuid, chain)
    }
    this.#chainOfLine.set(uuid, chain)
    return chain
  }
}

const TOLD_TYPES: ReadonlySet<string> = new Set(["user", "assistant", "system"])
/** What the program keeps for itself. */
const SILENT_TYPES: ReadonlySet<string> = new Set([
  ...["summary", "progress", "queue-operation", "file-history-snapshot", "attachment", "last-prompt", "custom-title"],
  ...["ai-title", "agent-name", "permission-mode", "pr-link", "tag", "mode", "worktree-state", "content-replacement"],
])

/** A message of the model while its lines come in. */
interface Pending {
  readonly id: string
  readonly requestId: string | undefined
  readonly calledAtMs: number
  readonly messages: readonly unknown[]
  readonly blocks: Map<string, unknown>
  readonly held: Held[]
  model: string | null
  usage: Json
  finishReason: string | null
  endedAtMs: number
  error: string | undefined
}

/** A tool call or its result while the message that asks for it is not complete. */
type Held = () => void

/** One line of calls: a session, or a sub-agent in it. */
class Chain {
  readonly traceId: string
  readonly #session: ClaudeCodeSession
  readonly #places: ClaudeCodePlaces
  readonly #name: string
  readonly #startedBy: StartedBy | undefined
  #told: ConversationTeller | undefined
  #runs = 0
  #pending: Pending | undefined
  #messages: unknown[] = []
  #lastInputAtMs = 0
  #lastAtMs = 0
  #isAnswered = false
  #copiedFrom: string | undefined
  #lastLine: Json = {}
  readonly #seen = new Set<string>()

  constructor(
    session: ClaudeCodeSession,
    places: ClaudeCodePlaces,
    name: string,
    startedBy: StartedBy | undefined,
    traceId?: string,
  ) {
    this.#session = session
    this.#places = places
    this.#name = name
    this.#startedBy = startedBy
    this.traceId = startedBy?.traceId ?? traceId ?? derivedIds.trace(`${CLAUDE_CODE}\0${places.session}`)
  }

  take(line: Json, type: string, uuid: string, atMs: number): void {
    if (this.#seen.has(uuid)) return
    this.#seen.add(uuid)
    const copiedFrom = this.#places.knownLine?.(uuid)
    if (copiedFrom !== undefined) {
      this.#copiedFrom = copiedFrom
      return
    }
    this.#splitAfterRest(atMs)
    this.#lastLine = { ...this.#lastLine, ...definedOf(line, ["cwd", "version", "gitBranch", "slug"]) }
    const message = recordOf(line["message"])
    if (type === "assistant") this.#answer(line, message, uuid, atMs)
    else if (type === "user") this.#say(line, message, uuid, atMs)
    else this.#system(line, uuid, atMs)
    this.#lastAtMs = Math.max(this.#lastAtMs, atMs)
    if (this.#told !== undefined) this.#places.learnLine?.(uuid, this.#told.teller.run.runId)
  }

  finish(nowMs: number): void {
    if (this.#told === undefined || nowMs - this.#lastAtMs < IDLE_MS) return
    this.#rest()
  }

  #splitAfterRest(atMs: number): void {
    if (this.#told === undefined || atMs - this.#lastAtMs < IDLE_MS) return
    this.#rest()
    if (!this.#told.teller.isEnded) return
    this.#copiedFrom = this.#told.teller.run.runId
    this.#told = undefined
    this.#messages = []
    this.#isAnswered = false
  }

  /** An hour of silence: what was being said is complete, and if nothing is waited for the run is over. */
  #rest(): void {
    const told = this.#told!
    this.#complete()
    if (this.#isAnswered && !told.hasOpenTools) told.complete("end", "an hour without another line")
  }

  #run(key: string, atMs: number, input: string | undefined): ConversationTeller {
    if (this.#told !== undefined) return this.#told
    const { session, agent } = this.#places
    const name = this.#runs === 0 ? this.#name : `${this.#name}\0${key}`
    this.#runs++
    const links: Link[] = []
    // What was taken up again later is another matter: the conversation holds them together.
    const traceId = this.#runs === 1 ? this.traceId : derivedIds.trace(`${CLAUDE_CODE}\0${name}`)
    if (this.#startedBy !== undefined) {
      const { runId, stepId } = this.#startedBy
      links.push({ kind: "spawned_by", trace_id: this.traceId, run_id: runId, step_id: stepId })
    }
    if (this.#copiedFrom !== undefined)
      links.push({ kind: "follows", run_id: this.#copiedFrom, reason: "the same session, taken up again" })
    const told = new ConversationTeller(
      { source: CLAUDE_CODE, name, startedAtMs: atMs, traceId, conversationId: session },
      this.#places.emit,
    )
    this.#told = told
    const { cwd, version, gitBranch } = this.#lastLine
    const folder = wordOf(cwd)
      ?.split(/[\\/]/)
      .findLast((part) => part !== "")
    told.start(key, atMs, {
      app: "claude-code",
      entrypoint:
        agent === undefined && this.#startedBy === undefined ? (folder ?? "session") : (agent?.id ?? "sub-agent"),
      input,
      agentVersion: wordOf(version),
      branch: wordOf(gitBranch),
      attributes: {
        session_id: session,
        ...(cwd === undefined ? {} : { cwd }),
        ...(agent === undefined ? {} : { agent_id: agent.id }),
        not_in_the_record: NOT_IN_TRANSCRIPTS,
      },
      links,
    })
    return told
  }

  // ── What the user, or a tool, said ────────────────────────────────────────────────────────────────────────────────────────

  #say(line: Json, message: Json, uuid: string, atMs: number): void {
    const { content } = message
    const results = listOf(content).filter((block) => recordOf(block)["type"] === "tool_result")
    for (const [at, block] of results.entries()) this.#result(recordOf(block), line, `${uuid}\0${at}`, atMs)
    const text = promptOf(content)
    if (results.length === 0 || text !== "") {
      if (line["isMeta"] === true || line["isCompactSummary"] === true) this.#noteMeta(line, text, uuid, atMs)
      else if (results.length === 0) {
        this.#complete()
        this.#run(uuid, atMs, text).prompt(uuid, atMs, text)
        this.#isAnswered = false
      }
    }
    this.#messages.push({ role: "user", content: content ?? null })
    this.#lastInputAtMs = atMs
  }

  #noteMeta(line: Json, text: string, uuid: string, atMs: number): void {
    const isCompaction = line["isCompactSummary"] === true
    this.#complete()
    this.#run(uuid, atMs, undefined).log(
      uuid,
      atMs,
      "info",
      isCompaction ? `the conversation was compacted to: ${text}` : text,
      isCompaction ? { compaction: true } : { is_meta: true },
    )
  }

  #result(block: Json, line: Json, key: string, atMs: number): void {
    const callId = wordOf(block["tool_use_id"])
    if (callId === undefined) return
    this.#hold(() => {
      const told = this.#run(key, atMs, undefined)
      const details = recordOf(line["toolUseResult"])
      const text = resultText(block["content"])
      const agentId = wordOf(details["agentId"]) ?? /\bagentId: ?([\w-]{4,64})\b/.exec(text ?? "")?.[1]
      const step = told.toolStep(callId)
      if (agentId !== undefined && step !== undefined) {
        const { runId, traceId } = told.teller.run
        this.#places.learnAgent?.(agentId, { runId, stepId: step.id, traceId })
      }
      const isError = block["is_error"] === true
      const found = told.result({
        key,
        atMs,
        callId,
        text,
        isError,
        exitCode: exitCodeOf(details, isError ? (text ?? "") : ""),
        attributes: {
          ...(details["interrupted"] === true ? { interrupted: true } : {}),
          ...(agentId === undefined ? {} : { agent_id: agentId }),
        },
      })
      // Its call stands in a file that is not here, or was cut off.
      if (!found)
        told.log(key, atMs, "warn", `the result of a tool call that is not in this record: ${text ?? ""}`, {
          tool_call_id: callId,
        })
    })
    this.#isAnswered = false
  }

  // ── What the model said ───────────────────────────────────────────────────────────────────────────────────────────────────

  #answer(line: Json, message: Json, uuid: string, atMs: number): void {
    const model = wordOf(message["model"]) ?? null
    if (model === "<synthetic>") {
      // Written by the program in the model's place, when a call failed or was stopped.
      this.#complete()
      const text = contentText(message["content"])
      const isError = line["isApiErrorMessage"] === true
      this.#run(uuid, atMs, undefined).log(uuid, atMs, isError ? "error" : "info", text, { synthetic: true })
      this.#isAnswered = true
      return
    }
    const id = wordOf(message["id"]) ?? uuid
    if (this.#pending?.id !== id) {
      this.#complete()
      this.#run(uuid, atMs, undefined)
      this.#pending = {
        id,
        requestId: wordOf(line["requestId"]),
        // When the request left is not in the record; the last thing the model was told is the nearest that is.
        calledAtMs: this.#lastInputAtMs === 0 ? atMs : Math.min(this.#lastInputAtMs, atMs),
        messages: this.#messages,
        blocks: new Map(),
        held: [],
        model,
        usage: {},
        finishReason: null,
        endedAtMs: atMs,
        error: undefined,
      }
      this.#messages = []
    }
    const pending = this.#pending!
    pending.model ??= model
    pending.usage = largest(pending.usage, recordOf(message["usage"]))
    pending.finishReason = wordOf(message["stop_reason"]) ?? pending.finishReason
    pending.endedAtMs = Math.max(pending.endedAtMs, atMs)
    const { content } = message
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : listOf(content)
    for (const [at, block] of blocks.entries()) this.#block(pending, recordOf(block), `${uuid}\0${at}`, atMs)
  }

  #block(pending: Pending, block: Json, key: string, atMs: number): void {
    const callId = block["type"] === "tool_use" ? wordOf(block["id"]) : undefined
    // A later line may hold the same call again, more complete.
    const isNew = callId === undefined || !pending.blocks.has(callId)
    pending.blocks.set(callId ?? key, block)
    if (callId === undefined || !isNew) return
    pending.held.push(() => {
      const known = recordOf(pending.blocks.get(callId))
      const told = this.#run(key, atMs, undefined)
      told.tool({
        key: callId,
        atMs,
        callId,
        name: wordOf(known["name"]) ?? "?",
        argumentText: jsonText(known["input"] ?? {}),
      })
      const prompt = wordOf(recordOf(known["input"])["prompt"])
      const step = told.toolStep(callId)
      if (prompt !== undefined && step !== undefined)
        this.#session.noteTask(prompt, { ...told.teller.run, stepId: step.id })
    })
  }

  #hold(tell: Held): void {
    if (this.#pending === undefined) tell()
    else this.#pending.held.push(tell)
  }

  /** The message is whole: another one began, or the user spoke. Its tools may have answered while it was still being written. */
  #complete(): void {
    const pending = this.#pending
    if (pending === undefined) return
    this.#pending = undefined
    const blocks = [...pending.blocks.values()].map(recordOf)
    const tools = blocks.filter(({ type }) => type === "tool_use")
    const usage = dialectOf(DIALECT)!.usageOf(pending.usage as never)
    const told = this.#run(pending.id, pending.calledAtMs, undefined)
    told.call({
      key: pending.id,
      calledAtMs: pending.calledAtMs,
      endedAtMs: pending.endedAtMs,
      provider: "anthropic",
      model: pending.model,
      messages: pending.messages,
      response: {
        id: pending.id,
        type: "message",
        role: "assistant",
        model: pending.model,
        content: blocks,
        stop_reason: pending.finishReason,
        usage: pending.usage,
      },
      usage: usage.tokens as TokenUsage,
      usageAsTold: Object.keys(pending.usage).length === 0 ? undefined : pending.usage,
      finishReason: pending.finishReason ?? (tools.length > 0 ? "tool_use" : null),
      text: blocks.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? text : [])).join("\n"),
      tools: tools.map(({ id, name }) => ({ id: wordOf(id) ?? null, name: wordOf(name) ?? "?" })),
      requestId: pending.requestId,
      serviceTier: usage.serviceTier ?? undefined,
      cacheWrite1h: usage.cacheWrite1h ?? undefined,
    })
    for (const tell of pending.held) tell()
    this.#isAnswered = tools.length === 0
  }

  #system(line: Json, uuid: string, atMs: number): void {
    const text = contentText(line["content"])
    const subtype = wordOf(line["subtype"])
    if (text === "" && subtype === undefined) return
    const level = wordOf(line["level"])
    this.#hold(() =>
      this.#run(uuid, atMs, undefined).log(
        uuid,
        atMs,
        level === "error" ? "error" : level === "warning" ? "warn" : "info",
        text === "" ? subtype! : text,
        { ...(subtype === undefined ? {} : { subtype }) },
      ),
    )
  }
}

const DIALECT = "anthropic-messages"

/** What the user said, without what tools said. */
function promptOf(content: unknown): string {
  if (typeof content === "string") return content
  return contentText(listOf(content).filter((block) => recordOf(block)["type"] !== "tool_result"))
}

function resultText(content: unknown): string | null {
  if (content === undefined || content === null) return null
  const parts = listOf(content)
  const isText = typeof content === "string" || parts.every((part) => recordOf(part)["type"] === "text")
  return isText ? contentText(content) : jsonText(content)
}

function exitCodeOf(details: Json, text: string): number | undefined {
  const { exitCode, exit_code } = details
  const said = [exitCode, exit_code].find((code) => Number.isInteger(code))
  return said === undefined ? exitCodeIn(text) : (said as number)
}

/** Each count by its largest: every line of a message repeats its usage, the early ones as far as it was known by then. */
function largest(known: Json, told: Json): Json {
  const sum: Record<string, unknown> = { ...known }
  for (const [name, value] of Object.entries(told)) {
    const before = sum[name]
    if (typeof value === "number" && countOf(value) !== null)
      sum[name] = typeof before === "number" ? Math.max(before, value) : value
    else if (typeof value === "object" && value !== null && !Array.isArray(value))
      sum[name] = largest(recordOf(before), recordOf(value))
    else if (value !== null && value !== undefined) sum[name] = value
  }
  return sum
}

const definedOf = (line: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (typeof line[name] === "string" ? [[name, line[name]]] : [])))
