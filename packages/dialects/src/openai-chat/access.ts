import type { ProviderAccess } from "../dialect.js"

/** Azure's servers take the key in a header of their own. */
export const openaiAccess: ProviderAccess = {
  name: "openai",
  origin: "https://api.openai.com",
  baseUrlVariables: { OPENAI_BASE_URL: "/v1", OPENAI_API_BASE: "/v1", OPENAI_HOST: "" },
  version: {
    path: "/v1",
    endpoints:
      /^\/(?:chat|responses|completions|embeddings|models|files|images|audio|moderations|conversations)(?:[/?]|$)/,
  },
  secretHeaders: ["authorization", "api-key", "openai-organization"],
  behaviourHeaders: ["openai-beta"],
  versionHeader: null,
  keyHeaders: ({ OPENAI_API_KEY }) => (OPENAI_API_KEY ? [["authorization", `Bearer ${OPENAI_API_KEY}`]] : []),
}
