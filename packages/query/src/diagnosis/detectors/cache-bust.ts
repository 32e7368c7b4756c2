import type { CaseFile } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

/** What breaks a cache on our side of the wire; the rest is the provider's. */
const OURS = new Set([
  "model_changed",
  "mark_missing",
  "wrong_prefix_warmed",
  "unstable_serialisation",
  "reencoded_attachment",
  "volatile_value",
  "injection_changed",
  "tools_changed",
  "history_rewritten",
  "content_changed",
  "params_changed",
  "mark_moved",
  "lookback_exceeded",
])

/** A prompt was paid for again though the provider had kept it. */
export function cacheBust({ view, cache }: CaseFile): Detected {
  if (cache === undefined || cache.calls.length === 0) return { notRun: "no model call" }
  if (cache.calls.every(({ verdict }) => verdict === "unknown"))
    return { notRun: cache.calls[0]!.why ?? "nothing is known of its cache" }
  const found: Finding[] = []
  for (const { call, reference, found: cause, differing, expected, lostTokens, lostUsd, verdict } of cache.calls) {
    const isLoss = verdict === "miss" || verdict === "short"
    if (!isLoss || cause === undefined || !OURS.has(cause.cause)) continue
    const changed = cause.segment
    const place = changed === undefined ? (cause.detail ?? "") : `segment ${changed.index + 1} of its prompt changed`
    const bytes = differing === undefined ? "" : `, from byte ${differing.at} of it on`
    const isBytes = changed !== undefined && differing !== undefined
    found.push({
      detector: "cache_bust",
      kind: cause.cause,
      severity: "waste",
      confidence: isBytes || changed === undefined ? "proven" : "likely",
      cause: call.n,
      fails: call.n,
      claim: `read ${call.read} of ${expected} tokens that could have been read: ${place}${bytes}; lost ${lostTokens} tokens${lostUsd === null ? ", price unknown" : `, $${lostUsd.toPrecision(2)}`}`,
      by: differing?.introducedBy === "transform" ? "a transform: what the application built was the same" : null,
      evidence: [
        ...(reference === undefined
          ? []
          : [
              {
                ...at(reference, "request", differing?.rangeBefore),
                runId: reference.runId === view.runId ? null : reference.runId,
              },
            ]),
        call.request === undefined ? at(call) : at(call, "request", differing?.rangeNow),
      ],
    })
  }
  return found
}
