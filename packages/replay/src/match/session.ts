import { bodyHash } from "@orangebox/contract"
import { isLaneLabel } from "@orangebox/dialects"
import { descendantsOf } from "../fork/causal-cut.js"
import type { Fork } from "../fork/fork.js"
import type { Divergence, DivergenceCode, DivergenceReport, NearestCall } from "../generated.js"
import { diagnoseMiss } from "../report/diagnose-miss.js"
import { divergenceAt, type FoundDivergence } from "../report/divergence-at.js"
import { nearestCalls } from "../report/nearest.js"
import { readAnswer } from "../tape/recorded-answer.js"
import { EVERYTHING } from "../tape/served-tools.js"
import type { CallKind, Tape, TapeCall } from "../tape/tape.js"
import type { Ask, Diverged, GoLive, Outcome, Served, Tier } from "./ask.js"
import { askableCalls, isToModel, type Match, TapeMatcher } from "./matcher.js"
import { type ReplayPolicy, replayPolicy } from "./policy.js"
import { reportOf } from "./report-of.js"
import { newSessionState, type SessionState, type Taint } from "./session-state.js"

export interface ReplayOptions {
  /** What the driver can answer in the agent's way: a proxy sees models, the SDK sees everything. The rest is not missed at the end. */
  readonly covers?: readonly CallKind[]
  /** A fork: from one step on the recording no longer decides. */
  readonly fork?: Fork
  /** Share the index of a tape between replays of it. */
  readonly matcher?: TapeMatcher
}

/** Opens a replay of a tape. */
export function openReplay(tape: Tape, policy: Partial<ReplayPolicy> = {}, options: ReplayOptions = {}): ReplaySession {
  const session = new ReplaySession(tape, replayPolicy(policy), options, newSessionState())
  for (const { code, message } of options.fork?.notes ?? []) {
    session.note(divergenceAt(options.fork!.call, code, "note", message))
  }
  return session
}

/**
 * One replay: calls come in, each is answered from the tape or is a divergence. No clock, no socket, no file; a live answer is fetched by
 * the caller, who then says so with `wentLive`.
 */
export class ReplaySession {
  readonly tape: Tape
  readonly policy: ReplayPolicy
  readonly state: SessionState
  readonly #options: ReplayOptions
  readonly #matcher: TapeMatcher
  readonly #covers: ReadonlySet<CallKind>
  readonly #heads = new Map<string, number>()
  #byId: Map<string, TapeCall> | undefined

  constructor(tape: Tape, policy: ReplayPolicy, options: ReplayOptions, state: SessionState) {
    this.tape = tape
    this.policy = policy
    this.state = state
    this.#options = options
    this.#matcher = options.matcher ?? new TapeMatcher(tape, policy)
    this.#covers = new Set(options.covers ?? EVERYTHING)
  }

  get covers(): readonly CallKind[] {
    return [...this.#covers]
  }

  get fork(): Fork | undefined {
    return this.#options.fork
  }

  /** The same replay at the same place, free to go another way. */
  copy(): ReplaySession {
    const options = { ...this.#options, matcher: this.#matcher }
    return new ReplaySession(this.tape, this.policy, options, structuredClone(this.state))
  }

  /** A call of the new run. The answer is decided when this returns. */
  ask(ask: Ask): Outcome {
    const ticket = ++this.state.tickets
    const lane = this.#laneOf(ask)
    const isLaneNew = ask.lane !== undefined && isLaneLabel(ask.lane) && !this.state.lanes.has(ask.lane)
    const scope = { lane, isLaneNew, heads: this.#heads, isFree: (call: TapeCall) => this.#isFree(call) }
    const match = this.#matcher.find(ask, scope)
    const outcome = this.fork?.decide(this, ask, match, ticket) ?? this.answerFromTape(ask, match, ticket)
    this.#keep(ask, outcome)
    return outcome
  }

  /** The client left before our answer was whole: the same question gets the same answer once more. Not where it left in the recording, too. */
  release(served: Served): void {
    if (served.source === null || served.answer.end === "client_abort") return
    if (this.state.consumed.get(served.source.stepId) !== served.ticket) return
    this.state.consumed.delete(served.source.stepId)
    if (served.source.sig !== null) this.#heads.delete(served.source.sig)
  }

  /** The recorded client left in the middle of this answer, and this one stayed for the rest. */
  stayedOn({ source }: Served): void {
    if (source === null) return
    const message =
      "the recorded client left in the middle of this answer, and what would have come then was never recorded"
    this.note(divergenceAt(source, "RECORDING_ENDS", "halt", message))
  }

  /** A call was served as one value, so the tries it took on the wire and the calls it made inside itself are not asked for. */
  servedWhole(stepId: string): void {
    this.state.servedWhole.add(stepId)
  }

  /** A request of the agent's that was refused before it could be asked: it is one more, whatever it was. */
  turnedAway(name: string, message: string): void {
    const ticket = ++this.state.tickets
    this.state.haltedAt ??= ticket
    this.note(divergenceAt({ kind: "http", name }, "REQ_EXTRA", "halt", message))
  }

  /** A connection to the world was opened. */
  wentLive(): void {
    this.state.upstreamSockets++
  }

  note(found: FoundDivergence): Divergence {
    const divergence = { n: this.state.divergences.length + 1, ...found }
    this.state.divergences.push(divergence)
    return divergence
  }

  /** Recorded, covered by the driver, and never asked for. */
  unconsumed(): readonly TapeCall[] {
    const { consumed, servedWhole } = this.state
    return askableCalls(this.tape, this.policy.retries).filter((call) => {
      if (!this.#covers.has(call.kind) || consumed.has(call.stepId) || this.state.left.has(call.stepId)) return false
      if (this.fork?.isCut(call.stepId)) return false
      if (call.attemptOf !== null && servedWhole.has(call.attemptOf)) return false
      if (this.#isInside(call, servedWhole)) return false
      return call.attempts.length === 0 || !call.attempts.every((id) => consumed.has(id))
    })
  }

  #isFree(call: TapeCall): boolean {
    const { consumed, servedWhole, left } = this.state
    if (consumed.has(call.stepId) || left.has(call.stepId)) return false
    return call.within === null || !this.#isInside(call, servedWhole)
  }

  #isInside(call: TapeCall, whole: ReadonlySet<string>): boolean {
    for (let outer = call.within; outer !== null; outer = this.callOf(outer)?.within ?? null) {
      if (whole.has(outer)) return true
    }
    return false
  }

  callOf(stepId: string): TapeCall | undefined {
    this.#byId ??= new Map(this.tape.calls.map((call) => [call.stepId, call]))
    return this.#byId.get(stepId)
  }

  /** The report so far; with `isOver`, what was recorded and never asked for is said as well. */
  report(end: { readonly runId?: string | null; readonly isOver?: boolean } = {}): DivergenceReport {
    return reportOf(this, end)
  }

  // What what answers a fork is made of.

  answerFromTape(ask: Ask, match: Match, ticket: number): Outcome {
    const isLeft = match.found === "call" && match.tier === "drift" && this.policy.onDrift === "fork"
    if (isLeft) return this.#leaveTape(ask, match.call, ticket)
    if (match.found === "call") return this.serve(ask, match.call, match.tier, match.maskIds, ticket)
    if (this.policy.mode === "cached") {
      const cached = this.cachedAnswer(ask, ticket)
      if (cached) return cached
    }
    return this.miss(ask, match, ticket)
  }

  /** A recorded answer to the same question: the next one that was not given yet, or else the last once more. */
  cachedAnswer(ask: Ask, ticket: number): Served | undefined {
    const same = this.#matcher
      .withSignature(ask.sig)
      .filter((call) => call.kind === ask.kind && isToModel(call, ask) && call.answer !== null)
    const inferred = this.tape.calls.filter((call) => call.isInferred && call.kind === ask.kind && call.sig === ask.sig)
    const call = same.find((candidate) => this.#isFree(candidate)) ?? same.at(-1) ?? inferred.at(-1)
    if (call === undefined) return undefined
    const served = this.serve(ask, call, "cached", [], ticket)
    return served.outcome === "served" ? served : undefined
  }

  serve(ask: Ask, call: TapeCall, tier: Tier, maskIds: readonly string[], ticket: number): Served | Diverged {
    const { answer } = call
    if (answer === null) return this.#notRecorded(ask, call, ticket)
    const reading = readAnswer(answer, this.tape.bodies)
    if (reading?.ok === false) {
      const message = `the recorded answer of ${call.stepId} cannot be served: ${reading.reason}`
      return this.diverged(ask, ticket, "BODY_ABSENT", { step: call.stepId, occurrence: call.occurrence, message })
    }
    const drifted =
      tier === "drift" ? this.#noteDrift(ask, call, "the recorded answer was served as cached") : undefined
    const isExact = this.policy.mode === "exact" && (tier === "wire" || tier === "sig" || tier === "masked")
    return {
      ...this.answering(ask, call, ticket),
      outcome: "served",
      mode: isExact ? "exact" : tier === "nearest" ? "simulated" : "cached",
      tier: this.policy.mode === "cached" && isMatched(tier) ? "cached" : tier,
      answer,
      bytes: reading?.bytes ?? null,
      maskIds,
      divergence: drifted,
    }
  }

  /** A tool gave something else back and the replay goes on from there: the recording no longer answers what builds on it. */
  #leaveTape(ask: Ask, call: TapeCall, ticket: number): Outcome {
    this.#noteDrift(ask, call, "it was sent to the upstream, and so is what builds on it")
    for (const stepId of descendantsOf(this.tape, call.stepId, "start")) this.state.left.add(stepId)
    return this.live(ask, ticket, call)
  }

  #hasLeftTape(ask: Ask): boolean {
    return this.state.left.size > 0 && this.taintOf(ask).includes("live")
  }

  miss(ask: Ask, match: Match, ticket: number): Outcome {
    if (this.#hasLeftTape(ask)) return this.live(ask, ticket)
    if (match.found === "ambiguous") {
      const lanes = [...new Set(match.calls.map((call) => call.lane))]
      const message = `${lanes.length} lanes asked this and were answered differently (${lanes.join(", ")}), and nothing tells which is meant`
      return this.diverged(ask, ticket, "AMBIGUOUS", { step: match.calls[0]!.stepId, message })
    }
    if (match.found === "exhausted") {
      const { recorded, last } = match
      const message = `${recorded} recorded, ${ordinal(recorded + 1)} asked`
      return this.diverged(ask, ticket, "OCCURRENCE_EXHAUSTED", {
        ...{ step: last.stepId, occurrence: recorded, message },
        suggest: this.fork ? [] : ["--mode cached, which answers a question as often as it is asked"],
      })
    }
    if (match.found === "framing") {
      const [was, is] = match.call.stream ? ["streamed", "whole"] : ["whole", "streamed"]
      const message = `the same question was recorded ${was} and is asked ${is}; an answer is never changed from one into the other`
      return this.diverged(ask, ticket, "REQ_CHANGED", { step: match.call.stepId, cause: "FRAMING", message })
    }
    if (match.found === "model") {
      const message = `the same question was recorded to ${match.call.name} and is asked of ${ask.name}`
      return this.diverged(ask, ticket, "MODEL_ALIAS", { step: match.call.stepId, cause: "MODEL", message })
    }
    return this.#changed(ask, ticket)
  }

  diverged(
    ask: Ask,
    ticket: number,
    code: DivergenceCode,
    found: Partial<Pick<Divergence, "step" | "cause" | "nearest" | "suggest">> & {
      message: string
      occurrence?: number
    },
  ): Diverged {
    const { message, occurrence, ...more } = found
    const place = { kind: ask.kind, name: ask.name, lane: this.#laneOf(ask) ?? ask.lane, occurrence }
    const divergence = { ...divergenceAt(place, code, "halt", message), incoming: incomingOf(ask), ...more }
    return { outcome: "diverged", ticket, divergence: this.note(divergence) }
  }

  /** Takes a recorded call out of the tape without serving it: something else answered in its place. */
  consume(call: TapeCall, ticket: number): void {
    this.state.consumed.set(call.stepId, ticket)
    this.state.position = Math.max(this.state.position, call.openedAt)
  }

  taintOf(ask: Ask): readonly Taint[] {
    return this.state.taints.get(ask.lane ?? "") ?? []
  }

  #changed(ask: Ask, ticket: number): Outcome {
    const expected = this.#nearest(ask, this.unconsumed())
    const nearest =
      expected.length > 0
        ? expected
        : this.#nearest(
            ask,
            this.tape.calls.filter((call) => !call.isInferred),
          )
    const next = ask.request === undefined ? this.#nextOfKind(ask) : undefined
    const { code, cause, suggest } = diagnoseMiss(nearest[0], {
      isExpected: expected.length > 0 || next !== undefined,
      isFork: this.fork !== undefined,
      onDrift: this.policy.onDrift,
    })
    const step = nearest[0]?.step ?? next?.stepId ?? null
    const source = step === null ? undefined : this.callOf(step)
    if (this.policy.onMiss === "nearest" && source) {
      const served = this.serve(ask, source, "nearest", [], ticket)
      if (served.outcome === "served") return served
    }
    const found = this.diverged(ask, ticket, code, {
      step,
      cause,
      nearest: [...nearest],
      suggest: [...suggest],
      message:
        code === "REQ_EXTRA"
          ? "nothing of this kind is left on the tape: everything like it was already asked"
          : "asks something else than what was recorded here",
      occurrence: source?.occurrence ?? 0,
    })
    if (this.policy.onMiss !== "live") return found
    this.state.divergences[found.divergence.n - 1] = { ...found.divergence, severity: "warn" }
    return this.live(ask, ticket)
  }

  live(ask: Ask, ticket: number, source: TapeCall | null = null): GoLive {
    return {
      ...this.answering(ask, source, ticket),
      outcome: "live",
      mode: "live",
      request: ask.request,
      isChanged: false,
    }
  }

  /** What every answer says of itself. */
  answering(ask: Ask, source: TapeCall | null, ticket: number, ruleIds: readonly string[] = []) {
    return { ticket, tier: null, occurrence: source?.occurrence ?? 0, source, taint: this.taintOf(ask), ruleIds }
  }

  #nearest(ask: Ask, calls: readonly TapeCall[]): readonly NearestCall[] {
    const { position } = this.state
    return nearestCalls({ ask, calls, bodies: this.tape.bodies, position, lane: this.#laneOf(ask) })
  }

  /** Without the request nothing can be compared; then whatever of its kind comes next is meant. */
  #nextOfKind(ask: Ask): TapeCall | undefined {
    return this.unconsumed().find((call) => call.kind === ask.kind && (ask.kind === "model" || call.name === ask.name))
  }

  #notRecorded(ask: Ask, call: TapeCall, ticket: number): Diverged {
    const isWrite = call.kind === "tool" && call.effect !== "pure" && call.effect !== "read"
    const code = isWrite ? "NEEDS_RECONCILIATION" : "RECORDING_ENDS"
    const message = isWrite
      ? "this write was started and never reported back; whether it happened is not known, and it is not tried again"
      : "the recording stops in the middle of this call"
    return this.diverged(ask, ticket, code, { step: call.stepId, occurrence: call.occurrence, message })
  }

  #noteDrift(ask: Ask, call: TapeCall, so: string): Divergence {
    const message = `the request differs from the recorded one only in what tools gave back; ${so}`
    return this.note({
      ...divergenceAt({ ...call, kind: ask.kind, name: ask.name }, "TOOL_DRIFT", "warn", message),
      incoming: incomingOf(ask),
      nearest: [...this.#nearest(ask, [call])],
      cause: "TOOL_OUTPUT",
      suggest: this.fork ? [] : ["--on-drift halt"],
    })
  }

  /**
   * Lanes of the new run get their own names, in the order in which they appear. Until an answer has tied one to a recorded lane, an equal
   * name is a good guess, as long as no other lane has claimed it.
   */
  #laneOf(ask: Ask): string | undefined {
    if (ask.lane === undefined) return undefined
    const bound = this.state.lanes.get(ask.lane)
    if (bound !== undefined) return bound
    for (const claimed of this.state.lanes.values()) if (claimed === ask.lane) return undefined
    return ask.lane
  }

  #keep(ask: Ask, outcome: Outcome): void {
    const { state } = this
    if (outcome.outcome === "diverged") {
      state.haltedAt ??= outcome.ticket
      return
    }
    const { source, ticket, mode, tier } = outcome
    const maskIds = outcome.outcome === "served" ? outcome.maskIds : []
    state.answered.push({ ticket, mode, tier, sourceStepId: source?.stepId ?? null, maskIds })
    if (outcome.outcome === "denied") state.denied++
    if (source !== null && tier !== "nearest" && !state.consumed.has(source.stepId)) {
      this.consume(source, ticket)
      if (ask.lane !== undefined && !state.lanes.has(ask.lane)) state.lanes.set(ask.lane, source.lane)
    }
    if (mode !== "exact") {
      const lane = ask.lane ?? ""
      state.taints.set(lane, [...new Set([...(state.taints.get(lane) ?? []), mode])])
    }
  }
}

const isMatched = (tier: Tier): boolean => tier === "wire" || tier === "sig" || tier === "masked"

function incomingOf(ask: Ask): Divergence["incoming"] {
  return { sig: ask.sig, blob: ask.request ? bodyHash(ask.request.body) : null }
}

function ordinal(n: number): string {
  const last = n % 100
  const suffix = last >= 11 && last <= 13 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")
  return `${n}${suffix}`
}
