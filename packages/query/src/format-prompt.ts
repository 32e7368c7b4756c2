import { displayWidth, formatCount, plural, recordedWord } from "@orangebox/text"
import { pairSegments } from "./pair-segments.js"
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
  const { added, removed, kept } = pairSegments(before.segments, prompt.segments, !prompt.isInferred)
  const isSame = ({ item, before }: (typeof kept)[number]): boolean => item.hash === before.hash
  const same = kept.filter(isSame).length
  if (same === 0) return undefined
  const changed = kept
    .filter((pair) => !isSame(pair))
    .map(({ item, before }) => {
      const grown = item.size - before.size
      return `~ ${nameOf(item)}(${item.size}, ${grown < 0 ? "−" : "+"}${Math.abs(grown)})`
    })
  const parts = [...stretches(added).map((stretch) => `+ ${stretchWords(stretch)}`), ...changed]
  const gone = removed.length === 0 ? [] : [`− ${removed.length} gone`]
  const rest = [...gone, `${same} as before`].join(" · ")
  const shown = fitParts(parts, width - displayWidth(rest) - 3)
  return shown === "" ? rest : `${shown} · ${rest}`
}

/** As many parts as fit, and how many do not. */
function fitParts(parts: readonly string[], width: number): string {
  const moreOf = (kept: number): string[] => {
    const left = parts.length - kept
    return left === 0 ? [] : [kept === 0 ? plural(left, "part") : `… ${left} more`]
  }
  const shownOf = (kept: number): string => [...parts.slice(0, kept), ...moreOf(kept)].join(" · ")
  let kept = parts.length
  while (kept > 0 && displayWidth(shownOf(kept)) > width) kept--
  return shownOf(kept)
}

/** From this many neighbours of one kind on, they are shown as one: twelve tool definitions are `tools×12`. */
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
