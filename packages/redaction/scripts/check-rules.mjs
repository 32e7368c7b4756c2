// What rules.json has to keep to, so that other languages interpret it as this package does: the module is written from it, and every
// pattern means the same to JavaScript and to Python's `re` with its ASCII flag.
import { readFileSync } from "node:fs"
import { rulesModule } from "./write-rules.mjs"

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8")

export function checkRules() {
  const stale = read("../src/rules/rules.generated.ts") === rulesModule() ? [] : ["rules.json changed: npm run rules"]
  return [...stale, ...patternsIn(JSON.parse(read("../rules.json"))).flatMap(problemsOf)]
}

/** Every pattern of the file with its place in it. */
export function patternsIn(value, place = "rules.json") {
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = `${place}.${inner?.id ?? key}`
    if (typeof inner === "string") return PATTERN_FIELDS.has(key) ? [{ place: here, pattern: inner }] : []
    if (key === "gutter") return inner.map((pattern) => ({ place: here, pattern }))
    return typeof inner === "object" && inner !== null ? patternsIn(inner, here) : []
  })
}

const PATTERN_FIELDS = new Set(
  "pattern name behind back matches lacks decodes lineBreak filler reference word option glued login needs".split(" "),
)

function problemsOf({ place, pattern }) {
  const problems = []
  const plain = pattern
    .replaceAll("(?![\\s\\S])", "(?!)")
    .replace(/\\[\s\S]|\[(?:[^\]\\]|\\.)*\]/g, (part) => (part[0] === "[" ? "x" : "y"))
  const say = (what) => problems.push(`${place}: ${what} in /${pattern}/`)
  try {
    new RegExp(pattern)
  } catch {
    say("no regular expression")
  }
  if (plain.includes("$")) say("`$`, which Python lets stand before a last line break; write (?![\\s\\S])")
  if (plain.includes(".")) say("`.`, which leaves out other line breaks in each language; write a set")
  if (/[*+]|\{\d+,\}/.test(plain.replace(/\(\?[:=!]/g, "("))) say("a repetition without an end")
  if (/\\[sSbBpPkzZAGQE]/.test(pattern.replaceAll("\\\\", "").replaceAll("[\\s\\S]", "")))
    say("an escape that the two read differently")
  if (/\(\?(?![:=!]|<!\[)/.test(pattern)) say("a kind of group that only one of them has")
  if (/\(\?<!\[(?:[^\]\\]|\\.)*\](?!\))/.test(pattern)) say("a lookbehind of more than one character")
  if (/\[[^\]\\]*\[/.test(pattern.replace(/\\[\s\S]/g, ""))) say("`[` in a set without a backslash")
  return problems
}
