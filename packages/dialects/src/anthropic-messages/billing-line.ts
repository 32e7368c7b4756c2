const BILLING_LINE = /^x-anthropic-billing-header:[^\n]*(?:\n|$)/gm

/** Claude Code signs each request with a line of its own in the system prompt; it is different every time and means nothing to the model. */
export function withoutBillingLine(system: string): string {
  return system.includes("x-anthropic-billing-header:") ? system.replace(BILLING_LINE, "") : system
}
