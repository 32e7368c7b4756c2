import type { CatchUpReport } from "@orangebox/collector"
import {
  catchUpStore,
  inWords,
  type PlacedReading,
  type ReaderOptions,
  type Reading,
  readPlaced,
  readStore,
} from "@orangebox/reader"
import { EXIT } from "./exit-code.js"
import type { GlobalOptions, Session } from "./session.js"

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

export const catchUpHere = (session: Session, dataFolder: string): Promise<CatchUpReport> =>
  withReader(session, {}, (reader) => catchUpStore(dataFolder, reader))

/** Opens what an address stands in, a file or the store. */
export function withRunAt(
  session: Session,
  options: GlobalOptions,
  address: string,
  read: (reading: PlacedReading) => Promise<number | undefined>,
): Promise<number | undefined> {
  return withRunsAt(session, options, [address], (reading) => read(reading!))
}

/** The same for several. The damage of a file is reported after all else, and the exit code is not that of success. */
export function withRunsAt(
  session: Session,
  options: GlobalOptions,
  addresses: readonly string[],
  read: (...readings: readonly PlacedReading[]) => Promise<number | undefined>,
): Promise<number | undefined> {
  return withReader(session, options, async (reader) => {
    const { value: exitCode, damage } = await readPlaced(reader, addresses, (...readings) => {
      session.terminal.progress.clear()
      return read(...readings)
    })
    if (damage.length === 0 || (exitCode ?? EXIT.fine) !== EXIT.fine) return exitCode
    for (const line of damage) session.terminal.say(`orangebox: ${line}`)
    return EXIT.findings
  })
}
