import { shellWord } from "@orangebox/text"

/** A client many people run, and what it takes to lead it through a recording proxy. Each was tried; `docs/recording-agents.md` says with which version. */
export interface KnownClient {
  readonly name: string
  /** Names of the program, and of the packages and modules it comes in. */
  readonly startedAs: readonly string[]
  /** What its user has to do before its calls can be recorded; nothing where the variables alone are enough. */
  readonly recipe?: Recipe
  /** Where it looks for its address before the variables. */
  readonly elsewhere: string
}

export interface Recipe {
  /** What to do, as lines to paste. */
  lines(start: readonly string[], args: readonly string[]): readonly string[]
  /** It is done already: by a word of the command line, or by what a file in the home folder says. */
  readonly doneBy: { readonly argument: RegExp } | { readonly file: string; readonly saying: RegExp }
}

const words = (list: readonly string[]): string => list.map(shellWord).join(" ")

/** A command with the value of a variable in it, which only exists inside the recording. */
const throughShell = (script: string, args: readonly string[], options = ""): string =>
  `  orangebox run ${options}-- sh -c ${shellWord(script)} sh ${args.length > 0 ? words(args) : "…"}`

const codexWith = (start: readonly string[], variable: string): string =>
  `exec ${words(start)} -c openai_base_url="$${variable}" "$@"`

const PI_EXTENSION =
  'export default (pi) => { const at = process.env; if (!at.ORANGEBOX_PROXY) return; pi.registerProvider("anthropic", { baseUrl: at.ANTHROPIC_BASE_URL }); pi.registerProvider("openai", { baseUrl: at.OPENAI_BASE_URL }); pi.registerProvider("google", { baseUrl: at.GEMINI_API_BASE }) }'

export const KNOWN_CLIENTS: readonly KnownClient[] = [
  {
    name: "Claude Code",
    startedAs: ["claude", "@anthropic-ai/claude-code"],
    elsewhere: "env.ANTHROPIC_BASE_URL in one of its settings.json files wins over the environment",
  },
  {
    name: "Codex",
    startedAs: ["codex", "@openai/codex"],
    recipe: {
      lines: (start, args) => [
        "Codex does not read OPENAI_BASE_URL. With an API key, start it so:",
        throughShell(codexWith(start, "OPENAI_BASE_URL"), args),
        "With a ChatGPT login, so:",
        throughShell(
          codexWith(start, "CODEX_BASE_URL"),
          args,
          "--variable CODEX_BASE_URL=https://chatgpt.com/backend-api/codex ",
        ),
      ],
      doneBy: { argument: /openai_base_url|model_providers\./ },
    },
    elsewhere: "its config.toml may name another model provider with a base_url of its own",
  },
  {
    name: "Gemini CLI",
    startedAs: ["gemini", "@google/gemini-cli"],
    recipe: {
      lines: () => [
        "Gemini CLI takes a base URL for another way to log in, unless its settings name one. In ~/.gemini/settings.json, for an API key:",
        '  { "security": { "auth": { "selectedType": "gemini-api-key" } } }',
      ],
      doneBy: { file: ".gemini/settings.json", saying: /"selectedType"\s*:/ },
    },
    elsewhere: "Vertex AI has a variable of its own: --variable GOOGLE_VERTEX_BASE_URL=https://…",
  },
  {
    name: "opencode",
    startedAs: ["opencode", "opencode-ai"],
    elsewhere:
      "provider.<name>.options.baseURL in opencode.json wins, and its hosted models have addresses of their own",
  },
  {
    name: "pi",
    startedAs: ["pi", "@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"],
    recipe: {
      lines: () => [
        "pi has its addresses in its model list. An extension that changes them while recording, once for all:",
        `  mkdir -p ~/.pi/agent/extensions && echo ${shellWord(PI_EXTENSION)} > ~/.pi/agent/extensions/orangebox.js`,
      ],
      doneBy: { file: ".pi/agent/extensions/orangebox.js", saying: /ORANGEBOX_PROXY/ },
    },
    elsewhere:
      "models.json in ~/.pi/agent may hold a baseUrl, and providers beside Anthropic, OpenAI and Google have their own",
  },
  {
    name: "aider",
    startedAs: ["aider", "aider-chat"],
    elsewhere: ".aider.conf.yml, .env or --openai-api-base may name another address",
  },
  {
    name: "mini-swe-agent",
    startedAs: ["mini", "mini-swe-agent", "mini-extra", "minisweagent"],
    elsewhere:
      "model_kwargs.api_base in its configuration, or the .env of its configuration folder, may name another address",
  },
]
