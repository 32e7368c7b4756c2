/** A program that writes requests in a way of its own, told by what it sends. */
export interface Client {
  /** As masks name it. */
  readonly name: string
  readonly userAgent?: RegExp
  /** How its system prompt begins, where it leaves the user agent to a library. */
  readonly systemPrompt?: RegExp
}

/**
 * Something a client writes anew in every run, though it asks the same: an id it makes up, the time, the order in which tools came back. Such
 * a mask covers one kind of value in one place of one client's requests, and nothing a person or a model wrote.
 */
export interface ClientMask {
  readonly client: Client
  readonly covers: string
  /** The day on which two runs of the client were seen to differ in it, and the client's version then. */
  readonly seen: string
  readonly version: string
  /** The place in the canonical request, where `*` stands for any one part; or every text that a tool gave back. */
  readonly at: readonly string[] | "tool results"
  /** Only in texts like this. */
  readonly within?: RegExp
  /** Every match in a text, a whole value, or the order of the tool results in a list. */
  readonly takes: RegExp | "value" | "result order"
}

const CLAUDE_CODE: Client = { name: "claude-code", userAgent: /^claude-cli\// }
const CODEX: Client = { name: "codex", userAgent: /^codex[_-]/ }
const GEMINI_CLI: Client = { name: "gemini-cli", userAgent: /^GeminiCLI\b/ }
const OPENCODE: Client = { name: "opencode", userAgent: /^opencode\// }
const PI: Client = { name: "pi", systemPrompt: /^You are an expert coding assistant operating inside pi\b/ }

const claudeCode = { client: CLAUDE_CODE, seen: "2026-11-18", version: "2.1.326" }
const codex = { client: CODEX, seen: "2026-11-18", version: "0.169.0" }
const geminiCli = { client: GEMINI_CLI, seen: "2026-11-18", version: "0.61.0" }
const opencode = { client: OPENCODE, seen: "2026-11-18", version: "1.18.33" }
const pi = { client: PI, seen: "2026-11-18", version: "0.74.2" }

const CODEX_NOTES = ["input", "*", "internal_chat_message_metadata_passthrough"]
const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
const PI_DATE = /(?<=^Current date: )\d{4}-\d\d-\d\d$/m

export const CLIENT_MASKS: readonly ClientMask[] = [
  {
    ...claudeCode,
    covers: "date",
    at: ["messages", "*", "content", "*", "text"],
    within: /^<system-reminder>\n/,
    takes: /(?<=^# currentDate\nToday's date is )\d{4}-\d\d-\d\d(?=\.$)/m,
  },
  {
    ...claudeCode,
    covers: "recent-commits",
    at: ["system", "*", "text"],
    within: /^gitStatus: /m,
    takes: /(?<=^Recent commits:\n)(?:[0-9a-f]{7,40} [^\n]*(?:\n|$))+/m,
  },
  { ...claudeCode, covers: "result-order", at: ["messages", "*", "content"], takes: "result order" },
  { ...codex, covers: "item-ids", at: ["input", "*", "id"], takes: new RegExp(`^[a-z]+_${UUID}$`) },
  { ...codex, covers: "turn-ids", at: [...CODEX_NOTES, "turn_id"], takes: "value" },
  { ...codex, covers: "item-times", at: [...CODEX_NOTES, "create_time"], takes: "value" },
  {
    ...codex,
    covers: "date",
    at: ["input", "*", "content", "*", "text"],
    within: /^<environment_context>\n/,
    takes: /(?<=<current_date>)\d{4}-\d\d-\d\d(?=<\/current_date>)/,
  },
  {
    ...codex,
    covers: "wall-times",
    at: "tool results",
    within: /^Script (?:completed|failed)\n/,
    takes: /(?<=^Script (?:completed|failed)\nWall time )\d+(?:\.\d+)?(?= seconds\nOutput:\n)/,
  },
  {
    ...geminiCli,
    covers: "date",
    at: ["contents", "*", "parts", "*", "text"],
    within: /^<session_context>\n/,
    takes: /(?<=^Today's date is )[^\n]+(?= \(formatted according to the user's locale\)\.$)/m,
  },
  {
    ...geminiCli,
    covers: "process-group",
    at: "tool results",
    within: /^(?:<untrusted_context>\n)?(?:Command|Output): /,
    takes: /(?<=\nProcess Group PGID: )\d+(?=(?:\n<\/untrusted_context>)?$)/,
  },
  {
    ...opencode,
    covers: "date",
    at: ["system", "*", "text"],
    within: /^<env>$/m,
    takes: /(?<=^ {2}Today's date: )[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4}$/m,
  },
  ...[
    ["system", "*", "text"],
    ["messages", "*", "content"],
    ["input", "*", "content"],
    ["systemInstruction", "parts", "*", "text"],
  ].map((at) => ({ ...pi, covers: "date", at, within: PI.systemPrompt!, takes: PI_DATE })),
]

/** As reports and certificates name it: with its day, for the table goes on growing. */
export const clientMaskId = ({ client, covers, seen }: ClientMask): string => `${client.name}.${covers}@${seen}`
