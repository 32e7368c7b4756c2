import type { Rule } from "./rule.js"

/**
 * Finds every keyword of every rule in one pass.
 *
 * Each keyword is known by three of its letters. The pass keeps the last three characters as a 15-bit number, five bits each, and looks it
 * up in a table that fits the processor's first cache; only where the table says so is anything compared. Text without keywords costs one
 * lookup per character, whatever the number of rules.
 */
export class KeywordIndex {
  readonly #mayEnd = new Uint8Array(1 << 15)
  readonly #entries = new Map<number, Entry[]>()

  constructor(rules: readonly Rule[]) {
    for (const rule of rules) for (const keyword of rule.keywords) this.#add(keyword, rule)
  }

  #add(keyword: string, rule: Rule): void {
    const end = rarestTrigram(keyword)
    const code = trigramCode(keyword, end)
    this.#mayEnd[code] = 1
    const entries = this.#entries.get(code) ?? []
    entries.push({ keyword, anyCase: keyword === keyword.toLowerCase(), end, rule })
    this.#entries.set(code, entries)
  }

  /** Calls `visit` for every keyword that begins at or after `from`. */
  scan(text: string, from: number, visit: (rule: Rule, at: number, keyword: string) => void): void {
    const mayEnd = this.#mayEnd
    const length = text.length
    let recent = 0
    for (let i = from; i < length; i++) {
      const code = text.charCodeAt(i)
      recent = ((recent << 5) | (code < 128 ? CLASS_OF[code]! : 0)) & 0x7fff
      if (mayEnd[recent] === 1) this.#check(text, i + 1, recent, from, visit)
    }
  }

  #check(
    text: string,
    end: number,
    code: number,
    from: number,
    visit: (rule: Rule, at: number, keyword: string) => void,
  ): void {
    for (const entry of this.#entries.get(code)!) {
      const at = end - entry.end
      if (at >= from && standsAt(text, at, entry)) visit(entry.rule, at, entry.keyword)
    }
  }
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

// Letters are rarer than punctuation in a row: of `-----BEGIN` the index knows `BEG`, not the dashes of every table in every README.
function rarestTrigram(keyword: string): number {
  if (keyword.length < 3) throw new RangeError(`a keyword needs three characters: ${keyword}`)
  for (let end = 3; end <= keyword.length; end++) {
    if (/^[a-z]{3}$/i.test(keyword.slice(end - 3, end))) return end
  }
  return 3
}

function trigramCode(text: string, end: number): number {
  let code = 0
  for (let i = end - 3; i < end; i++) code = (code << 5) | CLASS_OF[text.charCodeAt(i) & 0x7f]!
  return code
}

const CLASS_OF = new Uint8Array(128)
for (let letter = 0; letter < 26; letter++) {
  CLASS_OF[0x61 + letter] = letter + 1
  CLASS_OF[0x41 + letter] = letter + 1
}
for (let digit = 0x30; digit <= 0x39; digit++) CLASS_OF[digit] = 27
CLASS_OF[0x2d] = 28 // -
CLASS_OF[0x5f] = 28 // _
CLASS_OF[0x24] = 29 // $
CLASS_OF[0x3a] = 30 // :
CLASS_OF[0x2f] = 31 // /
