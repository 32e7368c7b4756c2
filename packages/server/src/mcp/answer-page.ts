import { textHash } from "@orangebox/contract"
import { fenceAround, mostTokens } from "@orangebox/text"

/** What is asked for with every tool. */
export interface PageAsked {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly budget: number
  readonly cursor: string | undefined
  /** The answer has its fence already. */
  readonly isFenced: boolean
}

/** A cursor that cannot be read on from: `what` says why. */
export class StaleCursor extends Error {}

/** What stands around an answer: two lines of fence and the one that tells how to read on. */
export const FRAME_TOKENS = 90

/**
 * As many lines of an answer as the budget holds, in a fence, and a cursor for the rest. Nothing that was recorded stands outside the fence,
 * because nothing of the answer does: what is said outside is ours.
 */
export function answerPage(answer: string, { tool, args, budget, cursor, isFenced }: PageAsked, nonce: string): string {
  if (isFenced && mostTokens(answer) <= budget) return answer
  const digest = digestOf(tool, args, answer)
  const lines = cutLines(answer, budget - FRAME_TOKENS)
  const from = cursor === undefined ? 0 : positionOf(cursor, digest, lines.length)
  let left = budget - FRAME_TOKENS
  let to = from
  while (to < lines.length) {
    left -= mostTokens(lines[to]!) + 1
    if (left < 0 && to > from) break
    to += 1
  }
  const page = fenceAround(lines.slice(from, to).join("\n"), nonce)
  if (from === 0 && to === lines.length) return page
  const more = to < lines.length ? `; the rest: cursor ${JSON.stringify(cursorOf(digest, to))}` : ""
  return `${page}\nlines ${from + 1}–${to} of ${lines.length}${more}`
}

/** A line longer than a page is cut into pieces that a page holds; nothing is left out. */
function cutLines(answer: string, most: number): string[] {
  return answer.split("\n").flatMap((line) => (mostTokens(line) <= most ? [line] : piecesOf(line, most)))
}

/** No character costs more than two tokens, so a piece of half as many characters fits. */
const piecesOf = (line: string, most: number): string[] =>
  line.match(new RegExp(`.{1,${Math.floor(most / 2)}}`, "gsu")) ?? [line]

/** Of what was asked and what it came to: a page is read on only from the same answer. */
function digestOf(tool: string, args: PageAsked["args"], answer: string): string {
  const asked = JSON.stringify(Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1)))
  return textHash([tool, asked, answer].join("\0")).slice("sha256:".length, 23)
}

const cursorOf = (digest: string, position: number): string => `${digest}.${position}`

function positionOf(cursor: string, digest: string, total: number): number {
  const [, before, position] = /^([0-9a-f]{16})\.(\d{1,9})$/.exec(cursor) ?? []
  if (before === undefined) throw new StaleCursor("this is no cursor of an answer")
  if (before !== digest || Number(position) >= total)
    throw new StaleCursor("it belongs to another question, or the answer is another one by now")
  return Number(position)
}
