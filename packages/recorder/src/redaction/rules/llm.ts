import { shape } from "./shape.js"

/** Keys of model vendors and of the services around them. */
export const LLM_RULES = [
  shape("anthropic-key", {
    about: "Anthropic API, admin and OAuth keys",
    keywords: ["sk-ant-"],
    pattern: /sk-ant-(?:(?:api|admin)\d{2}-[\w-]{93}AA|(?:oat|ort|sid)\d{2}-[\w-]{60,200})/,
  }),
  shape("openai-key", {
    about: "OpenAI keys of users, projects, service accounts and admins",
    keywords: ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"],
    pattern: /sk-(?:proj|svcacct|admin|None)-[\w-]{20,220}/,
  }),
  shape("openai-legacy-key", {
    about: "OpenAI keys of the older form, and those of vendors that took it over (DeepSeek, Moonshot, Qwen …)",
    keywords: ["sk-"],
    pattern: /sk-(?:[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|[A-Za-z0-9]{48}|[0-9a-f]{32})/,
  }),
  shape("openrouter-key", { about: "OpenRouter keys", keywords: ["sk-or-"], pattern: /sk-or-(?:v\d-)?[0-9a-f]{64}/ }),
  shape("langfuse-key", { about: "Langfuse keys", keywords: ["sk-lf-"], pattern: /sk-lf-[0-9a-f-]{36}/ }),
  shape("google-api-key", {
    about: "Google API keys (Gemini, Maps, Firebase)",
    keywords: ["AIzaSy"],
    pattern: /AIzaSy[\w-]{33}/,
  }),
  shape("huggingface-token", {
    about: "Hugging Face tokens of users and organisations",
    keywords: ["hf_", "api_org_"],
    pattern: /(?:hf_|api_org_)[A-Za-z]{34}/,
  }),
  shape("llamaindex-key", {
    about: "LlamaCloud keys",
    keywords: ["llx-"],
    pattern: /llx-[A-Za-z0-9]{40,60}/,
  }),
  shape("llama-key", {
    about: "Keys of the Llama APIs",
    keywords: ["LLM|", "LL-", "LA-"],
    pattern: /LLM\|\d{8,20}\|[\w-]{20,50}|L[LA]-[A-Za-z0-9]{64}/,
  }),
  shape("groq-key", { about: "Groq keys", keywords: ["gsk_"], pattern: /gsk_[A-Za-z0-9]{52}/ }),
  shape("perplexity-key", { about: "Perplexity keys", keywords: ["pplx-"], pattern: /pplx-[A-Za-z0-9]{48}/ }),
  shape("xai-key", { about: "xAI keys", keywords: ["xai-"], pattern: /xai-[A-Za-z0-9]{70,90}/ }),
  shape("replicate-token", { about: "Replicate tokens", keywords: ["r8_"], pattern: /r8_[A-Za-z0-9]{37}/ }),
  shape("fireworks-key", { about: "Fireworks keys", keywords: ["fw_"], pattern: /fw_[A-Za-z0-9]{22,24}/ }),
  shape("nvidia-key", { about: "NVIDIA API keys", keywords: ["nvapi-"], pattern: /nvapi-[\w-]{60,80}/ }),
  shape("firecrawl-key", { about: "Firecrawl keys", keywords: ["fc-"], pattern: /fc-[0-9a-f]{32}/ }),
  shape("tavily-key", { about: "Tavily keys", keywords: ["tvly-"], pattern: /tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}/ }),
  shape("jina-key", { about: "Jina keys", keywords: ["jina_"], pattern: /jina_[0-9a-f]{32}[A-Za-z0-9_-]{28}/ }),
  shape("langsmith-key", {
    about: "LangSmith keys",
    keywords: ["lsv2_"],
    pattern: /lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}/,
  }),
  shape("cerebras-key", { about: "Cerebras keys", keywords: ["csk-"], pattern: /csk-[a-z0-9]{48}/ }),
  shape("voyage-key", { about: "Voyage keys", keywords: ["pa-"], pattern: /pa-[A-Za-z0-9_-]{43}/ }),
  shape("pinecone-key", {
    about: "Pinecone keys",
    keywords: ["pcsk_"],
    pattern: /pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{63}/,
  }),
  shape("elevenlabs-key", { about: "ElevenLabs and similar keys", keywords: ["sk_"], pattern: /sk_[0-9a-f]{48}/ }),
  shape("weights-and-biases-key", {
    about: "Weights & Biases keys of the newer form",
    keywords: ["wandb_v1_"],
    pattern: /wandb_v1_[A-Za-z0-9_]{60,90}/,
  }),
]
