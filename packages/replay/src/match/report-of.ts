import type { DivergenceReport } from "../generated.js"
import type { TapeCall } from "../tape/tape.js"
import type { ReplaySession } from "./session.js"

/** What a replay has to say for itself. */
export function reportOf(
  session: ReplaySession,
  end: { readonly runId?: string | null; readonly isOver?: boolean },
): DivergenceReport {
  const { state, tape } = session
  const missing = session.unconsumed()
  const aux = missing.filter((call) => call.isAuxiliary)
  const divergences = [...state.divergences]
  if (end.isOver) {
    for (const call of missing) if (!call.isAuxiliary) divergences.push(missed(call, divergences.length + 1))
    if (state.tickets === 0) divergences.push(noTraffic(divergences.length + 1))
    for (const ruleId of session.fork?.unusedRules(state) ?? []) {
      divergences.push(unusedRule(ruleId, divergences.length + 1))
    }
  }
  const tiers = (name: string): number => state.answered.filter((call) => call.tier === name).length
  const modes = (name: string): number => state.answered.filter((call) => call.mode === name).length
  return {
    v: 1,
    run: end.runId ?? null,
    source_run: tape.runId,
    ...fidelityOf(session),
    counts: {
      asked: state.tickets,
      wire: tiers("wire"),
      sig: tiers("sig"),
      masked: tiers("masked"),
      drift: tiers("drift"),
      cached: tiers("cached"),
      simulated: modes("simulated"),
      live: modes("live"),
      missed: state.tickets - state.answered.length,
      unconsumed: missing.length - aux.length,
      aux_unconsumed: aux.length,
    },
    egress: { upstream_sockets: state.upstreamSockets, denied: state.denied },
    masks: [...new Set(state.answered.flatMap((call) => call.maskIds))].sort(),
    divergences,
    certificate: {
      issued: false,
      blocking: divergences.filter(({ severity }) => severity !== "note").map(({ n }) => n),
    },
  }
}

/** A replay that went on after it was refused an answer is degraded: what came after builds on something that never happened. */
function fidelityOf({ state }: ReplaySession): Pick<DivergenceReport, "fidelity" | "exact_prefix"> {
  const inexact = state.answered.find((call) => call.mode !== "exact")?.ticket ?? Number.POSITIVE_INFINITY
  const firstOther = Math.min(inexact, state.haltedAt ?? Number.POSITIVE_INFINITY)
  const exact_prefix = state.answered.filter((call) => call.ticket < firstOther).length
  if (state.tickets === 0) return { fidelity: "none", exact_prefix }
  if (firstOther === Number.POSITIVE_INFINITY) return { fidelity: "exact", exact_prefix }
  const isOverridden = state.haltedAt !== null && state.answered.some((call) => call.ticket > state.haltedAt!)
  if (isOverridden) return { fidelity: "degraded", exact_prefix }
  const isMixed = state.answered.some((call) => call.mode === "exact" && call.ticket > firstOther)
  return { fidelity: isMixed ? "mixed" : "exact_prefix", exact_prefix }
}

const ABOUT_THE_RUN = { lane: null, incoming: null, nearest: [], cause: "UNKNOWN" as const, suggest: [] }

const missed = (call: TapeCall, n: number): DivergenceReport["divergences"][number] => ({
  ...ABOUT_THE_RUN,
  n,
  code: "REQ_MISSING",
  severity: "warn",
  step: call.stepId,
  lane: call.lane,
  at: { kind: call.kind, name: call.name, occurrence: call.occurrence },
  message: "recorded, and never asked for in this replay",
})

const noTraffic = (n: number): DivergenceReport["divergences"][number] => ({
  ...ABOUT_THE_RUN,
  n,
  code: "NO_TRAFFIC",
  severity: "halt",
  step: null,
  at: { kind: "run", name: "run", occurrence: 0 },
  message: "the replay saw no call at all: the agent does not use the address or the handles it was given",
  suggest: ["check which variable the agent reads its base URL from"],
})

const unusedRule = (ruleId: string, n: number): DivergenceReport["divergences"][number] => ({
  ...ABOUT_THE_RUN,
  n,
  code: "RULE_UNUSED",
  severity: "warn",
  step: null,
  at: { kind: "run", name: ruleId, occurrence: 0 },
  message: `the override rule ${ruleId} never fired`,
})
