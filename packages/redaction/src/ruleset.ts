import { KeywordIndex } from "./keyword-index.js"
import type { KnownValues } from "./known-values.js"
import { type OpenSweep, openSweep } from "./open-pattern.js"
import type { Rule, SweepRule } from "./rule.js"
import { MULTI_LINE_RULES, NAME_RULES, PII_RULES, PUBLIC_KEY_RULES, SHAPE_RULES } from "./rules/catalog.js"
import { RULES_VERSION } from "./rules/rules.generated.js"

export interface RulesetOptions {
  /** Of the store, 32 bytes, never written beside what it tagged. */
  readonly key: Uint8Array
  /** E-mail addresses, phone and card numbers, IBANs, IP addresses. */
  readonly pii?: boolean
  /** Keys that their owners publish. */
  readonly publicKeys?: boolean
  /** Rules that are left out, by id: to measure what is found without them. */
  readonly without?: readonly string[]
  /** Patterns of the user, already checked. */
  readonly patterns?: readonly SweepRule[]
  /** Learns what is found, and has it masked wherever it stands again. Without one every text is searched for itself. */
  readonly known?: KnownValues
}

/** Rules made ready to run. Make one and keep it: making it is the slow part. */
export interface Ruleset {
  /** Names the rules, for `redaction_profile`: what was redacted under another name may have to be redacted again. */
  readonly profile: string
  readonly key: Uint8Array
  readonly keywords: KeywordIndex
  /** Of these, those that reach over lines. */
  readonly multiLine: KeywordIndex
  readonly sweeps: readonly SweepRule[]
  /** For streams: what may become a match of one of these. */
  readonly openSweeps: readonly OpenSweep[]
  /** Keys that their owners publish are masked as well. */
  readonly hasPublicKeys: boolean
  readonly known: KnownValues | undefined
  /** Shapes only: for what the user allowed, and keys on the way of the data that no configuration can allow. */
  readonly shapes: Ruleset
}

/** Names are searched for shapes; one with a blank or a sign in it is a text like any other. */
export const rulesetOfName = (name: string, ruleset: Ruleset): Ruleset =>
  /[\s=]/.test(name) ? ruleset : ruleset.shapes

/** Made with the first ruleset, so that an import costs nothing. */
let indexes: { readonly [what in "shapes" | "everything" | "multiLine"]: KeywordIndex } | undefined

function keywordIndexes(): NonNullable<typeof indexes> {
  if (indexes === undefined) {
    const shapes = new KeywordIndex(SHAPE_RULES)
    indexes = {
      shapes,
      everything: new KeywordIndex(NAME_RULES, shapes),
      multiLine: new KeywordIndex(MULTI_LINE_RULES),
    }
  }
  return indexes
}

export function createRuleset({
  key,
  pii = false,
  publicKeys = false,
  without = [],
  patterns = [],
  known,
}: RulesetOptions): Ruleset {
  const shapes: Ruleset = {
    profile: `shapes-${RULES_VERSION}`,
    key,
    keywords: keywordIndexes().shapes,
    multiLine: keywordIndexes().multiLine,
    sweeps: [],
    openSweeps: [],
    hasPublicKeys: false,
    known,
    get shapes() {
      return shapes
    },
  }
  const sweeps = [...(pii ? PII_RULES : []), ...patterns]
  return {
    profile: `secrets-${RULES_VERSION}${pii ? "+pii" : ""}${publicKeys ? "+public-keys" : ""}${patterns.length > 0 ? "+user" : ""}`,
    key,
    keywords: keywordsOf(publicKeys, without),
    multiLine: keywordIndexes().multiLine,
    sweeps,
    openSweeps: sweeps.map(openSweep),
    hasPublicKeys: publicKeys,
    known,
    shapes,
  }
}

function keywordsOf(publicKeys: boolean, without: readonly string[]): KeywordIndex {
  if (without.length > 0) {
    const all = [...SHAPE_RULES, ...NAME_RULES, ...(publicKeys ? PUBLIC_KEY_RULES : [])]
    return new KeywordIndex(all.filter(({ id }) => !without.includes(id)))
  }
  const { everything } = keywordIndexes()
  return publicKeys ? new KeywordIndex(PUBLIC_KEY_RULES, everything) : everything
}

export interface RuleDescription {
  readonly id: string
  readonly about: string
  /** Whose rows or tool it was written from; empty for those of the user. */
  readonly from: readonly string[]
  readonly pack: "shapes" | "names" | "public-keys" | "pii" | "user"
  /** Whether the ruleset it was asked of goes by it. */
  readonly isOn: boolean
}

/** Every rule there is, and those of the user in this ruleset. */
export function describeRules(ruleset?: Ruleset): RuleDescription[] {
  const row =
    (pack: RuleDescription["pack"], isOn = true) =>
    ({ id, about, ...rest }: Rule | SweepRule): RuleDescription => ({
      id,
      about,
      from: rest.from ?? [],
      pack,
      isOn,
    })
  const own = ruleset?.sweeps.filter((rule) => !PII_RULES.includes(rule)) ?? []
  const isPii = ruleset?.sweeps.some((rule) => PII_RULES.includes(rule)) === true
  return [
    ...SHAPE_RULES.map(row("shapes")),
    ...NAME_RULES.map(row("names")),
    ...PUBLIC_KEY_RULES.map(row("public-keys", ruleset?.hasPublicKeys === true)),
    ...PII_RULES.map(row("pii", isPii)),
    ...own.map(row("user")),
  ]
}
