import type { TraceReader } from "@orangebox/store"
import type { ReaderOptions } from "./data-folder.js"
import { type Reading, readStore } from "./open-reading.js"
import { fileInAddress, openRunFile, type RunFile } from "./run-file.js"
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
  readonly freshness: Reading["freshness"] & { readonly damaged_file?: DamageJson }
}

interface DamageJson {
  readonly events_read: number
  readonly events_written: number
  readonly damage: readonly string[]
}

/**
 * Opens what addresses stand in, files or the store, one reading for each. The store is opened only when one of them is not a file, so files
 * can be read where nothing was ever recorded. A damaged file is read as far as it goes; the caller tells of its damage.
 */
export async function readRunsAt<T>(
  options: ReaderOptions,
  addresses: readonly string[],
  read: (...readings: readonly RunReading[]) => Promise<T>,
): Promise<T> {
  const files = addresses.map(fileReadingOf)
  const readAll = (stored?: Reading): Promise<T> =>
    read(...addresses.map((typed, at) => files[at] ?? storedReadingOf(stored!, typed)))
  return files.includes(undefined) ? readStore(options, readAll) : readAll()
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
    freshness: { behind_bytes: 0, ...(file.problems.length > 0 ? { damaged_file: damageJson(file) } : {}) },
  }
}

const damageJson = (file: RunFile): DamageJson => ({
  events_read: file.eventsRead,
  events_written: file.header.events,
  damage: file.problems.map(({ subject, reason }) => `${subject}: ${reason}`),
})

function storedReadingOf({ store, freshness }: Reading, typed: string): RunReading {
  return { reader: store, address: typed, store, file: undefined, freshness }
}
