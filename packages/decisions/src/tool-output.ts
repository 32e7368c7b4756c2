import { asRecord, type LoosePayload, recordsIn, textIn } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"

/** The text a tool gave, taken out of the envelopes results come in: an object with stdout and stderr, MCP content, a JSON string. */
export function outputTextOf(result: string): string {
  if (!/^\s*[{["]/.test(result)) return result
  const value = parseJson(result)
  if (typeof value === "string") return value
  if (Array.isArray(value)) return textsOf({ content: value }) ?? result
  const record = asRecord(value)
  if (!record) return result
  const streams = ["output", "stdout", "stderr"].flatMap((name) => textIn(record, name) ?? [])
  return streams.length > 0 ? streams.join("\n") : (textsOf(record) ?? textIn(record, "result") ?? result)
}

function textsOf(record: { readonly content?: unknown }): string | undefined {
  const texts = recordsIn(record as { readonly [name: string]: unknown }, "content").flatMap(
    (part) => textIn(part, "text") ?? [],
  )
  return texts.length > 0 ? texts.join("\n") : undefined
}

/**
 * The exit code of a command, out of what the tool told the model: every agent has its own words for it. Null when none of them is there,
 * because a tool that succeeded in running a command says nothing about how the command ended.
 */
export function exitCodeIn(resultText: string): number | null {
  const json = /^\s*\{/.test(resultText) ? asRecord(parseJson(resultText)) : undefined
  const stated = json && (codeIn(json) ?? codeIn(asRecord(json["metadata"])))
  if (stated !== undefined) return stated
  for (const pattern of PATTERNS) {
    const found = pattern.exec(resultText.length > 2 * EDGE ? edgesOf(resultText) : resultText)
    if (found) return Number(found[1])
  }
  return null
}

// Harnesses put the code before or after the output. What stands in the middle is the command's own text, and may say anything.
const EDGE = 2_000
const edgesOf = (text: string): string => `${text.slice(0, EDGE)}\n${text.slice(-EDGE)}`

const PATTERNS: readonly RegExp[] = [
  // Claude Code, Codex, Roo Code, Cursor, Gemini CLI
  /^(?:.*\. )?Exit code:? (-?\d{1,10})\b/im,
  /^Process exited with code (-?\d{1,10})\b/m,
  // OpenHands, older and newer
  /\[(?:The )?[Cc]ommand (?:completed|finished) with exit code (-?\d{1,10})\.?\]/,
  // Cline, pi, Copilot, goose
  /^Command (?:failed|exited|completed|executed)[^\n]{0,60}? (?:with )?(?:exit )?(?:code|status) (-?\d{1,10})\b/im,
  /<exited with (?:exit )?code (-?\d{1,10})>/i,
  /<returncode>(-?\d{1,10})<\/returncode>/,
]

function codeIn(record: LoosePayload | undefined): number | undefined {
  if (!record) return undefined
  // A bare `code` or `status` is an exit code only beside what a command prints; elsewhere it is anybody's.
  const isCommand = ["stdout", "stderr", "output"].some((name) => typeof record[name] === "string")
  for (const name of isCommand ? [...CODES, "exit", "code", "status"] : CODES) {
    const value = record[name]
    if (typeof value === "number" && Number.isInteger(value)) return value
  }
  return undefined
}

const CODES = ["exit_code", "exitCode", "returncode", "return_code"]
