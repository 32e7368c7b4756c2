import type { Verdict } from "@orangebox/contract"

const ORDER: readonly Verdict[] = ["fail", "warn", "unknown", "pass"]

/** The worst of several verdicts: fail, then warn, then unknown, then pass. Nothing judged is unknown, not a pass. */
export function worstVerdict(verdicts: Iterable<Verdict>): Verdict {
  const seen = new Set(verdicts)
  return ORDER.find((verdict) => seen.has(verdict)) ?? "unknown"
}

/** Mean of what was judged: a pass counts 1, a warning a half, a failure nothing. Null when nothing was. */
export function scoreOf(verdicts: readonly Verdict[]): number | null {
  const points = verdicts.flatMap((verdict) =>
    verdict === "unknown" ? [] : [verdict === "pass" ? 1 : verdict === "warn" ? 0.5 : 0],
  )
  if (points.length === 0) return null
  const sum = points.reduce<number>((total, point) => total + point, 0)
  return Math.round((sum / points.length) * 1000) / 1000
}
