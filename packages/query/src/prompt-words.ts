import { cutToWidth, displayWidth, formatCount, recordedWord } from "@orangebox/text"
import type { PromptSegment, PromptView } from "./step-facts.js"

/** `persona(1180) · tool:read_file(300) · user(412)`: what a prompt was made of, in the order in which it was sent. */
export function promptWords(prompt: PromptView, width: number): { label: string; verdict: string } {
  const parts = stretches(prompt.segments).map(stretchWords)
  const kept: string[] = []
  let used = 0
  for (const part of parts) {
    used += displayWidth(part) + 3
    if (used > width && kept.length > 0) break
    kept.push(part)
  }
  const left = parts.length - kept.length
  const more = left === 0 ? "" : ` · … ${left} of ${parts.length} more`
  const budget = prompt.tokenBudget === undefined ? "" : ` of ${formatCount(prompt.tokenBudget)}`
  const excluded = prompt.excluded ? `, ${prompt.excluded} left out` : ""
  return {
    label: `prompt ${cutToWidth(kept.join(" · "), width)}${more}`,
    verdict: `${formatCount(prompt.total)}${prompt.unit === "tokens" ? budget : ""} ${prompt.unit}${excluded}`,
  }
}

/** From this many neighbours of one kind on, they are told as one: twelve tool definitions are `tools×12`. */
const TOO_MANY = 4

interface Stretch {
  readonly segment: PromptSegment
  count: number
  size: number
}

function stretches(segments: readonly PromptSegment[]): Stretch[] {
  const runs: PromptSegment[][] = []
  for (const segment of segments) {
    const run = runs.at(-1)
    if (run?.[0]?.kind === segment.kind) run.push(segment)
    else runs.push([segment])
  }
  return runs.flatMap((run) =>
    run.length < TOO_MANY
      ? run.map((segment) => ({ segment, count: 1, size: segment.size }))
      : [{ segment: run[0]!, count: run.length, size: run.reduce((sum, { size }) => sum + size, 0) }],
  )
}

function stretchWords({ segment, count, size }: Stretch): string {
  const words = KIND_WORDS.get(segment.kind)
  if (count > 1) return `${words?.many ?? recordedWord(segment.kind, 24)}×${count}(${size})`
  if (!words) return `${recordedWord(segment.contributor, 32)}(${size})`
  if (!words.isNamed) return `${words.one}(${size})`
  // A contributor that was read off the traffic says its kind itself: `tool:read_file`.
  const kind = `${words.one}:`
  const name = segment.contributor.startsWith(kind) ? segment.contributor.slice(kind.length) : segment.contributor
  return `${kind}${recordedWord(name, 32)}(${size})`
}

/** How a segment's kind is said; the named ones are told apart by their contributor. */
const KIND_WORDS: ReadonlyMap<string, { one: string; many: string; isNamed: boolean }> = new Map([
  ["persona", { one: "persona", many: "personas", isNamed: false }],
  ["tool-def", { one: "tool", many: "tools", isNamed: true }],
  ["skill", { one: "skill", many: "skills", isNamed: true }],
  ["agent-profile", { one: "agent", many: "agents", isNamed: true }],
  ["history", { one: "history", many: "history", isNamed: false }],
  ["user-msg", { one: "user", many: "user", isNamed: false }],
])
