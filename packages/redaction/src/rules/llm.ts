import type { Rule } from "../rule.js"
import { hasBothCases, looksDrawn, type Shape, shape } from "./shape.js"

/** Whoever checks only prefix and length cannot tell a row of x from a key, and of these keys rather one too many is masked than too few. */
const modelKey = (id: string, form: Shape): Rule => shape(id, { ...form, takesFiller: true })

/** Keys of model vendors and of the services around them. */
export const LLM_RULES = [
  modelKey("anthropic-key", {
    about: "Anthropic API, admin and OAuth keys",
    keywords: ["sk-ant-"],
    pattern: /sk-ant-(?:(?:api|admin)\d{2}-[\w-]{93}AA|(?:oat|ort|sid)\d{2}-[\w-]{60,200})/,
  }),
  modelKey("openai-key", {
    about: "OpenAI keys of users, projects, service accounts and admins",
    keywords: ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "sk-service-", "sk-user-"],
    pattern: /sk-(?:proj|svcacct|service|admin|user|None)-[\w-]{20,220}/,
  }),
  modelKey("openai-legacy-key", {
    about: "OpenAI keys of the older form, and those of vendors that took it over (DeepSeek, Moonshot, Qwen …)",
    keywords: ["sk-"],
    pattern: /sk-(?:[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48}|[0-9a-f]{32})/,
    accepts: (secret) => /\d/.test(secret),
  }),
  modelKey("openai-session-key", {
    about: "OpenAI session keys",
    keywords: ["sess-"],
    pattern: /sess-[A-Za-z0-9]{40}/,
    accepts: hasBothCases,
  }),
  modelKey("openrouter-key", {
    about: "OpenRouter keys",
    keywords: ["sk-or-"],
    pattern: /sk-or-(?:v\d-)?(?:prov-)?[0-9a-f]{64}/,
  }),
  modelKey("langfuse-key", { about: "Langfuse keys", keywords: ["sk-lf-"], pattern: /sk-lf-[0-9a-f-]{36}/ }),
  modelKey("google-api-key", {
    about: "Google API keys (Gemini, Maps, Firebase)",
    keywords: ["AIza", "AQ.Ab"],
    pattern: /AIza[\w-]{35}(?![\w-])|AQ\.Ab[\w-]{40,60}/,
    accepts: (secret) => hasBothCases(secret) && /\d/.test(secret),
  }),
  modelKey("huggingface-token", {
    about: "Hugging Face tokens of users and organisations",
    keywords: ["hf_", "api_org_"],
    pattern: /(?:hf_|api_org_)[A-Za-z]{34}/,
  }),
  modelKey("llamaindex-key", {
    about: "LlamaCloud keys",
    keywords: ["llx-"],
    pattern: /llx-[\w-]{40,60}/,
  }),
  modelKey("llama-key", {
    about: "Keys of the Llama APIs",
    keywords: ["LLM|", "LL-", "LA-"],
    pattern: /LLM\|\d{8,20}\|[\w-]{20,50}|L[LA]-[A-Za-z0-9]{64}/,
    accepts: (secret) => /\d/.test(secret),
  }),
  modelKey("groq-key", { about: "Groq keys", keywords: ["gsk_"], pattern: /gsk_[A-Za-z0-9]{52}/ }),
  modelKey("perplexity-key", { about: "Perplexity keys", keywords: ["pplx-"], pattern: /pplx-[A-Za-z0-9]{48}/ }),
  modelKey("xai-key", { about: "xAI keys", keywords: ["xai-"], pattern: /xai-\w{70,90}/ }),
  modelKey("replicate-token", { about: "Replicate tokens", keywords: ["r8_"], pattern: /r8_[A-Za-z0-9]{37}/ }),
  modelKey("fireworks-key", {
    about: "Fireworks keys",
    keywords: ["fw_"],
    pattern: /fw_[A-Za-z0-9]{22,24}/,
    accepts: looksDrawn,
  }),
  modelKey("nvidia-key", { about: "NVIDIA API keys", keywords: ["nvapi-"], pattern: /nvapi-[\w-]{60,80}/ }),
  modelKey("firecrawl-key", { about: "Firecrawl keys", keywords: ["fc-"], pattern: /fc-[0-9a-f]{32}/ }),
  modelKey("tavily-key", {
    about: "Tavily keys",
    keywords: ["tvly-"],
    pattern: /tvly-(?:dev-|prod-)?[\w-]{28,80}/,
    accepts: looksDrawn,
  }),
  modelKey("jina-key", { about: "Jina keys", keywords: ["jina_"], pattern: /jina_[0-9a-f]{32}[\w-]{28}/ }),
  modelKey("langsmith-key", {
    about: "LangSmith keys",
    keywords: ["lsv2_", "ls__"],
    pattern: /lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|ls__[0-9a-f]{32}/,
  }),
  modelKey("cerebras-key", { about: "Cerebras keys", keywords: ["csk-"], pattern: /csk-[a-z0-9]{48}/ }),
  modelKey("voyage-key", {
    about: "Voyage keys",
    keywords: ["pa-", "al-"],
    pattern: /(?:pa|al)-[\w-]{43}/,
    accepts: looksDrawn,
  }),
  modelKey("pinecone-key", {
    about: "Pinecone keys",
    keywords: ["pcsk_"],
    pattern: /pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{63}/,
  }),
  modelKey("elevenlabs-key", { about: "ElevenLabs and similar keys", keywords: ["sk_"], pattern: /sk_[0-9a-f]{48}/ }),
  modelKey("weights-and-biases-key", {
    about: "Weights & Biases keys of the newer form",
    keywords: ["wandb_v1_"],
    pattern: /wandb_v1_[A-Za-z0-9_]{60,90}/,
  }),
  modelKey("together-key", {
    about: "Together keys of the newer form",
    keywords: ["tgp_v1_"],
    pattern: /tgp_v1_[\w-]{40,60}/,
  }),
  modelKey("helicone-key", {
    about: "Helicone keys",
    keywords: ["sk-helicone-", "pk-helicone-"],
    pattern: /[sp]k-helicone-(?:[a-z]{2}-)?[a-z0-9-]{24,40}/,
    accepts: (secret) => /\d/.test(secret),
  }),
  modelKey("litellm-key", {
    about: "Keys that LiteLLM proxies give out",
    keywords: ["sk-"],
    pattern: /sk-[\w-]{22}/,
    accepts: looksDrawn,
  }),
  modelKey("cartesia-key", { about: "Cartesia keys", keywords: ["sk_car_"], pattern: /sk_car_[A-Za-z0-9_-]{20,40}/ }),
  modelKey("e2b-key", { about: "E2B keys", keywords: ["e2b_"], pattern: /e2b_[0-9a-f]{40}/ }),
  modelKey("browserbase-key", {
    about: "Browserbase keys",
    keywords: ["bb_live_", "bb_test_"],
    pattern: /bb_(?:live|test)_[\w-]{24,40}/,
  }),
  modelKey("runpod-key", { about: "RunPod keys", keywords: ["rpa_"], pattern: /rpa_[A-Z0-9]{40,50}[a-z0-9]{0,6}/ }),
  modelKey("mem0-key", { about: "Mem0 keys", keywords: ["m0-"], pattern: /m0-[A-Za-z0-9]{40}/ }),
  modelKey("modal-token", {
    about: "Modal tokens",
    keywords: ["ak-", "as-"],
    pattern: /a[ks]-[A-Za-z0-9]{22}/,
    accepts: looksDrawn,
  }),
  modelKey("chroma-key", {
    about: "Chroma Cloud keys",
    keywords: ["ck-"],
    pattern: /ck-[A-Za-z0-9]{44}/,
    accepts: looksDrawn,
  }),
  modelKey("upstage-key", {
    about: "Upstage keys",
    keywords: ["up_"],
    pattern: /up_[A-Za-z0-9]{28}/,
    accepts: looksDrawn,
  }),
  modelKey("cursor-key", { about: "Cursor keys", keywords: ["key_", "crsr_"], pattern: /(?:key|crsr)_[0-9a-f]{64}/ }),
  modelKey("context7-key", { about: "Context7 keys", keywords: ["ctx7sk-"], pattern: /ctx7sk-[0-9a-f-]{36}/ }),
  modelKey("zai-key", {
    about: "Zhipu (Z.ai) keys beside their name",
    keywords: ["zhipu", "bigmodel", "glm_", "zai_"],
    begin: (text, at) => {
      const name = /[\w.-]{3,40}\\{0,7}["']? {0,2}[:=] {0,2}\\{0,7}["']?/y
      name.lastIndex = at
      return name.test(text) ? name.lastIndex : -1
    },
    pattern: /[0-9a-f]{32}\.[A-Za-z0-9]{16}/,
  }),
]
