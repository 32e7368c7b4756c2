import { cutToWidth, displayWidth, formatCount, recordedWord } from "@orangebox/text"
import type { PromptSegment, PromptView } from "./step-facts.js"

/**
 * `persona(1180) · tool:read_file(300) · user(412)`: what a prompt was made of, in the order in which it was sent. Where most of it was in
 * the prompt before as well, only what is new: `+ user(61) · ~ history(4.8k, +2.2k) · 5 as before`.
 */
export function promptWords(
  prompt: PromptView,
  width: number,
  before?: PromptView,
): { label: string; verdict: string } {
  const budget = prompt.tokenBudget === undefined ? "" : ` of ${formatCount(prompt.tokenBudget)}`
  const excluded = prompt.excluded ? `, ${prompt.excluded} left out` : ""
  return {
    label: `prompt ${(before && newsOf(prompt, before, width)) ?? partsOf(prompt.segments, width)}`,
    verdict: `${formatCount(prompt.total)}${prompt.unit === "tokens" ? budget : ""} ${prompt.unit}${excluded}`,
  }
}

function partsOf(segments: readonly PromptSegment[], width: number): string {
  return fitParts(stretches(segments).map(stretchWords), width)
}

/** Undefined where the two prompts share nothing, or cannot be compared: then all of it is news. */
function newsOf(prompt: PromptView, before: PromptView, width: number): string | undefined {
  if (prompt.unit !== before.unit) return undefined
  const keyOf = ({ kind, contributor }: PromptSegment): string => `${kind} ${contributor}`
  const known = new Map<string, PromptSegment[]>()
  for (const segment of before.segments) {
    const alike = known.get(keyOf(segment))
    if (alike) alike.push(segment)
    else known.set(keyOf(segment), [segment])
  }
  const news: string[] = []
  let same = 0
  const added: PromptSegment[] = []
  for (const segment of prompt.segments) {
    const alike = known.get(keyOf(segment)) ?? []
    const at = alike.findIndex(({ hash }) => hash !== undefined && hash === segment.hash)
    if (at >= 0) {
      alike.splice(at, 1)
      same += 1
    } else if (alike.length === 1 && segment.hash !== undefined) {
      const grown = segment.size - alike.pop()!.size
      news.push(`~ ${nameOf(segment)}(${segment.size}, ${grown < 0 ? "−" : "+"}${Math.abs(grown)})`)
    } else added.push(segment)
  }
  if (same === 0) return undefined
  const gone = [...known.values()].reduce((sum, { length }) => sum + length, 0)
  const parts = [...stretches(added).map((stretch) => `+ ${stretchWords(stretch)}`), ...news]
  const rest = [...(gone > 0 ? [`− ${gone} gone`] : []), `${same} as before`].join(" · ")
  const shown = fitParts(parts, width - displayWidth(rest) - 3)
  return shown === "" ? rest : `${shown} · ${rest}`
}

function fitParts(parts: readonly string[], width: number): string {
  const moreOf = (left: number): string => (left === 0 ? "" : ` · … ${left} more`)
  const kept: string[] = []
  let used = 0
  for (const part of parts) {
    used += displayWidth(part) + 3
    const left = parts.length - kept.length - 1
    if (used - 3 + displayWidth(moreOf(left)) > width && kept.length > 0) break
    kept.push(part)
  }
  const more = moreOf(parts.length - kept.length)
  return cutToWidth(kept.join(" · "), Math.max(1, width - displayWidth(more))) + more
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
  return `${nameOf(segment)}(${size})`
}

function nameOf(segment: PromptSegment): string {
  const words = KIND_WORDS.get(segment.kind)
  if (!words) return recordedWord(segment.contributor, 32)
  if (!words.isNamed) return words.one
  // A contributor that was read off the traffic says its kind itself: `tool:read_file`.
  const kind = `${words.one}:`
  const name = segment.contributor.startsWith(kind) ? segment.contributor.slice(kind.length) : segment.contributor
  return `${kind}${recordedWord(name, 32)}`
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
