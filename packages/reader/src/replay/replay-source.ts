import { type Event, InputError } from "@orangebox/contract"
import { findConfig } from "@orangebox/recorder"
import {
  type CoverageProblem,
  coverage,
  type EffectMap,
  type JudgedRecording,
  type Tape,
  tapeOf,
} from "@orangebox/replay"
import type { Absence } from "@orangebox/store"
import { plural } from "@orangebox/text"
import { findTarget, runOf } from "../address/find-target.js"
import { dataPath, type ReaderOptions } from "../open/data-folder.js"
import { type MaskKey, maskKeyIn, ownMaskKey } from "../open/mask-key.js"
import { type RunReading, readRunsAt } from "../open/run-at.js"
import { damageWords } from "../open/run-file.js"
import type { RunReader } from "../open/run-reader.js"
import { bodiesNamedIn, loadBodies } from "../run/bodies.js"
import { type LoadedRun, loadRun } from "../run/load-run.js"
import { eventsOfTree } from "../run/run-tree.js"
import { problemsOfRun } from "../verify/verify-run.js"

/** A recorded run with everything a replay reads of it. It is loaded whole, so that no store is held open while an agent runs. */
export interface ReplaySource {
  readonly run: LoadedRun
  /** The run and the runs it started, as certificates speak of them. */
  readonly recording: JudgedRecording
  readonly tape: Tape
  /** What cannot be replayed, known before anything starts. */
  readonly problems: readonly CoverageProblem[]
  /** Why nothing about this run can be certified any more. */
  readonly voidedBecause: string | undefined
  /** The step the address pointed at. */
  readonly stepId: string | undefined
  /** The file it was exported to; undefined where it came from the store. */
  readonly file: string | undefined
  readonly behindBytes: number
  /** The key its secrets were tagged with; undefined where it is that of the data folder, or it is unknown. */
  readonly maskKey: MaskKey | undefined
}

export function loadSource(options: ReaderOptions, address: string): Promise<ReplaySource> {
  return readRunsAt(options, [address], async (reading) => {
    const source = await sourceAt(reading!, dataPath(options.data))
    if (reading?.file) for (const line of damageWords(reading.file)) options.onWarning?.(line)
    return source
  })
}

async function sourceAt(place: RunReading, folder: string): Promise<ReplaySource> {
  const { reader, address, file, freshness } = place
  const target = await findTarget(reader, address)
  const run = await runOf(reader, target)
  const events = await eventsOfTree(place, run.recorded)
  const { bytes, absent } = await loadBodies(reader, bodiesNamedIn(events).keys())
  const reading = tapeOf(withAbsences(events, absent), bytes, { runId: run.row.runId })
  if (!reading.ok) {
    const [problem] = reading.problems
    throw new InputError("NO_TAPE", {
      what: `this run cannot be replayed: ${problem?.reason ?? "nobody knows why"}`,
      where: run.row.runId,
    })
  }
  const runIds = new Set(events.map(({ run_id }) => run_id ?? ""))
  const redactions = (await Promise.all([...runIds].map((runId) => reader.redactionsOf(runId)))).flat()
  const redactedBodies = [...absent.values()].filter((body) => body.absent === "redacted_later").length
  const voidedBecause = voidedWords(redactions.length, redactedBodies)
  const faults = [
    ...(voidedBecause === undefined ? [] : [voidedBecause]),
    ...((file?.problems.length ?? 0) > 0 ? ["the file of the run is damaged"] : []),
    ...(await storeFaults(reader, runIds)),
  ]
  return {
    run,
    recording: { events, bodies: bytes, faults },
    tape: reading.tape,
    problems: coverage(reading.tape),
    voidedBecause,
    stepId: target.stepId ?? undefined,
    file: file?.path,
    behindBytes: freshness.behind_bytes,
    maskKey: foreignOnly(file ? file.maskKey : maskKeyIn(folder, run.annotations), folder),
  }
}

/** Secrets are told apart by tags under a key. Under another one the same secret looks like another, and every call with it would miss. */
export function refuseForeignSecrets({ tape, maskKey, run }: ReplaySource): void {
  if (maskKey === undefined || maskKey.bytes !== undefined) return
  const calls = tape.calls.filter(({ request }) => (request.body?.maskCount ?? 0) > 0 || request.urlTags !== null)
  if (calls.length === 0) return
  throw new InputError("SECRETS_OF_ANOTHER_STORE", {
    what: `${plural(calls.length, "call")} of the run hold secrets that were masked under the key of the store it was recorded in, so nothing here can tell whether the same ones are asked with`,
    where: run.row.runId,
    next: "Export it there with --secret-key, replay it there, or leave the command away, which checks the recording alone",
  })
}

const foreignOnly = (key: MaskKey | undefined, folder: string): MaskKey | undefined =>
  key === undefined || ownMaskKey(folder)?.id === key.id ? undefined : key

/** What `verify` finds wrong or lost with these runs, beyond what their events say by themselves. */
async function storeFaults(reader: RunReader, runIds: ReadonlySet<string>): Promise<string[]> {
  const faults: string[] = []
  for (const runId of runIds) {
    const run = await loadRun(reader, runId)
    if (run === undefined) continue
    const { findings, declared } = await problemsOfRun(reader, run, { readBodies: false })
    for (const { reason, subject } of [...findings, ...declared]) faults.push(`${runId}: ${reason} (${subject})`)
    if (run.declaredLost > 0)
      faults.push(
        `${runId}: ${plural(run.declaredLost, "event")} of it ${wasOrWere(run.declaredLost)} lost when it was recorded`,
      )
    const partial = (await reader.partialStreamsOf(runId)).length
    if (partial > 0)
      faults.push(
        `${runId}: ${plural(partial, "body", "bodies")} of it ${wasOrWere(partial)} cut off before all was written`,
      )
  }
  return faults
}

/** Events say why a body was never there; the store knows why one is there no more. */
function withAbsences(events: readonly Event[], absences: ReadonlyMap<string, Absence>): readonly Event[] {
  if (absences.size === 0) return events
  return events.map((event) => {
    if (!event.artifact_refs.some(({ artifact_hash }) => absences.has(artifact_hash))) return event
    const artifact_refs = event.artifact_refs.map((ref) => {
      const absent = ref.absent ?? absences.get(ref.artifact_hash)?.absent
      return absent === undefined || absent === "unknown" ? ref : { ...ref, absent }
    })
    return { ...event, artifact_refs }
  })
}

/** What the configuration found from here says that tools do. */
export function effectsHere(): EffectMap {
  const tools = findConfig(process.cwd())?.config.tools ?? {}
  return Object.fromEntries(Object.entries(tools).flatMap(([name, { effect }]) => (effect ? [[name, effect]] : [])))
}

function voidedWords(events: number, bodies: number): string | undefined {
  if (events === 0 && bodies === 0) return undefined
  const what = [
    ...(events > 0 ? [plural(events, "event")] : []),
    ...(bodies > 0 ? [`${bodies} ${bodies === 1 ? "body" : "bodies"}`] : []),
  ].join(" and ")
  return `${what} of the run were redacted after they were recorded, which voids certificates`
}

const wasOrWere = (count: number): string => (count === 1 ? "was" : "were")
