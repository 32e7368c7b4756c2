import type { RedactionStatus } from "@orangebox/contract"

const RANK: Record<RedactionStatus, number> = { not_required: 0, redacted: 1, blocked: 2, failed: 3 }

/**
 * What the event as a whole says: the worst that happened to any part of it. `not_required`: nothing had to be taken out. `redacted`: a
 * value was masked, hashed or left out. `blocked`: a body that could not be decoded was not kept. `failed`: a rule broke and its value is gone.
 */
export function worse(a: RedactionStatus, b: RedactionStatus): RedactionStatus {
  return RANK[a] >= RANK[b] ? a : b
}
