import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bodyHash, type OrangeboxError } from "@orangebox/contract"
import {
  type EventLine,
  type Gap,
  type Journal,
  type JournalOptions,
  type JournalProblem,
  listJournals,
  openJournal,
  readJournalBody,
  type TailEnd,
  type TailOptions,
  tailJournal,
} from "@orangebox/journal"
import { onTestFinished } from "vitest"
import { setStage } from "./stage.mjs"

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-journal-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The path of a script of `test/children`, ready to run against the build. */
export function childScript(name: string): string {
  return setStage(temporaryFolder())(name)
}

export interface OpenedJournal {
  readonly journal: Journal
  readonly folder: string
  readonly warnings: OrangeboxError[]
}

export function openTestJournal(options: Partial<JournalOptions> = {}): OpenedJournal {
  const folder = options.folder ?? join(temporaryFolder(), "journal")
  const warnings: OrangeboxError[] = []
  const journal = openJournal({
    appId: "test",
    recorderVersion: "0",
    // A busy machine must not decide what a test sees; the tests about slow disks say so.
    slowWriteMs: Number.POSITIVE_INFINITY,
    onWarning: (warning) => warnings.push(warning),
    ...options,
    folder,
  })
  onTestFinished(() => journal.close({ exitCode: null, reason: "closed" }))
  return { journal, folder, warnings }
}

export function event(sequenceNo: number, bodies: readonly Uint8Array[] = [], filler = ""): EventLine {
  return {
    json: JSON.stringify({ i: sequenceNo, filler }),
    runId: "run_a",
    sequenceNo,
    bodies: bodies.map((bytes) => ({ hash: bodyHash(bytes), bytes })),
  }
}

export interface FileReading {
  readonly events: unknown[]
  readonly bodies: Buffer[]
  readonly kinds: string[]
  readonly gaps: Gap[]
  readonly problems: JournalProblem[]
  readonly end: TailEnd
}

export function readFile(path: string, options?: TailOptions): FileReading {
  const reading: Omit<FileReading, "end"> = { events: [], bodies: [], kinds: [], gaps: [], problems: [] }
  const tail = tailJournal(path, options)
  for (;;) {
    const next = tail.next()
    if (next.done) return { ...reading, end: next.value }
    if (next.value.kind === "problem") {
      reading.problems.push(next.value.problem)
      continue
    }
    const { line } = next.value
    reading.kinds.push(line.kind)
    if (line.kind === "gap") reading.gaps.push(line.gap)
    if (line.kind !== "event") continue
    reading.events.push(line.event)
    for (const body of line.bodies) reading.bodies.push(Buffer.from(readJournalBody(path, body)))
  }
}

/** All files of the folder, in order, as if they were one. */
export function readFolder(folder: string): Omit<FileReading, "end"> {
  const readings = listJournals(folder).map((file) => readFile(file.path))
  return {
    events: readings.flatMap((reading) => reading.events),
    bodies: readings.flatMap((reading) => reading.bodies),
    kinds: readings.flatMap((reading) => reading.kinds),
    gaps: readings.flatMap((reading) => reading.gaps),
    problems: readings.flatMap((reading) => reading.problems),
  }
}

/** The numbers of the test events among them. */
export function numbersOf(events: readonly unknown[]): number[] {
  return events.map((one) =>
    typeof one === "object" && one !== null && "i" in one && typeof one.i === "number" ? one.i : Number.NaN,
  )
}

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
