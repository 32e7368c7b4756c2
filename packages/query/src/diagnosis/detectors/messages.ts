import { groupBy } from "../../group-by.js"
import type { CaseFile, MessageSighting } from "../case-file.js"
import { at, type Detected, type Finding, type Pointer } from "../finding.js"

const pointTo = (view: CaseFile["view"], { runId, n }: MessageSighting): Pointer => ({
  ...at({ n }),
  runId: runId === view.runId ? null : runId,
})

/** One message reached one conversation twice, and both times well. */
export function doubleDelivery({ view, messages }: CaseFile): Detected {
  const found: Finding[] = []
  for (const [, sightings] of messages) {
    const good = sightings.filter(({ what, isGood }) => what === "deliver" && isGood)
    const enqueues = sightings.filter(({ what }) => what === "enqueue").length
    // As many enqueues as deliveries is a message that was sent to several, not one that came twice.
    if (good.length < 2 || enqueues >= good.length) continue
    const byPlace = groupBy(good, (sighting) => placesOf(sighting).join("\0"))
    for (const [place, [first, second]] of byPlace) {
      if (place === "" || first === undefined || second === undefined) continue
      if (![first, second].some(({ runId }) => runId === view.runId)) continue
      const isHere = second.runId === view.runId
      found.push({
        detector: "double_delivery",
        kind: second.isRedelivery ? "redelivered_after_success" : null,
        severity: "harm",
        confidence: "proven",
        cause: isHere ? second.n : first.n,
        fails: isHere ? second.n : first.n,
        claim: `one message was delivered to one conversation ${good.length} times, and each time it was taken`,
        by: null,
        evidence: [first, second].map((sighting) => pointTo(view, sighting)),
      })
    }
  }
  return found
}

/** A message went into another conversation than it was meant for. */
export function misroute({ view, messages }: CaseFile): Detected {
  const found: Finding[] = []
  let hasTarget = messages.size === 0
  for (const [, sightings] of messages) {
    const enqueued = sightings.find(({ what, target }) => what === "enqueue" && target !== undefined)
    for (const sighting of sightings) {
      if (sighting.what !== "deliver" || sighting.runId !== view.runId) continue
      const target = sighting.target ?? enqueued?.target
      if (target === undefined) continue
      hasTarget = true
      const wrong = placesOf(sighting).filter((place) => place !== target)
      if (wrong.length === 0) continue
      const isByRun = sighting.delivered === target
      found.push({
        detector: "misroute",
        kind: isByRun ? "run_in_other_conversation" : "delivered_elsewhere",
        severity: "harm",
        confidence: "proven",
        cause: sighting.n,
        fails: sighting.n,
        claim: isByRun
          ? "the run it caused belongs to another conversation than its message was meant for"
          : "its message was delivered to another conversation than it was meant for",
        by: null,
        evidence: [...(enqueued ? [pointTo(view, enqueued)] : []), pointTo(view, sighting)],
      })
    }
  }
  return hasTarget ? found : { notRun: "no message says whom it is for" }
}

const placesOf = ({ delivered, causedIn }: MessageSighting): readonly string[] =>
  [...new Set([...(delivered === undefined ? [] : [delivered]), ...causedIn])].sort()
