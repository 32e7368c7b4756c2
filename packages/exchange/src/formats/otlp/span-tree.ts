import { canonicalJson } from "@orangebox/contract"
import type { PlainLog, PlainSpan } from "./plain.js"

export interface SpanTree {
  readonly spans: readonly PlainSpan[]
  /** Spans whose parent is not among them, in order. */
  readonly roots: readonly PlainSpan[]
  readonly childrenOf: ReadonlyMap<string, readonly PlainSpan[]>
}

export function treeOf(given: readonly PlainSpan[]): SpanTree {
  const spans = [...given].sort(byStart)
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const childrenOf = new Map<string, PlainSpan[]>()
  const roots: PlainSpan[] = []
  const reached = new Set<string>()
  for (const span of spans) {
    const { parentSpanId } = span
    if (parentSpanId === null || !byId.has(parentSpanId)) roots.push(span)
    else if (childrenOf.has(parentSpanId)) childrenOf.get(parentSpanId)!.push(span)
    else childrenOf.set(parentSpanId, [span])
  }
  const reach = (from: PlainSpan): void => {
    const work = [from]
    for (let span = work.pop(); span !== undefined; span = work.pop()) {
      if (reached.has(span.spanId)) continue
      reached.add(span.spanId)
      work.push(...(childrenOf.get(span.spanId) ?? []))
    }
  }
  for (const root of roots) reach(root)
  // Spans that name each other as parents hang on nothing: the first of each circle is taken out of it.
  for (const span of spans) {
    if (reached.has(span.spanId)) continue
    const siblings = childrenOf.get(span.parentSpanId!) ?? []
    childrenOf.set(
      span.parentSpanId!,
      siblings.filter((one) => one !== span),
    )
    roots.push(span)
    reach(span)
  }
  return { spans, roots: roots.sort(byStart), childrenOf }
}

const byStart = (a: PlainSpan, b: PlainSpan): number =>
  a.startMs - b.startMs || b.endMs - a.endMs || (a.spanId < b.spanId ? -1 : a.spanId > b.spanId ? 1 : 0)

/** A span without a start began with the first one that has one. */
export function timed(spans: readonly PlainSpan[]): PlainSpan[] {
  const known = spans.flatMap(({ startMs }) => (startMs > 0 ? [startMs] : []))
  const first = known.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY)
  const instead = Number.isFinite(first) ? first : 0
  return spans.map((span) =>
    span.startMs > 0
      ? span
      : { ...span, startMs: span.endMs > 0 ? Math.min(span.endMs, instead || span.endMs) : instead },
  )
}

export function groupLogs(logs: readonly PlainLog[]): ReadonlyMap<string, PlainLog[]> {
  const groups = new Map<string, PlainLog[]>()
  for (const log of logs) {
    const spanId = log.spanId ?? ""
    const group = groups.get(spanId)
    if (group === undefined) groups.set(spanId, [log])
    else group.push(log)
  }
  for (const group of groups.values())
    group.sort((a, b) => a.atMs - b.atMs || compare(canonicalJson(a), canonicalJson(b)))
  return groups
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
