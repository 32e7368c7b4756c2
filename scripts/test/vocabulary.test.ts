import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { aliasesIn, aliasesUsed, checkVocabulary } from "../check-vocabulary.mjs"

const root = new URL("../..", import.meta.url).pathname
const glossary = readFileSync(`${root}/docs/glossary.md`, "utf8")

test("[O-08] the glossary ships, with every word of the design and the aliases to avoid", () => {
  for (const word of [
    "conversation",
    "trace",
    "run",
    "step",
    "event",
    "source",
    "body",
    "artifact",
    "manifest",
    "bundle",
    "stage",
    "prompt bundle",
    "agent manifest",
    "decision",
    "check, violation",
    "annotation",
    "fault",
    "skeleton",
    "replay",
    "fork",
    "override profile",
    "divergence",
  ]) {
    expect(glossary).toMatch(new RegExp(`^\\| ${word} \\| .+ \\| .+ \\|$`, "m"))
  }
  for (const alias of ["tag", "field", "metadata", "scrubbing", "reheat"]) expect(glossary).toContain(alias)
})

test("[O-08] no alias of the glossary is used anywhere in code or documents", () => {
  expect(checkVocabulary(root)).toEqual([])
})

test("[O-08] the check takes its aliases from the glossary, and rejects each of them in any spelling", () => {
  const aliases = aliasesIn(glossary)
  expect(aliases.length).toBeGreaterThan(20)
  for (const { alias, word } of aliases) {
    for (const spelling of [
      alias,
      alias.toUpperCase(),
      alias.replaceAll(/[ _]/g, "-"),
      alias.replaceAll(/[ -]/g, "_"),
    ]) {
      expect(aliasesUsed(`one\nthe ${spelling} of`, aliases, "x.md")).toContain(
        `x.md:2: "${spelling}" — we say ${word}`,
      )
    }
  }
  expect(aliasesUsed("a field named metadata, the scrubland", aliases, "x.md")).toEqual([])
})

test("[O-08] a word stands in the glossary once", () => {
  // Rows with a column of aliases. The tables of states are beside them: a run and a step can both have crashed.
  const words = [...glossary.matchAll(/^\| ([^|]+) \|[^|]+\|[^|]*\|$/gm)].map(([, word]) => word)
  expect(words.length).toBeGreaterThan(20)
  expect(new Set(words).size).toBe(words.length)
})
