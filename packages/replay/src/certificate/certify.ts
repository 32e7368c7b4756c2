import { canonicalHash, type Event, runDigest } from "@orangebox/contract"
import { CANON_VERSION } from "@orangebox/dialects"
import { hasEnded } from "@orangebox/runs"
import type { Certificate, DeclaredOutputs, DivergenceReport } from "../generated.js"
import type { ReplaySession } from "../match/session.js"
import { readStored } from "../tape/stored-body.js"
import type { CallKind, StoredBody, Tape } from "../tape/tape.js"
import { ownEvents } from "../tape/tape-of.js"
import { REPLAY_VERSION } from "../version.js"
import { fingerprintOf } from "./fingerprint.js"

/** The conditions a replay has to meet, numbered as the documentation numbers them. */
export type Condition = "fingerprint" | "bodies" | "consumption" | "sockets" | "outputs" | "acceptance"

export interface Blocking {
  readonly condition: Condition
  readonly reason: string
}

export interface ReplayToCertify {
  readonly session: ReplaySession
  readonly driver: Certificate["driver"]
  /** The events the tape was made of. */
  readonly sourceEvents: readonly Event[]
  /** The new run as it was recorded; null for the engine. */
  readonly replay: Tape | null
  readonly covers: readonly CallKind[]
  /** Tools that ran for real. */
  readonly toolsExecuted: number
  /** What only the driver sees of the end of both runs. Left out, those outputs are not claimed. */
  readonly seen?: { readonly recorded: SeenOutputs; readonly now: SeenOutputs }
}

export interface SeenOutputs {
  readonly exitCode?: number | null
  readonly stdout?: string | null
  readonly files?: Readonly<Record<string, string>>
}

export type Certification =
  | { readonly issued: true; readonly certificate: Certificate; readonly report: DivergenceReport }
  | { readonly issued: false; readonly blocking: readonly Blocking[]; readonly report: DivergenceReport }

/** Issues a certificate, or says what stands in its way. */
export function certify(run: ReplayToCertify): Certification {
  const { session, replay, covers } = run
  const report = session.report({ runId: replay?.runId ?? null, isOver: true })
  const blocking = [
    ...fingerprintBlocks(run),
    ...bodyBlocks(run),
    ...consumptionBlocks(report),
    ...absentRunBlocks(session.tape),
    ...socketBlocks(report),
    ...outputBlocks(run),
    ...acceptanceBlocks(session, report),
  ]
  if (blocking.length > 0) return { issued: false, blocking, report }
  const { counts } = report
  const certificate = sealed({
    v: 1,
    type: "orangebox-exactness",
    driver: run.driver,
    source_run: session.tape.runId,
    source_digest: runDigest(ownEvents(run.sourceEvents)),
    replay_run: replay?.runId ?? null,
    fingerprint: fingerprintOf(session.tape, covers),
    scope: scopeOf(run, report),
    grades: { wire: counts.wire, sig: counts.sig, masked: counts.masked },
    masks: report.masks,
    aux_unconsumed: counts.aux_unconsumed,
    upstream_sockets: 0,
    outputs: declaredOutputs(session.tape, run.seen?.recorded),
    canon_version: CANON_VERSION,
    versions: { replay: REPLAY_VERSION },
  })
  return { issued: true, certificate, report: { ...report, certificate: { issued: true, blocking: [] } } }
}

function scopeOf({ driver, covers, toolsExecuted }: ReplayToCertify, report: DivergenceReport): Certificate["scope"] {
  return {
    ...claimOf(driver, covers, toolsExecuted),
    covers: [...covers],
    calls: report.counts.asked,
    tools_executed: toolsExecuted,
  }
}

/** What a certificate may claim, given who drove the replay and what passed through its hands. */
export function claimOf(
  driver: Certificate["driver"],
  covers: readonly CallKind[],
  toolsExecuted: number,
): Pick<Certificate["scope"], "says" | "hermetic"> {
  const kinds = covers.map(
    (kind) => ({ model: "models", tool: "tools", retriever: "retrievers", http: "plain requests" })[kind],
  )
  const what = kinds.join(", ")
  const says =
    driver === "engine"
      ? `the recording is whole: every recorded call (${what}) matches itself and serves the bytes it was recorded with; no agent ran`
      : `${what}: every call was answered from the recording, tools executed: ${toolsExecuted}`
  return { says, hermetic: driver === "sdk" && toolsExecuted === 0 && covers.length === 4 }
}

function fingerprintBlocks({ session, replay, covers }: ReplayToCertify): Blocking[] {
  if (replay === null) return []
  const recorded = fingerprintOf(session.tape, covers)
  const now = fingerprintOf(asItsSource(replay, session.tape), covers)
  if (recorded === now) return []
  return [{ condition: "fingerprint", reason: `the run's fingerprint is ${now}, the recorded one ${recorded}` }]
}

/** A call that matched under accepted masks has another question by design; it counts as the one it stood for. */
export function asItsSource(replay: Tape, source: Tape): Tape {
  const byId = new Map(source.calls.map((call) => [call.stepId, call]))
  return {
    ...replay,
    calls: replay.calls.map((call) => {
      const original = call.replayed?.tier === "masked" ? byId.get(call.replayed.sourceStepId) : undefined
      return original ? { ...call, sig: original.sig } : call
    }),
  }
}

/** Every byte a certificate speaks for is there and hashes to its name: what was asked as well as what was answered. */
function bodyBlocks({ session }: ReplayToCertify): Blocking[] {
  const { tape, state } = session
  const blocks: Blocking[] = []
  const check = (stepId: string, what: string, body: StoredBody | null, mayBeAbsent: boolean): void => {
    if (body === null) return
    const reading = readStored(body, tape.bodies)
    if (reading.ok || (mayBeAbsent && reading.why === "absent")) return
    blocks.push({ condition: "bodies", reason: `the ${what} of ${stepId}: ${reading.reason}` })
  }
  for (const call of tape.calls) {
    if (!state.consumed.has(call.stepId)) continue
    check(call.stepId, "request", call.request.body, true)
    check(call.stepId, "answer", call.answer?.body ?? null, false)
  }
  return blocks
}

function consumptionBlocks({ counts }: DivergenceReport): Blocking[] {
  const blocks: Blocking[] = []
  const say = (reason: string): void => void blocks.push({ condition: "consumption", reason })
  if (counts.asked === 0) say("the replay saw no call")
  if (counts.unconsumed > 0) say(`${counts.unconsumed} recorded call(s) were never asked for`)
  if (counts.missed > 0) say(`${counts.missed} call(s) were not answered`)
  const exact = counts.wire + counts.sig + counts.masked
  const others = counts.asked - counts.missed - exact
  if (others > 0) say(`${others} call(s) were answered, and not exactly`)
  return blocks
}

function absentRunBlocks({ absentRuns }: Tape): Blocking[] {
  return absentRuns.map(({ runId }) => ({
    condition: "consumption",
    reason: `${runId}, a run it started, is not part of the recording`,
  }))
}

function socketBlocks({ egress }: DivergenceReport): Blocking[] {
  if (egress.upstream_sockets === 0) return []
  return [{ condition: "sockets", reason: `${egress.upstream_sockets} connection(s) to an upstream were opened` }]
}

function outputBlocks({ session, replay, seen }: ReplayToCertify): Blocking[] {
  if (!hasEnded(session.tape.outputs.ended)) return [{ condition: "outputs", reason: "the run has no end on record" }]
  if (replay === null) return []
  const recorded = declaredOutputs(session.tape, seen?.recorded)
  const now = declaredOutputs(asTold(replay, session.tape), seen?.now)
  const blocks: Blocking[] = []
  const compare = (what: string, a: unknown, b: unknown): void => {
    if (JSON.stringify(a) !== JSON.stringify(b)) blocks.push({ condition: "outputs", reason: `${what} differs` })
  }
  compare("how the run ended", session.tape.outputs.ended, replay.outputs.ended)
  compare("the last answer of a model", recorded.last_model_output, now.last_model_output)
  compare("the final output", recorded.final_outputs, now.final_outputs)
  compare("the exit code", recorded.exit_code, now.exit_code)
  compare("the standard output", recorded.stdout, now.stdout)
  for (const path of new Set([...Object.keys(recorded.files), ...Object.keys(now.files)])) {
    compare(`the file ${path}`, recorded.files[path], now.files[path])
  }
  return blocks
}

/**
 * A replay with its last answer where the source had it: which of several concurrent calls is opened last is a matter of microseconds, and
 * not what "the last answer" means.
 */
export function asTold(replay: Tape, source: Tape): Tape {
  const last = replay.calls.find((call) => call.replayed?.sourceStepId === source.outputs.lastModelStep)
  if (!last) return replay
  return { ...replay, outputs: { ...replay.outputs, lastModelOutput: last.answer?.body?.hash ?? null } }
}

export function declaredOutputs(tape: Tape, seen: SeenOutputs | undefined): DeclaredOutputs {
  return {
    last_model_output: tape.outputs.lastModelOutput,
    final_outputs: [...tape.outputs.finalOutputs],
    exit_code: seen?.exitCode ?? null,
    stdout: seen?.stdout ?? null,
    files: { ...seen?.files },
  }
}

function acceptanceBlocks(session: ReplaySession, report: DivergenceReport): Blocking[] {
  const blocks: Blocking[] = []
  const say = (reason: string): void => void blocks.push({ condition: "acceptance", reason })
  if (session.policy.onMiss === "nearest")
    say("it ran with --on-miss nearest, which may serve answers to other questions")
  if (session.policy.mode !== "exact") say("it ran in mode cached, which makes no claim about which call is answered")
  if (session.fork !== undefined) say("it is a fork")
  for (const { code, n, severity, message } of report.divergences) {
    if (code === "ORDER_RELAXED") say(`#${n}: answers could not be given in their recorded order`)
    // Calls without an answer are counted above; whatever else stopped the agent is said here.
    else if (severity === "halt" && report.counts.missed === 0) say(`#${n}: ${message}`)
  }
  return blocks
}

/** The certificate with the id its content has. */
export function sealed(content: Omit<Certificate, "id">): Certificate {
  return { ...content, id: canonicalHash(content) }
}

export function hasItsId(certificate: Certificate): boolean {
  const { id, ...content } = certificate
  return canonicalHash(content) === id
}
