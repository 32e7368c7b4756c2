import type { FindingsReport } from "@orangebox/contract"
import { formatMoment, plural, recordedText, recordedWord, safeLine } from "@orangebox/text"

/** What was found out about a run, as it stands beside it. */
export interface SaidFindings {
  readonly eventId: string
  readonly at: string
  readonly author: string
  readonly authorKind: FindingsReport["author_kind"]
  readonly verdict: FindingsReport["verdict"]
  readonly count: number
  /** The first claim. */
  readonly summary: string
  /** Undefined where its bytes are gone. */
  readonly report: FindingsReport | undefined
}

/** Every report on a run with its claims and what they point at. Claims are the words of who said them. */
export function saidFindingsText(runId: string, said: readonly SaidFindings[], address: string): string {
  if (said.length === 0)
    return `${runId}: nobody has reported findings · what rules find: orangebox diagnose ${address}`
  return said.flatMap((one) => [saidLine(one), ...claimLines(one)]).join("\n")
}

/** One report in a line. */
export function saidLine({ author, authorKind, verdict, count, summary, at, report }: SaidFindings): string {
  const claims = count === 0 ? "" : ` · ${plural(count, "finding")}`
  const gone = report === undefined ? ` · the report is gone, it began ${recordedText(summary, 160)}` : ""
  return `said by ${recordedWord(author, 60)} (${authorKind}) ${formatMoment(Date.parse(at))}: ${verdict}${claims}${gone}`
}

function claimLines({ report }: SaidFindings): string[] {
  return (report?.findings ?? []).flatMap((finding, index) => [
    `  ${index + 1} ${finding.confidence.toUpperCase()} cause #${finding.cause_step}  ${recordedText(finding.claim)}`,
    `    see  ${finding.evidence.map(evidenceWords).join(" · ")}`,
    ...(finding.disproof_tried === "" ? [] : [`    held against  ${recordedText(finding.disproof_tried)}`]),
  ])
}

function evidenceWords({
  run_id,
  step,
  body,
  from,
  to,
  quote,
}: FindingsReport["findings"][number]["evidence"][number]): string {
  const place = `${run_id === undefined ? "" : recordedWord(run_id, 40)}#${step}`
  const bytes = from === undefined && to === undefined ? [] : [`${from ?? 0}..${to ?? ""}`]
  const words = quote === undefined ? [] : [recordedText(quote, 80)]
  return [place, ...(body === undefined ? [] : [recordedWord(body, 40)]), ...bytes, ...words].map(safeLine).join(" ")
}

/** The same for programs; print it with `safeJson`. */
export function saidFindingsJson(said: readonly SaidFindings[]) {
  return {
    verdict: worst(said),
    reports: said.map(({ eventId, at, author, authorKind, verdict, count, report }) => ({
      ...{ event_id: eventId, at, author, author_kind: authorKind, verdict, total: count },
      findings: report === undefined ? null : report.findings.map(findingJson),
    })),
  }
}

function findingJson({ claim, cause_step, confidence, evidence, disproof_tried }: FindingsReport["findings"][number]) {
  return {
    ...{ claim, cause_step, confidence, disproof_tried },
    evidence: evidence.map(({ run_id = null, step, body = null, from = null, to = null, quote = null }) => ({
      ...{ run_id, step, body, from, to, quote },
    })),
  }
}

/** Of all reports: found where one says so; null where there is none. */
function worst(said: readonly SaidFindings[]): FindingsReport["verdict"] | null {
  const order = ["found", "unsure", "not_found"] as const
  return order.find((verdict) => said.some((one) => one.verdict === verdict)) ?? null
}
