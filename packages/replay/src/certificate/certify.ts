import { canonicalHash, runDigest } from "@orangebox/contract"
import { CANON_VERSION } from "@orangebox/dialects"
import { hasEnded } from "@orangebox/runs"
import { diffRuns, exitCodeOf } from "../diff/diff-runs.js"
import type { RunToDiff } from "../diff/run-to-diff.js"
import type { Certificate, DeclaredOutputs, DivergenceReport } from "../generated.js"
import { askableCalls } from "../match/matcher.js"
import type { ReplaySession } from "../match/session.js"
import { cutWords, readStored } from "../tape/stored-body.js"
import type { CallKind, StoredBody, Tape } from "../tape/tape.js"
import { ownEvents } from "../tape/tape-of.js"
import { REPLAY_VERSION } from "../version.js"
import { claimOf } from "./claim.js"
import { notComparedIn } from "./compared-fields.js"
import { fingerprintOf } from "./fingerprint.js"
import { compareOrder } from "./order.js"
import { compareOutputs, declaredOutputs } from "./outcome.js"
import { compareBesideSignatures } from "./questions.js"
import { compareFamilies, familyAlone } from "./run-family.js"
import { unsureSecrets } from "./served-secrets.js"
import { compareStdout } from "./stdout.js"
import { type JudgedRecording, wholenessProblems } from "./wholeness.js"

/** The conditions a replay has to meet, as the documentation numbers them. */
export type Condition =
  | "recording"
  | "fingerprint"
  | "order"
  | "bodies"
  | "consumption"
  | "sockets"
  | "questions"
  | "outputs"
  | "acceptance"
  | "diff"

export interface Blocking {
  readonly condition: Condition
  readonly reason: string
}

export interface ReplayToCertify {
  /** What was asked of the tape, and how it was answered. */
  readonly session: ReplaySession
  /** The recording the tape was made of. */
  readonly source: JudgedRecording
  /** The new run as it was recorded; null for the engine. */
  readonly replay: (JudgedRecording & { readonly tape: Tape }) | null
  readonly covers: readonly CallKind[]
  /** Whether all that the replay recorded is at hand, and not only what every replay has. */
  readonly areReplayBodiesHere?: boolean
}

export type Certification =
  | { readonly issued: true; readonly certificate: Certificate; readonly report: DivergenceReport }
  | { readonly issued: false; readonly blocking: readonly Blocking[]; readonly report: DivergenceReport }

/**
 * Issues a certificate, or says what stands in its way. There is no other place that decides it: a certificate is checked again by asking
 * the tape what the recorded replay asked, and coming here once more.
 */
export function certify(run: ReplayToCertify): Certification {
  const { session, replay } = run
  const report = session.report({ runId: replay?.tape.runId ?? null, isOver: true })
  const found = replay === null ? alone(run) : compare(run, replay)
  const blocking = [
    ...blocks("recording", wholenessProblems(run.source, true)),
    ...blocks("recording", replay ? wholenessProblems(replay, run.areReplayBodiesHere ?? false) : []),
    ...found.blocking,
    ...blocks("bodies", bodyProblems(run)),
    ...blocks("consumption", consumptionProblems(report, session.tape)),
    ...blocks("sockets", socketProblems(report, run)),
    ...blocks("outputs", hasEnded(session.tape.outputs.ended) ? [] : ["the run has no end on record"]),
    ...blocks("acceptance", acceptanceProblems(session, report)),
  ]
  // The net below everything: what a reader of the two runs would be shown as a difference is none that a certificate may overlook.
  if (blocking.length === 0 && replay) blocking.push(...blocks("diff", differenceBetween(run, replay)))
  if (blocking.length > 0) return { issued: false, blocking, report }
  return {
    issued: true,
    certificate: sealed(contentOf(run, report, found)),
    report: { ...report, certificate: { issued: true, blocking: [] } },
  }
}

const blocks = (condition: Condition, reasons: readonly string[]): Blocking[] =>
  reasons.map((reason) => ({ condition, reason }))

/** What two runs have in common, and what of them was not compared. */
interface Found {
  readonly blocking: readonly Blocking[]
  readonly compared: Certificate["scope"]["compared"]
  readonly notCompared: Certificate["scope"]["not_compared"]
  readonly outputs: DeclaredOutputs
  readonly runs: Certificate["runs"]
}

/** Nothing ran, so there is nothing to hold the recording against but itself. */
function alone({ session, source, covers }: ReplayToCertify): Found {
  const { tape } = session
  return {
    blocking: [],
    compared: ["recording", "questions", "answers"],
    notCompared: [{ what: "the agent", why: "it was not started: nothing says that it would ask the same again" }],
    outputs: declaredOutputs(tape, null),
    runs: familyAlone({ ...source, tape }, covers),
  }
}

function compare(run: ReplayToCertify, replay: NonNullable<ReplayToCertify["replay"]>): Found {
  const { session, source, covers } = run
  const { tape } = session
  const recorded = fingerprintOf(tape, covers)
  const now = fingerprintOf(replay.tape, covers, { source: tape })
  const ends = compareOutputs({ ...source, tape }, replay)
  const family = compareFamilies({ ...source, tape }, replay, covers)
  const wrote = compareStdout(tape, replay.tape)
  const beside = compareBesideSignatures(tape, replay.tape, covers)
  const order = compareOrder(tape, replay.tape, covers)
  const isKnown = (what: string): boolean => ends.unknown.every((unknown) => unknown.what !== what)
  return {
    blocking: [
      ...blocks(
        "fingerprint",
        recorded === now ? [] : [`the run's fingerprint is ${now}, the recorded one ${recorded}`],
      ),
      ...blocks("order", order.differences),
      ...blocks("questions", beside.differences),
      ...blocks("questions", unsureSecrets({ ...source, tape }, replay.tape, family.servedMasks)),
      ...blocks("outputs", [...family.differences, ...ends.differences, ...wrote.differences]),
    ],
    compared: [
      "recording",
      "questions",
      "answers",
      "order",
      ...(beside.areHeadersKnown ? (["behaviour_headers"] as const) : []),
      "addresses",
      "input",
      "steps",
      "verdicts",
      "artifacts",
      "ending",
      ...(isKnown("exit status") ? (["exit_status"] as const) : []),
      ...(wrote.output === null ? [] : (["stdout"] as const)),
      "final_output",
      ...(isKnown("files") ? (["files"] as const) : []),
      "diff",
    ],
    notCompared: [
      ...uncovered(tape, covers),
      ...ends.unknown,
      ...family.unknown,
      ...wrote.unknown,
      ...beside.unknown,
      ...order.unknown,
      ...ALWAYS_LEFT,
      ...notComparedIn(ownEvents([...source.events, ...replay.events])),
    ],
    outputs: { ...ends.outputs, stdout: wrote.output },
    runs: family.runs,
  }
}

const ALWAYS_LEFT = [
  { what: "stderr", why: "what a command writes there is not recorded" },
  { what: "other headers", why: "credentials, ids and what clients say about themselves, as far as anybody knows" },
] as const

/** Kinds of calls that are on the tape and did not pass through the driver's hands. */
function uncovered(tape: Tape, covers: readonly CallKind[]): { readonly what: string; readonly why: string }[] {
  const counts = new Map<CallKind, number>()
  for (const { kind } of tape.calls) if (!covers.includes(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts].map(([kind, count]) => ({
    what: `${count} ${kind} call(s)`,
    why: "they do not pass through the proxy: the agent made them itself",
  }))
}

function contentOf(run: ReplayToCertify, report: DivergenceReport, found: Found): Omit<Certificate, "id"> {
  const { session, source, replay, covers } = run
  const driver = driverOf(run)
  const { counts } = report
  const scope = {
    covers: [...covers],
    compared: found.compared,
    not_compared: [...found.notCompared],
    calls: counts.asked,
    tools_executed: toolsExecuted(run),
  }
  return {
    v: 3,
    type: "orangebox-exactness",
    driver,
    source_run: session.tape.runId,
    source_digest: runDigest(ownEvents(source.events)),
    replay_run: replay?.tape.runId ?? null,
    replay_digest: replay === null ? null : runDigest(ownEvents(replay.events)),
    fingerprint: fingerprintOf(session.tape, covers),
    scope: { ...scope, ...claimOf(driver, scope) },
    grades: { wire: counts.wire, sig: counts.sig, masked: counts.masked },
    masks: report.masks,
    accepted_masks: session.policy.masks
      .filter(({ id }) => report.masks.includes(id))
      .map(({ id, type, at }) => ({ id, type, at })),
    aux_unconsumed: counts.aux_unconsumed,
    upstream_sockets: 0,
    outputs: found.outputs,
    runs: found.runs,
    canon_version: CANON_VERSION,
    versions: { replay: REPLAY_VERSION },
  }
}

/** Who had the replay in hand, by what passed through it: an edge on the wire sees no tool. */
const driverOf = ({ replay, covers }: ReplayToCertify): Certificate["driver"] =>
  replay === null ? "engine" : covers.includes("tool") ? "sdk" : "proxy"

/** Tools that ran for real: where they pass through, those that the tape did not answer; else all that the agent has. */
function toolsExecuted({ session, replay, covers }: ReplayToCertify): number {
  if (replay === null) return 0
  const isTool = ({ kind }: { readonly kind: CallKind }): boolean => kind === "tool"
  if (!covers.includes("tool")) return session.tape.calls.filter(isTool).length
  return replay.tape.calls.filter((call) => isTool(call) && call.mode === "live").length
}

/** Every byte a certificate speaks for is there and hashes to its name: what was asked as well as what was answered. */
function bodyProblems({ session, replay, areReplayBodiesHere, covers }: ReplayToCertify): string[] {
  const found: string[] = []
  const check = (tape: Tape, stepId: string, what: string, body: StoredBody | null): void => {
    if (body === null) return
    const reading = readStored(body, tape.bodies)
    if (!reading.ok) found.push(`the ${what} of ${stepId}: ${reading.reason}`)
    else if (body.isCut) found.push(`the ${what} of ${stepId}: ${cutWords(body)}`)
  }
  for (const tape of [session.tape, ...(replay && areReplayBodiesHere ? [replay.tape] : [])]) {
    for (const call of tape.calls) {
      if (call.isInferred || !covers.includes(call.kind)) continue
      check(tape, call.stepId, "request", call.request.body)
      check(tape, call.stepId, "answer", call.answer?.body ?? null)
    }
  }
  return found
}

function consumptionProblems({ counts }: DivergenceReport, { absentRuns }: Tape): string[] {
  const found: string[] = []
  if (counts.asked === 0) found.push("the replay saw no call")
  if (counts.unconsumed > 0) found.push(`${counts.unconsumed} recorded call(s) were never asked for`)
  if (counts.missed > 0) found.push(`${counts.missed} call(s) were not answered`)
  const others = counts.asked - counts.missed - counts.wire - counts.sig - counts.masked
  if (others > 0) found.push(`${others} call(s) were answered, and not exactly`)
  return [...found, ...absentRuns.map(({ runId }) => `${runId}, a run it started, is not part of the recording`)]
}

function socketProblems({ egress }: DivergenceReport, { replay, covers }: ReplayToCertify): string[] {
  if (egress.upstream_sockets > 0) return [`${egress.upstream_sockets} connection(s) to an upstream were opened`]
  const other =
    replay && askableCalls(replay.tape, "faithful").find((call) => covers.includes(call.kind) && call.mode !== "exact")
  return other ? [`${other.stepId} of the replay was answered ${other.mode}`] : []
}

function acceptanceProblems(session: ReplaySession, report: DivergenceReport): string[] {
  const found: string[] = []
  if (session.policy.onMiss === "nearest")
    found.push("it ran with --on-miss nearest, which may serve answers to other questions")
  if (session.policy.mode !== "exact")
    found.push("it ran in mode cached, which makes no claim about which call is answered")
  if (session.fork !== undefined) found.push("it is a fork")
  const { moved } = session.policy
  if (moved !== null)
    found.push(`the copy could not be shown at the path of the work tree, so ${moved.from} was written as ${moved.to}`)
  for (const { code, step, at, severity, message } of report.divergences) {
    const where = `${at.kind} ${at.name}${step === null ? "" : ` (${step})`}`
    if (code === "ORDER_RELAXED") found.push(`${where}: answers could not be given in their recorded order`)
    // Calls without an answer are counted above; whatever else stopped the agent is said here.
    else if (severity === "halt" && report.counts.missed === 0) found.push(`${where}: ${message}`)
  }
  return found
}

/** As `orangebox diff` compares the two, under the masks that were accepted for the replay. */
function differenceBetween(run: ReplayToCertify, replay: NonNullable<ReplayToCertify["replay"]>): string[] {
  const { session, source } = run
  const toDiff = ({ events, bodies }: JudgedRecording, runId: string): RunToDiff => ({
    runId,
    events: ownEvents(events),
    body: (hash) => bodies.get(hash) ?? { absent: "unknown" },
  })
  const masks = [...new Set(session.policy.masks.map(({ type }) => type))]
  const diff = diffRuns(toDiff(source, session.tape.runId), toDiff(replay, replay.tape.runId), { masks, payloads: 0 })
  if (exitCodeOf(diff) === 0) return []
  const { inserted, removed, changed, moved, reordered } = diff.stats
  const counts = Object.entries({ inserted, removed, changed, moved, reordered }).filter(([, count]) => count > 0)
  const what = [...counts.map(([change, count]) => `${count} ${change}`), ...diff.outcome.fields].join(", ")
  const first = diff.items.find(({ change }) => change !== "same" && change !== "noise")
  const step = first && (first.a ?? first.b)
  const where = step ? `; first ${first.change} ${first.kind} ${step.name} (#${step.n})` : ""
  return [`orangebox diff finds a difference between the two runs: ${what}${where}`]
}

/** The certificate with the id its content has. */
export function sealed(content: Omit<Certificate, "id">): Certificate {
  return { ...content, id: canonicalHash(content) }
}

export function hasItsId(certificate: Certificate): boolean {
  const { id, ...content } = certificate
  return canonicalHash(content) === id
}
