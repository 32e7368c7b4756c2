import { type Event, InputError, payloadOf, SourceDiagnostics, textIn } from "@orangebox/contract"
import { type InvestigatedSource, ruleProblem } from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"
import { nearestWord, recordedWord, safeLine } from "@orangebox/text"
import { loadBodies } from "../run/bodies.js"
import type { LoadedRun } from "../run/load-run.js"

/** So many records of a process outside its runs are looked at, its first: sources say what they know when they start. */
const MOST_RECORDS = 1000

/** What the sources of a run's process know about their own steps: the last word of each, by its name. */
export async function sourcesOf(
  store: TraceReader | undefined,
  { row }: LoadedRun,
): Promise<ReadonlyMap<string, Event>> {
  if (store === undefined || row.writerId === null) return new Map()
  const { events } = await store.processEventsOf(row.writerId, { limit: MOST_RECORDS })
  const told = events.filter(({ event_type }) => event_type === "source_diagnostics")
  return new Map(told.map((event) => [event.source, event]))
}

/** A source that has said nothing in the process of any of these runs is a slip of whoever asks. */
export async function checkSource(
  store: TraceReader | undefined,
  runs: readonly LoadedRun[],
  name: string,
): Promise<void> {
  const sources = await Promise.all(runs.map((run) => sourcesOf(store, run)))
  const known = new Set(sources.flatMap((one) => [...one.keys()]))
  if (!known.has(name)) throw unknownSource(name, [...known])
}

/** What one source knows; undefined where it has said nothing. */
export async function investigate(
  store: TraceReader | undefined,
  run: LoadedRun,
  name: string,
): Promise<InvestigatedSource | undefined> {
  const event = (await sourcesOf(store, run)).get(name)
  if (store === undefined || event === undefined) return undefined
  const ref = textIn(payloadOf(event), "diagnostics_ref") ?? ""
  const bytes = (await loadBodies(store, [ref])).bytes.get(ref)
  const nothing = { name, notes: [], detectors: [] }
  if (bytes === undefined) return { ...nothing, problems: ["what it said was not kept"] }
  const value = parsed(Buffer.from(bytes).toString("utf8"))
  const reading = SourceDiagnostics.safeParse(value)
  if (reading.success) return { name, ...reading.data, problems: problemsOf(reading.data) }
  // A rule that is wrong takes only itself with it.
  const { notes, detectors } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>
  const whole = SourceDiagnostics.safeParse({ notes: listOf(notes).filter(isNote).slice(0, 20), detectors: [] })
  const rules = listOf(detectors)
    .slice(0, 50)
    .map((rule) => SourceDiagnostics.safeParse({ notes: [], detectors: [rule] }))
  const good = rules.flatMap((rule) => (rule.success ? rule.data.detectors : []))
  const data = { notes: whole.success ? whole.data.notes : [], detectors: good }
  const [issue] = reading.error.issues
  const why = safeLine(`${issue?.path.join(".") ?? ""} ${issue?.message ?? "it does not fit its schema"}`.trim())
  return { name, ...data, problems: [why, ...problemsOf(data)] }
}

const isNote = (note: unknown): boolean => typeof note === "string" && note.length > 0 && note.length <= 1000

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function problemsOf({ detectors }: SourceDiagnostics): string[] {
  return detectors.flatMap((rule) => {
    const why = ruleProblem(rule)
    return why === undefined ? [] : [`${recordedWord(rule.id, 40)}: ${why}`]
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unknownSource(name: string, known: readonly string[]): InputError {
  const nearest = nearestWord(name, known)
  const words = (nearest === undefined ? known.slice(0, 8) : [nearest]).map((one) => recordedWord(one, 60))
  return new InputError("NO_SOURCE", {
    what: `no source ${recordedWord(name, 60)} has said what it knows about its steps in the process that recorded it`,
    next:
      known.length === 0
        ? "No source has: see docs/diagnosis.md, A source's own rules"
        : `${nearest === undefined ? "There are" : "Did you mean"}: ${words.join(", ")}`,
  })
}
