import { derivedIds, type Link, type TokenUsage } from "@orangebox/contract"
import { dialectOf } from "@orangebox/dialects"
import type { ClaudeCodePlaces, ClaudeCodeSession, StartedBy } from "./claude-code.js"
import { definedOf, exitCodeOf, largest, promptOf, resultText } from "./claude-code-message.js"
import type { SentRequest, SentRequests } from "./claude-code-requests.js"
import { ConversationTeller, NOT_IN_TRANSCRIPTS } from "./conversation-teller.js"
import { IDLE_MS, RESTED } from "./session-file.js"
import { contentText, type Json, jsonText, listOf, recordOf, wordOf } from "./told-values.js"

export const CLAUDE_CODE = "import:claude-code"
const DIALECT = "anthropic-messages"
/** A message of the model while its lines come in. */
interface Pending {
  readonly id: string
  readonly requestId: string | undefined
  readonly calledAtMs: number
  readonly request: SentRequest | undefined
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
export class Chain {
  readonly traceId: string
  readonly #session: ClaudeCodeSession
  readonly #places: ClaudeCodePlaces
  readonly #name: string
  readonly #startedBy: StartedBy | undefined
  readonly #requests: SentRequests | undefined
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
    of: {
      readonly name: string
      readonly startedBy: StartedBy | undefined
      readonly traceId?: string
      readonly requests?: SentRequests
    },
  ) {
    this.#session = session
    this.#places = places
    this.#name = of.name
    this.#startedBy = of.startedBy
    this.#requests = of.requests
    this.traceId = of.startedBy?.traceId ?? of.traceId ?? derivedIds.trace(`${CLAUDE_CODE}\0${places.session}`)
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
    else if (type === "attachment") this.#attach(line, uuid, atMs)
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
    if (this.#told.teller.isEnded) this.#end(this.#told)
  }

  /** What comes now is another run, which follows this one. */
  #end(told: ConversationTeller): void {
    told.complete("end", RESTED)
    this.#copiedFrom = told.teller.run.runId
    this.#told = undefined
    this.#messages = []
    this.#isAnswered = false
  }

  /** An hour of silence: what was being said is complete, and if nothing is waited for the run is over. */
  #rest(): void {
    const told = this.#told!
    this.#complete()
    if (this.#isAnswered && !told.hasOpenTools) told.complete("end", RESTED)
  }

  #run(key: string, atMs: number, input: string | undefined): ConversationTeller {
    if (this.#told?.isEndedHere(this.#places.endedAfter?.(this.#told.teller.run.runId))) this.#end(this.#told)
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
        agent === undefined && this.#startedBy === undefined
          ? (folder ?? "session")
          : (agent?.type ?? this.#startedBy?.agentType ?? agent?.id ?? "sub-agent"),
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
        this.#places.learnAgent?.(agentId, { runId, stepId: step.id, traceId, agentType: wordOf(details["agentType"]) })
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
      const request = this.#requests?.claim(model)
      this.#pending = {
        id,
        requestId: wordOf(line["requestId"]),
        // Where the record does not say when the request left, the last thing the model was told is the nearest that it says.
        calledAtMs: Math.min(request?.atMs ?? (this.#lastInputAtMs || atMs), atMs),
        request,
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
        this.#noteTask(callId, prompt, known, { ...told.teller.run, stepId: step.id })
    })
  }

  #noteTask(callId: string, prompt: string, block: Json, by: StartedBy): void {
    const agentType = wordOf(recordOf(block["input"])["subagent_type"])
    const started = { ...by, agentType }
    this.#session.noteTask(prompt, started)
    this.#places.learnTask?.(callId, started)
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
      request: pending.request && this.#requests?.whole(pending.request),
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
      ...(pending.request?.querySource === undefined
        ? {}
        : { attributes: { query_source: pending.request.querySource } }),
      requestId: pending.requestId,
      serviceTier: usage.serviceTier ?? undefined,
      cacheWrite1h: usage.cacheWrite1h ?? undefined,
    })
    this.#requests?.learnAnswer(blocks)
    for (const tell of pending.held) tell()
    this.#isAnswered = tools.length === 0
  }

  /** What the program puts before the model beside what the user says; what hooks did stands there too. */
  #attach(line: Json, uuid: string, atMs: number): void {
    const attachment = recordOf(line["attachment"])
    const type = wordOf(attachment["type"]) ?? "attachment"
    const rendered = listOf(line["rendered"]).map((one) => recordOf(one)["content"])
    if (type === "prompt_snapshot") return
    this.#messages.push({ role: "user", content: rendered.length > 0 ? rendered : attachment })
    if (!/^hook_|^queued_command$/.test(type) || this.#told === undefined) return
    const { hookName, hookEvent, content, stdout, stderr, prompt, exitCode } = attachment
    const said = [content, stdout, stderr, prompt]
      .map((one) => (one === undefined ? "" : jsonText(one)))
      .join(" ")
      .trim()
    this.#hold(() =>
      this.#told?.log(uuid, atMs, /error|block|denied/.test(type) ? "warn" : "info", `${type}: ${said}`, {
        ...definedOf({ hook_name: hookName, hook_event: hookEvent } as Json, ["hook_name", "hook_event"]),
        ...(Number.isInteger(exitCode) ? { exit_code: exitCode } : {}),
      }),
    )
  }

  #system(line: Json, uuid: string, atMs: number): void {
    const text = contentText(line["content"])
    const subtype = wordOf(line["subtype"])
    if (text === "" && subtype === undefined) return
    const level = wordOf(line["level"])
    // Written when the turn is over: nothing more comes of its last message.
    if (AFTER_A_TURN.has(subtype ?? "")) this.#complete()
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

const AFTER_A_TURN: ReadonlySet<string> = new Set(["stop_hook_summary", "turn_duration", "compact_boundary"])
