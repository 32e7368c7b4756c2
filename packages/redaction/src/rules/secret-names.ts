import { NAMES } from "./rules.generated.js"
import { whole, wordList } from "./word-list.js"

/** What a name says about its value. */
export type NameKind =
  | "password"
  | "secret"
  | "connection"
  | "token"
  | "key"
  | "access-key"
  | "aws-key"
  | "ibm-key"
  | "softlayer-key"

/**
 * Whether a name tells that its value is a secret: `DB_PASSWORD`, `clientSecret`, `x-api-key`, `accessToken`. The words around the telling
 * one decide: `max_tokens`, `tokenEndpoint`, `publicKey` and `next_page_token` tell nothing.
 */
export function kindOfName(name: string): NameKind | undefined {
  const known = remembered.get(name)
  if (known !== undefined) return known ?? undefined
  const kind = OF_NPM.test(name) ? "password" : judge(wordsOf(name))
  // Names repeat without end, and judging one is a hundred times the work of looking it up.
  if (remembered.size >= 4096) remembered.clear()
  remembered.set(name, kind ?? null)
  return kind
}

/** As npm writes them: nothing but the secret itself follows. */
const OF_NPM = /^_(?:authToken|auth|password)$/
const remembered = new Map<string, NameKind | null>()

function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/\d+$/, ""))
    .filter((word) => word !== "")
}

function judge(words: readonly string[]): NameKind | undefined {
  for (let i = words.length - 1; i >= 0; i--) {
    const kind = kindOfWord(words, i)
    if (kind === undefined) continue
    if (words.slice(i + 1).some((word) => ABOUT_IT.has(word))) return undefined
    const isToken = kind === "token" || kind === "key"
    if (words.slice(0, i).some((word) => HARMLESS.has(word) && !(isToken && DEEDS.has(word)))) return undefined
    return kind
  }
  return undefined
}

function kindOfWord(words: readonly string[], i: number): NameKind | undefined {
  for (const { kind, word, behind, isLast } of WORDS) {
    if (!word.test(words[i]!) || (isLast && i < words.length - 1)) continue
    if (behind !== undefined && !behind.test(words[i - 1] ?? "")) continue
    return kind === "key" ? kindOfKey(words, i) : kind
  }
  return undefined
}

const WORDS = NAMES.words.map(({ kind, word, behind, isLast }) => ({
  kind,
  word: whole(word),
  behind: behind === undefined ? undefined : whole(behind),
  isLast,
}))
const KEY_OF = wordList(NAMES.keyOf)
const VENDORS = wordList(NAMES.vendors)
const ABOUT_IT = wordList(NAMES.aboutIt)
const HARMLESS = wordList(NAMES.harmless)
/** What is done with a password says nothing about it; the token that allows it is one. */
const DEEDS = wordList(NAMES.deeds)

function kindOfKey(words: readonly string[], i: number): NameKind | undefined {
  const word = words[i]!
  const before = words[i - 1]
  if (words.some((one) => one === "softlayer" || one === "sl")) return "softlayer-key"
  if (words.some((one) => one === "ibm" || one === "iam")) return "ibm-key"
  if (word === "key" && (before === undefined || !(KEY_OF.has(before) || VENDORS.has(before)))) return undefined
  const isAccessKey = word.endsWith("accesskey") || before === "access"
  const isSecret = words.slice(0, i).includes("secret") || word.startsWith("secret")
  if (words.includes("aws") && isSecret) return "aws-key"
  if (isAccessKey && isSecret) return "access-key"
  if (before === "secret" || word.endsWith("secretkey") || before === "private" || word.endsWith("privatekey"))
    return "secret"
  return "key"
}
