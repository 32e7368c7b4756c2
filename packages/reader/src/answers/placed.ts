import { shellWord } from "@orangebox/text"
import type { ReaderOptions } from "../open/data-folder.js"
import type { StoreReading } from "../open/open-reading.js"
import { type RunReading, readRunsAt } from "../open/run-at.js"
import { damageWords } from "../open/run-file.js"

/** Where a run is read, with the words for it in the commands we suggest. */
export interface PlacedReading extends RunReading {
  /** The data folder that was named. */
  readonly data: string | undefined
  /** How the run is written in the commands we suggest, and the same with the data folder where that has to be named. */
  word(runId: string): string
  place(runId: string): string
  /** The same of another run than the one that was asked for, such as one that it started. */
  placeOfOther(runId: string): string
}

/** Opens what addresses stand in, files or the store. What is damaged in a file is handed over beside what was read. */
export function readPlaced<T>(
  options: ReaderOptions,
  addresses: readonly string[],
  read: (...readings: readonly PlacedReading[]) => Promise<T>,
): Promise<{ readonly value: T; readonly damage: readonly string[] }> {
  return readRunsAt(options, addresses, async (...readings) => {
    const value = await read(...readings.map((reading, at) => placed(reading, addresses[at] ?? "", options.data)))
    return { value, damage: readings.flatMap(({ file }) => (file ? damageWords(file) : [])) }
  })
}

/** The same for a store that is open already. */
export function placedInStore(
  { store, freshness }: StoreReading,
  address: string,
  data: string | undefined,
): PlacedReading {
  return placed({ reader: store, address, store, file: undefined, freshness }, address, data)
}

function placed(reading: RunReading, typed: string, data: string | undefined): PlacedReading {
  const { file, reader } = reading
  const isLast = /^\s*(last\s*(#|$)|#)/.test(typed)
  const word = (runId: string): string => reader.addressOf?.(runId) ?? (isLast ? "last" : runId)
  const place = (name: string): string => (file ? name : inFolder(data, name))
  return {
    ...{ ...reading, data, word },
    place: (runId) => place(word(runId)),
    placeOfOther: (runId) => place(reader.addressOf?.(runId) ?? runId),
  }
}

/**
 * How an address is written in the commands we suggest. A reader who named a data folder needs it again, and an option may stand before
 * the address, so `orangebox step <address>#4` stays a command that can be pasted.
 */
export function inFolder(data: string | undefined, address = ""): string {
  return [...(data === undefined ? [] : [`--data ${shellWord(data)}`]), address].filter((word) => word !== "").join(" ")
}
