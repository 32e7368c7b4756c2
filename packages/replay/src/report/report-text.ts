import { safeLine } from "@orangebox/text"
import type { Divergence, DivergenceReport } from "../generated.js"

export interface ReportTextOptions {
  /** Divergences shown in full; the rest is counted. */
  readonly limit?: number
  /** The number by which people address a step of the recorded run; without it steps have their ids. */
  readonly numberOf?: (stepId: string) => number | undefined
}

/** The report in a few lines, most telling first: for an agent, and for people. Recorded text is made safe. */
export function reportText(report: DivergenceReport, options: ReportTextOptions = {}): string {
  const { counts, egress } = report
  const limit = options.limit ?? 5
  const tiers = (["wire", "sig", "masked", "drift", "cached", "simulated", "live"] as const)
    .filter((name) => counts[name] > 0)
    .map((name) => `${name} ${counts[name]}`)
  const fidelity = report.fidelity === "exact_prefix" ? `exact for the first ${report.exact_prefix}` : report.fidelity
  const lines = [
    `replay of ${report.source_run}${report.run === null ? "" : ` as ${report.run}`}: ${fidelity}`,
    `  ${counts.asked} asked: ${tiers.join(", ") || "none answered"}; ${counts.missed} not answered, ${counts.unconsumed} never asked for, upstream connections ${egress.upstream_sockets}`,
  ]
  if (report.masks.length > 0) lines.push(`  masks: ${report.masks.map(safeLine).join(", ")}`)
  const byWeight = [...report.divergences].sort((a, b) => WEIGHT[a.severity] - WEIGHT[b.severity] || a.n - b.n)
  const stepWord = (stepId: string): string => addressOf(stepId, options)
  for (const divergence of byWeight.slice(0, limit)) lines.push(...divergenceLines(divergence, stepWord))
  const hidden = byWeight.length - limit
  if (hidden > 0) lines.push(`  … ${hidden} more (--json has them all)`)
  lines.push(report.certificate.issued ? "certificate: issued" : "certificate: not issued")
  return lines.join("\n")
}

const WEIGHT: Record<Divergence["severity"], number> = { halt: 0, warn: 1, note: 2 }
const SHOWN_DIFFS = 3

function divergenceLines(divergence: Divergence, stepWord: (stepId: string) => string): string[] {
  const { at, nearest, step } = divergence
  const where = `${step === null ? "" : `${stepWord(step)} `}${at.kind} ${safeLine(at.name)}`
  const lines = [`  ${divergence.code} ${where}: ${safeLine(divergence.message)}`]
  const [first] = nearest
  if (first) {
    const all = first.equal_leaves + first.diff_leaves
    lines.push(
      `    nearest ${stepWord(first.step)}: ${first.equal_leaves} of ${all} values equal, cause ${divergence.cause}`,
    )
    for (const diff of first.diffs.slice(0, SHOWN_DIFFS)) {
      const place = `${safeLine(diff.ptr)}${diff.line === undefined ? "" : ` line ${diff.line}`}`
      lines.push(`    ${place}  recorded ${quoted(diff.recorded)}  now ${quoted(diff.now)}`)
    }
    const more = first.diffs.length - SHOWN_DIFFS + first.more_diffs
    if (more > 0) lines.push(`    … ${more} more`)
  }
  if (divergence.suggest.length > 0) lines.push(`    try: ${divergence.suggest.map(safeLine).join(" · ")}`)
  return lines
}

const addressOf = (stepId: string, { numberOf }: ReportTextOptions): string => {
  const n = numberOf?.(stepId)
  return n === undefined ? stepId : `#${n}`
}

/** A reason as a person reads it: steps by their numbers, and of digests as much as tells them apart. */
export function reasonText(reason: string, options: ReportTextOptions = {}): string {
  return safeLine(reason)
    .replaceAll(/\b[0-9a-f]{16}\b/g, (stepId) => addressOf(stepId, options))
    .replaceAll(/\b(sha256:[0-9a-f]{10})[0-9a-f]{54}\b/g, "$1…")
}

const quoted = (text: string | null): string => (text === null ? "nothing" : safeLine(JSON.stringify(text)))
