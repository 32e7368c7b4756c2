import { basename } from "node:path"
import type { Event, ProcessEnd } from "@orangebox/contract"
import { type JournalFile, type Gap as JournalGap, type Reserve, readReserve, tailJournal } from "@orangebox/journal"
import { failpoint, type OpenRun, type TraceStore } from "@orangebox/store"
import { crashAnnotation, type Ended, lastWordsAnnotation, stopAnnotation, stopIn } from "./crash-annotation.js"
import type { DrainEnd } from "./drain-file.js"
import { faultOfDeath } from "./fault-of-death.js"
import type { Intake } from "./intake.js"
import { hasEnded, type KnownWriters, type WriterEntry } from "./known-writers.js"
import { gapFromJournal, takeTornTail } from "./take-line.js"
import { reading } from "./unreadable-file.js"

/** So many writers are closed in one commit: after a long time without a collector there may be thousands. */
const WRITERS_A_COMMIT = 200

/** A writer whose end has to be put on record. Everything it wrote is committed already. */
export interface EndingWriter {
  readonly writer: WriterEntry
  /** Its goodbye; absent when it was found dead without one. */
  readonly exit: (DrainEnd & { readonly exit: NonNullable<DrainEnd["exit"]> }) | undefined
  /** Files whose last line is unfinished, now for good. */
  readonly torn: readonly DrainEnd[]
  /** The latest of its files, beside which its reserve lies. */
  readonly lastFile: JournalFile | undefined
}

/**
 * Says about each run that a gone process left open that it is gone, and marks the process itself, in one commit: killed before it, the
 * next collector does the same again; killed after it, there is nothing left to do.
 */
export async function closeWriters(
  ending: readonly EndingWriter[],
  { store, intake, writers }: { readonly store: TraceStore; readonly intake: Intake; readonly writers: KnownWriters },
): Promise<string[]> {
  const crashedRuns: string[] = []
  for (let from = 0; from < ending.length; from += WRITERS_A_COMMIT) {
    const group = ending.slice(from, from + WRITERS_A_COMMIT)
    for (const one of group) crashedRuns.push(...(await closeWriter(one, store, intake)))
    failpoint("close:before-commit")
    await intake.flush()
    failpoint("close:after-commit")
    for (const { writer, exit } of group) {
      if (!hasEnded(writer)) writers.noteEnd(writer, exit === undefined ? "crashed" : "exited")
    }
  }
  return crashedRuns
}

async function closeWriter(ending: EndingWriter, store: TraceStore, { batch }: Intake): Promise<string[]> {
  const { writer, exit, torn, lastFile } = ending
  const { writerId } = writer
  const openRuns = await ownRuns(await store.openRunsOf(writerId), store)
  const news = openRuns.filter((run) => !run.isMarkedCrashed)
  const goodbye = news.length === 0 || exit === undefined ? undefined : await goodbyeOf(writerId, store)
  const ended = { writerId, pid: writer.identity?.pid ?? 0, ...endOf(ending, goodbye), goodbye }
  const reserve = hasEnded(writer) || lastFile === undefined ? undefined : readReserve(lastFile.reservePath)
  const stop = reserve?.lastWords ? stopIn(reserve.lastWords.text) : undefined
  for (const open of news) {
    const run = await withLastSign(open, goodbye, store)
    batch.addEvent(crashAnnotation(run, ended), writerId)
    // Who could still speak has raised the fault itself, and a stop is read below from the last words.
    if (ended.endedBy === "gone" && run.runId !== stop?.runId) await faultOfDeath(run, ended, store, batch)
  }
  for (const streamId of await openStreamsOf(writer, openRuns, store)) {
    batch.addStream({ streamId, runId: null, stepId: null, role: "stream", chunks: [], abandoned: true })
  }
  for (const { file, key, offset, tornBytes } of torn) {
    takeTornTail({ file: basename(file.path), offset, writerId }, tornBytes, batch)
    batch.setOffset({ file: key, offset: offset + tornBytes })
  }
  if (!hasEnded(writer)) {
    if (reserve !== undefined && lastFile !== undefined) {
      takeDrops(reserve, lastFile, writerId, batch)
      await takeLastWords(reserve, { writerId, openRuns, news }, store, batch)
    }
    if (exit === undefined) {
      batch.addWriter({ writerId, state: "crashed", lastSeenAtMs: writer.lastSeenAtMs })
    }
  }
  if (exit !== undefined) {
    const { kind: _, ...said } = exit.exit.line
    batch.addExit({ writerId, atMs: said.atMs, exit: said })
    batch.setOffset({ file: exit.key, offset: exit.exit.nextOffset })
  }
  return news.map((run) => run.runId)
}

/** Without runs that another program recorded: the death of the process that read them in says nothing about them. */
async function ownRuns(runs: readonly OpenRun[], store: TraceStore): Promise<OpenRun[]> {
  const own: OpenRun[] = []
  for (const run of runs) {
    const [first] = (await store.eventsOf(run.runId, { limit: 1 })).events
    if (first?.actor_type !== "backend") own.push(run)
  }
  return own
}

/**
 * The run, last heard of when its process showed the last sign of life: said goodbye, or wrote a piece of an answer that was still coming. A
 * piece knows its time since the first one, and the first came after the step was opened, so this is no later than it was.
 */
async function withLastSign(
  run: OpenRun,
  goodbye: Event<"process_exited"> | undefined,
  store: TraceStore,
): Promise<OpenRun> {
  const streams = (await store.partialStreamsOf(run.runId)).filter(({ lastAtMicros }) => lastAtMicros > 0)
  const steps = streams.length === 0 ? [] : await store.stepsOf(run.runId)
  const pieces = streams.map(({ stepId, lastAtMicros }) => {
    const step = steps.find((one) => one.stepId === stepId)
    return step === undefined ? 0 : step.openedAtMs + lastAtMicros / 1000 - run.lastAtMs
  })
  const sinceGoodbye = goodbye === undefined ? 0 : (goodbye.mono_us - run.lastMonoMicros) / 1000
  const afterMs = Math.max(0, sinceGoodbye, ...pieces)
  return {
    ...run,
    lastAtMs: run.lastAtMs + afterMs,
    lastMonoMicros: run.lastMonoMicros + Math.round(afterMs * 1000),
  }
}

function endOf(
  { writer, exit }: EndingWriter,
  goodbye: Event<"process_exited"> | undefined,
): Pick<Ended, "evidence" | "endedBy" | "exitCode"> {
  if (exit === undefined) {
    const evidence = hasEnded(writer) ? "its process had ended before this was read" : writer.liveness.evidence
    return { evidence, endedBy: "gone", exitCode: null }
  }
  const { reason, exitCode } = exit.exit.line
  const origin = goodbye?.payload.error_origin ?? "uncaught_exception"
  const endedBy = reason === "uncaught_exception" ? origin : reason
  return { evidence: `${LEFT[endedBy](exitCode ?? "unknown")} and left the run open`, endedBy, exitCode }
}

const LEFT: Readonly<Record<Exclude<ProcessEnd, "gone">, (code: number | string) => string>> = {
  closed: () => "its recorder was closed",
  exit: (code) => `the process ended (exit code ${code})`,
  uncaught_exception: (code) => `the process ended by an uncaught exception (exit code ${code})`,
  unhandled_rejection: (code) => `the process ended by an unhandled rejection (exit code ${code})`,
}

/** What a process said about its own end is the last thing it said, and stands before its exit line: it is in the store by now. */
async function goodbyeOf(writerId: string, store: TraceStore): Promise<Event<"process_exited"> | undefined> {
  const { total } = await store.processEventsOf(writerId, { limit: 1 })
  const { events } = await store.processEventsOf(writerId, { from: Math.max(0, total - LAST_FEW) })
  return events.findLast((event): event is Event<"process_exited"> => event.event_type === "process_exited")
}

const LAST_FEW = 16

/** Streams this collector saw begin, and those the store has of the runs left open. */
async function openStreamsOf(
  writer: WriterEntry,
  openRuns: readonly OpenRun[],
  store: TraceStore,
): Promise<Set<string>> {
  const streams = new Set(writer.openStreams)
  for (const run of openRuns) {
    for (const stream of await store.partialStreamsOf(run.runId))
      if (stream.state === "open") streams.add(stream.streamId)
  }
  return streams
}

/** What a writer could only say in its reserve file: drops that no gap line declared … */
function takeDrops({ pendingGap }: Reserve, lastFile: JournalFile, writerId: string, batch: Intake["batch"]): void {
  if (pendingGap === null || isDeclared(pendingGap, lastFile)) return
  batch.addGap(gapFromJournal(pendingGap, { file: basename(lastFile.reservePath), writerId }))
}

/** … and its last words: about the run they name, else about every run it left open, else about the process. */
async function takeLastWords(
  { lastWords }: Reserve,
  about: { readonly writerId: string; readonly openRuns: readonly OpenRun[]; readonly news: readonly OpenRun[] },
  store: TraceStore,
  batch: Intake["batch"],
): Promise<void> {
  if (lastWords === null) return
  const { writerId, openRuns, news } = about
  const stop = stopIn(lastWords.text)
  // The run may have ended on record all the same, once the disk took writes again.
  const stopped = stop && (openRuns.find(({ runId }) => runId === stop.runId) ?? (await store.getRun(stop.runId)))
  if (stop && stopped) {
    batch.addEvent(stopAnnotation(stop, { atMs: lastWords.atMs, writerId }, stopped), writerId)
    return
  }
  for (const run of news.length === 0 ? [undefined] : news) {
    batch.addEvent(lastWordsAnnotation(lastWords, writerId, run), writerId)
  }
}

/** Killed between writing the gap line and clearing the reserve, a writer has said it twice. The line is then in its last file. */
function isDeclared(gap: JournalGap, lastFile: JournalFile): boolean {
  return reading(lastFile.path, () => {
    for (const item of tailJournal(lastFile.path)) {
      if (item.kind === "line" && item.line.kind === "gap" && item.line.gap.gapNo === gap.gapNo) return true
    }
    return false
  })
}
