import { InputError } from "@orangebox/contract"
import { replayByEngine, writePortable } from "@orangebox/replay"
import { findRun } from "../address/find-target.js"
import { dataPath, type ReaderOptions } from "../open/data-folder.js"
import { maskKeyIn } from "../open/mask-key.js"
import { readRunsAt } from "../open/run-at.js"
import { damaged } from "../open/run-file.js"
import { loadSource, type ReplaySource } from "../replay/replay-source.js"
import { gatherRun } from "./gather-run.js"

export interface KeptRun {
  readonly runId: string
  /** How many of its calls a tape of it answers. */
  readonly calls: number
  /** The file, in pieces. */
  readonly pieces: Iterable<Uint8Array>
}

/**
 * A run as the fixture of a test: one file, and one that can serve. A recording that could not be replayed is refused here, where it can be
 * recorded anew, and not later in a test.
 *
 * @param withKey also the key that its secrets were tagged with: needed where the agent under test asks with the same secrets
 */
export async function keepRun(options: ReaderOptions, address: string, withKey = false): Promise<KeptRun> {
  const source = await loadSource(options, address)
  const calls = answerableCalls(source)
  return readRunsAt(options, [address], async (reading) => {
    const { file } = reading!
    if (file && file.problems.length > 0) throw damaged(file.path, file.problems)
    const run = await findRun(reading!.reader, reading!.address)
    const found = file ? file.maskKey : maskKeyIn(dataPath(options.data), run.annotations)
    const maskKey = found && (withKey ? found : { id: found.id })
    const gathered = await gatherRun(reading!, run, options.onProgress ?? (() => {}), maskKey)
    return { runId: run.row.runId, calls, pieces: writePortable(gathered.events, gathered.bodies, gathered) }
  })
}

function answerableCalls({ tape, recording, run }: ReplaySource): number {
  const { certification, steps } = replayByEngine(tape, recording)
  if (certification.issued) return steps.length
  const [first] = certification.blocking
  throw new InputError("NOT_REPLAYABLE", {
    what: `a test could not be answered from this run: ${first?.reason ?? "it recorded no call"}`,
    where: run.row.runId,
    next: "Record one that is whole, with its bodies",
  })
}
