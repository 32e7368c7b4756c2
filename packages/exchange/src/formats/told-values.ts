import { isRecord } from "@orangebox/contract"

/** What other programs write may be anything; these read one value of it, or say that it is not there. */

export type Json = { readonly [key: string]: unknown }

export const recordOf = (value: unknown): Json => (isRecord(value) ? (value as Json) : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
export const wordOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined
export const countOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null
export const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null

/** Milliseconds since 1970 of an ISO time, or of a number of seconds or milliseconds; undefined for anything else. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value === "number") {
    const ms = value > 1e11 ? value : value * 1000
    return ms >= 0 && ms <= LAST_MS ? ms : undefined
  }
  if (typeof value !== "string") return undefined
  // A time without a zone is taken for UTC, so that every machine reads the same.
  const text = /^\d{4}-\d\d-\d\dT[\d:.]+$/.test(value) ? `${value}Z` : value
  const ms = Date.parse(text)
  return Number.isNaN(ms) || ms < 0 || ms > LAST_MS ? undefined : ms
}

// The end of year 9999: later times have no four-digit year.
const LAST_MS = 253_402_300_799_999

/** The text of a message's content: a text, or parts of which some are texts. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content
  return listOf(content)
    .flatMap((part) => {
      const { text, content: inner } = recordOf(part)
      return typeof part === "string" ? part : typeof text === "string" ? text : typeof inner === "string" ? inner : []
    })
    .join("\n")
}

export const jsonText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""))

/** A command's exit code where its output begins by naming it. */
export function exitCodeIn(text: string): number | undefined {
  const match = /^(?:Error: )?(?:Process exited with|Exit) code:? (-?\d{1,9})\b/im.exec(text.slice(0, 400))
  return match === null ? undefined : Number(match[1])
}
