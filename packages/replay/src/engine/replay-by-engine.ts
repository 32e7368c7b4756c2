import { type Certification, certify } from "../certificate/certify.js"
import type { JudgedRecording } from "../certificate/wholeness.js"
import type { Ask, Outcome } from "../match/ask.js"
import { recordedRequest } from "../match/comparable.js"
import { askableCalls } from "../match/matcher.js"
import { openReplay } from "../match/session.js"
import { type CoverageProblem, coverage } from "../tape/coverage.js"
import { type Sign, signStored } from "../tape/sign.js"
import { signatureOfRequest, signedAgain } from "../tape/signature-of-call.js"
import type { CallKind, Tape, TapeCall } from "../tape/tape.js"

export interface EngineReplay {
  readonly certification: Certification
  readonly coverage: readonly CoverageProblem[]
  readonly steps: readonly EngineStep[]
}

/** What walking over one recorded call found. */
export interface EngineStep {
  readonly stepId: string
  readonly kind: CallKind
  readonly name: string
  readonly outcome: Outcome["outcome"]
  /** Whether the signature was worked out again from the stored request, and agreed. */
  readonly signature: "agrees" | "differs" | "as_stamped"
}

const COVERED: readonly CallKind[] = ["model", "tool", "retriever", "http"]

/**
 * Replays a recording without its agent: every recorded call is asked again as it was recorded, and has to find itself. Proves that the
 * recording is whole and unambiguous; runs nothing, opens nothing, and works on every stored run.
 */
export function replayByEngine(
  tape: Tape,
  source: JudgedRecording,
  options: { readonly sign?: Sign } = {},
): EngineReplay {
  const session = openReplay(tape, { onDrift: "halt" })
  const steps: EngineStep[] = []
  for (const call of askableCalls(tape, "faithful")) {
    const asked = asRecorded(call, tape)
    const signature = rederived(call, tape, options.sign ?? signStored)
    const outcome = session.ask(signature === "differs" ? { ...asked, sig: `${asked.sig}?` } : asked)
    steps.push({ stepId: call.stepId, kind: call.kind, name: call.name, outcome: outcome.outcome, signature })
  }
  return {
    certification: certify({
      session,
      source,
      replay: null,
      covers: COVERED,
    }),
    coverage: coverage(tape),
    steps,
  }
}

/** A recorded call as it would be asked again. */
export function asRecorded(call: TapeCall, tape: Tape): Ask {
  const request = recordedRequest(call, tape.bodies)
  return {
    kind: call.kind,
    name: call.name,
    lane: call.lane,
    sig: call.sig ?? "",
    wire: call.wire,
    shape: call.shape,
    stream: call.stream,
    isAuxiliary: call.isAuxiliary,
    effect: call.effect,
    place: call.place,
    within: call.within,
    ...(request ? { request } : {}),
  }
}

function rederived(call: TapeCall, tape: Tape, sign: Sign): EngineStep["signature"] {
  const isOnWire = call.request.url !== null
  // Headers are stored masked where they are secret; those that sign are not.
  const sig = isOnWire ? signatureOfRequest(call.request, tape.bodies, sign)?.sig : signedAgain(call, tape.bodies)
  if (sig === undefined || isMaskedUrl(call.request.url)) return "as_stamped"
  return sig === call.sig ? "agrees" : "differs"
}

const isMaskedUrl = (url: string | null): boolean => url?.includes("redacted") ?? false
