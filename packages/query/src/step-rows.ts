import type { Event } from "@orangebox/contract"
import { crashWords, isOpen } from "@orangebox/runs"
import { formatBytes, formatDuration, recordedWord } from "@orangebox/text"
import { inboundWords } from "./format-note.js"
import { stepWords, withheldWords } from "./format-skeleton.js"
import type { RunView, StepView } from "./run-view.js"
import { bodiesOf } from "./step-facts.js"

export type RowValue = string | number | boolean | null

/** One fact about a step. Text and JSON views are made of the same rows, so a cursor means the same in both. */
export interface StepRow {
  readonly section: string
  readonly name: string
  readonly value: RowValue
  /** More about the value, in our words. */
  readonly detail?: string
  /** Which of the two is recorded text, to be made safe and quoted; the other is in our words. */
  readonly recorded: "name and value" | "value" | "nothing"
}

/** Everything that is recorded about one step, most telling first. */
export function stepRows(view: RunView, step: StepView): StepRow[] {
  return [
    ...envelopeRows(view, step),
    ...bodyRows(step),
    ...step.links.map((link) => foreign("links", link.kind, linkTarget(view, link))),
    ...step.linkedFrom.map(inboundWords).map(({ how, place }) => said("linked from", how, place)),
    ...Object.entries(step.attributes).map(([name, value]) => foreign("attributes", name, value)),
    ...logRows(view, step),
    ...childRows(view, step),
    ...step.events.flatMap((event) => eventRows(view, event)),
  ]
}

const foreign = (section: string, name: string, value: RowValue): StepRow => ({
  section,
  name,
  value,
  recorded: "name and value",
})
const recorded = (section: string, name: string, value: RowValue): StepRow => ({
  section,
  name,
  value,
  recorded: "value",
})
const said = (section: string, name: string, value: RowValue): StepRow => ({
  section,
  name,
  value,
  recorded: "nothing",
})

function envelopeRows(view: RunView, step: StepView): StepRow[] {
  const { opened, closed } = step
  const first = opened ?? closed ?? step.events[0]
  const rows: StepRow[] = [recorded("step", "step_id", step.id ?? null), recorded("step", "run_id", view.runId ?? null)]
  if (view.traceId !== undefined) rows.push(recorded("step", "trace_id", view.traceId))
  if (step.parent !== undefined) rows.push(said("step", "parent", parentWords(view, step.parent)))
  rows.push(said("step", "opened", opened ? momentOf(view, opened) : "not recorded"))
  rows.push(said("step", "closed", closed ? momentOf(view, closed) : "not recorded"))
  if (view.crash && isOpen(step.status)) rows.push(said("step", "ended", crashWords(view.crash)))
  if (first) rows.push(recorded("step", "source", first.source))
  if (first?.lane_id !== undefined) rows.push(recorded("step", "lane", first.lane_id))
  if (step.mode !== "live") rows.push(recorded("step", "determinism_mode", step.mode))
  if (step.inferredBy !== undefined) rows.push(recorded("step", "inferred_by", step.inferredBy))
  if (step.attemptNo !== undefined) rows.push(said("step", "attempt_no", step.attemptNo))
  if (first?.replay?.source_step_id !== undefined) rows.push(recorded("step", "replays", first.replay.source_step_id))
  for (const partial of step.partials) {
    rows.push(recorded("step", `${formatBytes(partial.byteSize)} received of`, partial.role))
    if (partial.withheldBytes !== undefined) rows.push(said("step", "withheld", withheldWords(partial.withheldBytes)))
  }
  return rows
}

function parentWords(view: RunView, n: number): string {
  const parent = view.steps[n - 1]
  return parent ? `#${n} ${stepWords(parent, true).label}` : `#${n}`
}

function momentOf(view: RunView, event: Event): string {
  const start = view.steps[0]?.opened?.mono_us
  const offset = start === undefined ? "" : ` (+${formatDuration(event.mono_us - start)})`
  return `${/^[0-9TZ:.-]{1,40}$/.test(event.timestamp_utc) ? event.timestamp_utc : "?"}${offset}`
}

function bodyRows(step: StepView): StepRow[] {
  return bodiesOf(step.events).map((body) => {
    const kept = body.fullByteSize === undefined ? "" : ` of ${formatBytes(body.fullByteSize)} kept`
    const detail = [formatBytes(body.byteSize) + kept, recordedWord(body.mimeType, 64)]
    if (body.absent !== undefined) detail.push(`recorded without its bytes: ${recordedWord(body.absent, 32)}`)
    if (body.redactionProfile !== "none") detail.push(`redaction ${recordedWord(body.redactionProfile, 32)}`)
    return { ...foreign("bodies", body.role, body.hash), detail: detail.join(" · ") }
  })
}

function linkTarget(view: RunView, link: StepView["links"][number]): string {
  // A step of this run is named as everywhere else.
  const isHere = link.run_id === undefined || link.run_id === view.runId
  const n = isHere ? view.steps.find(({ id }) => id !== undefined && id === link.step_id)?.n : undefined
  const ids = [link.run_id, link.step_id, link.trace_id].filter((id) => id !== undefined)
  const target = n === undefined ? ids.join(" ") : `#${n}`
  return link.reason === undefined ? target : `${target} (${link.reason})`
}

function logRows(view: RunView, step: StepView): StepRow[] {
  const start = view.steps[0]?.opened?.mono_us
  return step.events.flatMap((event) => {
    if (event.event_type !== "log") return []
    const offset = start === undefined ? "" : `+${formatDuration(event.mono_us - start)} `
    const { level, message } = event.payload ?? {}
    const word = level === "debug" || level === "info" || level === "warn" || level === "error" ? level : "log"
    return [recorded("logs", offset + word, scalar(message))]
  })
}

function childRows(view: RunView, step: StepView): StepRow[] {
  return step.children.map((n) => {
    const words = stepWords(view.steps[n - 1]!, true)
    return said("children", `#${n}`, [words.label, words.time, words.verdict].filter((part) => part !== "").join("  "))
  })
}

function eventRows(view: RunView, event: Event): StepRow[] {
  if (event.event_type === "log" && event.payload?.error_ref === undefined) return []
  const section = `event ${event.sequence_no ?? "(said later)"}`
  const rows = [
    recorded(section, "event_type", event.event_type),
    said(section, "at", momentOf(view, event)),
    recorded(section, "event_id", event.event_id),
  ]
  if (event.redaction_status !== "not_required") rows.push(recorded(section, "redaction", event.redaction_status))
  if (event.attributes_dropped !== undefined) rows.push(said(section, "attributes dropped", event.attributes_dropped))
  for (const problem of event.problems ?? [])
    rows.push(recorded(section, "problem", `${problem.field}: ${problem.reason}`))
  return [...rows, ...payloadRows(section, event.payload)]
}

/** How deep a payload is spelled out; deeper values are shown as JSON. */
const DEEPEST = 4

function payloadRows(section: string, payload: unknown): StepRow[] {
  const rows: StepRow[] = []
  const walk = (name: string, value: unknown, depth: number): void => {
    const isNested = typeof value === "object" && value !== null
    if (!isNested || depth >= DEEPEST) {
      rows.push(foreign(section, name, scalar(value)))
      return
    }
    const entries = Object.entries(value)
    if (entries.length === 0) rows.push(foreign(section, name, Array.isArray(value) ? "[]" : "{}"))
    for (const [key, inner] of entries) walk(name === "" ? key : `${name}.${key}`, inner, depth + 1)
  }
  walk("", payload, 0)
  return rows.filter((row) => row.name !== "")
}

function scalar(value: unknown): RowValue {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value
  return value === undefined ? null : (JSON.stringify(value) ?? null)
}
