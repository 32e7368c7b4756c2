import type { SourceDetector } from "@orangebox/contract"
import type { CaseFile, MessageSighting } from "../case-file.js"
import { at, type Detected, type Finding, type Pointer } from "../finding.js"
import { readRule, type StepFact } from "../step-rules.js"

/** One message reached one conversation twice, and both times well. As many enqueues as deliveries is a message that was sent to several. */
const DOUBLE_DELIVERY: SourceDetector = {
  id: "double_delivery",
  says: "one message was delivered to one conversation more than once, and each time it was taken",
  severity: "harm",
  of: { kind: "queue.deliver", status: "success" },
  count: { by: ["message_id", "conversation"], more_than: 1, exceeding: { kind: "queue.enqueue" } },
}

/** A message went into another conversation than it was meant for. */
const MISROUTE: SourceDetector = {
  id: "misroute",
  says: "a message was delivered to another conversation than it was meant for",
  severity: "harm",
  of: { kind: "queue.deliver" },
  mismatch: {
    ...{ attribute: "conversation", other: "target_conversation_id" },
    ...{ in: { kind: "queue.enqueue" }, by: "message_id" },
  },
}

export function doubleDelivery({ view, messages }: CaseFile): Detected {
  const sightings = sightingsIn(messages)
  const { broken } = readRule(DOUBLE_DELIVERY, [...sightings.keys()])
  return broken.flatMap(({ steps }): Finding[] => {
    const [first, second] = [sightings.get(steps[0]!)!, sightings.get(steps[1]!)!]
    if (![first, second].some(({ runId }) => runId === view.runId)) return []
    const cause = second.runId === view.runId ? second.n : first.n
    const id = steps[0]!.values["message_id"]![0]!
    const times = (messages.get(id) ?? []).filter(({ what, isGood }) => what === "deliver" && isGood).length
    return [
      {
        detector: DOUBLE_DELIVERY.id,
        kind: first.isUnacknowledged
          ? "acknowledgement_lost"
          : second.isRedelivery
            ? "redelivered_after_success"
            : null,
        severity: "harm",
        confidence: first.isUnacknowledged || second.isUnacknowledged ? "likely" : "proven",
        cause,
        fails: cause,
        claim: `one message was delivered to one conversation ${times} times, and each time it was ${first.isUnacknowledged ? "handled, though the first was not acknowledged" : "taken"}`,
        by: null,
        evidence: [first, second].map((sighting) => pointTo(view, sighting)),
      },
    ]
  })
}

export function misroute({ view, messages }: CaseFile): Detected {
  const sightings = sightingsIn(messages)
  const ownDeliveries = [...sightings].filter(([, { what, runId }]) => what !== "deliver" || runId === view.runId)
  const { broken, compared } = readRule(
    MISROUTE,
    ownDeliveries.map(([fact]) => fact),
  )
  if (messages.size > 0 && compared === 0) return { notRun: "no message says whom it is for" }
  return broken.map(({ steps }): Finding => {
    const delivery = sightings.get(steps.at(-1)!)!
    const target = delivery.target ?? steps[0]!.values["target_conversation_id"]?.[0]
    const isByRun = delivery.delivered === target
    return {
      detector: MISROUTE.id,
      kind: isByRun ? "run_in_other_conversation" : "delivered_elsewhere",
      severity: "harm",
      confidence: "proven",
      cause: delivery.n,
      fails: delivery.n,
      claim: isByRun
        ? "the run it caused belongs to another conversation than its message was meant for"
        : "its message was delivered to another conversation than it was meant for",
      by: null,
      evidence: steps.map((fact) => pointTo(view, sightings.get(fact)!)),
    }
  })
}

const pointTo = (view: CaseFile["view"], { runId, n }: MessageSighting): Pointer => ({
  ...at({ n }),
  runId: runId === view.runId ? null : runId,
})

/** Messages on their way as rules see them: where one came to is told by its delivery and by the runs that it caused. */
function sightingsIn(messages: CaseFile["messages"]): ReadonlyMap<StepFact, MessageSighting> {
  const all = [...messages].flatMap(([id, sightings]) =>
    sightings.map((sighting) => [factOf(id, sighting), sighting] as const),
  )
  return new Map(all)
}

function factOf(id: string, sighting: MessageSighting): StepFact {
  const { runId, n, what, isGood, target, delivered, causedIn } = sighting
  return {
    ...{ runId, n, kind: `queue.${what}`, name: undefined, status: isGood ? "success" : "error", source: undefined },
    values: {
      message_id: [id],
      conversation: [...new Set([...(delivered === undefined ? [] : [delivered]), ...causedIn])].sort(),
      ...(target === undefined ? {} : { target_conversation_id: [target] }),
    },
  }
}
