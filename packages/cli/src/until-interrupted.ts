import { InterruptedError } from "./failure.js"

/** Lets work clean up after itself when somebody presses Ctrl-C. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = (): void => controller.abort(new InterruptedError())
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, stop)
  try {
    return await work(controller.signal)
  } finally {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeListener(signal, stop)
  }
}
