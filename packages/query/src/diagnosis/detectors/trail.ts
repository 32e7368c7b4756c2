import { groupBy } from "../../group-by.js"
import { incompleteContexts, injectedContexts } from "../../injected-contexts.js"
import { refusedContexts } from "../../refused-contexts.js"
import { type CaseFile, toolCallsOf } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

/** Turns or results in a prompt that no recorded call produced, or that another one did, and changes of files without an action. */
export function bypass({ trail, view }: CaseFile): Detected {
  if (trail === undefined) return { notRun: "nobody judged the run" }
  const recorded = new Set(toolCallsOf(view).map(({ name }) => name))
  const alike = groupBy(
    trail.bypasses,
    ({ bypass: kind, stepNo, certainty, tool }) => `${kind} ${stepNo} ${certainty} ${tool}`,
  )
  return [...alike.values()].map((same): Finding => {
    const { bypass: kind, stepNo, certainty, tool } = same[0]!
    const n = stepNo ?? 1
    // A tool whose calls are never recorded went past nobody: its application does not tell of it.
    const isTold = kind !== "tool_result" || (tool === undefined ? recorded.size > 0 : recorded.has(tool))
    const isSure = certainty === "certain" && isTold
    const times = same.length === 1 ? "" : `, ${same.length} times`
    return {
      detector: "bypass",
      kind,
      severity: isSure ? "harm" : "notice",
      confidence: isSure ? "likely" : "possible",
      cause: n,
      fails: n,
      claim: isTold
        ? `#${n} shows ${WORDS[kind]}${times}`
        : `#${n} shows the result of a tool of which no call is on record in this run${times}`,
      by: null,
      evidence: [at({ n })],
    }
  })
}

const WORDS = {
  assistant_turn: "a turn of the assistant that nothing on record produced",
  tool_result: "the result of a tool that nothing on record produced",
  swapped_result: "under the id of one tool call what another one came to",
  workspace_change: "a changed file that nothing on record produced",
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

/** A request without items that its application said were in it. */
export function contextIncomplete({ view }: CaseFile): Detected {
  return incompleteContexts(view).map(
    ({ n, detail }): Finding => ({
      detector: "context_incomplete",
      kind: null,
      severity: "harm",
      confidence: "proven",
      cause: n,
      fails: n,
      claim: `#${n}: ${detail}`,
      by: null,
      evidence: [at({ n }, "request")],
    }),
  )
}

/** What an application said of a prompt, and the recorder could not read. */
export function contextRefused({ view }: CaseFile): Detected {
  return refusedContexts(view).map(
    ({ n }): Finding => ({
      detector: "context_refused",
      kind: null,
      severity: "notice",
      confidence: "proven",
      cause: n,
      fails: n,
      claim: `#${n} told of a context that could not be recorded: what its calls were given is not accounted for`,
      by: null,
      evidence: [at({ n })],
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
