/**
 * Short inline excerpts, so that a list of a thousand steps can be shown without opening a thousand bodies.
 * A summary is a cut of recorded text, never a paraphrase, and it is absent in `hashed` capture.
 */
export const MAX_SUMMARY = 240

/** A log message that is longer stands behind a ref. */
export const MAX_LOG_MESSAGE = 8192

export function summarizeText(text: string): string {
  const head = text
    .slice(0, MAX_SUMMARY * 4)
    .replace(/\s+/g, " ")
    .trim()
  const cut = head.length > MAX_SUMMARY || text.length > MAX_SUMMARY * 4
  return (cut ? `${head.slice(0, MAX_SUMMARY - 1)}…` : head).toWellFormed()
}

// In the order in which a reader wants them: what was touched, then what was run, then what was asked.
const TELLING = [
  "path",
  "file_path",
  "filePath",
  "file",
  "filename",
  "command",
  "cmd",
  "query",
  "pattern",
  "url",
  "name",
  "id",
]

/** The argument that tells most about a call: `src/date.ts` for read_file, `npm test` for a shell. Empty where there is none. */
export function summarizeArgs(args: unknown): string {
  if (args === undefined || args === null) return ""
  if (typeof args !== "object") return summarizeText(String(args))
  const record = args as Record<string, unknown>
  const telling = TELLING.find((key) => typeof record[key] === "string" && record[key] !== "")
  if (telling !== undefined) return summarizeText(record[telling] as string)
  const first = Object.entries(record).find(([, value]) => typeof value === "string" || typeof value === "number")
  return first ? summarizeText(`${first[0]}=${String(first[1])}`) : ""
}
