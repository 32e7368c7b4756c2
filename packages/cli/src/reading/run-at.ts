import type { TraceReader } from "@orangebox/store"
import { EXIT } from "../exit-code.js"
import { pasteable, shellWord } from "../next-command.js"
import type { GlobalOptions, Session } from "../session.js"
import { type Reading, withReading } from "./open-reading.js"
import { damageWords, fileInAddress, openRunFile, type RunFile } from "./run-file.js"
import type { RunReader } from "./run-reader.js"

/** Where the run of an address is read, whether it is in the store or in a file. */
export interface RunReading {
  readonly reader: RunReader
  /** What to look up in it. */
  readonly address: string
  /** The store, where the run is not in a file. */
  readonly store: TraceReader | undefined
  readonly file: RunFile | undefined
  /** Part of every reading command's JSON. */
  readonly freshness: Reading["freshness"]
  /** How the run is written in the commands we suggest, and the same with the data folder where that has to be named. */
  word(runId: string): string
  place(runId: string): string
}

/** Opens what an address stands in, a file or the store. */
export function withRunAt(
  session: Session,
  options: GlobalOptions,
  address: string,
  read: (reading: RunReading) => Promise<number | undefined>,
): Promise<number | undefined> {
  return withRunsAt(session, options, [address], (reading) => read(reading!))
}

/**
 * The same for several, one reading for each address. The store is opened only when one of them is not a file, so files can be read where
 * nothing was ever recorded. A damaged file is read as far as it goes; then its damage is told, and the exit code is not that of success.
 */
export async function withRunsAt(
  session: Session,
  options: GlobalOptions,
  addresses: readonly string[],
  read: (...readings: readonly RunReading[]) => Promise<number | undefined>,
): Promise<number | undefined> {
  const files = addresses.map(fileReadingOf)
  const readAll = async (stored?: Reading): Promise<number | undefined> => {
    const readings: RunReading[] = []
    for (const [at, typed] of addresses.entries()) {
      readings.push(files[at] ?? storedReadingOf(stored!, typed, options))
    }
    return read(...readings)
  }
  const exitCode = files.includes(undefined) ? await withReading(session, options, readAll) : await readAll()
  const damage = files.flatMap((reading) => (reading?.file ? damageWords(reading.file) : []))
  if (damage.length === 0 || (exitCode ?? EXIT.fine) !== EXIT.fine) return exitCode
  for (const line of damage) session.terminal.say(line)
  return EXIT.findings
}

function fileReadingOf(typed: string): RunReading | undefined {
  const found = fileInAddress(typed)
  if (!found) return undefined
  const file = openRunFile(found.path)
  return {
    reader: file.reader,
    address: `${file.header.run_id}${found.n === undefined ? "" : `#${found.n}`}`,
    store: undefined,
    file,
    freshness: { behind_bytes: 0 },
    word: () => shellWord(found.path),
    place: () => shellWord(found.path),
  }
}

function storedReadingOf({ store, freshness }: Reading, typed: string, options: GlobalOptions): RunReading {
  const isLast = /^\s*(last\s*(#|$)|#)/.test(typed)
  const word = (runId: string): string => (isLast ? "last" : runId)
  return {
    reader: store,
    address: typed,
    store,
    file: undefined,
    freshness,
    word,
    place: (runId) => pasteable(options, word(runId)),
  }
}
