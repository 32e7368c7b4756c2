import { openSync, readSync } from "node:fs"

let file: number | null | undefined
const text = Buffer.alloc(128)

/**
 * How long this thread was ready to run and was not let, in milliseconds since it began; 0 where the system does not say. A write that
 * took long on a busy machine mostly waited for a processor, and its disk may be as quick as ever. The file of Linux says it to the
 * nanosecond and costs a few microseconds to read.
 */
export function cpuWaitMs(): number {
  try {
    file ??= process.platform === "linux" ? openSync("/proc/thread-self/schedstat", "r") : null
    if (file === null) return 0
    const length = readSync(file, text, 0, text.length, 0)
    return Number(text.toString("latin1", 0, length).split(" ")[1]) / 1e6 || 0
  } catch {
    file = null
    return 0
  }
}
