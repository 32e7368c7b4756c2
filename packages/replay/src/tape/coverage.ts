import { whyNotWire } from "@orangebox/contract"
import { CANON_VERSION, GENERIC_CANON_VERSION } from "@orangebox/dialects"
import { hasEnded } from "@orangebox/runs"
import { readAnswer } from "./recorded-answer.js"
import { readStored } from "./stored-body.js"
import type { Tape, TapeCall } from "./tape.js"

export type CoverageCode =
  | "RESPONSE_ABSENT"
  | "RESPONSE_DAMAGED"
  | "RESPONSE_CUT"
  | "RESPONSE_MASKED"
  | "REQUEST_ABSENT"
  | "REQUEST_DAMAGED"
  | "RECORDING_ENDS"
  | "NO_SIGNATURE"
  | "CANON_MISMATCH"
  | "CONTEXT_HELD_BY_PROVIDER"
  | "NEEDS_RECONCILIATION"
  | "COVERAGE_GAP"
  | "NO_TRAFFIC"
  | "NOT_ON_WIRE"

/** Something a replay of this tape cannot do, known before it starts. */
export interface CoverageProblem {
  readonly code: CoverageCode
  /** `blocks`: the call cannot be served exactly. `limits`: it can, and something beside it cannot. */
  readonly severity: "blocks" | "limits"
  /** Undefined when the whole tape is meant. */
  readonly step: string | undefined
  readonly call: string | undefined
  readonly reason: string
}

/** Everything about a tape that cannot be replayed, and why. Empty means that an exact replay can serve every call. */
export function coverage(tape: Tape): readonly CoverageProblem[] {
  const problems: CoverageProblem[] = []
  const asked = tape.calls.filter((call) => !call.isInferred)
  if (asked.length === 0) {
    const reason = "the run recorded no call that a replay could answer"
    problems.push({ code: "NO_TRAFFIC", severity: "blocks", step: undefined, call: undefined, reason })
  }
  if (!hasEnded(tape.outputs.ended)) {
    const reason = "the run has no end on record: it goes on, or was cut off, and what came then is not here"
    problems.push({ code: "RECORDING_ENDS", severity: "limits", step: undefined, call: undefined, reason })
  }
  for (const { runId, stepId } of tape.absentRuns) {
    const reason = `it started the run ${runId}, which is not here, so nothing can answer what that run asked`
    problems.push({ code: "COVERAGE_GAP", severity: "blocks", step: stepId, call: `run ${runId}`, reason })
  }
  for (const call of asked) {
    const say = (code: CoverageCode, severity: CoverageProblem["severity"], reason: string): void =>
      void problems.push({ code, severity, step: call.stepId, call: `${call.kind} ${call.name}`, reason })
    judgeQuestion(call, tape, say)
    judgeAnswer(call, tape, say)
  }
  return problems
}

type Say = (code: CoverageCode, severity: CoverageProblem["severity"], reason: string) => void

function judgeQuestion(call: TapeCall, tape: Tape, say: Say): void {
  if (call.sig === null)
    say("NO_SIGNATURE", "blocks", "the recording does not say what was asked, so nothing can match")
  const isComparable = [null, CANON_VERSION, GENERIC_CANON_VERSION].includes(call.canonVersion)
  if (call.sig !== null && !isComparable) {
    say(
      "CANON_MISMATCH",
      "blocks",
      `signed by canonical form ${call.canonVersion}, this build uses ${CANON_VERSION}, and the request is not there to sign again`,
    )
  }
  if (call.heldByProvider !== null) {
    const what = call.heldByProvider.replaceAll("_", " ")
    say(
      "CONTEXT_HELD_BY_PROVIDER",
      "limits",
      `leans on context the provider keeps (${what}); a fork cannot send it live`,
    )
  }
  const { body } = call.request
  if (body === null) return
  const told = call.kind === "model" ? whyNotWire(body.mimeType) : undefined
  if (told !== undefined) say("NOT_ON_WIRE", "blocks", `${told}; an exact replay has nothing to hold it to`)
  const reading = readStored(body, tape.bodies)
  if (reading.ok) return
  if (reading.why === "damaged") say("REQUEST_DAMAGED", "blocks", `its request is damaged: ${reading.reason}`)
  else say("REQUEST_ABSENT", "limits", `its request is not there (${reading.reason}); no nearest call, drift or masks`)
}

function judgeAnswer(call: TapeCall, tape: Tape, say: Say): void {
  if (call.answer === null) {
    const isWrite = call.kind === "tool" && call.effect !== "pure" && call.effect !== "read"
    if (isWrite)
      say("NEEDS_RECONCILIATION", "blocks", "a write that was started and never reported back; it is not retried")
    else say("RECORDING_ENDS", "blocks", "the recording stops in the middle of this call")
    return
  }
  const reading = readAnswer(call.answer, tape.bodies)
  if (reading?.ok === false) say(ANSWER_CODES[reading.why], "blocks", `its answer cannot be served: ${reading.reason}`)
  const masks = reading?.ok ? (call.answer.body?.maskCount ?? 0) : 0
  if (masks > 0)
    say("RESPONSE_MASKED", "limits", `its answer is served with ${masks} secret(s) masked, as it was stored`)
}

const ANSWER_CODES = {
  absent: "RESPONSE_ABSENT",
  missing: "RESPONSE_ABSENT",
  damaged: "RESPONSE_DAMAGED",
  cut: "RESPONSE_CUT",
} as const
