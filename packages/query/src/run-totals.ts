import type { DeterminismMode, Event } from "@orangebox/contract"
import type { Gap, RunTotals, StepView } from "./run-view.js"

export function totalsOf(
  own: readonly Event[],
  annotations: readonly Event[],
  steps: readonly StepView[],
  gaps: readonly Gap[],
): RunTotals {
  const modes: Record<DeterminismMode, number> = { live: 0, exact: 0, cached: 0, simulated: 0 }
  for (const event of own) if (Object.hasOwn(modes, event.determinism_mode)) modes[event.determinism_mode] += 1

  const tokens = { input: 0, output: 0, cacheRead: 0, cacheReadOf: 0, callsWithoutUsage: 0 }
  let modelCalls = 0
  let toolCalls = 0
  let errors = 0
  let failedAttempts = 0
  let warnings = 0
  for (const step of steps) {
    if (step.n > 1 && (step.status === "error" || step.status === "timeout")) {
      if (step.attemptNo === undefined) errors += 1
      else failedAttempts += 1
    }
    for (const note of step.notes) if (note.weight !== "plain") warnings += 1
    // The attempts of a call are inside it; the call itself carries the answer, so counting both would double everything.
    if (step.attemptNo !== undefined) continue
    if (step.kind === "tool") toolCalls += 1
    if (!step.model) continue
    modelCalls += 1
    const { inputTokens, outputTokens, cacheReadTokens } = step.model
    if (inputTokens === undefined && outputTokens === undefined) tokens.callsWithoutUsage += 1
    tokens.input += inputTokens ?? 0
    tokens.output += outputTokens ?? 0
    if (cacheReadTokens !== undefined) {
      tokens.cacheRead += cacheReadTokens
      tokens.cacheReadOf += inputTokens ?? 0
    }
  }
  const lost = gaps.reduce((sum, gap) => sum + gap.count, 0)
  return {
    events: own.length,
    annotations: annotations.length,
    steps: steps.length,
    lost,
    modelCalls,
    toolCalls,
    errors,
    failedAttempts,
    warnings,
    tokens,
    modes,
  }
}
