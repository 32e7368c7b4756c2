import type { JsonNode, readJson } from "@orangebox/contract"
import { type BodyNotes, carriedPieces, newNotes } from "./notes.js"

/**
 * The latest request of each conversation, with what was found out about it. Agents resend their history with every call; who hands a
 * memory to `readBody` pays for what is new. Answers are the same with and without one. It holds prompts as they were sent, a few dozen
 * megabytes of them at most.
 */
export interface RequestMemory {
  /** The remembered body that begins most like this one. */
  find(text: string): Repetition | undefined
  keep(body: RememberedBody, repetition: Repetition | undefined): void
}

export interface RememberedBody {
  readonly text: string
  readonly root: JsonNode
  readonly notes: Map<string, BodyNotes>
}

/** What a new text shares with a remembered body. */
export interface Repetition {
  readonly body: RememberedBody
  readonly head: number
  readonly tail: number
}

const MOST_BODIES = 8
const MOST_CHARACTERS = 8 * 1024 * 1024
// Every request of one harness begins with the same words. Below this there is nothing to gain.
const LEAST_SHARED = 64

export function createRequestMemory(): RequestMemory {
  const bodies: RememberedBody[] = []
  return {
    find(text) {
      let best: { body: RememberedBody; head: number } | undefined
      for (const body of bodies) {
        const head = sharedHead(text, body.text)
        if (head >= Math.max(LEAST_SHARED, best?.head ?? 0)) best = { body, head }
      }
      if (best === undefined) return undefined
      const rest = Math.min(text.length, best.body.text.length) - best.head
      return { ...best, tail: sharedTail(text, best.body.text, rest) }
    },
    keep(body, repetition) {
      // The conversation goes on: its longer history takes the place of the shorter one.
      if (repetition && repetition.head + repetition.tail > repetition.body.text.length / 2) {
        const index = bodies.indexOf(repetition.body)
        if (index >= 0) bodies.splice(index, 1)
      }
      bodies.push(body)
      let characters = bodies.reduce((sum, { text }) => sum + text.length, 0)
      while (bodies.length > MOST_BODIES || characters > MOST_CHARACTERS) characters -= bodies.shift()!.text.length
    },
  }
}

export const earlierReading = ({ body, head, tail }: Repetition): Parameters<typeof readJson>[1] => ({
  node: body.root,
  length: body.text.length,
  head,
  tail,
})

export function carriedNotes(text: string, { body, head, tail }: Repetition): Map<string, BodyNotes> {
  const lengths = { head, tail, oldLength: body.text.length, newLength: text.length }
  return new Map(
    [...body.notes].map(([dialect, { pieces }]) => [dialect, newNotes(text, carriedPieces(pieces, lengths))]),
  )
}

/** How many characters two texts have in common at the beginning. */
function sharedHead(a: string, b: string): number {
  return longest(Math.min(a.length, b.length), (from, to) => a.slice(from, to) === b.slice(from, to))
}

/** And at the end, looking at no more than `most` characters. */
function sharedTail(a: string, b: string, most: number): number {
  const { length: ends } = a
  const { length: stops } = b
  return longest(most, (from, to) => a.slice(ends - to, ends - from) === b.slice(stops - to, stops - from))
}

// The engine compares slices many times faster than a loop here compares characters; each one is compared about once.
function longest(most: number, isSame: (from: number, to: number) => boolean): number {
  let same = 0
  let limit = most
  for (let size = FIRST_STEP; same < limit; size *= 4) {
    const to = Math.min(same + size, most)
    if (!isSame(same, to)) limit = to
    else same = to
    if (limit < most || to === most) break
  }
  while (same < limit) {
    const middle = (same + limit + 1) >> 1
    if (isSame(same, middle)) same = middle
    else limit = middle - 1
  }
  return same
}

const FIRST_STEP = 1024
