import { OtlpDoor, receivedRequests } from "@orangebox/exchange"
import type { DataFolder } from "@orangebox/journal"
import { Recorder } from "@orangebox/recorder"
import type { OtlpReceiver } from "@orangebox/server"
import { lookUpIn, stepsKnownIn } from "../known-runs.js"

const SETTLE_MS = 1000
/** Exporters and we ourselves are back within that time, or what they had is no longer asked for. */
const LOOK_BACK_MS = 60 * 60_000

export interface Receiving {
  readonly receiver: OtlpReceiver
  close(): Promise<void>
}

/** Takes OTLP in for a data folder; goes on with what a process before had received and not made into runs. */
export function receiveOtlp(folder: DataFolder, isOpen: boolean, onWarning: (message: string) => void): Receiving {
  const recorder = Recorder.open({
    app: "orangebox-otlp",
    folder: folder.path,
    enabled: true,
    onWarning: ({ message }) => onWarning(message),
  })
  const { storeFolder } = folder
  const door = new OtlpDoor({ recorder, lookUp: lookUpIn(storeFolder), knownSteps: stepsKnownIn(storeFolder) })
  for (const received of receivedRequests(folder.journalFolder, Date.now() - LOOK_BACK_MS)) door.recover(received)
  const settle = (): void => {
    door.settle().catch((error: unknown) => onWarning(error instanceof Error ? error.message : String(error)))
  }
  const timer = setInterval(settle, SETTLE_MS)
  return {
    receiver: { isOpen, handle: (path, headers, body) => door.handle(path, headers, body) },
    async close() {
      clearInterval(timer)
      try {
        await door.flush()
      } finally {
        recorder.close()
      }
    },
  }
}
