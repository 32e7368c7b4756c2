import type { Rule, SweepRule } from "../rule.js"
import { BUILT_INS } from "./built-ins.js"
import { type Finder, formFinder, namedFinder, phraseFinder, sweepRule } from "./finder.js"
import type { SweepData, WrittenRule } from "./rule-data.js"
import { RULES } from "./rules.generated.js"

type KeyedData = Exclude<WrittenRule, SweepData>

const isKeyed = (data: WrittenRule): data is KeyedData => data.kind !== "sweep"

/** Secrets known by a form of their own, wherever they stand. No configuration lifts these. */
export const SHAPE_RULES: readonly Rule[] = RULES.filter(isKeyed)
  .filter(({ category }) => category !== "names" && category !== "public-keys")
  .map(keyedRule)

/** Secrets known by what they are called. */
export const NAME_RULES: readonly Rule[] = RULES.filter(isKeyed)
  .filter(({ category }) => category === "names")
  .map(keyedRule)

/** Keys that their owners publish: in web pages, in programs they give away. Off unless asked for: they open nothing. */
export const PUBLIC_KEY_RULES: readonly Rule[] = RULES.filter(isKeyed)
  .filter(({ category }) => category === "public-keys")
  .map(keyedRule)

/** Those of both that reach over lines. */
export const MULTI_LINE_RULES: readonly Rule[] = [...SHAPE_RULES, ...NAME_RULES].filter(({ multiLine }) => multiLine)

/** What identifies people. Off unless asked for: most of it is what a developer debugs with. */
export const PII_RULES: readonly SweepRule[] = RULES.filter((data) => data.kind === "sweep").map(sweepRule)

/** Patterns are compiled when a keyword first stands in a text: of 250 rules a recording meets a dozen. */
function keyedRule(data: KeyedData): Rule {
  let finder: Finder | undefined
  const ready = (): Finder => {
    finder ??= finderOf(data)
    return finder
  }
  return {
    id: data.id,
    about: data.about,
    from: data.from,
    keywords: data.keywords,
    trigramEnds: data.trigramEnds,
    multiLine: data.multiLine === true,
    find: (text, keywordAt, keyword) => ready().find(text, keywordAt, keyword),
    get patterns() {
      return ready().patterns
    },
  }
}

function finderOf(data: KeyedData): Finder {
  switch (data.kind) {
    case "form":
      return formFinder(data)
    case "phrase":
      return phraseFinder(data)
    case "named":
      return namedFinder(data)
    case "built-in":
      return BUILT_INS[data.id]!
  }
}
