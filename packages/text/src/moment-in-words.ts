const DURATION_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** Milliseconds of `90s`, `12h`, `30d`, `2w`; undefined for what is no such time. */
export function durationIn(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text)
  return match ? Number(match[1]) * DURATION_MS[match[2]!]! : undefined
}

/** A moment in milliseconds: an ISO date or time, or how long ago (`2h`, `3d`); undefined for what is neither. */
export function momentIn(text: string, now: number): number | undefined {
  const ago = durationIn(text)
  if (ago !== undefined) return now - ago
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}
