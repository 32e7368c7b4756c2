import {
  cutToTokens,
  formatCount,
  padToWidth,
  plain,
  plural,
  recordedFence,
  recordedWord,
  safeLine,
} from "@orangebox/text"
import { inFormat, lastOf, type Page, pageJson, pageOf, rangeWords, roomOf, type ViewOptions } from "../page.js"
import type { CacheAudit, CallAudit } from "./audit-cache.js"
import type { DifferingBytes } from "./differing-bytes.js"

/** The budget is at least `MIN_CACHE_BUDGET`, and 1,200 tokens where none is said. */
export interface CacheOptions extends ViewOptions {
  readonly runId: string
  /** How the reader addressed the run, for the command in the footer. */
  readonly address: string
  readonly cursor?: number
  /** A few characters that fence recorded text: fresh for every answer. */
  readonly nonce: string
}

const USUAL_BUDGET = 1200
export const MIN_CACHE_BUDGET = 200

/** A call with the bytes that broke its prefix, where they are here. */
export interface AuditedCall extends CallAudit {
  readonly differing: DifferingBytes | undefined
}

export type DetailedAudit = Omit<CacheAudit, "calls"> & { readonly calls: readonly AuditedCall[] }

/** Expected against reported cache reads, one line a call, and what broke a prefix below it. */
export function cacheText(audit: DetailedAudit, options: CacheOptions): string {
  const paint = options.color ?? plain
  const page = cachePage(audit, options)
  const lines = [paint(headOf(audit, options.runId), "heading"), ...paintedRows(page, paint)]
  lines.push(paint(footerOf(page, options), "dim"))
  return inFormat(lines.join("\n"), options)
}

export function cacheJson(audit: DetailedAudit, options: Omit<CacheOptions, "format" | "color">) {
  const { expected, read, lostTokens, lostUsd, unpricedCalls, rulesVersion, pricesVersion } = audit
  const page = cachePage(audit, options)
  return {
    expected_tokens: expected,
    read_tokens: read,
    lost_tokens: lostTokens,
    lost_usd: lostUsd,
    unpriced_calls: unpricedCalls,
    rules_version: rulesVersion,
    prices_version: pricesVersion,
    calls: page.rows.map(callJson),
    ...pageJson(page),
  }
}

function cachePage(audit: DetailedAudit, options: Omit<CacheOptions, "format" | "color">): Page<AuditedCall> {
  const { budget, count } = roomOf(options, USUAL_BUDGET, MIN_CACHE_BUDGET)
  const frame = count(headOf(audit, options.runId)) + count(footerOf(lastOf(audit.calls.length), options)) + 4
  const textOf = (row: AuditedCall, most: number): string =>
    rowOf(row, options.nonce)
      .map((line) => cutToTokens(line, Math.max(24, Math.floor(most / 2)), count))
      .join("\n")
  return pageOf(audit.calls, options.cursor, { budget: budget - frame, count }, { textOf })
}

function paintedRows(page: Page<AuditedCall>, paint: NonNullable<ViewOptions["color"]>): string[] {
  return page.rows.map((row, index) => {
    const isLoss = row.verdict === "miss" || row.verdict === "short"
    return isLoss ? paint(page.texts[index]!, "bad") : page.texts[index]!
  })
}

function headOf(audit: DetailedAudit, runId: string): string {
  const { expected, read, lostTokens, lostUsd, unpricedCalls, rulesVersion, pricesVersion } = audit
  const lost = lostTokens === 0 ? [] : [`lost ${formatCount(lostTokens)}${moneyOf(lostUsd, unpricedCalls)}`]
  const parts = [
    `cache ${recordedWord(runId, 40)}`,
    `read ${formatCount(read)} of ${formatCount(expected)} expected`,
    ...lost,
  ]
  return `${parts.join(" · ")} (prices ${safeLine(pricesVersion)}, rules ${safeLine(rulesVersion)})`
}

function moneyOf(usd: number | null, unpricedCalls: number): string {
  const rest = unpricedCalls === 0 ? "" : ` + ${plural(unpricedCalls, "call")} unpriced`
  if (usd === null) return " = price unknown"
  return ` = $${usd >= 0.1 ? usd.toFixed(2) : usd.toPrecision(2)}${rest}`
}

function rowOf(row: AuditedCall, nonce: string): string[] {
  const { call, verdict, expected, isExact, why, found, differing } = row
  const about = isExact ? "" : "≈"
  const figures =
    expected === null || verdict === null || call.read === null
      ? ""
      : `${formatCount(call.read)} of ${about}${formatCount(expected)}`
  const kept = call.written === null || call.written === 0 ? "" : `written ${formatCount(call.written)}`
  const cause =
    found !== undefined && (verdict === "miss" || verdict === "short")
      ? causeWords(row)
      : verdict === "hit" || why === undefined || why === "first"
        ? ""
        : safeLine(why)
  const word = verdict ?? (why === "first" ? "first" : "none")
  const line = [
    `${padToWidth(`#${call.n}`, 5)}${padToWidth(word, 8)}${padToWidth(figures, 18)}`,
    padToWidth(kept, 14),
    cause,
  ]
  const said =
    call.providerSaid === undefined ? [] : [`     the provider says: ${recordedWord(call.providerSaid.type, 48)}`]
  const bytes =
    differing === undefined
      ? []
      : [`     ${recordedFence(differing.before, 48, nonce)} → ${recordedFence(differing.now, 48, nonce)}`]
  return [
    line
      .filter((part) => part.trim() !== "")
      .join("  ")
      .trimEnd(),
    ...bytes,
    ...said,
  ]
}

function causeWords({ found, differing, reference }: AuditedCall): string {
  const { cause, segment, detail } = found!
  const changed = segment?.told ?? segment?.now ?? segment?.before
  const place = changed === undefined ? [] : [recordedWord(changed.contributor, 32)]
  const bytes = differing === undefined ? [] : [`byte ${differing.at}, ${plural(differing.lengthNow, "byte")}`]
  const since = segment === undefined || reference === undefined ? [] : [`since #${reference.n}`]
  const by =
    differing?.introducedBy === "application"
      ? ["already in the BEFORE"]
      : differing?.introducedBy === "transform"
        ? ["by a transform"]
        : []
  return [`${cause}`, ...place, [...bytes, ...since, ...by, ...(detail === undefined ? [] : [detail])].join(", ")]
    .filter((part) => part !== "")
    .join(" ")
}

function callJson({ call, reference, found, differing, ...audit }: AuditedCall) {
  const changed = found?.segment?.told ?? found?.segment?.now ?? found?.segment?.before
  const isLoss = audit.verdict === "miss" || audit.verdict === "short"
  return {
    step_no: call.n,
    step_id: call.stepId ?? null,
    model: call.model ?? null,
    verdict: audit.verdict,
    expected_tokens: audit.expected,
    is_exact: audit.isExact,
    prompt_tokens: call.prompt,
    read_tokens: call.read,
    written_tokens: call.written,
    lost_tokens: audit.lostTokens,
    lost_usd: audit.lostUsd,
    why: audit.why ?? null,
    reference: reference === undefined ? null : { run_id: reference.runId, step_no: reference.n },
    cause: isLoss ? (found?.cause ?? null) : null,
    confidence: !isLoss || found?.segment === undefined ? null : differing === undefined ? "likely" : "proven",
    detail: isLoss ? (found?.detail ?? null) : null,
    segment:
      !isLoss || found?.segment === undefined
        ? null
        : { index: found.segment.index, contributor: changed?.contributor ?? null, kind: changed?.kind ?? null },
    bytes:
      differing === undefined
        ? null
        : {
            at: differing.at,
            length_before: differing.lengthBefore,
            length_now: differing.lengthNow,
            before: differing.before,
            now: differing.now,
            introduced_by: differing.introducedBy,
          },
    provider_said:
      call.providerSaid === undefined
        ? null
        : { type: call.providerSaid.type, missed_tokens: call.providerSaid.missedTokens },
  }
}

function footerOf(page: Parameters<typeof rangeWords>[1], { address }: Pick<CacheOptions, "address">): string {
  const next = page.to < page.total ? ` · next: orangebox cache ${address} --cursor ${page.to}` : ""
  return `${rangeWords("calls", page)}${next}`
}
