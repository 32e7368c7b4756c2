/** A tool took longer than its caller allowed. */
export class ToolTimeoutError extends Error {
  constructor(name: string, timeoutMs: number) {
    super(`${name} took longer than ${timeoutMs} ms`)
    this.name = "ToolTimeoutError"
  }
}

/**
 * Runs a function with a signal that aborts with the run or after a time limit. The limit is the caller's wish, so it holds with recording
 * off just the same.
 */
export async function withTimeLimit<T>(
  name: string,
  timeoutMs: number | undefined,
  outer: AbortSignal,
  work: (signal: AbortSignal) => T | PromiseLike<T>,
): Promise<T> {
  if (typeof timeoutMs !== "number" || !Number.isFinite(timeoutMs)) return work(outer)
  const abort = new AbortController()
  const follow = (): void => abort.abort(outer.reason)
  if (outer.aborted) follow()
  else outer.addEventListener("abort", follow, { once: true })
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new ToolTimeoutError(name, timeoutMs)
      abort.abort(error)
      reject(error)
    }, timeoutMs)
  })
  try {
    return await Promise.race([work(abort.signal), limit])
  } finally {
    clearTimeout(timer)
    outer.removeEventListener("abort", follow)
  }
}
