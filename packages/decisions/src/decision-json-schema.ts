import { z } from "zod"
import { DecisionEvent } from "./decision-event.js"

/** DecisionEvent as JSON Schema (draft 2020-12), in the one spelling that `schemas/decision-event.schema.json` holds. */
export function decisionJsonSchemaText(): string {
  const schema = z.toJSONSchema(DecisionEvent, { target: "draft-2020-12" })
  return `${JSON.stringify({ title: "DecisionEvent 0.2", ...schema }, null, 2)}\n`
}
