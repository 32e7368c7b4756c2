// Turns rules.json into the module that the package loads: keywords written out, one rule a line. Run after a change of rules.json.
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath, pathToFileURL } from "node:url"

const at = (path) => fileURLToPath(new URL(path, import.meta.url))

export function rulesModule() {
  const { version, normalise, names, values, programs, rules } = JSON.parse(readFileSync(at("../rules.json"), "utf8"))
  const lines = rules.map((rule) => {
    if (rule.keywords === undefined) return JSON.stringify(rule)
    const keywords = rule.keywords.flatMap(writtenOut)
    return JSON.stringify({ ...rule, keywords, trigramEnds: keywords.map(rarestTrigram) })
  })
  return [
    "// biome-ignore-all format: written by scripts/write-rules.mjs from rules.json",
    'import type { NameData, NormaliseData, ProgramData, ValueData, WrittenRule } from "./rule-data.js"',
    "",
    "/** Changes with every change of the built-in rules. */",
    `export const RULES_VERSION = ${version}`,
    "",
    `export const NORMALISE: NormaliseData = ${JSON.stringify(normalise)}`,
    "",
    `export const NAMES: NameData = ${JSON.stringify(names)}`,
    "",
    `export const VALUES: ValueData = ${JSON.stringify(values)}`,
    "",
    `export const PROGRAMS: readonly ProgramData[] = ${JSON.stringify(programs)}`,
    "",
    "export const RULES: readonly WrittenRule[] = [",
    ...lines.map((line) => `  ${line},`),
    "]",
    "",
  ].join("\n")
}

/** `v1.[0-9a-f]` is sixteen keywords. */
function writtenOut(keyword) {
  const set = /\[([^\]]+)\]/.exec(keyword)
  if (set === null) return [keyword]
  return charactersOf(set[1]).flatMap((character) =>
    writtenOut(keyword.slice(0, set.index) + character + keyword.slice(set.index + set[0].length)),
  )
}

function charactersOf(set) {
  return [...set.matchAll(/(.)-(.)|./g)].flatMap(([one, first, last]) =>
    first === undefined
      ? [one]
      : Array.from({ length: last.charCodeAt(0) - first.charCodeAt(0) + 1 }, (_, i) =>
          String.fromCharCode(first.charCodeAt(0) + i),
        ),
  )
}

/**
 * Where in a keyword its rarest three letters end. Of `-----BEGIN` the index should know `BEG`, not the dashes of every table in every
 * README, and of `sk-proj-` not `pro`.
 */
function rarestTrigram(keyword) {
  if (keyword.length < 3) throw new RangeError(`a keyword needs three characters: ${keyword}`)
  let rarest = 3
  let least = Number.POSITIVE_INFINITY
  for (let end = 3; end <= keyword.length; end++) {
    const trigram = keyword.slice(end - 3, end).toLowerCase()
    const frequency = [...trigram].reduce((product, character) => product * frequencyOf(character), 1)
    // Punctuation likes company.
    const expected = /^[^a-z]{3}$/.test(trigram) ? frequency * 100 : frequency
    if (expected < least) {
      least = expected
      rarest = end
    }
  }
  return rarest
}

/** How often a character stands in recorded text, by and large, in percent. */
function frequencyOf(character) {
  const place = "etaoinsrhldcumfpgwybvkxjqz".indexOf(character)
  if (place >= 0) return 9 / (1 + place * place * 0.05)
  // The index sees the low byte of a character alone.
  const byte = character.charCodeAt(0) & 0xff
  if (character.charCodeAt(0) > 0x7f) return byte > 0x7f ? 0.1 : 15
  if (/[-_:/$|.~@]/.test(character)) return /[$|~]/.test(character) ? 0.1 : 0.8
  return /\d/.test(character) ? 3 : 15
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(at("../src/rules/rules.generated.ts"), rulesModule())
}
