import { type DecisionEvent, decisionLogRecords } from "@orangebox/decisions"
import type { Json } from "../told-values.js"

/**
 * Decisions as log records of the spans they were taken in. Some decisions have a span id of their own that no span has; a record stands at
 * the step around it. Its body is the whole decision, prompts included, so that goes along only with content.
 */
export function decisionRecords(
  decisions: readonly DecisionEvent[],
  isStep: (id: string) => boolean,
  hasContent: boolean,
): Json[] {
  const parentOf = new Map(decisions.map(({ span_id, parent_span_id }) => [span_id, parent_span_id]))
  const records = decisionLogRecords(decisions).resourceLogs.flatMap(({ scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) => logRecords),
  )
  return records.map(({ body, spanId: own, attributes, ...record }) => {
    const spanId = isStep(own) ? own : parentOf.get(own)
    return {
      ...record,
      ...(spanId === null || spanId === undefined ? {} : { spanId }),
      ...(hasContent ? { body, attributes } : { attributes: attributes.filter(({ key }) => key !== SUMMARY) }),
    }
  })
}

const SUMMARY = "orangebox.action.summary"
