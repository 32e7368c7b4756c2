import {
  type Event,
  FindingsReport,
  InputError,
  payloadOf,
  type ReportedFinding,
  summarizeText,
  textIn,
} from "@orangebox/contract"
import { bodiesOf, type SaidFindings, type StepView } from "@orangebox/query"
import { redactText } from "@orangebox/redaction"
import type { TraceReader } from "@orangebox/store"
import { nearestWord, recordedWord, safeJson } from "@orangebox/text"
import { findRun } from "../address/find-target.js"
import { rulesHere } from "../judging/rules-here.js"
import type { ReaderOptions } from "../open/data-folder.js"
import { catchUpStore, readStore } from "../open/open-reading.js"
import type { RunReader } from "../open/run-reader.js"
import { loadBodies } from "../run/bodies.js"
import { findBody } from "../run/find-body.js"
import type { LoadedRun } from "../run/load-run.js"
import { type AnnotationDoor, annotationBody, annotationOf, refTo, writeAnnotations } from "./write-annotations.js"

/** Keeps what was found out about a run, beside it. Every pointer must resolve and every quote must stand where it says. */
export function addFindings(
  options: ReaderOptions,
  door: AnnotationDoor,
  address: string,
  text: string,
): Promise<{ readonly runId: string; readonly said: SaidFindings }> {
  const report = reportIn(text)
  return readStore(options, async ({ folder, store }) => {
    const run = await findRun(store, address)
    const { runId } = run.row
    if (report.run_id !== undefined && report.run_id !== runId)
      throw wrong("run_id", `the report is about ${recordedWord(report.run_id, 40)}, and this is ${runId}`)
    for (const [index, finding] of report.findings.entries())
      await checkFinding(store, run, finding, `findings.${index}`)
    const whole: FindingsReport = { ...report, schema: "orangebox.findings/1", run_id: runId }
    const { text: kept, masks } = redactText(JSON.stringify(whole), rulesHere(process.cwd(), options).ruleset)
    const masked = JSON.parse(kept) as FindingsReport
    const body = annotationBody(kept)
    const event: Event<"findings"> = annotationOf<"findings">(door, run, {
      event_type: "findings",
      stepId: null,
      redaction_status: masks.length > 0 ? "redacted" : "not_required",
      artifact_refs: [refTo(body, "findings", "application/json")],
      payload: {
        author: masked.author,
        author_kind: masked.author_kind,
        verdict: masked.verdict,
        finding_count: masked.findings.length,
        summary: summarizeText(masked.findings[0]?.claim ?? ""),
        report_ref: body.hash,
      },
    })
    writeAnnotations(door, folder, [{ event, body }])
    await catchUpStore(folder.path, options)
    return { runId, said: { eventId: event.event_id, at: event.timestamp_utc, ...reportFacts(event), report: masked } }
  })
}

/** What was found out about a run, in the order it was said. A report whose bytes are gone is shown by what its event says. */
export async function saidFindings(reader: RunReader, run: LoadedRun): Promise<readonly SaidFindings[]> {
  const events = run.annotations.filter((event): event is Event<"findings"> => event.event_type === "findings")
  const refs = events.flatMap((event) => textIn(payloadOf(event), "report_ref") ?? [])
  const { bytes } = await loadBodies(reader, refs)
  return events.map((event) => {
    const body = bytes.get(textIn(payloadOf(event), "report_ref") ?? "")
    const reading = body && FindingsReport.safeParse(parsed(Buffer.from(body).toString("utf8")))
    return {
      ...{ eventId: event.event_id, at: event.timestamp_utc, ...reportFacts(event) },
      report: reading?.success ? reading.data : undefined,
    }
  })
}

function reportFacts({ payload }: Event<"findings">): Omit<SaidFindings, "eventId" | "at" | "report"> {
  const { author, author_kind: authorKind, verdict, finding_count: count, summary } = payload
  return { author, authorKind, verdict, count, summary }
}

/** More is not kept about one run. */
const MOST_BYTES = 256 * 1024

function reportIn(text: string): FindingsReport {
  if (Buffer.byteLength(text) > MOST_BYTES) throw wrong("the report", `it is larger than ${MOST_BYTES / 1024} KiB`)
  const value = parsed(text)
  if (value === undefined) throw wrong("the report", "it is not JSON")
  const reading = FindingsReport.safeParse(value)
  if (!reading.success) {
    const [issue] = reading.error.issues
    throw wrong(issue?.path.join(".") || "the report", issue?.message ?? "it does not fit its schema")
  }
  const { verdict, findings } = reading.data
  if (verdict === "found" && findings.length === 0)
    throw wrong("findings", "the verdict is found, and nothing is named")
  if (verdict === "not_found" && findings.length > 0) throw wrong("verdict", "it is not_found, and findings are named")
  return reading.data
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const wrong = (where: string, what: string): InputError =>
  new InputError("FINDINGS", {
    what: `${where}: ${what}`,
    next: "A report is orangebox.findings/1: see docs/handoff.md",
  })

const badPointer = (where: string, what: string, next: string): InputError =>
  new InputError("FINDINGS_POINTER", { what: `${where}: ${what}`, next })

async function checkFinding(
  store: TraceReader,
  run: LoadedRun,
  finding: ReportedFinding,
  where: string,
): Promise<void> {
  stepOf(run, finding.cause_step, `${where}.cause_step`)
  for (const [index, evidence] of finding.evidence.entries()) {
    const at = `${where}.evidence.${index}`
    const other = evidence.run_id === undefined ? run : await findRun(store, evidence.run_id)
    const step = stepOf(other, evidence.step, `${at}.step`)
    const { body, from, to, quote } = evidence
    if (body === undefined) {
      if (from !== undefined || to !== undefined) throw badPointer(at, "bytes of no body", "Say which body with: body")
      if (quote !== undefined) await checkQuoteInStep(store, other, step, quote, `${at}.quote`)
      continue
    }
    const bytes = await bytesOf(store, other, step, body, at)
    const [first, last] = [from ?? 0, to ?? bytes.length]
    if (first > last || last > bytes.length)
      throw badPointer(at, `bytes ${first}..${last} of ${bytes.length}`, `The body has the bytes 0..${bytes.length}`)
    if (quote !== undefined && !textOf(bytes.subarray(first, last)).includes(quote)) throw noSuchWords(`${at}.quote`)
  }
}

function stepOf({ view }: LoadedRun, n: number, where: string): StepView {
  const step = view.steps[n - 1]
  if (step) return step
  const nearest = Math.min(Math.max(n, 1), view.steps.length)
  throw badPointer(where, `there is no step #${n}, this run has ${view.steps.length}`, `The nearest is #${nearest}`)
}

async function bytesOf(
  store: TraceReader,
  run: LoadedRun,
  step: StepView,
  role: string,
  where: string,
): Promise<Uint8Array> {
  const roles = [...bodiesOf(step.events).map((body) => body.role), ...step.partials.map((partial) => partial.role)]
  if (!roles.includes(role)) {
    const nearest = nearestWord(role, roles)
    const words = roles.map((one) => recordedWord(one, 40)).join(", ")
    const next =
      roles.length === 0
        ? "It has none: point at the step"
        : `${nearest === undefined ? "" : `Did you mean ${recordedWord(nearest, 40)}? `}It has: ${words}`
    throw badPointer(`${where}.body`, `step #${step.n} has no body ${safeJson(role)}`, next)
  }
  return (await findBody(store, run.view, step.n, role)).bytes
}

async function checkQuoteInStep(
  store: TraceReader,
  run: LoadedRun,
  step: StepView,
  quote: string,
  where: string,
): Promise<void> {
  if (JSON.stringify(step.events.map(payloadOf)).includes(JSON.stringify(quote).slice(1, -1))) return
  for (const { role, absent } of bodiesOf(step.events)) {
    if (absent !== undefined) continue
    if (textOf((await findBody(store, run.view, step.n, role)).bytes).includes(quote)) return
  }
  throw noSuchWords(where)
}

const noSuchWords = (where: string): InputError =>
  badPointer(
    where,
    "these words do not stand there",
    "Quote what is recorded, letter by letter, or leave the quote out",
  )

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("utf8")
