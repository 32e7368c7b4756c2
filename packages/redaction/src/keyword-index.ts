import type { Rule } from "./rule.js"

/**
 * Finds every keyword of every rule in one pass.
 *
 * Each keyword is known by three of its letters, the rarest, which were chosen when the rules were written out. The pass keeps the last three characters as a 15-bit number, five bits each, and looks it
 * up in a table that fits the processor's first cache; only where the table says so is anything compared. Text without keywords costs one
 * lookup per character, whatever the number of rules.
 */
export class KeywordIndex {
  readonly #mayEnd: Uint8Array
  readonly #entries: (Entry[] | undefined)[]

  /** @param more a smaller index, whose rules this one has too */
  constructor(rules: readonly Rule[], more?: KeywordIndex) {
    this.#mayEnd = more === undefined ? new Uint8Array(1 << 15) : more.#mayEnd.slice()
    this.#entries = more === undefined ? new Array(1 << 15) : more.#entries.slice()
    for (const rule of rules) {
      for (let i = 0; i < rule.keywords.length; i++) this.#add(rule.keywords[i]!, rule.trigramEnds[i]!, rule)
    }
  }

  #add(keyword: string, end: number, rule: Rule): void {
    const code = trigramCode(keyword, end)
    this.#mayEnd[code] = 1
    const entry: Entry = { keyword, anyCase: !/[A-Z]/.test(keyword), end, rule }
    // A new list, for the old one may be another index's too.
    this.#entries[code] = [...(this.#entries[code] ?? []), entry]
  }

  /** Calls `visit` for every keyword. */
  scan(text: string, visit: Visit): void {
    // Blocks overlap by the two characters that a trigram may have in the one before.
    for (let at = 0; at < text.length - 2; at += BLOCK - 2) {
      // Bytes are read several times as fast as characters. A character beyond Latin-1 loses its high byte here and may look like another;
      // what is found is compared with the text itself.
      const length = block.write(text.slice(at, at + BLOCK), "latin1")
      for (let i = nextTrigram(this.#mayEnd, 2, length); i < length; i = nextTrigram(this.#mayEnd, i + 1, length)) {
        for (const entry of this.#entries[trigramAt(i)]!) {
          const start = at + i + 1 - entry.end
          if (start >= 0 && standsAt(text, start, entry)) visit(entry.rule, start, entry.keyword)
        }
      }
    }
  }
}

type Visit = (rule: Rule, at: number, keyword: string) => void

const BLOCK = 65_536
// One for all: nothing that runs between two keywords searches another text.
const block = Buffer.allocUnsafeSlow(BLOCK)

const trigramAt = (end: number): number =>
  (CLASS_OF[block[end - 2]!]! << 10) | (CLASS_OF[block[end - 1]!]! << 5) | CLASS_OF[block[end]!]!

/** The next place where a trigram of some keyword ends. The loop that every character goes through: nothing else may live in it. */
function nextTrigram(mayEnd: Uint8Array, from: number, length: number): number {
  let recent = (CLASS_OF[block[from - 2]!]! << 5) | CLASS_OF[block[from - 1]!]!
  for (let i = from; i < length; i++) {
    recent = ((recent << 5) | CLASS_OF[block[i]!]!) & 0x7fff
    if (mayEnd[recent] !== 0) return i
  }
  return length
}

interface Entry {
  readonly keyword: string
  readonly anyCase: boolean
  /** Where in the keyword its trigram ends. */
  readonly end: number
  readonly rule: Rule
}

function standsAt(text: string, at: number, { keyword, anyCase }: Entry): boolean {
  if (!anyCase) return text.startsWith(keyword, at)
  for (let i = 0; i < keyword.length; i++) {
    const code = text.charCodeAt(at + i)
    const lower = code >= 0x41 && code <= 0x5a ? code | 0x20 : code
    if (lower !== keyword.charCodeAt(i)) return false
  }
  return true
}

function trigramCode(text: string, end: number): number {
  let code = 0
  for (let i = end - 3; i < end; i++) code = (code << 5) | CLASS_OF[text.charCodeAt(i) & 0xff]!
  return code
}

const CLASS_OF = new Uint8Array(256)
for (let letter = 0; letter < 26; letter++) {
  CLASS_OF[0x61 + letter] = letter + 1
  CLASS_OF[0x41 + letter] = letter + 1
}
for (let digit = 0x30; digit <= 0x39; digit++) CLASS_OF[digit] = 27
CLASS_OF[0x2d] = 28 // -
CLASS_OF[0x5f] = 28 // _
// Letters of other alphabets, by the low byte that they are read by here.
CLASS_OF.fill(29, 0x80)
CLASS_OF[0x24] = 29 // $
CLASS_OF[0x7c] = 29 // |
CLASS_OF[0x3a] = 30 // :
CLASS_OF[0x2f] = 31 // /
