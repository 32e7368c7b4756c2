import { canonicalJson } from "@orangebox/contract"
import { CANON_VERSION } from "@orangebox/dialects"
import { askAgain } from "../engine/ask-again.js"
import { replayByEngine } from "../engine/replay-by-engine.js"
import type { Certificate } from "../generated.js"
import { openReplay } from "../match/session.js"
import { coveredBy } from "../tape/served-tools.js"
import type { CallKind, Tape, TapeCall } from "../tape/tape.js"
import { tapeOf } from "../tape/tape-of.js"
import { REPLAY_VERSION } from "../version.js"
import { type Certification, certify, hasItsId } from "./certify.js"
import { isCounted } from "./fingerprint.js"
import type { JudgedRecording } from "./wholeness.js"

export type Recheck =
  | { readonly holds: true; readonly checked: { readonly calls: number; readonly bodies: number } }
  | { readonly holds: false; readonly reasons: readonly string[] }

/**
 * Checks a certificate against the recordings it speaks about, without believing anything it says: the tape is asked once more what the
 * recorded replay asked, the same function decides whether there is a certificate, and every field of it has to be the one that is given.
 * The replay's own recording is needed for a certificate of the SDK or the proxy; the engine writes none.
 */
export function recheckCertificate(
  certificate: Certificate,
  source: JudgedRecording,
  replay?: JudgedRecording,
): Recheck {
  const reasons: string[] = []
  const say = (reason: string): void => void reasons.push(reason)
  if (!hasItsId(certificate)) say("the certificate was changed after it was issued: its id is another")
  const { canon_version, versions } = certificate
  if (canon_version !== CANON_VERSION || versions.replay !== REPLAY_VERSION) {
    say(
      `it was issued by replay ${versions.replay} with canonical form ${canon_version}; this is ${REPLAY_VERSION} with ${CANON_VERSION}, and speaks for no other`,
    )
  }
  const recorded = tapeFor(source, certificate.source_run, "source", say)
  const again = askedAgain(certificate, { ...source, tape: recorded }, replay, say)
  if (again) compareFields(certificate, again, say)
  if (reasons.length > 0 || recorded === undefined) return { holds: false, reasons }
  const calls = recorded.calls.filter((call) => isCounted(call, certificate.scope.covers))
  const bodies = calls.flatMap(({ request, answer }) => [request.body, answer?.body]).filter(Boolean).length
  return { holds: true, checked: { calls: calls.length, bodies } }
}

function tapeFor(
  recording: JudgedRecording,
  runId: string,
  which: string,
  say: (reason: string) => void,
): Tape | undefined {
  const reading = tapeOf(recording.events, recording.bodies, { runId })
  if (!reading.ok) say(`the ${which} recording cannot be read: ${reading.problems[0]?.reason}`)
  return reading.ok ? reading.tape : undefined
}

/** What would be certified today. */
function askedAgain(
  certificate: Certificate,
  source: JudgedRecording & { readonly tape: Tape | undefined },
  replay: JudgedRecording | undefined,
  say: (reason: string) => void,
): Certification | undefined {
  const { driver, replay_run } = certificate
  const { tape } = source
  if (tape === undefined) return undefined
  if (driver === "engine") return replayByEngine(tape, source).certification
  if (replay === undefined || replay_run === null) {
    say("the recording of the replay is needed to check this")
    return undefined
  }
  const now = tapeFor(replay, replay_run, "replay", say)
  if (now === undefined) return undefined
  const covers = coversOf(replay, replay_run)
  const session = openReplay(tape, { masks: certificate.accepted_masks }, { covers })
  for (const { call, answeredBy } of askAgain(session, now, covers)) {
    const named = call.replayed?.sourceStepId
    if (answeredBy && named !== answeredBy.stepId.split("#")[0])
      say(`${call.stepId} of the replay says that ${named} answered it, and it was ${answeredBy.stepId}`)
    if (answeredBy && !hasSameAnswer(call, answeredBy))
      say(`${call.stepId} of the replay was answered otherwise than ${answeredBy.stepId}`)
  }
  return certify({ session, source, replay: { ...replay, tape: now }, covers, areReplayBodiesHere: true })
}

/** What passed through the replay engine, as its run says. */
function coversOf({ events }: JudgedRecording, runId: string): readonly CallKind[] {
  const started = events.find(({ event_type, run_id }) => event_type === "run_started" && run_id === runId)
  return started ? coveredBy(started) : []
}

const hasSameAnswer = (a: TapeCall, b: TapeCall): boolean =>
  a.answer?.body?.hash === b.answer?.body?.hash && a.answer?.status === b.answer?.status

function compareFields(certificate: Certificate, found: Certification, say: (reason: string) => void): void {
  if (!found.issued) {
    for (const { reason } of found.blocking) say(reason)
    return
  }
  const [given, now] = [fieldsOf(certificate), fieldsOf(found.certificate)]
  for (const field of new Set([...given.keys(), ...now.keys()])) {
    const [a, b] = [given.get(field), now.get(field)]
    if (a !== b && field !== "id")
      say(`${field} is ${a ?? "not there"}, and the recordings say ${b ?? "nothing of it"}`)
  }
}

/** Every member of a certificate by its name, two levels deep. */
function fieldsOf(certificate: Certificate): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of Object.entries(certificate)) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) fields.set(name, canonicalJson(value))
    else for (const [inner, of] of Object.entries(value)) fields.set(`${name}.${inner}`, canonicalJson(of))
  }
  return fields
}
