import { appendFileSync, readdirSync, readFileSync } from "node:fs"
import type { Event } from "@orangebox/contract"
import { listJournals, readJournalBody, tailJournal } from "@orangebox/journal"
import { afterEach } from "vitest"
import { z } from "zod"
import { type BodyLookup, type DecisionEvent, decisionsOf } from "../src/index.js"

/**
 * Whatever a test of any package records is read into DecisionEvents as well, and they must fit the schema as it is published. The helpers
 * through which tests record call this when a test lets go of its recording, so no test has to think of it. Everything looked at is counted,
 * here and in the ledger of `every-run-ledger.ts`: a check of nothing would be green too.
 */
export const lookedAt = { runs: 0, decisions: 0 }

const PUBLISHED = z.fromJSONSchema(
  JSON.parse(readFileSync(new URL("../schemas/decision-event.schema.json", import.meta.url), "utf8")),
)

/** Throws where a decision of these runs breaks the published schema, or has no evaluation. Returns how many runs there were. */
export function decisionsMustHold(events: readonly Event[], bodies: BodyLookup, schema: z.ZodType = PUBLISHED): number {
  const runs = new Map<string, Event[]>()
  for (const event of events) {
    if (event.run_id === null) continue
    const own = runs.get(event.run_id)
    if (own) own.push(event)
    else runs.set(event.run_id, [event])
  }
  let decisions = 0
  for (const [runId, own] of runs) {
    for (const decision of decisionsOf({ events: own, bodies })) {
      // As another program would get it.
      const { error } = schema.safeParse(JSON.parse(JSON.stringify(decision)))
      if (error) throw new Error(`a decision of ${runId} breaks the published schema: ${whereIn(error, decision)}`)
      decisions++
    }
  }
  lookedAt.runs += runs.size
  lookedAt.decisions += decisions
  const ledger = process.env["ORANGEBOX_DECISIONS_LEDGER"]
  if (ledger && runs.size > 0) appendFileSync(ledger, `${runs.size} ${decisions}\n`)
  return runs.size
}

const whereIn = ({ issues: [issue] }: z.ZodError, { event_id, agent_action }: DecisionEvent): string =>
  `${issue?.path.join(".")}: ${issue?.message} (${agent_action.action_type}, ${event_id})`

/** The same for every data folder below a folder, straight from its journals: they hold what was recorded, whatever became of the store. */
export function decisionsMustHoldBelow(folder: string): number {
  return journalFoldersIn(folder).reduce((runs, journals) => runs + decisionsMustHold(...recordedIn(journals)), 0)
}

function journalFoldersIn(folder: string): string[] {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
  const folders = found.filter((entry) => entry.isFile() && /\.ndjson$/.test(entry.name)).map((file) => file.parentPath)
  return [...new Set(folders)]
}

function recordedIn(journals: string): [readonly Event[], BodyLookup] {
  const events = new Map<string, Event>()
  const bodies = new Map<string, () => Uint8Array | undefined>()
  for (const { path } of listJournals(journals)) {
    for (const item of tailJournal(path)) {
      if (item.kind === "problem" || item.line.kind !== "event") continue
      const event = item.line.event as Event
      events.set(event.event_id, event)
      for (const entry of item.line.bodies) {
        if (entry.hash) bodies.set(entry.hash, () => readJournalBody(path, entry))
      }
    }
  }
  const read = new Map<string, Uint8Array | undefined>()
  const bodyOf: BodyLookup = (ref) => {
    if (!read.has(ref)) read.set(ref, readOrNothing(bodies.get(ref)))
    return read.get(ref)
  }
  return [[...events.values()], bodyOf]
}

/** Told by shape, so that a sink of the sources and one of the build are the same here. */
interface InMemory {
  readonly events: readonly Event[]
  readonly bodies: { get(ref: string): Uint8Array | undefined }
}

const sinks = new Set<InMemory>()

/** Looks at what is recorded into memory when the test that did so has ended. */
export function willBeLookedAt<T extends InMemory>(sink: T): T {
  sinks.add(sink)
  return sink
}

/** For a helper to call where it is imported: test files run one by one, each with its own copy of this. */
export function lookAfterEachTest(): void {
  afterEach(() => {
    const own = [...sinks]
    sinks.clear()
    for (const { events, bodies } of own) decisionsMustHold(events, (ref) => bodies.get(ref))
  })
}

/** Tests damage journals on purpose; a body that is gone is a body that was not kept. */
function readOrNothing(read: (() => Uint8Array | undefined) | undefined): Uint8Array | undefined {
  try {
    return read?.()
  } catch {
    return undefined
  }
}
