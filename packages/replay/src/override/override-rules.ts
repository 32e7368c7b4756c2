import { readJson } from "@orangebox/contract"
import { historyOf, historyParts, messageHash, speakerOf } from "@orangebox/dialects"
import { memberOf, nodeAt, stringAt } from "@orangebox/text"
import type { ContextRef, OverrideOp, OverrideProfile, OverrideRule, Selector } from "../generated.js"
import type { AskedRequest } from "../match/ask.js"
import { recordedRequest } from "../match/comparable.js"
import type { SessionState } from "../match/session-state.js"
import type { CallKind, Tape, TapeCall } from "../tape/tape.js"
import { editRequest } from "./edit-request.js"
import { editToolResults } from "./edit-tools.js"
import type { MessageAnchor } from "./message-anchor.js"
import { type AnswerSources, isAnswerOp, type MadeAnswer, overrideAnswer } from "./override-answer.js"
import type { RequestEdit } from "./request-edit.js"

/** A call as rules see it. */
export interface RuledCall {
  readonly kind: CallKind
  readonly name: string
  readonly lane: string | null
  readonly stream: boolean | null
  readonly source: TapeCall | null
  readonly request: AskedRequest | undefined
}

/** What the rules make of a call. */
export interface RuleEffect {
  readonly request: AskedRequest | undefined
  readonly isChanged: boolean
  readonly answer: Extract<MadeAnswer, { ok: true }> | undefined
  readonly mode: Extract<OverrideOp, { type: "policy" }>["mode"] | undefined
  readonly simulator: string | undefined
  readonly ruleIds: readonly string[]
  readonly strippedReasoning: boolean
  /** Set when a rule applies and cannot be carried out. */
  readonly problem: { readonly ruleId: string; readonly reason: string } | undefined
}

/** What is made of a call that no rule is about. */
export const untouchedEffect = (request: AskedRequest | undefined): RuleEffect => ({
  request,
  isChanged: false,
  answer: undefined,
  mode: undefined,
  simulator: undefined,
  ruleIds: [],
  strippedReasoning: false,
  problem: undefined,
})

export interface RuleProblem {
  readonly code: "OVERRIDE_MATCHES_NOTHING" | "OVERRIDE_REFUSED"
  readonly ruleId: string
  readonly reason: string
}

/** The rules of a profile over one tape. Which rule fired how often is the session's to remember. */
export class OverrideRules {
  readonly #rules: readonly OverrideRule[]
  readonly #tape: Tape
  readonly #sources: AnswerSources
  readonly #anchors = new Map<string, readonly MessageAnchor[]>()
  readonly #isInScope: (call: TapeCall) => boolean

  /** @param isInScope which recorded calls the profile is about */
  constructor(
    profile: OverrideProfile,
    tape: Tape,
    options: { readonly anchorCall: TapeCall; readonly sources: AnswerSources; isInScope(call: TapeCall): boolean },
  ) {
    this.#rules = profile.rules
    this.#tape = tape
    this.#sources = options.sources
    this.#isInScope = options.isInScope
    const request = recordedRequest(options.anchorCall, tape.bodies)
    for (const { id, op } of profile.rules) {
      if ("at" in op) this.#anchors.set(id, request ? resolveAnchors(op.at, request, tape) : [])
    }
  }

  /** What can be said about the rules before anything runs. */
  check(): readonly RuleProblem[] {
    return this.#rules.flatMap((rule): RuleProblem[] => {
      const selected = this.#tape.calls.filter((call) => this.#isInScope(call) && this.#selectsRecorded(rule, call))
      if (selected.length === 0) {
        return [
          { code: "OVERRIDE_MATCHES_NOTHING", ruleId: rule.id, reason: "selects no recorded call it could apply to" },
        ]
      }
      const results = selected.map((call) => this.#tryOn(rule, call))
      if (results.some((reason) => reason === undefined)) {
        const refusal = results.find((reason) => reason?.why === "refused")
        return refusal ? [{ code: "OVERRIDE_REFUSED", ruleId: rule.id, reason: refusal.reason }] : []
      }
      return [{ code: "OVERRIDE_REFUSED", ruleId: rule.id, reason: results[0]!.reason }]
    })
  }

  apply(call: RuledCall, state: SessionState): RuleEffect {
    let effect = untouchedEffect(call.request)
    for (const rule of this.#rules) {
      if (effect.problem) break
      const uses = state.ruleUses.get(rule.id) ?? 0
      if (rule.times !== undefined && uses >= rule.times) continue
      const next = this.#applyRule(rule, { ...call, request: effect.request }, effect, state)
      if (next === undefined) continue
      state.ruleUses.set(rule.id, uses + 1)
      effect = { ...next, ruleIds: [...effect.ruleIds, rule.id] }
    }
    return effect
  }

  unused(state: SessionState): readonly string[] {
    return this.#rules.filter((rule) => !state.ruleUses.has(rule.id)).map((rule) => rule.id)
  }

  /** Makes the edits of the given rules once more, on the request as it is really sent. */
  rewrite(ruleIds: readonly string[], call: Omit<RuledCall, "request">, request: AskedRequest): AskedRequest {
    let rewritten = request
    for (const rule of this.#rules) {
      if (!ruleIds.includes(rule.id)) continue
      const edit = this.#edit(rule, { ...call, request: rewritten })
      if (edit?.ok) rewritten = edit.request
    }
    return rewritten
  }

  #applyRule(rule: OverrideRule, call: RuledCall, effect: RuleEffect, state: SessionState): RuleEffect | undefined {
    const { op } = rule
    const isResultInRequest = op.type === "tool.result" && call.kind === "model"
    if (!isResultInRequest && !this.#selects(rule, call, state)) return undefined
    if (op.type === "policy") return { ...effect, mode: op.mode, simulator: op.simulator }
    if (isAnswerOp(op) && !isResultInRequest) {
      const made = overrideAnswer(op, call, call.source, this.#sources)
      if (!made.ok) return { ...effect, problem: { ruleId: rule.id, reason: made.reason } }
      return { ...effect, answer: made }
    }
    const edit = this.#edit(rule, call)
    if (edit === undefined || (!edit.ok && edit.why === "absent")) return undefined
    if (!edit.ok) return { ...effect, problem: { ruleId: rule.id, reason: edit.reason } }
    return {
      ...effect,
      request: edit.request,
      isChanged: effect.isChanged || edit.isChanged,
      strippedReasoning: effect.strippedReasoning || edit.strippedReasoning,
    }
  }

  #edit({ id, op, select }: OverrideRule, call: RuledCall): RequestEdit | undefined {
    if (call.request === undefined || call.kind !== "model") return undefined
    if (op.type !== "tool.result")
      return isAnswerOp(op) || op.type === "policy" ? undefined : editRequest(call.request, op, this.#anchors.get(id))
    const meant = this.#inferredTools(select)
    if (meant.length === 0) return undefined
    const made = overrideAnswer(op, { kind: "tool", stream: null, request: undefined }, meant[0]!, this.#sources)
    if (!made.ok) return { ok: false, why: "refused", reason: made.reason }
    const text = Buffer.from(made.bytes ?? []).toString("utf8")
    const ids = new Set(meant.map((tool) => tool.toolCallId))
    const recorded = new Set(this.#tape.calls.map((tool) => tool.toolCallId))
    // A call made after the fork is in no recording; then its name tells.
    const picks = (callId: string, tool: string | undefined): boolean =>
      ids.has(callId) || (select.step_id === undefined && tool === select.tool && !recorded.has(callId))
    return editToolResults(call.request, picks, { text, isError: op.is_error })
  }

  /** Tools the agent ran by itself: their results can only be changed where a request carries them. */
  #inferredTools(select: Selector): TapeCall[] {
    return this.#tape.calls.filter(
      (call) =>
        call.kind === "tool" &&
        call.isInferred &&
        this.#isInScope(call) &&
        matchesFacts(select, call, call.stepId, call.lane),
    )
  }

  #selects({ id, select }: OverrideRule, call: RuledCall, state: SessionState): boolean {
    if (!matchesFacts(select, call, call.source?.stepId, call.lane) || !matchesRequest(select, call.request))
      return false
    const seen = state.ruleSeen.get(id) ?? 0
    state.ruleSeen.set(id, seen + 1)
    return select.occurrence === undefined || select.occurrence === seen
  }

  #selectsRecorded({ select, op }: OverrideRule, call: TapeCall): boolean {
    if (call.isInferred && op.type !== "tool.result") return false
    if (!matchesFacts(select, call, call.stepId, call.lane)) return false
    return matchesRequest(select, recordedRequest(call, this.#tape.bodies))
  }

  #tryOn(
    rule: OverrideRule,
    call: TapeCall,
  ): { readonly why: "absent" | "refused"; readonly reason: string } | undefined {
    const { op, id } = rule
    if (op.type === "policy") return undefined
    const refusal = (reason: string): { why: "refused"; reason: string } => ({ why: "refused", reason })
    if (isAnswerOp(op)) {
      const fits = {
        "tool.result": "tool",
        "retrieval.result": "retriever",
        "response.replace": "model",
        fault: call.kind,
      }[op.type]
      if (call.kind !== fits) return refusal(`${op.type} does not go with a ${call.kind} call`)
      const asked = { ...call, request: recordedRequest(call, this.#tape.bodies) }
      const made = overrideAnswer(op, asked, call, this.#sources)
      return made.ok ? undefined : refusal(made.reason)
    }
    if (call.kind !== "model") return refusal(`${op.type} does not go with a ${call.kind} call`)
    if (op.type === "model.swap" && op.provider !== undefined && op.provider !== call.provider) {
      return refusal(otherProvider(call.provider, op.provider))
    }
    const request = recordedRequest(call, this.#tape.bodies)
    if (request === undefined) return refusal("its recorded request is not there, so the edit cannot be tried")
    const edit = editRequest(request, op, this.#anchors.get(id))
    return edit.ok ? undefined : edit
  }
}

// The agent's client reads only answers of the provider it asked. One put together here, of another provider's words, would be an answer
// that was not given, and half of a request (tools, reasoning, cache marks) has no counterpart in another dialect.
function otherProvider(asked: string | null, wanted: string): string {
  return asked === null
    ? `which provider was asked is not on record, so that it is ${wanted} cannot be told; leave "provider" out to swap the model alone`
    : `a request to ${asked} is not translated for ${wanted}. Name a model of ${asked}; or run the agent with ${wanted} under "orangebox run" and compare the two runs with "orangebox diff"`
}

function matchesFacts(
  select: Selector,
  call: { readonly kind: CallKind; readonly name: string },
  stepId: string | undefined,
  lane: string | null,
): boolean {
  const kind = select.kind === "mcp" ? "tool" : select.kind
  if (kind !== undefined && kind !== call.kind) return false
  if (select.step_id !== undefined && select.step_id !== stepId) return false
  if (select.lane_id !== undefined && select.lane_id !== lane) return false
  if (select.tool !== undefined && (call.kind !== "tool" || call.name !== select.tool)) return false
  return select.model === undefined || (call.kind === "model" && call.name === select.model)
}

function matchesRequest({ match }: Selector, request: AskedRequest | undefined): boolean {
  if (match === undefined) return true
  if (request === undefined) return false
  const reading = readJson(Buffer.from(request.body).toString("utf8"))
  if (!reading.ok) return false
  return Object.entries(match).every(([pointer, wanted]) => {
    const node = nodeAt(reading.node, pointer)
    if (node === undefined) return false
    if (isRegex(wanted)) return node.kind === "string" && safeTest(wanted.regex, node.value)
    if (node.kind === "string" || node.kind === "literal") return node.value === wanted
    return node.kind === "number" && Number(node.lexeme) === wanted
  })
}

const isRegex = (value: unknown): value is { regex: string } =>
  typeof value === "object" && value !== null && typeof (value as { regex?: unknown }).regex === "string"

function safeTest(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text)
  } catch {
    return false
  }
}

/** Which messages a reference means, told by their hashes, so that they are found again in every later request. */
export function resolveAnchors(ref: ContextRef, request: AskedRequest, tape: Tape): readonly MessageAnchor[] {
  if (
    ref.message_hash !== undefined &&
    ref.index === undefined &&
    ref.role === undefined &&
    ref.from_step_id === undefined
  ) {
    return [{ hash: ref.message_hash, nth: undefined }]
  }
  const reading = readJson(Buffer.from(request.body).toString("utf8"))
  const history = reading.ok ? historyOf(reading.node) : undefined
  if (!history) return []
  const wanted = ref.from_step_id === undefined ? undefined : indexesFrom(ref.from_step_id, history, tape)
  const at = ref.index === undefined ? undefined : ref.index < 0 ? history.items.length + ref.index : ref.index
  const seen = new Map<string, number>()
  return history.items.flatMap((item, index) => {
    const hash = messageHash(item)
    const nth = seen.get(hash) ?? 0
    seen.set(hash, nth + 1)
    const isMeant =
      (ref.message_hash === undefined || ref.message_hash === hash) &&
      (at === undefined || at === index) &&
      (ref.role === undefined || stringAt(item, "role") === ref.role) &&
      (wanted === undefined || wanted.has(index))
    return isMeant ? [{ hash, nth }] : []
  })
}

/** The messages a recorded step brought in: what a model answered stands right behind its request, what a tool gave names its call. */
function indexesFrom(
  stepId: string,
  history: NonNullable<ReturnType<typeof historyOf>>,
  tape: Tape,
): ReadonlySet<number> {
  const call = tape.calls.find((candidate) => candidate.stepId === stepId)
  if (call?.kind === "tool" && call.toolCallId !== null) {
    const id = call.toolCallId
    return new Set(historyParts(history).parts.flatMap((part) => (part.answers === id ? [part.item] : [])))
  }
  const asked = call && recordedRequest(call, tape.bodies)
  const reading = asked && readJson(Buffer.from(asked.body).toString("utf8"))
  const length = reading?.ok ? historyOf(reading.node)?.items.length : undefined
  const answer = length === undefined ? undefined : history.items[length]
  const role = stringAt(answer, "role") ?? (memberOf(answer, "type") ? "assistant" : "")
  return new Set(length !== undefined && speakerOf(role) === "assistant" ? [length] : [])
}
