import { groupBy } from "../../group-by.js"
import { injectedContexts } from "../../injected-contexts.js"
import type { CaseFile } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

/** Turns or results in a prompt that no recorded call produced, and changes of files without an action. */
export function bypass({ trail }: CaseFile): Detected {
  if (trail === undefined) return { notRun: "nobody judged the run" }
  return trail.bypasses.map(({ bypass: kind, stepNo, certainty }): Finding => {
    const n = stepNo ?? 1
    return {
      detector: "bypass",
      kind,
      severity: certainty === "certain" ? "harm" : "notice",
      confidence: certainty === "certain" ? "likely" : "possible",
      cause: n,
      fails: n,
      claim: `#${n} shows ${WORDS[kind]} that nothing on record produced`,
      by: null,
      evidence: [at({ n })],
    }
  })
}

const WORDS = {
  assistant_turn: "a turn of the assistant",
  tool_result: "the result of a tool",
  workspace_change: "a changed file",
} as const

/** A request that held more than the prompt that was compiled for it. */
export function contextInjected({ view }: CaseFile): Detected {
  return injectedContexts(view).map(
    ({ n }): Finding => ({
      detector: "context_injected",
      kind: null,
      severity: "harm",
      confidence: "proven",
      cause: n,
      fails: n,
      claim: `the request of #${n} holds context that was not compiled for it`,
      by: null,
      evidence: [at({ n }, "request")],
    }),
  )
}

/** The trail itself has holes. */
export function observabilityGap({ view, trail }: CaseFile): Detected {
  const lost = view.totals.lost
  const gaps: Finding[] =
    lost === 0
      ? []
      : [
          {
            detector: "observability_gap",
            kind: "lost_events",
            severity: "notice",
            confidence: "proven",
            cause: 1,
            fails: 1,
            claim: `${lost} events of the run were lost: ${view.gaps.map(({ reason }) => reason.replaceAll("_", " ")).join(", ")}`,
            by: null,
            evidence: [at({ n: 1 })],
          },
        ]
  const byFailure = groupBy(trail?.failures ?? [], ({ failure }) => failure)
  const failures = [...byFailure].map(([failure, found]): Finding => {
    const n = found[0]?.stepNo ?? 1
    return {
      detector: "observability_gap",
      kind: failure,
      severity: "notice",
      confidence: "proven",
      cause: n,
      fails: n,
      claim: `${failure.replaceAll("_", " ")}: ${found.length === 1 ? `#${n}` : `${found.length} times, first #${n}`}`,
      by: null,
      evidence: found.slice(0, 4).map(({ stepNo }) => at({ n: stepNo ?? 1 })),
    }
  })
  return [...gaps, ...failures]
}
