import { ToolTimeoutError } from "@orangebox/recorder"
import type { RecordedAnswer, RecordedError } from "../tape/tape.js"

/** A recorded value as the application had it: text as text, JSON as its value, anything else as bytes; nothing as `undefined`. */
export function servedValue(answer: RecordedAnswer, bytes: Uint8Array | null): unknown {
  if (bytes === null || answer.body === null) return undefined
  const { mimeType } = answer.body
  if (mimeType.startsWith("application/json")) return JSON.parse(Buffer.from(bytes).toString("utf8")) as unknown
  if (mimeType.startsWith("text/")) return Buffer.from(bytes).toString("utf8")
  return Uint8Array.from(bytes)
}

/** Whether the answer was handed out as a stream of values; each is a line of JSON. */
export const isOfParts = ({ body }: RecordedAnswer): boolean => body?.mimeType === "application/x-ndjson"

/** The values again, and then the failure the recorded stream broke off with. A last line that is cut was never handed out. */
export function servedParts(bytes: Uint8Array, failure: unknown): ReadableStream<unknown> {
  const lines = Buffer.from(bytes).toString("utf8").split("\n").slice(0, -1)
  let next = 0
  return new ReadableStream(
    {
      pull(controller) {
        const line = lines[next++]
        if (line !== undefined) controller.enqueue(JSON.parse(line))
        else if (failure === undefined) controller.close()
        else controller.error(failure)
      },
    },
    { highWaterMark: 0 },
  )
}

/** What was thrown, thrown again: same class where the language has it, same name where it was the program's own, same message and code. */
export function servedError(error: RecordedError, httpStatus: number | null): unknown {
  if (error.errorClass === "NonError") return error.message
  const thrown = newError(error)
  if (error.code !== null) Object.assign(thrown, { code: error.code })
  if (httpStatus !== null) Object.assign(thrown, { status: httpStatus })
  return thrown
}

const NATIVE: Readonly<Record<string, new (message: string) => Error>> = {
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
}

function newError({ errorClass, message }: RecordedError): Error {
  const Native = Object.hasOwn(NATIVE, errorClass) ? NATIVE[errorClass] : undefined
  if (Native) return new Native(message)
  const error = errorClass === "ToolTimeoutError" ? new ToolTimeoutError("", 0) : new Error(message)
  error.message = message
  error.name = errorClass
  return error
}
