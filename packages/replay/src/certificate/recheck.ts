import { runDigest } from "@orangebox/contract"
import type { Certificate } from "../generated.js"
import { askableCalls } from "../match/matcher.js"
import { cutWords, readStored } from "../tape/stored-body.js"
import type { Recording, Tape, TapeCall } from "../tape/tape.js"
import { ownEvents, tapeOf } from "../tape/tape-of.js"
import { asItsSource, asTold, claimOf, declaredOutputs, hasItsId } from "./certify.js"
import { fingerprintOf, isCounted } from "./fingerprint.js"

export type Recheck =
  | { readonly holds: true; readonly checked: { readonly calls: number; readonly bodies: number } }
  | { readonly holds: false; readonly reasons: readonly string[] }

/**
 * Checks a certificate against the recordings it speaks about, without believing anything it says. The replay's own recording is needed
 * for a certificate of the SDK or the proxy; the engine writes none.
 */
export function recheckCertificate(certificate: Certificate, source: Recording, replay?: Recording): Recheck {
  const reasons: string[] = []
  const say = (reason: string): void => void reasons.push(reason)
  if (!hasItsId(certificate)) say("the certificate was changed after it was issued")
  checkClaim(certificate, say)
  const recorded = tapeFor(source, certificate.source_run, "source", say)
  const again =
    replay && certificate.replay_run !== null ? tapeFor(replay, certificate.replay_run, "replay", say) : undefined
  if (certificate.replay_run !== null && replay === undefined)
    say("the recording of the replay is needed to check this")
  let bodies = 0
  if (recorded) {
    if (runDigest(ownEvents(source.events)) !== certificate.source_digest)
      say("the events of the source run are not the certified ones")
    if (fingerprintOf(recorded, certificate.scope.covers) !== certificate.fingerprint)
      say("the source run's fingerprint is another")
    bodies += checkBodies(recorded, certificate, say)
    checkOutputs(recorded, certificate, "source", say)
    if (certificate.driver === "engine" && askedOf(recorded, certificate).length !== certificate.scope.calls)
      say("the source run has another number of calls")
  }
  if (recorded && again) {
    const now = fingerprintOf(asItsSource(again, recorded), certificate.scope.covers)
    if (now !== certificate.fingerprint) say("the replay's fingerprint is not the source run's")
    bodies += checkBodies(again, certificate, say)
    checkOutputs(asTold(again, recorded), certificate, "replay", say)
    checkLineage(again, recorded, certificate, say)
    checkGrades(again, certificate, say)
  }
  const calls = recorded?.calls.filter((call) => isCounted(call, certificate.scope.covers)).length ?? 0
  return reasons.length === 0 ? { holds: true, checked: { calls, bodies } } : { holds: false, reasons }
}

/** Whoever writes a certificate can give it its id; what it claims has to follow from what was checked all the same. */
function checkClaim({ driver, replay_run, scope, grades }: Certificate, say: (reason: string) => void): void {
  const { says, hermetic } = claimOf(driver, scope.covers, scope.tools_executed)
  if (scope.says !== says || scope.hermetic !== hermetic) say("it claims more than its scope covers")
  if ((driver === "engine") !== (replay_run === null)) say("who drove the replay does not fit the run it names")
  if (grades.wire + grades.sig + grades.masked !== scope.calls) say("its grades do not add up to its calls")
}

const askedOf = (tape: Tape, { scope }: Certificate): readonly TapeCall[] =>
  askableCalls(tape, "faithful").filter(({ kind }) => scope.covers.includes(kind))

function checkGrades(again: Tape, certificate: Certificate, say: (reason: string) => void): void {
  const { grades } = certificate
  const asked = askedOf(again, certificate)
  const has = (tier: keyof Certificate["grades"], count: number): boolean =>
    asked.filter(({ replayed }) => replayed?.tier === tier).length === count
  if (!has("wire", grades.wire) || !has("sig", grades.sig) || !has("masked", grades.masked))
    say("the calls of the replay are graded otherwise")
}

function tapeFor(recording: Recording, runId: string, which: string, say: (reason: string) => void): Tape | undefined {
  const reading = tapeOf(recording.events, recording.bodies, { runId })
  if (!reading.ok) say(`the ${which} recording cannot be read: ${reading.problems[0]?.reason}`)
  else return reading.tape
  return undefined
}

function checkBodies(tape: Tape, { scope }: Certificate, say: (reason: string) => void): number {
  let count = 0
  for (const call of tape.calls) {
    if (call.isInferred || !scope.covers.includes(call.kind)) continue
    for (const body of [call.request.body, call.answer?.body ?? null]) {
      if (body === null) continue
      count++
      const reading = readStored(body, tape.bodies)
      const isQuestion = body === call.request.body
      if (!reading.ok && !(isQuestion && reading.why === "absent")) say(`${call.stepId}: ${reading.reason}`)
      if (!isQuestion && body.isCut) say(`${call.stepId}: ${cutWords(body)}`)
    }
  }
  return count
}

function checkOutputs(tape: Tape, { outputs }: Certificate, which: string, say: (reason: string) => void): void {
  const found = declaredOutputs(tape, undefined)
  if (found.last_model_output !== outputs.last_model_output)
    say(`the last answer of a model in the ${which} is another`)
  if (JSON.stringify(found.final_outputs) !== JSON.stringify(outputs.final_outputs))
    say(`the final output of the ${which} is another`)
}

/** Every call of the replay names the recorded call that answered it, each of those is named once, and none is left over. */
function checkLineage(again: Tape, recorded: Tape, certificate: Certificate, say: (reason: string) => void): void {
  const answers = new Map(recorded.calls.map((call) => [call.stepId, call]))
  const named = new Set<string>()
  for (const call of askedOf(again, certificate)) {
    const source = call.replayed && answers.get(call.replayed.sourceStepId)
    if (!source) say(`${call.stepId} of the replay names no call of the source`)
    else if (call.mode !== "exact") say(`${call.stepId} of the replay was answered ${call.mode}`)
    else if (named.has(source.stepId)) say(`${source.stepId} answered twice`)
    else if (!hasSameAnswer(call, source))
      say(`${call.stepId} of the replay was answered otherwise than ${source.stepId}`)
    if (source) named.add(source.stepId)
  }
}

const hasSameAnswer = (a: TapeCall, b: TapeCall): boolean =>
  a.answer?.body?.hash === b.answer?.body?.hash && a.answer?.status === b.answer?.status
