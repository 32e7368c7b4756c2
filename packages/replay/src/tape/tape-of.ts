import { type Event, numberIn, type Problem, payloadOf, repeatsCall, textIn } from "@orangebox/contract"
import { CANON_VERSION } from "@orangebox/dialects"
import { foldRun, linksOf, type Run, type Step } from "@orangebox/runs"
import { addToList } from "../add-to-list.js"
import { CallPlaces } from "./call-places.js"
import { errorOf, headersOf, httpAnswer, modelAnswer, retrievalAnswer, toolAnswer } from "./recorded-answer.js"
import { type Sign, signStored } from "./sign.js"
import { signatureOfRequest, signatureOfRetrieval, signatureOfTold } from "./signature-of-call.js"
import { storedBody } from "./stored-body.js"
import type { Bodies, RecordedRequest, Tape, TapeCall, TapeStep } from "./tape.js"

export type TapeReading =
  | { readonly ok: true; readonly tape: Tape }
  | { readonly ok: false; readonly problems: readonly Problem[] }

export interface TapeOptions {
  /** Works out a signature again where the recording was signed by another version. */
  readonly sign?: Sign
  /** The run that started the others, where the clocks of several machines could put another one first. */
  readonly runId?: string
}

/**
 * A run's events as a tape. Runs of sub-agents may be handed in along with the run that started them: their calls stand in lanes of their
 * own. Events of a run that is damaged or still going on make a tape too; what cannot be replayed from it is said by `coverage`.
 */
export function tapeOf(events: readonly Event[], bodies: Bodies, options: TapeOptions = {}): TapeReading {
  const runs = foldedRuns(events)
  const own = ownEvents([...runs.values()].flatMap((run) => run.own))
  const ofMain = options.runId === undefined ? own : own.filter(({ run_id }) => run_id === options.runId)
  // Of runs that began in one millisecond the clock does not say which started the other.
  const starts = ofMain.filter((event) => event.event_type === "run_started")
  const first = starts.find((event) => !isSpawnedIn(event, runs)) ?? starts[0] ?? ofMain[0]
  if (first === undefined) return noRun(`there is no event of ${options.runId ?? "a run"}`)
  const main = runs.get(first.run_id!)!
  const builder = new TapeBuilder(main, bodies, options.sign ?? signStored)
  for (const [position, event] of own.entries()) {
    const run = runs.get(event.run_id!)!
    builder.take(event, run, position)
  }
  const foreign = own.find((event) => event.trace_id !== first.trace_id)
  if (foreign !== undefined) return noRun(`the events belong to several traces: ${first.run_id} and ${foreign.run_id}`)
  return {
    ok: true,
    tape: {
      runId: first.run_id!,
      traceId: first.trace_id!,
      entrypoint: main.facts.entrypoint ?? "?",
      bodies,
      ...builder.finish(),
    },
  }
}

const isSpawnedIn = (event: Event, runs: ReadonlyMap<string, Run>): boolean =>
  (event.links ?? []).some(
    ({ kind, run_id }) => kind === "spawned_by" && run_id !== event.run_id && runs.has(run_id ?? ""),
  )

function foldedRuns(events: readonly Event[]): Map<string, Run> {
  const runIds = new Set(events.flatMap(({ run_id }) => run_id ?? []))
  return new Map([...runIds].map((runId) => [runId, foldRun(events.filter(({ run_id }) => run_id === runId))]))
}

const noRun = (reason: string): TapeReading => ({
  ok: false,
  problems: [{ code: "no_run", severity: "error", subject: "tape", field: "", reason }],
})

/** What the writers of the runs said, without what others said about them. Runs are merged by the clock, each staying in its own order. */
export function ownEvents(events: readonly Event[]): Event[] {
  const byRun = new Map<string, Event[]>()
  for (const event of events) {
    if (event.sequence_no !== null && event.run_id !== null) addToList(byRun, event.run_id, event)
  }
  for (const run of byRun.values()) run.sort((a, b) => a.sequence_no! - b.sequence_no!)
  // Events of one microsecond stand in the order of their runs, whatever order these were read in: a digest is made of it.
  const runs = [...byRun.values()].sort(([a], [b]) => orderOf(a!, b!))
  if (runs.length <= 1) return runs[0] ?? []
  const merged: Event[] = []
  const heads = runs.map(() => 0)
  for (;;) {
    let next = -1
    for (let i = 0; i < runs.length; i++) {
      const event = runs[i]![heads[i]!]
      if (event === undefined) continue
      if (next < 0 || event.timestamp_utc < runs[next]![heads[next]!]!.timestamp_utc) next = i
    }
    if (next < 0) return merged
    merged.push(runs[next]![heads[next]!++]!)
  }
}

const orderOf = (a: Event, b: Event): number =>
  a.timestamp_utc === b.timestamp_utc
    ? compareText(a.run_id!, b.run_id!)
    : compareText(a.timestamp_utc, b.timestamp_utc)

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

type Draft = { -readonly [K in keyof Omit<TapeCall, "occurrence" | "attempts" | "within">]: TapeCall[K] }

class TapeBuilder {
  readonly #main: Run
  readonly #bodies: Bodies
  readonly #sign: Sign
  readonly #calls = new Map<string, Draft>()
  readonly #steps = new Map<string, { -readonly [K in keyof TapeStep]: TapeStep[K] } & { follows: string[] }>()
  readonly #lanes = new Map<string, string>()
  readonly #runs = new Set<string>()
  /** Run that was started → the step that started it. */
  readonly #spawned = new Map<string, string>()
  readonly #places = new CallPlaces()
  readonly #placeOf = new Map<string, string>()
  readonly #finalOutputs: string[] = []
  readonly #clocks = new Map<string, Moment[]>()

  constructor(main: Run, bodies: Bodies, sign: Sign) {
    this.#main = main
    this.#bodies = bodies
    this.#sign = sign
  }

  take(event: Event, run: Run, position: number): void {
    const step = run.stepOf(event.step_id ?? "") ?? run.steps[0]!
    this.#runs.add(event.run_id!)
    addToList(this.#clocks, event.run_id!, { monoUs: event.mono_us, position })
    this.#takeStep(event, step, run, position)
    const isWithin = event !== step.opened && event !== step.closed
    if (event === step.opened) this.#placeOf.set(step.id, this.#places.open(event))
    // A record that would open or close its step once more is kept, and tells nothing new.
    else if (isWithin && TURNING.has(event.event_type)) return
    switch (event.event_type) {
      case "run_started":
        if (event.run_id !== this.#main.runId) this.#lanes.set(event.run_id!, subLane(step.name ?? "?"))
        break
      case "model_called":
        this.#openModel(event, step, position)
        break
      case "tool_called":
        this.#openTool(event, position)
        break
      case "step_started":
        if (event.payload.kind === "http") this.#openHttp(event, position)
        if (event.payload.kind === "retrieval") this.#openRetrieval(event, position)
        break
      case "retrieval_executed":
        this.#takeRetrieval(event, position)
        break
      case "model_result":
        this.#close(event, position, () => modelAnswer(event, this.#bodies))
        break
      case "tool_result":
        this.#close(event, position, () => toolAnswer(event, this.#bodies))
        break
      case "step_ended":
        this.#closeStep(event, position)
        break
      case "final_output":
        if (event.run_id === this.#main.runId) this.#finalOutputs.push(event.payload.output_ref)
        break
    }
  }

  finish(): Pick<Tape, "calls" | "steps" | "absentRuns" | "outputs"> {
    const drafts = [...this.#calls.values()].sort((a, b) => a.openedAt - b.openedAt)
    const attempts = new Map<string, string[]>()
    for (const call of drafts) {
      if (call.attemptOf !== null) addToList(attempts, call.attemptOf, call.stepId)
    }
    const seen = new Map<string, number>()
    const calls = drafts.map((call): TapeCall => {
      const tries = attempts.get(call.stepId) ?? []
      // A call and its tries ask the same question once, so only the tries count.
      const isTold = tries.some((id) => this.#calls.get(id)?.sig === call.sig)
      const key = `${call.lane}\0${call.sig}`
      const occurrence = seen.get(key) ?? 0
      if (call.sig !== null && !isTold) seen.set(key, occurrence + 1)
      const toldAt = this.#calls.get(tries[0] ?? "")?.toldAt ?? call.toldAt
      return { ...call, occurrence, attempts: tries, toldAt, within: this.#callAround(call) }
    })
    const models = calls.filter(
      (call) => call.kind === "model" && call.attemptOf === null && call.within === null && !call.isAuxiliary,
    )
    return {
      calls,
      steps: this.#steps,
      absentRuns: [...this.#spawned]
        .filter(([runId]) => !this.#runs.has(runId))
        .map(([runId, stepId]) => ({ runId, stepId })),
      outputs: {
        ended: this.#main.status,
        ...this.#end(),
        finalOutputs: this.#finalOutputs,
        lastModelOutput: models.at(-1)?.answer?.body?.hash ?? null,
        lastModelStep: models.at(-1)?.stepId ?? null,
      },
    }
  }

  #end(): Pick<Tape["outputs"], "errorClass" | "error" | "exitCode" | "signal" | "stdout"> {
    const closed = this.#main.steps[0]?.closed
    const closing = payloadOf(closed)
    const written = numberIn(closing, "stdout_bytes")
    return {
      errorClass: this.#main.facts.errorClass,
      error: textIn(closing, "error_summary") ?? null,
      exitCode: numberIn(closing, "exit_code") ?? null,
      signal: textIn(closing, "signal") ?? null,
      stdout:
        closed === undefined || written === undefined
          ? null
          : {
              byteSize: written,
              body: storedBody(closed, textIn(closing, "stdout_ref")),
              digest: textIn(closing, "stdout_digest") ?? null,
            },
    }
  }

  #callAround(call: Draft): string | null {
    const inner = call.attemptOf === null ? call : (this.#calls.get(call.attemptOf) ?? call)
    for (let id = inner.parentStepId; id !== null; id = this.#steps.get(id)?.parentStepId ?? null) {
      const outer = this.#calls.get(id)
      if (outer && !outer.isInferred) return outer.stepId
    }
    return null
  }

  #takeStep(event: Event, { id, parent, opened, closed }: Step, run: Run, position: number): void {
    let step = this.#steps.get(id)
    if (step === undefined) {
      const around = parent?.id ?? (opened ? stepAround(opened) : null)
      // A damaged opening may say that a run is inside one of its own steps.
      const isOutside = parent !== undefined || around === null || run.stepOf(around) === undefined
      step = { stepId: id, parentStepId: isOutside ? around : null, follows: [], openedAt: position, closedAt: null }
      this.#steps.set(id, step)
    }
    for (const link of linksOf(event)) {
      const isOwn = link.run_id === undefined || link.run_id === event.run_id
      if (link.kind === "follows" && link.step_id !== undefined && isOwn) step.follows.push(link.step_id)
      if (link.kind === "spawned" && link.run_id !== undefined) this.#spawned.set(link.run_id, id)
    }
    if (event === closed) step.closedAt = position
  }

  #draft(event: Event, position: number): Omit<Draft, "kind" | "name" | "request"> {
    return {
      stepId: event.step_id!,
      runId: event.run_id!,
      provider: null,
      lane: event.lane_id ?? this.#lanes.get(event.run_id!) ?? MAIN_LANE,
      sig: null,
      wire: null,
      shape: null,
      canonVersion: null,
      stream: null,
      openedAt: position,
      closedAt: null,
      toldAt: null,
      parentStepId: this.#steps.get(event.step_id!)?.parentStepId ?? null,
      place: this.#placeOf.get(event.step_id!) ?? "",
      attemptOf: null,
      attemptNo: null,
      isAuxiliary: event.attributes?.["auxiliary"] === true,
      isInferred: event.inferred_by !== undefined,
      effect: "unknown",
      toolCallId: null,
      heldByProvider: null,
      mode: event.determinism_mode,
      isMadeUp: event.determinism_mode === "simulated" || event.attributes?.["source_mode"] === "simulated",
      replayed: replayedOf(event),
      answer: null,
    }
  }

  #openModel(event: Event<"model_called">, step: Step, position: number): void {
    const { payload, attributes } = event
    const attemptNo = step.attemptNo ?? null
    const parent = attemptNo === null ? undefined : this.#calls.get(step.parent?.id ?? "")
    const held = attributes?.["context_held_by_provider"]
    const draft: Draft = {
      ...this.#draft(event, position),
      kind: "model",
      name: payload.model_id ?? "?",
      provider: payload.provider,
      sig: payload.call_signature_hash ?? null,
      wire: payload.wire_digest ?? null,
      shape: payload.shape_digest ?? null,
      canonVersion: payload.canon_version ?? null,
      stream: payload.stream ?? null,
      attemptNo,
      attemptOf: parent?.stepId ?? null,
      effect: "pure",
      heldByProvider: typeof held === "string" ? held : null,
      request: {
        body: storedBody(event, payload.request_ref),
        method: payload.http_method ?? null,
        url: payload.url ?? null,
        urlTags: urlTagsOf(event),
        headers: headersOf(payload.request_headers_ref, this.#bodies),
        retrieval: null,
      },
    }
    // Recorded once more when the second attempt began; it was opened when the call was.
    if (parent && repeatsCall(event)) draft.openedAt = parent.openedAt + 0.5
    if (draft.lane === MAIN_LANE && parent) draft.lane = parent.lane
    this.#calls.set(draft.stepId, this.#resigned(draft))
  }

  #openTool(event: Event<"tool_called">, position: number): void {
    const { payload } = event
    this.#calls.set(event.step_id!, {
      ...this.#draft(event, position),
      kind: "tool",
      name: payload.tool_name,
      sig: payload.call_signature_hash,
      canonVersion: payload.canon_version ?? null,
      effect: payload.effect_class ?? "unknown",
      toolCallId: payload.tool_call_id ?? null,
      request: { ...NO_ADDRESS, body: storedBody(event, payload.args_ref) },
    })
  }

  #openRetrieval(event: Event<"step_started">, position: number): void {
    const draft = { ...this.#draft(event, position), kind: "retriever" as const, name: event.payload.name }
    this.#calls.set(event.step_id!, { ...draft, effect: "read", request: { ...NO_ADDRESS, body: null } })
  }

  #takeRetrieval(event: Event<"retrieval_executed">, position: number): void {
    const { payload } = event
    const opened = this.#calls.get(event.step_id!)
    const isOwnStep = opened?.kind === "retriever" && opened.sig === null
    const request: RecordedRequest = {
      ...NO_ADDRESS,
      body: storedBody(event, payload.query_text_ref),
      retrieval: { version: payload.retriever_version, topK: payload.top_k, filters: payload.filters },
    }
    this.#calls.set(isOwnStep ? event.step_id! : `${event.step_id}#${position}`, {
      ...(isOwnStep ? opened : this.#draft(event, position)),
      kind: "retriever",
      name: payload.retriever_id,
      sig: payload.call_signature_hash ?? signatureOfRetrieval({ name: payload.retriever_id, request }, this.#bodies),
      canonVersion: CANON_VERSION,
      effect: "read",
      request,
      closedAt: position,
      toldAt: position,
      answer: retrievalAnswer(event),
    })
  }

  #openHttp(event: Event<"step_started">, position: number): void {
    const { attributes, payload } = event
    const method = attributes?.["http_method"]
    const url = attributes?.["url"]
    const body = storedBody(event, payload.body_ref)
    const draft: Draft = {
      ...this.#draft(event, position),
      kind: "http",
      name: payload.name,
      effect: method === "GET" || method === "HEAD" ? "read" : "unknown",
      request: {
        body,
        method: typeof method === "string" ? method : null,
        url: typeof url === "string" ? url : null,
        urlTags: urlTagsOf(event),
        headers: body ? [["content-type", body.mimeType]] : [],
        retrieval: null,
      },
    }
    // Only model calls are signed at capture; a plain request is signed by what was kept of it, on both sides alike.
    this.#calls.set(draft.stepId, this.#resigned({ ...draft, canonVersion: CANON_VERSION - 1 }))
  }

  /** Digests of another version, or that the writer left out, are worked out from the bytes, where those are there. */
  #resigned(draft: Draft): Draft {
    // A field of ours that a writer left out was never worked out: then there is nothing to believe.
    if (draft.canonVersion === CANON_VERSION && draft.sig !== null) return draft
    const isTold = draft.kind === "model" && draft.request.url === null
    const signature = isTold
      ? signatureOfTold(draft, this.#bodies)
      : signatureOfRequest(draft.request, this.#bodies, this.#sign)
    if (signature === undefined) return draft.kind === "http" ? { ...draft, canonVersion: null } : draft
    return { ...draft, ...signature }
  }

  #close(event: Event, position: number, answer: () => Draft["answer"]): void {
    const draft = this.#calls.get(event.step_id!)
    if (draft === undefined) return
    draft.closedAt = position
    draft.answer = answer()
    const { latencyMs, firstByteMs } = draft.answer ?? { latencyMs: 0, firstByteMs: null }
    const aheadMs = Number(event.attributes?.[HEADERS_AHEAD] ?? 0)
    const toldUs = event.mono_us - Math.max(0, latencyMs - (firstByteMs ?? latencyMs) + aheadMs) * 1000
    draft.toldAt = positionAt(toldUs, this.#clocks.get(event.run_id!) ?? [])
  }

  #closeStep(event: Event<"step_ended">, position: number): void {
    const draft = this.#calls.get(event.step_id!)
    if (draft?.kind === "http") this.#close(event, position, () => httpAnswer(event))
    if (draft?.kind !== "retriever") return
    draft.closedAt = position
    const { error_class, error_ref, error_summary } = event.payload
    const error = errorOf(error_class, error_ref, error_summary, this.#bodies)
    if (draft.answer && error) draft.answer = { ...draft.answer, status: event.payload.status, error }
  }
}

/** An event by the clock of its run, and where it stands among all events of the tape. */
interface Moment {
  readonly monoUs: number
  readonly position: number
}

/** The place of a moment between events that have come so far. */
function positionAt(monoUs: number, clock: readonly Moment[]): number {
  const before = clock.findLastIndex((moment) => moment.monoUs <= monoUs)
  return (clock[before]?.position ?? 0) + (before === clock.length - 1 ? 0 : 0.5)
}

function replayedOf({ replay }: Event): TapeCall["replayed"] {
  if (replay?.source_step_id === undefined) return null
  return { sourceStepId: replay.source_step_id, tier: replay.match?.tier ?? "?" }
}

/** What a step is inside of: for the run of a sub-agent that is the step that started it. */
export function stepAround(event: Event): string | null {
  if (event.parent_step_id !== null || event.event_type !== "run_started") return event.parent_step_id
  return event.links?.find(({ kind }) => kind === "spawned_by")?.step_id ?? null
}

/** The attribute of an answer that says by how many milliseconds its headers came before its first byte. */
export const HEADERS_AHEAD = "response_headers_ahead_ms"

export const MAIN_LANE = "main"
export const subLane = (entrypoint: string): string => `sub:${entrypoint}`

function urlTagsOf({ attributes }: Event): string | null {
  const tags = attributes?.["url_tags"]
  return typeof tags === "string" ? tags : null
}

const NO_ADDRESS = { method: null, url: null, urlTags: null, headers: null, retrieval: null } as const
/** What opens or closes a step. */
const TURNING: ReadonlySet<string> = new Set([
  "run_started",
  "model_called",
  "tool_called",
  "step_started",
  "model_result",
  "tool_result",
  "step_ended",
  "run_completed",
  "run_failed",
])
