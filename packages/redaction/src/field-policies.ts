import { definitionOf, EVENT_TYPES, type EventType, isEventType } from "@orangebox/contract"

/**
 * What may happen to a field on its way to the journal:
 * `raw_allowed` is stored as it is, `redact_required` goes through the rules first, `hash_only` leaves a keyed digest, `drop` nothing.
 * For a field that names a body, the policy is that of the body's content.
 */
export type FieldPolicy = "raw_allowed" | "redact_required" | "hash_only" | "drop"

/** From the least to the most that is kept back. */
export const POLICIES: readonly FieldPolicy[] = ["raw_allowed", "redact_required", "hash_only", "drop"]

/** Texts that our own code, a developer or a vendor's list of models puts there. Every other text may be anything a caller has written. */
const OUR_TEXTS = new Set(
  [
    "app_id agent_id agent_version entrypoint_name channel branch commit ticket_id request_id response_channel",
    "writer_id runtime recorder_version capture_mode kept_bodies snapshot_id artifact_id artifact_ids missing evaluator",
    "prompt_template_id prompt_template_version retriever_id retriever_version tool_name tool_version tool_call_id requested_tools requested_tool_ids",
    "validator_name validator_version policy_name policy_version input_channels input_policy_labels name kind link error_class",
    "provider model_id model_api_version finish_reason service_tier provider_request_id http_method",
    "failed_step_id subject_step_id last_open_step_id",
    "hash input_hash call_signature_hash wire_digest shape_digest prefix_fingerprint prefix_hash stdout_digest",
    "cache_params_digest cache_key_tag account_tag cache_diagnosis told_model prompt_account",
    // Bodies that hold figures and no text.
    "usage_ref stream_index_ref",
  ].flatMap((names) => names.split(" ")),
)

type SchemaNode = ReturnType<typeof definitionOf>["payload"]["node"]

/** Numbers, flags and closed sets of words cannot hold what a caller writes. */
function isClosed(node: SchemaNode): boolean {
  if (node.is === "object") return Object.values(node.fields).every(isClosed)
  return node.is === "number" || node.is === "boolean" || node.is === "one_of"
}

function policyOf(field: string, node: SchemaNode): FieldPolicy {
  if (field === "user_session_ref") return "hash_only"
  return isClosed(node) || OUR_TEXTS.has(field) ? "raw_allowed" : "redact_required"
}

type Policies = { readonly [field: string]: FieldPolicy }

/** The type default of every payload field there is, read off the schema: a field added tomorrow is searched until its name stands above. */
export const FIELD_POLICIES = Object.fromEntries(
  EVENT_TYPES.map((type) => {
    const fields = Object.entries(definitionOf(type).payload.fields)
    return [type, Object.fromEntries(fields.map(([field, node]) => [field, policyOf(field, node)]))]
  }),
) as { readonly [type in EventType]: Policies }

/** The envelope's fields that hold text from outside; all others are ids, times and closed sets. */
const ENVELOPE_POLICIES: Policies = {
  attributes: "redact_required",
  conversation_id: "raw_allowed",
  source: "raw_allowed",
}

/** The type default of a field, by the first part of its path. What has no entry has to be redacted. */
export function defaultPolicy(eventType: string, field: string): FieldPolicy {
  const top = field.split(".", 1)[0]!
  for (const fields of [isEventType(eventType) ? FIELD_POLICIES[eventType] : {}, ENVELOPE_POLICIES]) {
    if (Object.hasOwn(fields, top)) return fields[top]!
  }
  return "redact_required"
}
