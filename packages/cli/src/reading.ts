import type { CatchUpReport } from "@orangebox/collector"
import type { DataFolder } from "@orangebox/journal"
import {
  catchUpStore,
  damageWords,
  type ReaderOptions,
  type Reading,
  type RunReading,
  readRunsAt,
  readStore,
  writeStore,
} from "@orangebox/reader"
import type { TraceStore } from "@orangebox/store"
import { EXIT } from "./exit-code.js"
import { pasteable, shellWord } from "./next-command.js"
import type { GlobalOptions, Session } from "./session.js"
import { inWords } from "./system-trouble.js"

/** Does something with a reader that speaks here: its progress is a bar, its warnings are talk. */
export async function withReader<T>(
  { terminal }: Session,
  { data }: GlobalOptions,
  read: (options: Required<ReaderOptions>) => Promise<T>,
): Promise<T> {
  const { update, clear } = terminal.progress
  update(0, undefined, "reading journals")
  const onWarning = (message: string): void => terminal.say(`orangebox: ${inWords(message)}`)
  try {
    return await read({ data, onProgress: update, onWarning })
  } finally {
    clear()
  }
}

/** The store of a data folder, caught up. */
export function withReading<T>(
  session: Session,
  options: GlobalOptions,
  read: (reading: Reading) => Promise<T>,
): Promise<T> {
  return withReader(session, options, (reader) =>
    readStore(reader, (reading) => {
      session.terminal.progress.clear()
      return read(reading)
    }),
  )
}

/** The store for one writer alone. */
export const withWriting = <T>(
  session: Session,
  options: GlobalOptions,
  write: (store: TraceStore, folder: DataFolder) => Promise<T>,
): Promise<T> => withReader(session, options, (reader) => writeStore(reader, write))

export const catchUpHere = (session: Session, dataFolder: string): Promise<CatchUpReport> =>
  withReader(session, {}, (reader) => catchUpStore(dataFolder, reader))

/** Where a run is read, with the words for it in the commands we suggest. */
export interface PlacedReading extends RunReading {
  /** How the run is written in the commands we suggest, and the same with the data folder where that has to be named. */
  word(runId: string): string
  place(runId: string): string
}

/** Opens what an address stands in, a file or the store. */
export function withRunAt(
  session: Session,
  options: GlobalOptions,
  address: string,
  read: (reading: PlacedReading) => Promise<number | undefined>,
): Promise<number | undefined> {
  return withRunsAt(session, options, [address], (reading) => read(reading!))
}

/** The same for several. The damage of a file is told when all else is, and the exit code is not that of success. */
export function withRunsAt(
  session: Session,
  options: GlobalOptions,
  addresses: readonly string[],
  read: (...readings: readonly PlacedReading[]) => Promise<number | undefined>,
): Promise<number | undefined> {
  return withReader(session, options, (reader) =>
    readRunsAt(reader, addresses, async (...readings) => {
      session.terminal.progress.clear()
      const exitCode = await read(...readings.map((reading, at) => placed(reading, addresses[at] ?? "", options)))
      const damage = readings.flatMap(({ file }) => (file ? damageWords(file) : []))
      if (damage.length === 0 || (exitCode ?? EXIT.fine) !== EXIT.fine) return exitCode
      for (const line of damage) session.terminal.say(`orangebox: ${line}`)
      return EXIT.findings
    }),
  )
}

function placed(reading: RunReading, typed: string, options: GlobalOptions): PlacedReading {
  const { file } = reading
  const isLast = /^\s*(last\s*(#|$)|#)/.test(typed)
  const word = (runId: string): string => (file ? shellWord(file.path) : isLast ? "last" : runId)
  return { ...reading, word, place: (runId) => (file ? word(runId) : pasteable(options, word(runId))) }
}
