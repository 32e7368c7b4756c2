import { type Answer, inWords, type PlacedReading, type Reading, readPlaced, readStore } from "@orangebox/reader"
import { findConfig } from "@orangebox/recorder"

/** What the tools are asked about, and as whom they speak about it. */
export interface Asked {
  /** The data folder, where it is not the one that is found from here. */
  readonly data: string | undefined
  readonly version: string
}

/** Asks about the runs of some addresses. What stood in the way of a whole answer is among its remarks. */
export function askAt(
  { data }: Asked,
  addresses: readonly string[],
  ask: (...readings: readonly PlacedReading[]) => Promise<Answer>,
): Promise<Answer> {
  return withRemarks(async (onWarning) => {
    const { value, damage } = await readPlaced({ data, onWarning }, addresses, ask)
    return { ...value, remarks: [...(value.remarks ?? []), ...damage] }
  })
}

/** The same about all that is stored. */
export const askStore = ({ data }: Asked, ask: (reading: Reading) => Promise<Answer>): Promise<Answer> =>
  withRemarks((onWarning) => readStore({ data, onWarning }, ask))

async function withRemarks(ask: (onWarning: (message: string) => void) => Promise<Answer>): Promise<Answer> {
  // A configuration that cannot be used is told whatever is asked, as the command line does.
  findConfig(process.cwd())
  const warnings: string[] = []
  const answer = await ask((message) => warnings.push(inWords(message)))
  return { ...answer, remarks: [...warnings, ...(answer.remarks ?? [])] }
}
