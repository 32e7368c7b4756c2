import { InputError } from "@orangebox/contract"
import type { TraceReader } from "@orangebox/store"
import { recordedAs } from "../address/find-target.js"
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
  const files = await Promise.all(addresses.map(fileReadingOf))
  const noFile = files.find((file) => file instanceof InputError)
  let isOpen = false
  const readAll = async (stored?: Reading): Promise<T> => {
    isOpen = true
    const readings = addresses.map((typed, at) => ({ typed, file: files[at] }))
    for (const { typed, file } of readings) {
      if (file instanceof InputError && !(stored && (await recordedAs(stored.store, typed)))) throw file
    }
    return read(
      ...readings.map(({ typed, file }) =>
        file === undefined || file instanceof InputError ? storedReadingOf(stored!, typed) : file,
      ),
    )
  }
  if (!files.includes(undefined) && !noFile) return readAll()
  try {
    return await readStore(options, readAll)
  } catch (error) {
    throw isOpen ? error : (noFile ?? error)
  }
}

/** The error of a file that is not there may stand aside: what looks like a path may be an id that was recorded. */
async function fileReadingOf(typed: string): Promise<RunReading | InputError | undefined> {
  const found = fileInAddress(typed)
  if (!found || found instanceof InputError) return found
  const file = await openRunFile(found.path)
  return {
    reader: file.reader,
    address: `${found.run ?? file.header.run_id}${found.n === undefined ? "" : `#${found.n}`}`,
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
