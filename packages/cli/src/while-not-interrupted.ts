import { InterruptedError } from "./failure.js"

const ENDINGS = ["SIGINT", "SIGTERM"] as const

/** For work that Ctrl-C ends in good order. */
export async function whileNotInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = (): void => controller.abort(new InterruptedError())
  for (const signal of ENDINGS) process.once(signal, stop)
  try {
    return await work(controller.signal)
  } finally {
    for (const signal of ENDINGS) process.removeListener(signal, stop)
  }
}
