import type { DivergenceReport } from "../generated.js"
import { divergenceAt, type FoundDivergence } from "../report/divergence-at.js"
import type { ReplaySession } from "./session.js"

/** What a replay has to say for itself. */
export function reportOf(
  session: ReplaySession,
  end: { readonly runId?: string | null; readonly isOver?: boolean },
): DivergenceReport {
  const { state, tape } = session
  // Behind a fork the agent goes its own way: only what comes before it is expected to be asked.
  const forkedAt = session.fork?.call.openedAt ?? Number.POSITIVE_INFINITY
  const missing = session.unconsumed().filter(({ openedAt }) => openedAt < forkedAt)
  const aux = missing.filter((call) => call.isAuxiliary)
  const divergences = [...state.divergences]
  if (end.isOver) {
    const say = (found: FoundDivergence): void => void divergences.push({ n: divergences.length + 1, ...found })
    for (const call of missing) {
      if (!call.isAuxiliary)
        say(divergenceAt(call, "REQ_MISSING", "warn", "recorded, and never asked for in this replay"))
    }
    if (state.tickets === 0) {
      const suggest = ["check which variable the agent reads its base URL from"]
      say({ ...divergenceAt({ kind: "run", name: "run" }, "NO_TRAFFIC", "halt", NO_TRAFFIC), suggest })
    }
    for (const ruleId of session.fork?.unusedRules(state) ?? []) {
      const message = `the override rule ${ruleId} never fired`
      say(divergenceAt({ kind: "run", name: ruleId }, "RULE_UNUSED", "warn", message))
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

const NO_TRAFFIC = "the replay saw no call at all: the agent does not use the address or the handles it was given"
