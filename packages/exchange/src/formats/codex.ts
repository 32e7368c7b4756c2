import { derivedIds, type Link } from "@orangebox/contract"
import {
  commandOf,
  isOutput,
  outputOf,
  startOf,
  TOOL_CALLS,
  TOOL_OUTPUTS,
  usageOf,
  withoutRepeats,
} from "./codex-items.js"
import { ConversationTeller } from "./conversation-teller.js"
import { IDLE_MS, RESTED, type SessionPlaces, type SessionReader } from "./session-file.js"
import { contentText, countOf, type Json, jsonText, recordOf, timeOf, wordOf } from "./told-values.js"

/*
 * Codex rollouts: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, old ones `.jsonl.zst`.
 *
 *   run          `session_meta.id`, until it rests for an hour; taken up again it is the next run of the conversation
 *   child run    `parent_thread_id`
 *   model call   the items the model wrote between two things it was given, deduced; the rollout marks no calls
 *   usage        of a `token_usage_record`, which names the response too; before 0.169 `last_token_usage` of the next `token_count` whose
 *                total has grown; one that repeats its total says nothing new
 *   tools        `function_call` and its output; exit codes are read from outputs, because the end of a command is not in the file
 *   copies       a fork repeats the items of `forked_from_id` up to where it leaves it: they are skipped, and the run is linked
 *   prompt       `base_instructions` and the items of the program, before the first thing the user said
 *   absent       tool definitions but for those in items, settings, wire bytes
 */
export const CODEX = "import:codex"

export interface CodexPlaces extends SessionPlaces {
  /** Of the file name, where the file does not say it. */
  readonly session: string
  /** The items of another session in order, each as a short digest, where that session is at hand. */
  readonly itemsOf?: (session: string) => readonly string[] | undefined
  /** The first run of another session, where it is known. */
  readonly runOf?: (session: string) => string | undefined
  /** What this session's items are, for those that were forked from it. */
  readonly learnItem?: (digest: string) => void
}

/** A digest by which copies of an item are known again. */
export const itemDigest = (payload: unknown): string => derivedIds.step(`item\0${JSON.stringify(payload)}`)

interface Pending {
  readonly key: string
  readonly calledAtMs: number
  readonly messages: readonly unknown[]
  readonly items: Json[]
  readonly held: (() => void)[]
  endedAtMs: number
  usage: Json | undefined
  responseId: string | undefined
  /** Something was given to the model since its last item. */
  isFollowed: boolean
}

export class CodexSession implements SessionReader {
  readonly #places: CodexPlaces
  #told: ConversationTeller | undefined
  #runs = 0
  #meta: Json = {}
  #session: string
  #context: Json = {}
  #pending: Pending | undefined
  #messages: unknown[] = []
  #prompts: { readonly key: string; readonly atMs: number; readonly text: string }[] = []
  #lastInputAtMs = 0
  #lastAtMs = 0
  #isAnswered = false
  #follows: string | undefined
  #copied: readonly string[] = []
  #copiedUpTo = 0
  #total: number | undefined
  #tokens = 0
  readonly #unknown = new Set<string>()

  constructor(places: CodexPlaces) {
    this.#places = places
    this.#session = places.session
  }

  take(value: unknown, lineNo: number): void {
    const line = recordOf(value)
    // The first rollouts had no envelope: the line is the item.
    const type = wordOf(line["type"])
    const payload = recordOf(line["payload"])
    const atMs = timeOf(line["timestamp"])
    if (type === undefined || atMs === undefined) {
      this.#places.problem({ line: lineNo, reason: "a line without a type or a usable timestamp" })
      return
    }
    const key = `line ${lineNo}`
    if (type === "session_meta") {
      this.#start(payload, atMs)
      return
    }
    if (!TOLD.has(type)) {
      if (!SILENT.has(type) && !this.#unknown.has(type)) {
        this.#unknown.add(type)
        this.#places.problem({
          line: lineNo,
          reason: `lines of type ${JSON.stringify(type.slice(0, 60))} are not known and left out`,
        })
      }
      return
    }
    if (type === "response_item" && this.#isCopy(payload)) return
    this.#splitAfterRest(atMs)
    if (type === "turn_context") this.#context = payload
    else if (type === "response_item") this.#item(payload, key, atMs)
    else if (type === "event_msg") this.#event(payload, key, atMs)
    else if (type === "compacted") this.#compacted(payload, key, atMs)
    else if (type === "token_usage_record") this.#counted(payload)
    this.#lastAtMs = Math.max(this.#lastAtMs, atMs)
  }

  finish(nowMs: number): void {
    if (this.#told === undefined || nowMs - this.#lastAtMs < IDLE_MS) return
    this.#rest()
  }

  #start(meta: Json, atMs: number): void {
    // A fork's file holds the head of the session it was forked from as well.
    if (Object.keys(this.#meta).length > 0) return
    this.#meta = meta
    this.#session = wordOf(meta["id"]) ?? this.#places.session
    const from = wordOf(meta["forked_from_id"])
    if (from !== undefined) this.#copied = this.#places.itemsOf?.(from) ?? []
    this.#lastAtMs = atMs
    const { text } = recordOf(meta["base_instructions"])
    if (typeof text === "string" && text !== "") this.#messages.push({ type: "base_instructions", text })
  }

  #isCopy(payload: Json): boolean {
    const digest = itemDigest(payload)
    this.#places.learnItem?.(digest)
    if (this.#copiedUpTo >= this.#copied.length || this.#told !== undefined) return false
    if (this.#copied[this.#copiedUpTo] !== digest) {
      this.#copied = []
      return false
    }
    this.#copiedUpTo++
    return true
  }

  #splitAfterRest(atMs: number): void {
    if (this.#told === undefined || atMs - this.#lastAtMs < IDLE_MS) return
    this.#rest()
    if (this.#told.teller.isEnded) this.#end(this.#told)
  }

  /** What comes now is another run, which follows this one. */
  #end(told: ConversationTeller): void {
    told.complete("end", RESTED)
    this.#follows = told.teller.run.runId
    this.#told = undefined
    this.#messages = []
    this.#isAnswered = false
  }

  #rest(): void {
    const told = this.#told!
    this.#complete()
    if (!this.#isAnswered || told.hasOpenTools) return
    // The file's own sum checks ours: what it counts beyond that was a call it does not tell of.
    if (this.#total !== undefined && this.#total !== this.#tokens)
      told.log(
        "sum",
        told.lastAtMs,
        "warn",
        `the calls told here add up to ${this.#tokens} tokens, the record says ${this.#total}`,
      )
    told.complete("end", RESTED)
  }

  #run(key: string, atMs: number): ConversationTeller {
    if (this.#told?.isEndedHere(this.#places.endedAfter?.(this.#told.teller.run.runId))) this.#end(this.#told)
    if (this.#told !== undefined) return this.#told
    const meta = this.#meta
    const parent = wordOf(meta["parent_thread_id"])
    const forkedFrom = wordOf(meta["forked_from_id"])
    const name = this.#runs === 0 ? this.#session : `${this.#session}\0${key}`
    const startedAtMs = this.#runs === 0 ? (timeOf(meta["timestamp"]) ?? atMs) : atMs
    this.#runs++
    // What was taken up again later is another matter: the conversation holds them together.
    const traceId = derivedIds.trace(`${CODEX}\0${this.#runs === 1 ? (parent ?? this.#session) : name}`)
    const told = new ConversationTeller(
      { source: CODEX, name, startedAtMs, traceId, conversationId: this.#session },
      this.#places.emit,
    )
    this.#told = told
    const links: Link[] = []
    const parentRun = parent === undefined ? undefined : this.#places.runOf?.(parent)
    if (parentRun !== undefined) links.push({ kind: "spawned_by", trace_id: traceId, run_id: parentRun })
    const forkedRun = forkedFrom === undefined ? undefined : this.#places.runOf?.(forkedFrom)
    if (forkedRun !== undefined) links.push({ kind: "follows", run_id: forkedRun, reason: "forked from it" })
    if (this.#follows !== undefined)
      links.push({ kind: "follows", run_id: this.#follows, reason: "the same session, taken up again" })
    const copied = forkedFrom === undefined ? {} : { forked_from_id: forkedFrom, copied_items: this.#copiedUpTo }
    told.start(key, startedAtMs, { ...startOf(meta, this.#session, copied), links })
    return told
  }

  // ── Items ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

  #item(item: Json, key: string, atMs: number): void {
    const kind = wordOf(item["type"]) ?? "?"
    if (isOutput(item, kind)) this.#output(item, kind, key, atMs)
    else this.#input(item, kind, key, atMs)
  }

  #output(item: Json, kind: string, key: string, atMs: number): void {
    this.#openTurn(key, atMs)
    if (this.#pending?.isFollowed) this.#complete()
    this.#pending ??= {
      key,
      calledAtMs: this.#lastInputAtMs === 0 ? atMs : Math.min(this.#lastInputAtMs, atMs),
      messages: this.#messages,
      items: [],
      held: [],
      endedAtMs: atMs,
      usage: undefined,
      responseId: undefined,
      isFollowed: false,
    }
    if (this.#pending.items.length === 0) this.#messages = []
    const pending = this.#pending
    pending.items.push(item)
    pending.endedAtMs = Math.max(pending.endedAtMs, atMs)
    if (!TOOL_CALLS.has(kind)) return
    const callId = wordOf(item["call_id"]) ?? wordOf(item["id"]) ?? key
    pending.held.push(() =>
      this.#told!.tool({
        key: callId,
        atMs,
        callId,
        name: wordOf(item["name"]) ?? kind.replace(/_call$/, ""),
        argumentText: jsonText(item["arguments"] ?? item["input"] ?? item["action"] ?? {}),
        inferredBy: undefined,
      }),
    )
  }

  #input(item: Json, kind: string, key: string, atMs: number): void {
    this.#messages.push(item)
    this.#lastInputAtMs = atMs
    if (this.#pending !== undefined) this.#pending.isFollowed = true
    const callId = wordOf(item["call_id"])
    if (TOOL_OUTPUTS.has(kind) && callId !== undefined) {
      this.#hold(() => this.#result(item, callId, key, atMs))
      return
    }
    if (kind !== "message" || item["role"] !== "user") return
    const text = contentText(item["content"])
    if (
      /^\s*(?:<(?:environment_context|user_instructions|permissions|skill|turn_aborted|INSTRUCTIONS)|# AGENTS\.md)/i.test(
        text,
      )
    )
      return
    this.#prompts.push({ key, atMs, text })
  }

  #result(item: Json, callId: string, key: string, atMs: number): void {
    const told = this.#run(key, atMs)
    const { text, exitCode, isError } = outputOf(item["output"])
    const found = told.result({ key, atMs, callId, text, isError, exitCode })
    if (!found)
      told.log(key, atMs, "warn", `the result of a tool call that is not in this record: ${text}`, {
        tool_call_id: callId,
      })
  }

  // ── Events beside the items ───────────────────────────────────────────────────────────────────────────────────────────────

  #event(event: Json, key: string, atMs: number): void {
    switch (event["type"]) {
      case "user_message":
        this.#prompts = [{ key, atMs, text: wordOf(event["message"]) ?? "" }]
        this.#openTurn(key, atMs)
        break
      case "token_count":
        this.#usage(recordOf(event["info"]))
        break
      case "task_complete":
      case "turn_complete":
        this.#complete()
        break
      case "turn_aborted":
        this.#complete()
        this.#run(key, atMs).log(
          key,
          atMs,
          "warn",
          `the turn was stopped: ${wordOf(event["reason"]) ?? "no reason given"}`,
        )
        this.#isAnswered = true
        break
      case "item_completed":
        this.#completedItem(recordOf(event["item"]), key, atMs)
        break
      case "error":
      case "stream_error":
        this.#hold(() => this.#run(key, atMs).log(key, atMs, "error", wordOf(event["message"]) ?? "error"))
        break
    }
  }

  /** What the program did on the way to a tool's output. Of a command that stands nowhere else: its exit code. */
  #completedItem(item: Json, key: string, atMs: number): void {
    if (item["type"] !== "CommandExecution") return
    const { words, failed, attributes } = commandOf(item)
    this.#hold(() => this.#run(key, atMs).log(key, atMs, failed ? "warn" : "info", words, attributes))
  }

  #usage(info: Json): void {
    const total = countOf(recordOf(info["total_token_usage"])["total_tokens"])
    // The same total again: only the limits of the account have changed.
    if (total === null || total === this.#total) return
    this.#total = total
    if (this.#pending === undefined) return
    this.#pending.usage = recordOf(info["last_token_usage"])
    this.#complete()
  }

  /** The count of one response, by its id: the count of the thread that follows says the same again. */
  #counted(record: Json): void {
    const total = countOf(recordOf(record["thread_token_usage"])["total_tokens"])
    if (total !== null) this.#total = total
    if (this.#pending === undefined) return
    this.#pending.usage = recordOf(record["usage"])
    this.#pending.responseId = wordOf(record["response_id"])
    this.#complete()
  }

  #compacted(payload: Json, key: string, atMs: number): void {
    this.#complete()
    const told = this.#run(key, atMs)
    told.log(key, atMs, "info", `the conversation was compacted to: ${wordOf(payload["message"]) ?? "(not told)"}`, {
      compaction: true,
    })
  }

  /** A turn begins with what the user said; what stands before that is what the program tells the model. */
  #openTurn(key: string, atMs: number): void {
    const prompt = this.#prompts.at(-1)
    this.#prompts = []
    if (prompt === undefined) {
      this.#run(key, atMs)
      return
    }
    this.#complete()
    const told = this.#run(prompt.key, prompt.atMs)
    told.prompt(prompt.key, prompt.atMs, prompt.text)
    this.#isAnswered = false
  }

  #hold(tell: () => void): void {
    if (this.#pending === undefined) tell()
    else this.#pending.held.push(tell)
  }

  #complete(): void {
    const pending = this.#pending
    if (pending === undefined) return
    this.#pending = undefined
    const tools = pending.items.filter((item) => TOOL_CALLS.has(String(item["type"])))
    const usage = usageOf(pending.usage)
    this.#tokens += usage.total ?? 0
    this.#run(pending.key, pending.calledAtMs).call({
      key: pending.key,
      calledAtMs: pending.calledAtMs,
      endedAtMs: pending.endedAtMs,
      provider: wordOf(this.#meta["model_provider"]) ?? "openai",
      model: wordOf(this.#context["model"]) ?? null,
      messages: withoutRepeats(pending.messages),
      response: { object: "response", output: pending.items },
      usage,
      usageAsTold: pending.usage,
      finishReason: null,
      requestId: pending.responseId,
      text: pending.items
        .flatMap((item) => (item["type"] === "message" ? contentText(item["content"]) : []))
        .join("\n"),
      tools: tools.map((item) => ({
        id: wordOf(item["call_id"]) ?? null,
        name: wordOf(item["name"]) ?? String(item["type"]),
      })),
      attributes: wordOf(this.#context["effort"]) === undefined ? {} : { effort: this.#context["effort"] },
      inferredBy: CODEX,
    })
    for (const tell of pending.held) tell()
    this.#isAnswered = tools.length === 0
  }
}

const TOLD: ReadonlySet<string> = new Set([
  ...["response_item", "turn_context", "event_msg", "compacted", "token_usage_record"],
])
const SILENT: ReadonlySet<string> = new Set([
  ...["world_state", "inter_agent_communication", "inter_agent_communication_metadata", "security_risk_score"],
])
