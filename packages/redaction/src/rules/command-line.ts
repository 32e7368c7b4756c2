import type { Found } from "../rule.js"
import type { Finder } from "./finder.js"
import { isPlaceholder } from "./placeholder.js"
import { PROGRAMS } from "./rules.generated.js"
import { isSecretValue } from "./secret-values.js"
import { endOfQuoted, isRestOfText } from "./value-end.js"
import { whole as wholeWord } from "./word-list.js"

const whole = (pattern: string | undefined): RegExp | undefined =>
  pattern === undefined ? undefined : wholeWord(pattern)

const READY: ReadonlyMap<string, Program> = new Map(
  PROGRAMS.flatMap((data) => {
    const { option, glued, login, needs, position, sign } = data
    const program = {
      option: whole(option),
      glued: glued === undefined ? undefined : new RegExp(`^(?:${glued})(?=.)`),
      login: whole(login),
      sign: sign ?? "",
      needs: whole(needs),
      position,
    }
    return data.names.map((name) => [name, program] as const)
  }),
)

interface Program {
  readonly option: RegExp | undefined
  readonly glued: RegExp | undefined
  readonly login: RegExp | undefined
  readonly sign: string
  readonly needs: RegExp | undefined
  readonly position: number | undefined
}

const FURTHEST = 300
const BLANKS = /[ \t]{1,16}(?:\\{1,8}\r?\n[ \t]{0,16})?/y

export const COMMAND_LINE_PATTERNS: readonly RegExp[] = [BLANKS]

/** Passwords in the options of well-known programs: `sshpass -p …`, `mysql -p…`, `curl -u name:…`, `htpasswd -b file name …`. */
export const commandLine: Finder = {
  patterns: COMMAND_LINE_PATTERNS,
  find(text, at, keyword) {
    const name = keyword.trim().replace(/\.exe$/, "")
    const program = READY.get(name)
    if (program === undefined || !beginsCommand(text, at)) return undefined
    return passwordsIn(text, at + keyword.length - 1, program)
  },
}

/** `mysql -pX`, `/usr/bin/mysql -pX`, not `libmysql`. */
const beginsCommand = (text: string, at: number): boolean =>
  !/[A-Za-z0-9_.-]/.test(text.charAt(at - 1)) || /\\[nrt]$/.test(text.slice(Math.max(0, at - 2), at))

function passwordsIn(text: string, from: number, program: Program): Found[] {
  const found: Found[] = []
  const add = (word: Word, skipped: number): void => {
    const secret = secretIn(text, word, skipped)
    if (secret !== undefined) found.push(secret)
  }
  let isReady = program.needs === undefined
  let positional = -1
  let before: string | undefined
  for (
    let word = wordAfter(text, from);
    word !== undefined && word.end - from < FURTHEST;
    word = wordAfter(text, word.end)
  ) {
    const said = text.slice(word.start, word.end)
    // Another command, which is looked at for itself.
    if (READY.has(said)) break
    const option = before
    before = said
    if (!isReady) {
      isReady = program.needs!.test(said)
      continue
    }
    if (option !== undefined && program.option?.test(option)) add(word, 0)
    else if (option !== undefined && program.login?.test(option)) addLogin(word, program.sign)
    else if (program.glued?.test(said)) add(word, program.glued.exec(said)![0].length)
    else if (program.login !== undefined && /^-u./.test(said))
      addLogin({ ...word, start: word.start + 2 }, program.sign)
    else if (!said.startsWith("-") && program.position !== undefined && ++positional === program.position) add(word, 0)
  }
  return found

  function addLogin(word: Word, sign: string): void {
    const at = text.slice(word.start, word.end).indexOf(sign)
    if (at >= 0) add(word, at + 1)
  }
}

interface Word {
  readonly start: number
  readonly end: number
}

function wordAfter(text: string, at: number): Word | undefined {
  BLANKS.lastIndex = at
  if (!BLANKS.test(text)) return undefined
  const start = BLANKS.lastIndex
  const end = endOfWord(text, start)
  return end > start ? { start, end } : undefined
}

/** A word of a shell: what is quoted in it is part of it, but for blanks. */
function endOfWord(text: string, start: number): number {
  const last = Math.min(text.length, start + FURTHEST)
  let backslashes = 0
  for (let at = start; at < last; at++) {
    const character = text.charAt(at)
    if (character === "\\") {
      backslashes++
      continue
    }
    const isEscape = backslashes > 0 && "nrt".includes(character)
    if (isEscape || ENDS_WORD.includes(character)) return at - backslashes
    if ((character === '"' || character === "'") && (backslashes === 0 || character === '"')) {
      const end = endOfQuoted(text, { valueAt: at + 1, quote: character, depth: backslashes })
      if (end === undefined) return isRestOfText(text, at) ? text.length : at - backslashes
      // A stream gives out what stands before a blank.
      if (/\s/.test(text.slice(at, end))) return at - backslashes
      at = end + backslashes
    }
    backslashes = 0
  }
  return last - backslashes
}
const ENDS_WORD = " \t\r\n|;&<>()"

const OPENING_QUOTE = /^\\{0,8}["']/
const CLOSING_QUOTE = /\\{0,8}["']$/

/** The password of a word: what is left without its quotes. */
function secretIn(text: string, word: Word, skipped: number): Found | undefined {
  let start = word.start + skipped
  let { end } = word
  start += OPENING_QUOTE.exec(text.slice(start, end))?.[0].length ?? 0
  if (CLOSING_QUOTE.test(text.slice(start, end))) end -= CLOSING_QUOTE.exec(text.slice(start, end))![0].length
  const value = text.slice(start, end)
  if (value.length < 4 || isPlaceholder(value)) return undefined
  return isSecretValue(value, "password", "literal") || /[^\w.:/-]/.test(value) ? { start, end } : undefined
}
