import type { Divergence, OverrideProfile } from "../generated.js"
import type { Ask, Outcome, Served } from "../match/ask.js"
import type { Match } from "../match/matcher.js"
import type { ReplaySession } from "../match/session.js"
import type { SessionState } from "../match/session-state.js"
import { type FromRun, inlineAnswer } from "../override/override-answer.js"
import { OverrideRules, type RuleEffect, type RuleProblem, untouchedEffect } from "../override/override-rules.js"
import { EMPTY_PROFILE, profileId } from "../override/profile.js"
import { type DivergencePlace, divergenceAt } from "../report/divergence-at.js"
import type { CallKind, Tape, TapeCall } from "../tape/tape.js"
import { descendantsOf } from "./causal-cut.js"
import { type EffectMap, effectOf, isWrite } from "./effects.js"
import { type ForkPlace, forkPlace } from "./fork-place.js"
import { materialized } from "./materialize.js"
import type { NotRestored } from "./recorded-workspace.js"

/** What answers a call behind the fork. `cached` falls back to `live`. */
export type PostMode = "exact" | "cached" | "live" | "deny"
export type PostPolicy = Readonly<Record<CallKind, PostMode>>

const DEFAULT_POST: PostPolicy = { model: "live", retriever: "cached", tool: "cached", http: "cached" }

export interface ForkRequest {
  readonly stepId: string
  /** Before its request is sent, or after its recorded answer was given. */
  readonly at?: "before_request" | "after_response"
  readonly profile?: OverrideProfile
  readonly post?: Partial<PostPolicy>
  /** Whether branches beside the fork keep their recorded answers. */
  readonly siblings?: "exact" | "live"
  /** Tools with effects that may run for real; `*` is all of them. */
  readonly allowEffects?: readonly string[]
  readonly effects?: EffectMap
  /** Whether the files of that moment were put back; left out, they were not. */
  readonly workspace?: ForkWorkspace
  readonly fromRun?: FromRun
  /** What rules may name as their simulator. */
  readonly simulators?: Readonly<Record<string, Simulator>>
}

/** What a fork does about files. */
export type ForkWorkspace =
  | { readonly isRestored: true; readonly notRestored: readonly NotRestored[] }
  | { readonly isRestored: false; readonly why: string }

/** Makes an answer up. The same question and seed must give the same answer, or a replay of the replay would differ. */
export type Simulator = (ask: Ask, seed: number) => { readonly value: unknown; readonly isError?: boolean }

export type ForkPlan =
  | { readonly ok: true; readonly fork: Fork }
  | { readonly ok: false; readonly problems: readonly RuleProblem[] }

/** Plans a fork and tries its rules on the recording. Nothing has run when this returns. */
export function planFork(tape: Tape, request: ForkRequest): ForkPlan {
  const fork = new Fork(tape, request, forkPlace(tape, request))
  const problems = fork.rules.check()
  return problems.length > 0 ? { ok: false, problems } : { ok: true, fork }
}

/** A planned fork: decides for a replay which calls the recording still answers. */
export class Fork {
  readonly call: TapeCall
  readonly at: "before_request" | "after_response"
  readonly profile: OverrideProfile
  readonly profileId: string
  readonly rules: OverrideRules
  /** Said at the start of every replay of this fork. */
  readonly notes: readonly Pick<Divergence, "code" | "message">[]
  readonly #tape: Tape
  readonly #cut: ReadonlySet<string>
  readonly #cutLanes: ReadonlySet<string>
  readonly #post: PostPolicy
  /** As it was asked for, for a process that plans it again. */
  readonly request: ForkRequest

  constructor(tape: Tape, request: ForkRequest, place: ForkPlace) {
    this.#tape = tape
    this.request = request
    this.call = place.call
    this.at = place.at
    this.profile = request.profile ?? EMPTY_PROFILE
    this.profileId = profileId(this.profile)
    this.#post = { ...DEFAULT_POST, ...request.post }
    const descendants = descendantsOf(tape, place.call.stepId, place.at === "before_request" ? "start" : "end")
    this.#cut = descendants
    this.#cutLanes = new Set(tape.calls.filter((call) => this.#cut.has(call.stepId)).map((call) => call.lane))
    this.rules = new OverrideRules(this.profile, tape, {
      anchorCall: this.#anchorCall(),
      sources: { bodies: tape.bodies, fromRun: request.fromRun ?? (() => undefined) },
      isInScope: (call) => this.#isInScope(call),
    })
    this.notes = [
      ...(place.snapped === undefined ? [] : [{ code: "FORK_SNAPPED" as const, message: place.snapped }]),
      ...workspaceNotes(request.workspace),
    ]
  }

  isCut(stepId: string): boolean {
    return this.#cut.has(stepId)
  }

  unusedRules(state: SessionState): readonly string[] {
    return this.rules.unused(state)
  }

  /** Undefined leaves the call to the tape. */
  decide(session: ReplaySession, ask: Ask, match: Match, ticket: number): Outcome | undefined {
    const { state } = session
    const source = match.found === "call" ? match.call : null
    const isForkStep = source?.stepId === this.call.stepId
    const wasReached = state.isForkReached
    if (isForkStep) state.isForkReached = true
    const isFree = source
      ? this.#cut.has(source.stepId) || (wasReached && this.request.siblings === "live")
      : this.#isNew(session, ask)
    if (!isFree && this.profile.scope !== "whole_run") return undefined
    const isFirstFree = source?.stepId === this.#anchorCall().stepId
    const areRulesOn = this.profile.scope !== "fork_step_only" || isForkStep || isFirstFree
    const effect = areRulesOn ? this.rules.apply({ ...ruled(ask), source }, state) : untouchedEffect(ask.request)
    if (!isFree && effect.ruleIds.length === 0) return undefined
    return this.#answer(session, ask, source, effect, ticket, match)
  }

  /** A call that was not recorded belongs to the fork once that is reached, unless it stands in a lane the fork does not touch. */
  #isNew(session: ReplaySession, ask: Ask): boolean {
    if (!session.state.isForkReached) return false
    const lane = ask.lane === undefined ? undefined : session.state.lanes.get(ask.lane)
    return lane === undefined || this.#cutLanes.has(lane) || lane === this.call.lane
  }

  #answer(
    session: ReplaySession,
    ask: Ask,
    source: TapeCall | null,
    effect: RuleEffect,
    ticket: number,
    match: Match,
  ): Outcome {
    const { ruleIds } = effect
    if (effect.problem) {
      const { ruleId, reason } = effect.problem
      return session.diverged(ask, ticket, "REQ_CHANGED", {
        message: `override rule ${ruleId} cannot be carried out here: ${reason}`,
      })
    }
    if (effect.strippedReasoning) {
      const message = "reasoning blocks of another model were taken out of the request"
      session.note(divergenceAt(placeOf(ask, source), "STRIPPED_REASONING", "note", message))
    }
    if (effect.answer) return simulated(session, ask, source, effect.answer, ticket, ruleIds)
    const mode = effect.mode ?? (effect.isChanged ? "live" : this.#post[ask.kind])
    switch (mode) {
      case "exact":
        if (!effect.isChanged) return session.answerFromTape(ask, match, ticket)
        return session.diverged(ask, ticket, "REQ_CHANGED", {
          message: "a rule changed the request, so the recorded answer is not its answer",
        })
      case "cached":
        return (
          (effect.isChanged ? undefined : session.cachedAnswer(ask, ticket)) ??
          this.#live(session, ask, source, effect, ticket)
        )
      case "live":
        return this.#live(session, ask, source, effect, ticket)
      case "simulated":
        return this.#simulate(session, ask, source, effect, ticket)
      case "deny":
        return this.#denied(session, ask, source, ticket, ruleIds, "the policy denies it")
    }
  }

  #simulate(session: ReplaySession, ask: Ask, source: TapeCall | null, effect: RuleEffect, ticket: number): Outcome {
    const { simulator: name = "none", ruleIds } = effect
    const simulators = this.request.simulators ?? {}
    const simulator = Object.hasOwn(simulators, name) ? simulators[name] : undefined
    if (!simulator) return this.#denied(session, ask, source, ticket, ruleIds, `there is no simulator ${name}`)
    const { value, isError = false } = simulator(ask, this.profile.seed ?? 0)
    const answer = inlineAnswer(value, ask.kind, isError)
    return simulated(session, ask, source, answer, ticket, ruleIds)
  }

  #live(session: ReplaySession, ask: Ask, source: TapeCall | null, effect: RuleEffect, ticket: number): Outcome {
    const refusal = this.#refusal(ask, source)
    if (refusal !== undefined) return this.#denied(session, ask, source, ticket, effect.ruleIds, refusal)
    const whole = effect.request && ask.kind === "model" ? materialized(effect.request, this.#tape) : undefined
    if (whole && !whole.ok) {
      return session.diverged(ask, ticket, "STATEFUL_ID_UNKNOWN", {
        step: source?.stepId ?? null,
        message: whole.reason,
      })
    }
    const request = whole?.request ?? effect.request
    const call = { ...ruled(ask), source }
    return {
      ...session.answering(ask, source, ticket, effect.ruleIds),
      outcome: "live",
      mode: "live",
      request,
      isChanged: effect.isChanged || (whole?.isChanged ?? false),
      rewrite: (raw) => {
        const edited = this.rules.rewrite(effect.ruleIds, call, raw)
        const expanded = ask.kind === "model" ? materialized(edited, this.#tape) : undefined
        return expanded?.ok ? expanded.request : edited
      },
    }
  }

  /** Why a call may not go out. Connections are ruled by the profile's egress, tools by what they do to the world. */
  #refusal(ask: Ask, source: TapeCall | null): string | undefined {
    const { egress } = this.profile
    if (ask.kind === "model")
      return egress === "deny" ? "the profile denies every connection (egress: deny)" : undefined
    if (ask.kind === "http" && egress !== "allow") return `the profile allows no plain requests (egress: ${egress})`
    if (ask.kind !== "tool") return undefined
    const effect = effectOf({ name: ask.name, effect: ask.effect ?? source?.effect }, this.request.effects ?? {})
    const allowed = this.request.allowEffects ?? []
    if (!isWrite(effect) || allowed.includes(ask.name) || allowed.includes("*")) return undefined
    const what = effect === "unknown" ? "nobody said what it does" : `it is a ${effect.replace("_", " ")}`
    return `${what}, and tools with effects do not run again; allow it with --allow-effects ${ask.name}`
  }

  #denied(
    session: ReplaySession,
    ask: Ask,
    source: TapeCall | null,
    ticket: number,
    ruleIds: readonly string[],
    reason: string,
  ): Outcome {
    if (ask.kind === "model")
      return session.diverged(ask, ticket, "EFFECT_DENIED", { step: source?.stepId ?? null, message: reason })
    session.note(divergenceAt(placeOf(ask, source), "EFFECT_DENIED", "warn", reason))
    return { ...session.answering(ask, source, ticket, ruleIds), outcome: "denied", mode: "simulated", reason }
  }

  #isInScope(call: TapeCall): boolean {
    if (this.profile.scope === "whole_run") return true
    if (this.profile.scope === "fork_step_only") return call.stepId === this.#anchorCall().stepId
    return this.#cut.has(call.stepId)
  }

  /** The request that references to messages are resolved in: the first that is free. */
  #anchorCall(): TapeCall {
    if (this.at === "before_request") return this.call
    const next = this.#tape.calls.find(
      (call) => call.kind === "model" && !call.isInferred && this.#cut.has(call.stepId) && call.lane === this.call.lane,
    )
    return next ?? this.call
  }
}

const MOST_NAMED = 10

function workspaceNotes(workspace: ForkWorkspace | undefined): Fork["notes"] {
  const code = "STATE_NOT_RESTORED" as const
  if (!workspace?.isRestored) {
    const why = workspace === undefined ? "" : `; ${workspace.why}`
    const message = `forked without workspace: files are as they are now, not as they were at that step${why}`
    return [{ code, message }]
  }
  const { notRestored } = workspace
  if (notRestored.length === 0) return []
  const named = notRestored.slice(0, MOST_NAMED).map(({ path, why }) => `${path} (${why})`)
  const more = notRestored.length > MOST_NAMED ? ` and ${notRestored.length - MOST_NAMED} more` : ""
  return [{ code, message: `the work tree is as it was at that step, but for ${named.join(", ")}${more}` }]
}

const ruled = (ask: Ask) => ({
  kind: ask.kind,
  name: ask.name,
  lane: ask.lane ?? null,
  stream: ask.stream ?? null,
  request: ask.request,
})

function simulated(
  session: ReplaySession,
  ask: Ask,
  source: TapeCall | null,
  made: NonNullable<RuleEffect["answer"]>,
  ticket: number,
  ruleIds: readonly string[],
): Served {
  return {
    ...session.answering(ask, source, ticket, ruleIds),
    outcome: "served",
    mode: "simulated",
    tier: "override",
    answer: made.answer,
    bytes: made.bytes,
    maskIds: [],
    divergence: undefined,
  }
}

const placeOf = ({ kind, name, lane }: Ask, source: TapeCall | null): DivergencePlace => ({
  kind,
  name,
  lane,
  stepId: source?.stepId,
  occurrence: source?.occurrence,
})
