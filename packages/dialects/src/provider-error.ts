import type { ProviderError } from "./dialect.js"
import { isRecord, type JsonValue, textOf } from "./json/value.js"

/** The error object inside an answer. Providers agree on little: some send a string, some a number for the code. */
export function readProviderError(error: JsonValue | undefined): ProviderError | null {
  if (typeof error === "string") return { type: null, code: null, message: error }
  if (!isRecord(error)) return null
  const code = error["code"]
  return {
    type: textOf(error["type"]) ?? textOf(error["status"]),
    code: typeof code === "number" ? String(code) : textOf(code),
    message: textOf(error["message"]),
  }
}
