import { parentPort, workerData } from "node:worker_threads"
import { StandingReading } from "@orangebox/reader"
import { type ApiAsked, answerOrRefusal } from "./api.js"

/** What a question takes that is asked in a thread of its own. */
export interface Question extends ApiAsked {
  readonly id: number
  readonly behindBytes: number
}

export interface WorkerSettings {
  readonly data: string
  readonly named: string | undefined
  readonly version: string
}

// Loading a run of ten thousand steps takes a second of a processor; here it keeps nobody else waiting.
const { data, named, version } = workerData as WorkerSettings
const reading = new StandingReading(data)

parentPort!.on("message", async ({ id, behindBytes, ...asked }: Question) => {
  const reply = await answerOrRefusal({ reading, named, version, behindBytes: () => behindBytes }, asked)
  parentPort!.postMessage({ id, reply })
})
