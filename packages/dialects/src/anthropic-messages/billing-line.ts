// Nothing but `name=value` pairs: a line that says more than that is text the model reads, whatever it begins with.
const BILLING_LINE =
  /^x-anthropic-billing-header:(?:[ \t]*[A-Za-z_]\w{0,31}=[\w.+:/-]{0,63}(?:;|(?=\n|$)))*[ \t]*(?:\n|$)/gm

/** Claude Code signs each request with a line of its own in the system prompt; it is different every time and means nothing to the model. */
export function withoutBillingLine(system: string): string {
  return system.includes("x-anthropic-billing-header:") ? system.replace(BILLING_LINE, "") : system
}
