import type { PlannedVariable } from "./client-variables.js"
import type { SupervisedFacts } from "./proxy-supervisor.js"

const CODEX_HINT =
  "codex does not read OPENAI_BASE_URL. Give it the address of this recording: " +
  `orangebox run -- sh -c 'codex -c openai_base_url="$OPENAI_BASE_URL" "$@"' codex …`

/** What users of a certain command should know before it runs. */
export function hintsFor(command: string): string[] {
  return command === "codex" ? [CODEX_HINT] : []
}

/** Why a recording is empty, as far as it can be known from here. Null when it is not empty. */
export function whyNothing(
  command: string,
  { stats, isRecording }: Pick<SupervisedFacts, "stats" | "isRecording">,
  variables: readonly PlannedVariable[],
): string | null {
  if (stats.modelCalls > 0) return null
  if (!isRecording)
    return "recording is off: the setting `enabled`, the variable ORANGEBOX, or a data folder that cannot be written"
  if (stats.linkedCalls > 0) return null
  if (stats.unrecorded > 0) return `${stats.unrecorded} request(s) passed, but none could be recorded`
  if (stats.otherRequests > 0) return `${stats.otherRequests} request(s) passed, none of them a call to a model`
  if (stats.refused > 0) return `${stats.refused} request(s) reached the proxy without a path it forwards`
  const names = variables.map(({ name }) => name).join(", ")
  const known = KNOWN_REASONS[command]
  return `${command} made no request through the proxy. It was given these variables: ${names}. ${known ?? GENERAL_REASON}`
}

const GENERAL_REASON =
  "Either it called no model, or it takes its address from somewhere else: a settings file, a flag, a base URL in its code. " +
  "Name another variable it reads, or write the address of the proxy where it looks"

const KNOWN_REASONS: Readonly<Record<string, string>> = {
  codex: CODEX_HINT,
  claude: "A settings file (env.ANTHROPIC_BASE_URL in settings.json) overrides the environment; look there first",
  gemini: "Some ways to log in ignore GOOGLE_GEMINI_BASE_URL; use an API key",
}
