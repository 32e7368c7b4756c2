import { textHash } from "@orangebox/contract"

/**
 * Ids of what is computed are derived from the event they are computed from: reading a run twice, on any machine, gives the same ones. The
 * event's own id is not reused, because a decision is not that event.
 */
export function decisionId(boundaryEventId: string): string {
  const digits = digitsOf(`decision\0${boundaryEventId}`)
  const variant = ((Number.parseInt(digits[16]!, 16) & 0x3) | 0x8).toString(16)
  // Version 8: the layout is ours.
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`
}

/** For actions that happen inside a step and so need an id beside the step's. */
export function decisionSpanId(boundaryEventId: string): string {
  const digits = digitsOf(`decision span\0${boundaryEventId}`).slice(0, 16)
  return /^0+$/.test(digits) ? "0000000000000001" : digits
}

const digitsOf = (name: string): string => textHash(name).slice("sha256:".length)
