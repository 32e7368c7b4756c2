import type { CallAudit } from "../cache/audit-cache.js"
import { marksOf } from "../cache/cache-call.js"
import { changeSince } from "../cache/miss-cause.js"
import { historyLossOf } from "../context/history-loss.js"
import { isMessage } from "../pair-segments.js"
import type { Column, Piece } from "./pieces.js"

/** What was paid for the tokens of a call. Where the provider does not say what it read, nobody knows what was paid for what was held. */
export interface Paid {
  /** Below the line up to which the provider says it read its cache. */
  readonly cached: number | null
  /** Held by the call before, and not read from the cache. */
  readonly again: number | null
  /** Neither. */
  readonly fresh: number
}

/** The first piece of a prompt that is not what it was in the call before. */
export interface Break {
  readonly offset: number
  readonly piece: number | null
  readonly contributor: string
  readonly cause: string
}

/** Messages of the call before that are gone: concluded, not recorded. */
export interface Dropped {
  readonly tokens: number
  readonly pieces: number
  readonly why: string
}

/** Why tokens were sent again at full price. */
export interface AgainWhy {
  /** A cause of the audit, or where there is none: `no_mark` nothing asks to keep them, `no_rule` nobody knows what could be kept. */
  readonly cause: string
  readonly words: string
}

export function paidOf({ call, pieces, tokens }: Column, before: Column | undefined): Paid {
  const line = Math.min(call.read ?? 0, tokens)
  const held = new Set(before?.pieces.map(({ piece }) => piece))
  let again = 0
  for (const { piece, offset, tokens: size } of pieces)
    if (held.has(piece)) again += Math.max(0, offset + size - Math.max(offset, line))
  const fresh = tokens - line - again
  return call.read === null ? { cached: null, again: null, fresh } : { cached: line, again, fresh }
}

export function breakOf(column: Column, before: Column | undefined): Break | undefined {
  const change = before && changeSince(column.call, before.call)
  if (change === undefined) return undefined
  const { index, now, before: was, told } = change.segment
  const place = column.pieces[index]
  return {
    offset: place?.offset ?? column.tokens,
    piece: place?.piece ?? null,
    contributor: (told ?? now ?? was)?.contributor ?? "?",
    cause: change.cause,
  }
}

export function droppedOf(column: Column, before: Column | undefined): Dropped | undefined {
  if (before === undefined) return undefined
  const held = new Set(column.pieces.map(({ piece }) => piece))
  const was = before.call.segments ?? []
  const gone = was.flatMap((segment, at) =>
    isMessage(segment) && !held.has(before.pieces[at]!.piece) ? [{ segment, tokens: before.pieces[at]!.tokens }] : [],
  )
  // Nearly always nothing is gone, and a long session has as many messages to look through as it has calls.
  if (gone.length === 0) return undefined
  const lost = gone.map(({ segment }) => segment)
  const loss = historyLossOf(column.call.context, was, column.call.segments ?? [], lost)
  if (loss === undefined) return undefined
  return { tokens: gone.reduce((sum, { tokens }) => sum + tokens, 0), pieces: gone.length, why: loss.why }
}

/** What the audit found; where it expected nothing more, what was asked to be kept ended before these tokens. */
export function againWhy(
  { found, verdict, why, reference }: CallAudit,
  column: Column,
  before: Column | undefined,
  pieces: readonly Piece[],
): AgainWhy {
  if (found !== undefined && (verdict === "miss" || verdict === "short"))
    return { cause: found.cause, words: found.detail ?? CAUSE_WORDS[found.cause] ?? found.cause }
  if (verdict === "unknown") return { cause: found?.cause ?? "unknown", words: why ?? "nobody can say why" }
  const kept = reference ?? before?.call
  const marks = kept === undefined ? [] : marksOf(kept)
  if (kept !== undefined && marks.length === 0)
    return verdict === null && why !== undefined
      ? { cause: "below_minimum", words: why }
      : { cause: "no_mark", words: "no cache mark" }
  const last = column.pieces[marks.at(-1) ?? -1]
  if (verdict === null && why !== undefined && why !== "first") return { cause: "below_minimum", words: why }
  const label = last === undefined ? undefined : pieces[last.piece]?.label
  return {
    cause: "no_mark",
    words: label === undefined ? "no cache mark behind it" : `no cache mark after the ${label}`,
  }
}

const CAUSE_WORDS: Readonly<Record<string, string>> = {
  volatile_value: "a value in the prompt changes with every call",
  unstable_serialisation: "the same values were written in another order",
  reencoded_attachment: "an attachment was encoded anew",
  injection_changed: "what is put into the prompt changed",
  tools_changed: "the tools changed",
  history_rewritten: "the history was rewritten",
  content_changed: "the prompt changed",
  wrong_prefix_warmed: "another prefix was warmed than was used",
}
