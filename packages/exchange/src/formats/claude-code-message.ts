import { contentText, countOf, exitCodeIn, type Json, jsonText, listOf, recordOf } from "./told-values.js"

/** What stands in one message of a Claude Code transcript. */

/** What the user said, without what tools said. */
export function promptOf(content: unknown): string {
  if (typeof content === "string") return content
  return contentText(listOf(content).filter((block) => recordOf(block)["type"] !== "tool_result"))
}

export function resultText(content: unknown): string | null {
  if (content === undefined || content === null) return null
  const parts = listOf(content)
  const isText = typeof content === "string" || parts.every((part) => recordOf(part)["type"] === "text")
  return isText ? contentText(content) : jsonText(content)
}

export function exitCodeOf(details: Json, text: string): number | undefined {
  const { exitCode, exit_code } = details
  const said = [exitCode, exit_code].find((code) => Number.isInteger(code))
  return said === undefined ? exitCodeIn(text) : (said as number)
}

/** Each count by its largest: every line of a message repeats its usage, the early ones as far as it was known by then. */
export function largest(known: Json, told: Json): Json {
  const sum: Record<string, unknown> = { ...known }
  for (const [name, value] of Object.entries(told)) {
    const before = sum[name]
    if (typeof value === "number" && countOf(value) !== null)
      sum[name] = typeof before === "number" ? Math.max(before, value) : value
    else if (typeof value === "object" && value !== null && !Array.isArray(value))
      sum[name] = largest(recordOf(before), recordOf(value))
    else if (value !== null && value !== undefined) sum[name] = value
  }
  return sum
}

export const definedOf = (line: Json, names: readonly string[]): Json =>
  Object.fromEntries(names.flatMap((name) => (typeof line[name] === "string" ? [[name, line[name]]] : [])))
