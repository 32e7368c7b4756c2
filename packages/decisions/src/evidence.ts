import type { EvidencePointer } from "./action.js"

/** Points at the first place where a text stands in a body, as it is or inside a JSON string; at the whole body where it is not found. */
export function pointTo(stepId: string, ref: string | null, body: string | null, text: string): EvidencePointer {
  if (ref === null || body === null || text === "") return { stepId, ref }
  const quoted = JSON.stringify(text).slice(1, -1)
  const [found, length] = [quoted, text]
    .map((form) => [body.indexOf(form), form.length] as const)
    .find(([at]) => at >= 0) ?? [-1, 0]
  return found < 0 ? { stepId, ref } : pointAt(stepId, ref, body, found, found + length)
}

/** A range of characters as a range of bytes. */
export function pointAt(stepId: string, ref: string, body: string, from: number, to: number): EvidencePointer {
  const start = Buffer.byteLength(body.slice(0, from), "utf8")
  return { stepId, ref, start, end: start + Buffer.byteLength(body.slice(from, to), "utf8") }
}
