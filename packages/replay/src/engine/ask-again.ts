import type { Ask } from "../match/ask.js"
import { askableCalls } from "../match/matcher.js"
import type { ReplaySession } from "../match/session.js"
import type { CallKind, Tape, TapeCall } from "../tape/tape.js"
import { asRecorded } from "./replay-by-engine.js"

/** A call of a recorded replay, and the recorded call that answers it. */
export interface AskedAgain {
  readonly call: TapeCall
  readonly answeredBy: TapeCall | null
}

/** Asks a tape what the calls of a recorded replay asked, in their order. */
export function askAgain(session: ReplaySession, replay: Tape, covers: readonly CallKind[]): readonly AskedAgain[] {
  const isOnWire = !covers.includes("tool")
  const standsFor = new Map(replay.calls.map((call) => [call.stepId, call.replayed?.sourceStepId]))
  const hasInside = new Set(replay.calls.flatMap(({ within, attemptOf }) => [within, attemptOf]))
  const asked: AskedAgain[] = []
  for (const call of askableCalls(replay, "faithful")) {
    if (!covers.includes(call.kind)) continue
    const outcome = session.ask({
      ...asRecorded(call, replay),
      ...(isOnWire ? NOWHERE : placeOf(call, session, standsFor)),
    })
    const answeredBy = outcome.outcome === "served" ? outcome.source : null
    if (answeredBy && !hasInside.has(call.stepId)) session.servedWhole(answeredBy.stepId)
    asked.push({ call, answeredBy })
  }
  return asked
}

/** An edge that only sees traffic does not know what a call was made inside of. */
const NOWHERE: Pick<Ask, "within" | "attemptOf"> = { within: undefined, attemptOf: undefined }

/** Where a call stands among those of the source. */
function placeOf(
  { within, attemptOf }: TapeCall,
  session: ReplaySession,
  standsFor: ReadonlyMap<string, string | undefined>,
): Pick<Ask, "within" | "attemptOf"> {
  const tried = attemptOf === null ? undefined : session.callOf(standsFor.get(attemptOf) ?? "")
  if (tried && tried.attempts.length > 0) return { within: tried.within, attemptOf: tried.stepId }
  return { within: within === null ? null : (standsFor.get(within) ?? ""), attemptOf: undefined }
}
