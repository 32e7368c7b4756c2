import { types } from "node:util"

/**
 * Process start and end, for every open recorder of this process. None of this is needed to keep a record: each was written when its
 * call returned. It only lets a process say goodbye, so that silence means something.
 */
export interface Goodbye {
  readonly exitCode: number | null
  readonly reason: "exit" | "uncaught_exception" | "closed"
  readonly thrown: Thrown | undefined
}

/** An error that no code of the application caught where it happened. */
export interface Thrown {
  readonly error: unknown
  readonly origin: "uncaught_exception" | "unhandled_rejection"
}

type Leave = (goodbye: Goodbye) => void

const open = new Set<Leave>()
let isListening = false
let last: (Thrown & { readonly wasHandled: boolean }) | undefined

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
  process.on("uncaughtExceptionMonitor", (error: unknown, origin) => {
    last = {
      error: rejectedWith(error),
      origin: origin === "unhandledRejection" ? "unhandled_rejection" : "uncaught_exception",
      // Then the application decides what becomes of it: many log it and leave, some go on for days.
      wasHandled: process.listenerCount("uncaughtException") > 0 || process.hasUncaughtExceptionCaptureCallback(),
    }
  })
  process.on("exit", (exitCode) => {
    const goodbye = goodbyeOf(exitCode)
    for (const leave of open) leave(goodbye)
    open.clear()
  })
}

/** What a promise was rejected with, where that is no error: Node puts it behind a sentence that is the same for all of them. */
function rejectedWith(error: unknown): unknown {
  // Anything may be thrown, also what throws when it is looked at. Node's own error does not.
  if (!types.isNativeError(error)) return error
  try {
    if ((error as { code?: unknown }).code !== "ERR_UNHANDLED_REJECTION") return error
    return /The promise rejected with the reason "([\s\S]*)"\.$/.exec(error.message)?.[1] ?? error
  } catch {
    return error
  }
}

function goodbyeOf(exitCode: number): Goodbye {
  if (last === undefined || (last.wasHandled && exitCode === 0)) return { exitCode, reason: "exit", thrown: undefined }
  return { exitCode, reason: last.wasHandled ? "exit" : "uncaught_exception", thrown: last }
}
