import { randomUUID } from "node:crypto"
import { CANARY_APP, type Event, runDigest } from "@orangebox/contract"
import { Recorder } from "@orangebox/recorder"

/** A run that says of itself that it is a test, and what must be found of it later. */
export interface Canary {
  readonly runId: string
  /** A word that nothing else holds. */
  readonly word: string
  readonly toolResult: string
  readonly events: number
  readonly digest: string
  readonly dropped: number
}

/** Flies a canary: an ordinary run through the ordinary recorder into the journal of a data folder. */
export async function flyCanary(folder: string): Promise<Canary | { readonly refused: string }> {
  const seen: Event[] = []
  const warnings: string[] = []
  const recorder = Recorder.open({
    app: CANARY_APP,
    folder,
    onWarning: (warning) => void warnings.push(warning.message),
    onAny: (event) => void seen.push(event),
  })
  if (!recorder.isRecording) return { refused: warnings[0] ?? "recording is switched off" }
  const word = `canary-${randomUUID()}`
  const toolResult = `${word} sat on the mat\n`
  const run = recorder.startRun({ entrypoint: "canary", input: "orangebox doctor", attributes: { canary: true } })
  await run.tool({ name: "chirp", args: { word } }, () => toolResult)
  run.log.info("the canary is on its way", { word })
  run.complete({ output: "arrived" })
  const { dropped } = recorder.counts()
  recorder.close()
  const own = seen.filter((event) => event.run_id === run.runId)
  return { runId: run.runId, word, toolResult, events: own.length, digest: runDigest(own), dropped }
}
