import {
  type BodyMask,
  EffectClass,
  type Event,
  integerIn,
  type Link,
  type LoosePayload,
  numberIn,
  payloadOf,
  textIn,
  textsIn,
} from "@orangebox/contract"
import { foldRun, isWorkspaceLook, type Run, type RunStatus, type Step } from "@orangebox/runs"
import { addToList } from "../add-to-list.js"
import { areToolsServed } from "../tape/served-tools.js"
import { ownEvents } from "../tape/tape-of.js"
import { masksIn, tagsIn } from "./body-masks.js"
import { looksOf, type RecordedLooks } from "./changed-files.js"
import type { DiffKind, DiffStep } from "./diff-step.js"
import { eventsAsSteps, retrievalFacts } from "./event-steps.js"
import { foldRetries } from "./fold-retries.js"
import { inlineLanes } from "./inline-lanes.js"
import type { DiffOptions, RunToDiff } from "./run-to-diff.js"

/** A run as a diff sees it: its steps in order of opening, retries folded, sub-agents and the runs it started inlined. */
export interface DiffRun {
  readonly run: Run
  /** The run and those that were started from inside it. */
  readonly runs: readonly Run[]
  readonly steps: readonly DiffStep[]
  readonly root: DiffStep
  /** Steps that are a try of a call and were compared as part of it. */
  readonly foldedAttempts: number
  readonly outcome: RecordedOutcome
  /** Undefined where its work tree was not looked at. */
  readonly looks: RecordedLooks | undefined
  /** It is a replay whose tools were answered from the recording, so that none of them touched a file. */
  readonly areToolsServed: boolean
}

/** How a run ended and what it gave. */
interface RecordedOutcome {
  readonly status: RunStatus
  readonly errorClass: string | undefined
  readonly error: string | undefined
  /** Of the secrets in its error, in order, each once. */
  readonly errorTags: readonly string[]
  readonly exitCode: number | undefined
  readonly outputRef: string | undefined
  readonly outputMasks: readonly BodyMask[]
  readonly summary: string | undefined
}

/** Undefined when there is no event of a run in it. */
export function readSteps(
  { events, runId, isWriterAlive = false }: Omit<RunToDiff, "body">,
  options: DiffOptions,
): DiffRun | undefined {
  const family = runsIn(events, runId).map((own) => foldRun(own, { isWriterAlive }))
  const [main] = family
  if (main === undefined || main.steps.length === 0) return undefined
  const reading: Reading = {
    options,
    // Which tool wrote may be told by a look of the run around it.
    wrote: new Set(family.flatMap((run) => [...soleWriters(run)])),
    position: positionsIn(family),
  }
  const read = family.map((run, index) => readRun(run, index > 0, reading))
  const draftOf = new Map(read.flatMap(({ steps }) => [...steps].map(([{ id }, draft]) => [id, draft] as const)))
  const root = read[0]!.root
  for (const { run, root: started } of read.slice(1)) {
    const starter = draftOf.get(starterOf(run)?.step_id ?? "") ?? root
    started.parent = starter
    starter.children.push(started)
    starter.children.sort((a, b) => a.openedAt - b.openedAt)
  }
  return {
    run: main,
    runs: family,
    steps: inOpeningOrder(root),
    root,
    foldedAttempts: read.reduce((sum, { foldedAttempts }) => sum + foldedAttempts, 0),
    outcome: outcomeOf(main),
    looks: looksOf(main.own),
    areToolsServed: areToolsServed(family.flatMap(({ own }) => own)),
  }
}

/** The events of each run, the one that the diff is about first. */
function runsIn(events: readonly Event[], runId: string | undefined): readonly (readonly Event[])[] {
  const runs = new Map<string | null, Event[]>()
  for (const event of events) addToList(runs, event.run_id, event)
  if (runs.size <= 1) return [...runs.values()]
  runs.delete(null)
  const first = runId ?? [...runs].find(([, own]) => !own.some(isStartedInside(runs)))?.[0] ?? [...runs.keys()][0]!
  const main = runs.get(first) ?? []
  runs.delete(first)
  return [main, ...runs.values()]
}

const isStartedInside =
  (runs: ReadonlyMap<string | null, unknown>) =>
  ({ event_type, links }: Event): boolean =>
    event_type === "run_started" &&
    links?.some(({ kind, run_id }) => kind === "spawned_by" && run_id !== undefined && runs.has(run_id)) === true

/** What started a run from inside another one. */
const starterOf = ({ steps }: Run): Link | undefined =>
  steps[0]?.opened?.links?.find(({ kind }) => kind === "spawned_by")

/** Places of events among all of the family: every run counts by itself, and their clocks are what they have in common. */
function positionsIn(family: readonly Run[]): Reading["position"] {
  if (family.length === 1) return (event) => event.sequence_no
  const positions = new Map(ownEvents(family.flatMap(({ own }) => own)).map((event, at) => [event, at] as const))
  return (event) => positions.get(event) ?? null
}

interface Reading {
  readonly options: DiffOptions
  readonly wrote: ReadonlySet<string>
  position(event: Event): number | null
}

interface ReadRun {
  readonly run: Run
  readonly root: DiffStep
  readonly steps: ReadonlyMap<Step, DiffStep>
  readonly foldedAttempts: number
}

function readRun(run: Run, isInside: boolean, reading: Reading): ReadRun {
  const drafts: DiffStep[] = []
  const draftOf = new Map<Step, DiffStep>()
  const inside = isInside ? { runId: run.runId ?? "", entrypoint: run.facts.entrypoint ?? "" } : undefined
  let foldedAttempts = 0
  for (const step of run.steps) {
    // What the recorder did to look at the work tree is no step of the agent; what it found is the outcome.
    if (isWorkspaceLook(step)) continue
    const parent = step.parent && draftOf.get(step.parent)
    if (parent && step.attemptNo !== undefined) {
      // What was recorded inside a try belongs to the call.
      draftOf.set(step, parent)
      foldedAttempts += 1
      continue
    }
    const draft = featuresOf(step, parent, inside, run, reading)
    draftOf.set(step, draft)
    drafts.push(draft)
    parent?.children.push(draft)
    for (const inner of eventsAsSteps(step, draft, reading.position)) {
      drafts.push(inner)
      draft.children.push(inner)
    }
  }
  for (const draft of drafts) {
    draft.children.sort((a, b) => a.openedAt - b.openedAt)
    foldedAttempts += foldRetries(draft.children)
  }
  const root = drafts[0]!
  inlineLanes(root, linkedSteps(run, draftOf))
  return { run, root, steps: draftOf, foldedAttempts }
}

/**
 * A run without what its calls did inside themselves, where the other run was answered from this recording: there the call was served as one
 * value, and what it had done was not done again.
 */
export function withoutServedInside(run: DiffRun, other: DiffRun): DiffRun {
  const served = new Set(
    other.steps.flatMap(({ mode, sourceStepId, children }) =>
      mode === "exact" && sourceStepId !== undefined && children.length === 0 ? [sourceStepId] : [],
    ),
  )
  const whole = run.steps.filter(
    ({ id, eventId, children }) => eventId === undefined && served.has(id ?? "") && children.length > 0,
  )
  if (whole.length === 0) return run
  for (const { children } of whole) children.length = 0
  return { ...run, steps: inOpeningOrder(run.root) }
}

/** What a step was asked and what came of it, as the records of its two ends name it. */
type Asked = Partial<
  Pick<
    DiffStep,
    | "sig"
    | "canonVersion"
    | "wire"
    | "inputRef"
    | "inputMasks"
    | "outputRef"
    | "outputMasks"
    | "inputFacts"
    | "outputFacts"
    | "inputSummary"
    | "outputSummary"
  >
>

function featuresOf(
  step: Step,
  parent: DiffStep | undefined,
  inside: DiffStep["inside"],
  run: Run,
  { options, wrote, position }: Reading,
): DiffStep {
  // What went over the wire says more than what the application meant to send.
  const wire = step.attempts.at(-1)
  const opening = payloadOf(wire?.opened ?? step.opened)
  const closing = payloadOf(step.closed ?? wire?.closed)
  const retrieval = soleRetrieval(step)
  const asked: Asked = retrieval
    ? retrievalFacts(retrieval)
    : step.kind === "run"
      ? runFacts(step, inside && outcomeOf(run))
      : callFacts(opening, closing)
  const kind: DiffKind = retrieval ? "retrieval" : step.kind
  const name = (retrieval && textIn(payloadOf(retrieval), "retriever_id")) ?? step.name ?? ""
  // Every name once and none spread in: on Node 20 an object made of spreads and names is slow to make and to read.
  return {
    at: 0,
    n: step.no,
    id: step.id || undefined,
    eventId: undefined,
    kind,
    name,
    inside,
    lane: step.laneId,
    parent,
    children: [],
    sig: asked.sig,
    canonVersion: asked.canonVersion,
    wire: asked.wire,
    inputRef: asked.inputRef,
    inputMasks: asked.inputMasks ?? masksIn(wire?.opened ?? step.opened, asked.inputRef),
    outputMasks: asked.outputMasks ?? [],
    headersRef: textIn(opening, "request_headers_ref"),
    isMatchedMasked: (wire?.opened ?? step.opened)?.replay?.match?.tier === "masked",
    outputRef: asked.outputRef,
    outputBytes: bytesOf(step.closed ?? wire?.closed, asked.outputRef),
    inputFacts: asked.inputFacts ?? "",
    outputFacts: asked.outputFacts ?? (kind === "run" ? "" : endFacts(closing, step.closed)),
    inputSummary: asked.inputSummary,
    outputSummary: asked.outputSummary,
    finishReason: textIn(closing, "finish_reason"),
    requestedTools: textsIn(payloadOf(step.closed), "requested_tools"),
    status: step.status,
    effect: kind === "tool" ? (options.effectOf?.(name) ?? effectOf(opening, step, wrote)) : undefined,
    attempts: Math.max(1, step.attempts.length),
    inputTokens: step.tokens.prompt,
    outputTokens: step.tokens.completion,
    durationUs: step.durationUs,
    mode: step.mode,
    isAuxiliary: isAuxiliary(step),
    openedAt: (step.opened && position(step.opened)) ?? step.at,
    closedAt: (step.closed && position(step.closed)) ?? Number.POSITIVE_INFINITY,
    sourceStepId: step.opened?.replay?.source_step_id ?? step.closed?.replay?.source_step_id,
    method: textIn(opening, "http_method"),
    url: textIn(opening, "url"),
  }
}

/** As the last record of the step that speaks of it says. The attributes of a log line describe the line. */
function isAuxiliary(step: Step): boolean {
  const told = step.events.findLast(
    ({ event_type, sequence_no, attributes }) =>
      event_type !== "log" && sequence_no !== null && attributes?.["auxiliary"] !== undefined,
  )
  return told?.attributes?.["auxiliary"] === true
}

/** What the record of the end says beside the body. Two secrets that mask alike are told apart by their tags. */
function endFacts(closing: LoosePayload, closed: Event | undefined): string {
  const secrets = masksIn(closed).map(({ tag }) => tag)
  return [textIn(closing, "error_class"), numberIn(closing, "exit_code"), ...secrets]
    .filter((fact) => fact !== undefined)
    .join(" ")
}

function callFacts(opening: LoosePayload, closing: LoosePayload): Asked {
  return {
    sig: textIn(opening, "call_signature_hash"),
    canonVersion: numberIn(opening, "canon_version"),
    wire: textIn(opening, "wire_digest"),
    inputRef: firstTextIn(opening, ["request_ref", "args_ref", "body_ref"]),
    outputRef: firstTextIn(closing, ["response_ref", "result_ref", "body_ref", "error_message_ref", "error_ref"]),
    inputSummary: textIn(opening, "args_summary"),
    outputSummary: firstTextIn(closing, ["output_summary", "result_summary", "error_summary"]),
  }
}

const bytesOf = (event: Event | undefined, hash: string | undefined): number | undefined =>
  event?.artifact_refs.find(({ artifact_hash }) => artifact_hash === hash)?.byte_size

function firstTextIn(payload: LoosePayload, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textIn(payload, name)
    if (text !== undefined) return text
  }
  return undefined
}

/**
 * A run's input. How the run ended that the diff is about is its outcome and stands apart, because it comes last; of one that it started it
 * is what came of that step.
 */
function runFacts(step: Step, ended: RecordedOutcome | undefined): Asked {
  const opening = payloadOf(step.opened)
  const received = step.events.find((event) => event.event_type === "input_received")
  const input = payloadOf(received)
  const summary = textIn(opening, "input_summary")
  const inputRef = textIn(input, "input_ref") ?? textIn(input, "input_hash")
  return {
    inputRef: inputRef ?? textIn(opening, "input_summary_ref"),
    inputMasks: inputRef === undefined ? masksIn(step.opened) : masksIn(received, inputRef),
    inputFacts: summary ?? "",
    inputSummary: summary ?? textIn(input, "input_summary"),
    ...(ended && {
      outputRef: ended.outputRef,
      outputMasks: ended.outputMasks,
      outputFacts: JSON.stringify([
        ended.status,
        ended.errorClass ?? null,
        ended.error ?? null,
        ended.errorTags,
        ended.exitCode ?? null,
      ]),
      outputSummary: ended.summary,
    }),
  }
}

function soleRetrieval(step: Step): Event | undefined {
  if (step.kind !== "step" || step.children.length > 0) return undefined
  const found = step.events.filter((event) => event.event_type === "retrieval_executed")
  return found.length === 1 ? found[0] : undefined
}

/** What the call says of itself, or the replay that served it, or what the work tree showed. */
function effectOf(opening: LoosePayload, { id, opened }: Step, wrote: ReadonlySet<string>): EffectClass | undefined {
  const said = opening["effect_class"] ?? opened?.replay?.effect_class
  return EffectClass.options.find((effect) => effect === said) ?? (wrote.has(id) ? "write" : undefined)
}

/** Tools behind which a look found files changed, where no other tool ran since the look before. */
function soleWriters(run: Run): ReadonlySet<string> {
  const wrote = new Set<string>()
  for (const look of run.steps) {
    if (!isWorkspaceLook(look) || !look.events.some(isFileDiff)) continue
    const followed = look.links.flatMap(({ kind, step_id }) => (kind === "follows" && step_id ? [step_id] : []))
    if (followed.length === 1) wrote.add(followed[0]!)
  }
  return wrote
}

const isFileDiff = (event: Event): boolean =>
  event.event_type === "artifact_recorded" && textIn(payloadOf(event), "artifact_type") === "diff"

/** Which step asked for another one, where a link says so. */
function linkedSteps(run: Run, draftOf: ReadonlyMap<Step, DiffStep>): ReadonlyMap<DiffStep, DiffStep> {
  const askers = new Map<DiffStep, DiffStep>()
  for (const step of run.steps) {
    const link = step.links.find(({ kind, step_id }) => kind === "spawned_by" && step_id !== undefined)
    const linked = link?.step_id === undefined ? undefined : run.stepOf(link.step_id)
    const asker = linked && draftOf.get(linked)
    const asked = draftOf.get(step)
    if (asker && asked && asker.n < asked.n) askers.set(asked, asker)
  }
  return askers
}

/** Preorder, with a list of our own: nesting is as deep as the recording says. */
function inOpeningOrder(root: DiffStep): DiffStep[] {
  const steps: DiffStep[] = []
  const waiting = [root]
  while (waiting.length > 0) {
    const step = waiting.pop()!
    step.at = steps.length
    steps.push(step)
    for (let i = step.children.length - 1; i >= 0; i--) waiting.push(step.children[i]!)
  }
  return steps
}

function outcomeOf(run: Run): RecordedOutcome {
  const closed = run.steps[0]?.closed
  const closing = payloadOf(closed)
  const output = run.own.findLast((event) => event.event_type === "final_output")
  const given = payloadOf(output)
  const outputRef = textIn(given, "output_ref")
  return {
    status: run.status,
    errorClass: textIn(closing, "error_class") ?? run.crash?.errorClass,
    error: textIn(closing, "error_summary") ?? run.crash?.errorSummary,
    errorTags: tagsIn(closed, textIn(closing, "error_message_ref")),
    exitCode: integerIn(closing, "exit_code") ?? run.crash?.exitCode,
    outputRef,
    outputMasks: masksIn(output, outputRef),
    summary: textIn(given, "output_summary") ?? textIn(closing, "error_summary"),
  }
}
