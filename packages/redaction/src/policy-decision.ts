import { definitionOf, type EventType, refFieldsOf } from "@orangebox/contract"
import { type FieldPolicy, POLICIES } from "./field-policies.js"
import { MASK_MIDDLE } from "./mask.js"

export interface PolicyDecision {
  readonly policy: FieldPolicy
  /** Which of the three had the word. */
  readonly because: "deny" | "default" | "allow"
}

/**
 * The one rule of precedence: explicit deny, then type default, then allow.
 *
 * | deny | default         | allow | result                             |
 * |------|-----------------|-------|------------------------------------|
 * | yes  | any             | any   | the stricter of deny and default   |
 * | no   | raw_allowed     | any   | raw_allowed                        |
 * | no   | redact_required | no    | redact_required                    |
 * | no   | redact_required | yes   | raw_allowed, but shapes are masked |
 * | no   | hash_only, drop | any   | as the default says                |
 *
 * So an allow lifts the rules that guess (names, personal data, the user's patterns), never what the type forbids, and never the secrets
 * that are known by their own form.
 */
export function decidePolicy(
  deny: FieldPolicy | undefined,
  typeDefault: FieldPolicy,
  isAllowed: boolean,
): PolicyDecision {
  if (deny !== undefined) return { policy: stricter(deny, typeDefault), because: "deny" }
  if (isAllowed && typeDefault === "redact_required") return { policy: "raw_allowed", because: "allow" }
  return { policy: typeDefault, because: "default" }
}

function stricter(a: FieldPolicy, b: FieldPolicy): FieldPolicy {
  return POLICIES.indexOf(a) >= POLICIES.indexOf(b) ? a : b
}

/**
 * What `drop` does to a field, so that the event stays valid: an optional field is left out, a nullable one is null, a list or record is
 * empty, a body is not kept (its ref stays and says so), free text is the mask. What has no empty form cannot be dropped.
 */
export type DropEffect = "omit" | "null" | "empty_list" | "empty_record" | "body_not_kept" | "mask" | "impossible"

export function effectOfDrop(eventType: EventType, field: string): DropEffect {
  const { payload } = definitionOf(eventType)
  if (accepts(payload, field, undefined)) return "omit"
  if (accepts(payload, field, null)) return "null"
  if (refFieldsOf(eventType).includes(field)) return "body_not_kept"
  if (accepts(payload, field, [])) return "empty_list"
  if (accepts(payload, field, {})) return "empty_record"
  return accepts(payload, field, MASK_MIDDLE) ? "mask" : "impossible"
}

// Asked of the schema itself, with a payload of nothing but this field: whatever else is wrong, is wrong elsewhere.
function accepts(payload: ReturnType<typeof definitionOf>["payload"], field: string, value: unknown): boolean {
  const reading = payload.safeParse({ [field]: value })
  return reading.success || !reading.error.issues.some((issue) => issue.path[0] === field || isUnknown(issue, field))
}

function isUnknown(issue: { readonly code: string; readonly keys?: readonly string[] }, field: string): boolean {
  return issue.code === "unrecognized_keys" && issue.keys?.includes(field) === true
}
