import { cutToTokens, estimateTokens, plural, recordedText, recordedWord } from "@orangebox/text"
import { DEFAULT_DIFF_BUDGET, MIN_DIFF_BUDGET } from "../diff/diff-text.js"
import { payloadLines, pointerWord } from "../diff/format-item.js"
import type { CacheMarkAt, SpellingChange } from "./compare-bodies.js"
import type { BodySide, ComparedBody, ExactDiff, ExactFact } from "./exact-diff.js"

export interface ExactTextOptions {
  /** How both sides are called, in our words: `run_…#3 model claude-x`. */
  readonly words: { readonly a: string; readonly b: string }
  /** Every place where the same value is written otherwise, and no limit. Default: the first three, within a budget. */
  readonly exact?: boolean
  readonly budget?: number
  /** The command that reads on; always the last line. */
  readonly next?: string | undefined
}

const WIDTH = 72
const FEW = 3

/** Two steps or bodies for a reader who pays by the token. Recorded text is a bare word or in double quotes; everything else is ours. */
export function exactText(diff: ExactDiff, { words, exact = false, budget, next }: ExactTextOptions): string {
  const lines = [
    `diff ${diff.compared}: ${VERDICTS[diff.verdict]}`,
    `a ${words.a}`,
    `b ${words.b}`,
    ...diff.facts.map(({ name, a, b }) => `${name}: ${factWord(a)} -> ${factWord(b)}`),
    ...diff.bodies.flatMap((body) => bodyLines(body, exact)),
  ]
  const last = next === undefined ? [] : [`next: ${next}`]
  if (exact && budget === undefined) return [...lines, ...last].join("\n")
  const most = Math.max(budget ?? DEFAULT_DIFF_BUDGET, MIN_DIFF_BUDGET)
  const more = (left: number): string => `${plural(left, "line")} left out (--exact shows all, --budget more)`
  let left = most - [...last, more(lines.length)].reduce((cost, line) => cost + estimateTokens(line) + 1, 0)
  const shown: string[] = []
  for (const line of lines) {
    const text = cutToTokens(line, Math.floor(most / 4), estimateTokens)
    left -= estimateTokens(text) + 1
    if (left < 0) break
    shown.push(text)
  }
  const leftOut = lines.length - shown.length
  return [...shown, ...(leftOut > 0 ? [more(leftOut)] : []), ...last].join("\n")
}

const VERDICTS: Readonly<Record<ExactDiff["verdict"], string>> = {
  same: "the same, byte for byte",
  noise: "the same value in other bytes",
  differs: "different",
  unknown: "unknown: bytes are not there, and the hashes differ",
}

const factWord = (fact: ExactFact): string =>
  fact === null ? "none" : typeof fact === "number" ? String(fact) : recordedWord(fact, 60)

function bodyLines(body: ComparedBody, isExact: boolean): string[] {
  const { role, a, b, verdict, first_difference: first, marks, spelling } = body
  if (!a || !b) return [`${role}: ${a ? "only in a" : "only in b"}, ${sideWords((a ?? b)!)}`]
  if (verdict === "same") return [`${role}: the same ${sideWords(a)}`]
  const from = first === null ? "" : ` · from byte ${first.byte}${first.ptr ? ` in ${pointerWord(first.ptr)}` : ""}`
  const what = verdict === "noise" ? " · the same value" : ""
  const lines = [`${role}: ${sideWords(a)} -> ${sideWords(b)}${what}${from}`]
  // A change inside a long text is shown word by word, which says little without what stands around it.
  if (first?.a != null && first.b != null && body.changes.some(({ text }) => text !== null))
    lines.push(`  there: ${recordedText(first.a, WIDTH)} -> ${recordedText(first.b, WIDTH)}`)
  const { changes: ops, more } = body
  for (const line of payloadLines(
    { what: "input", form: "json", inherits: [], absent: null, ops: [...ops], more },
    WIDTH,
  ))
    lines.push(`  ${line.replace(/^input:? ?/, "") || "all of it"}`)
  if (marks) lines.push(`  cache marks: ${markWords(marks.a, marks.b)} -> ${markWords(marks.b, marks.a)}`)
  const listed = isExact ? spelling : spelling.slice(0, FEW)
  lines.push(...listed.map((change) => `  ${spellingWords(change)}`))
  const rest = spelling.length - listed.length + body.more_spelling
  if (rest > 0) lines.push(`  ${rest} more of these${isExact ? "" : " (--exact)"}`)
  return lines
}

function sideWords({ hash, bytes, absent, is_partial }: BodySide): string {
  const size = bytes === null ? "? bytes" : plural(bytes, "byte")
  const why = absent === null ? "" : `, ${absent.replaceAll("_", " ")}`
  return `${size}${is_partial ? " so far" : ""}${why}${hash === null ? "" : ` ${hash.slice(0, 17)}`}`
}

/** Where they stand; what they say only where a mark of the other side stands in the same place. */
function markWords(marks: readonly CacheMarkAt[], others: readonly CacheMarkAt[]): string {
  if (marks.length === 0) return "none"
  const taken = new Set(others.map(({ ptr }) => ptr))
  return marks
    .map(
      ({ ptr, mark }) =>
        `${pointerWord(ptr === "" ? "/" : ptr)}${taken.has(ptr) ? ` ${recordedText(mark, WIDTH)}` : ""}`,
    )
    .join(", ")
}

function spellingWords({ kind, ptr, a, b }: SpellingChange): string {
  const place = ptr === "" ? "at the top" : pointerWord(ptr)
  switch (kind) {
    case "key_order":
      return `key order ${place}: ${recordedText(a ?? "", WIDTH)} -> ${recordedText(b ?? "", WIDTH)}`
    case "item_order":
      return `item order ${place} -> ${pointerWord(b ?? "")}`
    case "spelling":
      return `spelling ${place}: ${recordedText(a ?? "", WIDTH)} -> ${recordedText(b ?? "", WIDTH)}`
    case "spacing":
      return "spacing between values"
  }
}
