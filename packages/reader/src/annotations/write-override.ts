import { type Event, summarizeText, type Verdict } from "@orangebox/contract"
import type { DataFolder } from "@orangebox/journal"
import { type Ruleset, redactText } from "@orangebox/redaction"
import { findTarget, runOf } from "../address/find-target.js"
import { rulesHere } from "../judging/rules-here.js"
import type { ReaderOptions } from "../open/data-folder.js"
import { catchUpStore, readStore } from "../open/open-reading.js"
import type { LoadedRun } from "../run/load-run.js"
import { type AnnotationDoor, annotationBody, annotationOf, refTo, writeAnnotations } from "./write-annotations.js"

export interface SaidOverride {
  readonly author: string
  readonly verdict: Verdict
  readonly reason: string
}

/** A person's word about a run or one of its steps, as it was written beside it. */
export interface WrittenOverride {
  readonly runId: string
  /** The number of the step it is about; null for the run as a whole. */
  readonly n: number | null
  readonly event: Event<"override">
}

/** Writes what a person says about what an address names. It is in the store when it returns. */
export function overrideAt(
  options: ReaderOptions,
  door: AnnotationDoor,
  address: string,
  said: SaidOverride,
): Promise<WrittenOverride> {
  return readStore(options, async ({ folder, store }) => {
    const target = await findTarget(store, address)
    const run = await runOf(store, target)
    // The first step is the run itself.
    const n = run.view.steps.find(({ id }) => id === target.stepId)?.n ?? 1
    const stepId = n === 1 ? null : target.stepId
    const event = writeOverride(door, folder, run, { ...said, stepId }, rulesHere(process.cwd(), options).ruleset)
    await catchUpStore(folder.path, options)
    return { runId: run.row.runId, n: stepId === null ? null : n, event }
  })
}

function writeOverride(
  door: AnnotationDoor,
  folder: DataFolder,
  run: LoadedRun,
  said: SaidOverride & { readonly stepId: string | null },
  ruleset: Ruleset,
): Event<"override"> {
  const { text: reason, masks } = redactText(said.reason, ruleset)
  const summary = summarizeText(reason)
  // A summary is one line; a reason that is more stands in a body.
  const body = summary === reason ? undefined : annotationBody(reason)
  const event = annotationOf<"override">(door, run, {
    event_type: "override",
    stepId: said.stepId,
    redaction_status: masks.length > 0 ? "redacted" : "not_required",
    artifact_refs: body === undefined ? [] : [refTo(body, "reason", "text/plain; charset=utf-8")],
    payload: {
      author: redactText(said.author, ruleset).text,
      subject_step_id: said.stepId,
      verdict: said.verdict,
      reason: summary,
      ...(body === undefined ? {} : { reason_ref: body.hash }),
    },
  })
  writeAnnotations(door, folder, [{ event, body }])
  return event
}

/** What a person said about a run as a whole. */
export interface HumanWord {
  readonly author: string
  readonly verdict: Verdict
  readonly reason: string
  readonly at: string
}

/** The last word on the whole run. */
export function lastWordAbout(events: readonly Event[]): HumanWord | undefined {
  const said = events.findLast(
    (event): event is Event<"override"> =>
      event.event_type === "override" && (event as Event<"override">).payload.subject_step_id === null,
  )
  if (said === undefined) return undefined
  const { author, verdict, reason } = said.payload
  return { author, verdict, reason, at: said.timestamp_utc }
}
