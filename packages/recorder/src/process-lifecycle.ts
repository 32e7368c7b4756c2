/**
 * Process start and end, for every open recorder of this process. None of this is needed to keep a record: each was written when its
 * call returned. It only lets a process say goodbye, so that silence means something.
 */
export interface Goodbye {
  readonly exitCode: number | null
  readonly reason: "exit" | "uncaught_exception" | "closed"
  readonly error: unknown
}

type Leave = (goodbye: Goodbye) => void

const open = new Set<Leave>()
let isListening = false
let uncaught: unknown

/** Calls `leave` once when the process ends in a way it can still speak at. Returns a function that forgets it. */
export function onProcessEnd(leave: Leave): () => void {
  listen()
  open.add(leave)
  return () => void open.delete(leave)
}

// One listener for all recorders: a program with many recorders must not see a MaxListeners warning.
function listen(): void {
  if (isListening) return
  isListening = true
  process.on("uncaughtExceptionMonitor", (error) => {
    uncaught = error
  })
  process.on("exit", (exitCode) => {
    const reason = uncaught === undefined ? "exit" : "uncaught_exception"
    for (const leave of open) leave({ exitCode, reason, error: uncaught })
    open.clear()
  })
}
