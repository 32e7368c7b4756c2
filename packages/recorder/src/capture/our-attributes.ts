import { ActionType } from "@orangebox/contract"

/**
 * Attributes our own edges set, with the only values they ever have. In `hashed` mode these stay readable; any other text under the same
 * name, and every other text attribute, leaves a digest.
 */
const OUR_ATTRIBUTES: { readonly [name: string]: RegExp } = {
  http_method: /^[A-Z]{1,16}$/,
  stream_end: /^(?:complete|client_abort|upstream_reset|timeout)$/,
  context_held_by_provider: /^[a-z_ ]{1,120}$/,
  side_call: /^[a-z_-]{1,40}$/,
  request_sent: /^in part$/,
  request_wire_encoding: /^[a-z0-9, -]{1,64}$/,
  response_wire_encoding: /^[a-z0-9, -]{1,64}$/,
  history: /^[a-z_]{1,40}$/,
  certainty: /^(?:certain|likely)$/,
  action_type: new RegExp(`^(?:${ActionType.options.join("|")})$`),
  mcp_method: /^[a-z]+\/[a-z]+$/,
}

export function isOurAttribute(name: string, value: string): boolean {
  return Object.hasOwn(OUR_ATTRIBUTES, name) && OUR_ATTRIBUTES[name]!.test(value)
}
