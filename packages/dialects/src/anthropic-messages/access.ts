import type { ProviderAccess } from "../dialect.js"

export const anthropicAccess: ProviderAccess = {
  name: "anthropic",
  origin: "https://api.anthropic.com",
  baseUrlVariables: { ANTHROPIC_BASE_URL: "", ANTHROPIC_HOST: "" },
  secretHeaders: ["authorization", "x-api-key"],
  behaviourHeaders: ["anthropic-beta", "anthropic-version"],
  versionHeader: "anthropic-version",
  keyHeaders({ ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN }) {
    if (ANTHROPIC_API_KEY) return [["x-api-key", ANTHROPIC_API_KEY]]
    return ANTHROPIC_AUTH_TOKEN ? [["authorization", `Bearer ${ANTHROPIC_AUTH_TOKEN}`]] : []
  },
}
