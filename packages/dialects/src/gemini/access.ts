import type { ProviderAccess } from "../dialect.js"

export const geminiAccess: ProviderAccess = {
  name: "gemini",
  origin: "https://generativelanguage.googleapis.com",
  baseUrlVariables: { GOOGLE_GEMINI_BASE_URL: "" },
  secretHeaders: ["authorization", "x-goog-api-key"],
  behaviourHeaders: [],
  versionHeader: null,
  keyHeaders: ({ GEMINI_API_KEY }) => (GEMINI_API_KEY ? [["x-goog-api-key", GEMINI_API_KEY]] : []),
}
