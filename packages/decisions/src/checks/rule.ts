import type { PriceTable } from "@orangebox/dialects"
import type { EvidencePointer, RunActions } from "../action.js"
import type { Observability } from "../observability.js"
import type { JudgeOutcome } from "./judge.js"
import type { PathPlace } from "./paths/located-path.js"
import type { PreparedAction } from "./prepared-action.js"
import type { RuleText } from "./rule-text.js"

/** The three things an evaluation speaks about. */
export type Concern = "alignment" | "quality" | "policy"

export interface FoundSecret {
  readonly start: number
  readonly end: number
  readonly rule: string
}

/** What checks need to know and do not find in the run; each part that is missing makes some answers `unknown`. */
export interface CheckContext extends PathPlace {
  /** The redaction engine's eyes. Without it only masks left in redacted text tell of secrets. */
  readonly findSecrets?: ((text: string) => readonly FoundSecret[]) | undefined
  readonly prices?: PriceTable | undefined
  /** Where the trail of the run has holes; asked only by a rule that wants to know. */
  readonly trail?: (() => Observability) | undefined
  /** What judges answered, by constraint id. */
  readonly judgements?: ReadonlyMap<string, JudgeOutcome> | undefined
}

/** Something that speaks against a rule. `possible` is what may be a breach: it never weighs more than a warning. */
export interface Finding {
  readonly certainty: "sure" | "possible"
  readonly message: string
  /** The telling bit of text, as it stands; made short and safe before anyone sees it. */
  readonly excerpt: string | null
  readonly pointers: readonly EvidencePointer[]
}

export interface Answer {
  readonly findings: readonly Finding[]
  /** Why the rule could not be judged wholly; undefined when it was. */
  readonly unknown?: string | undefined
}

/** A rule with its arguments read. */
export interface Rule {
  readonly name: string
  readonly concerns: readonly Concern[]
  /** `before`: an action alone tells, before it runs. `after`: its outcome is needed. `end`: the whole run is. */
  readonly judged: "before" | "after" | "end"
  /** Undefined as an answer: the rule has nothing to say about such an action. */
  readonly onAction?: (action: PreparedAction, context: CheckContext) => Answer | undefined
  readonly onRun?: (run: RunActions, actions: readonly PreparedAction[], context: CheckContext) => Answer
}

export interface RuleDefinition {
  readonly name: string
  /** How it is written. */
  readonly form: string
  readonly about: string
  readonly example: string
  readonly concerns: readonly Concern[]
  readonly judged: Rule["judged"]
  readonly compile: (text: RuleText, constraintId: string) => Rule | ArgumentProblem
}

export interface ArgumentProblem {
  readonly position: number
  readonly reason: string
}

interface Definition<A> extends Omit<RuleDefinition, "compile"> {
  readonly read: (text: RuleText) => A | ArgumentProblem
  readonly onAction?: (argument: A, action: PreparedAction, context: CheckContext) => Answer | undefined
  readonly onRun?: (
    argument: A,
    run: RunActions,
    actions: readonly PreparedAction[],
    context: CheckContext,
    constraintId: string,
  ) => Answer
}

/** One entry of the table of rules. */
export function defineRule<A extends object>(definition: Definition<A>): RuleDefinition {
  const { read, onAction, onRun, ...described } = definition
  return {
    ...described,
    compile: (text, constraintId) => {
      const argument = read(text)
      if (isArgumentProblem(argument)) return argument
      return {
        name: definition.name,
        concerns: definition.concerns,
        judged: definition.judged,
        ...(onAction && { onAction: (action, context) => onAction(argument, action, context) }),
        ...(onRun && { onRun: (run, actions, context) => onRun(argument, run, actions, context, constraintId) }),
      }
    },
  }
}

const isArgumentProblem = (value: object): value is ArgumentProblem => "reason" in value && "position" in value

export const PASSED: Answer = { findings: [] }
export const unknownAnswer = (why: string): Answer => ({ findings: [], unknown: why })

/** Reads the arguments of a rule that takes none. */
export function noArguments(text: RuleText): { readonly none: true } | ArgumentProblem {
  const unexpected = text.values[0] ?? [...text.options.values()][0]?.[0]
  if (unexpected !== undefined) return { position: unexpected.position, reason: "the rule takes no arguments" }
  return { none: true }
}

/** Reads the one number of a rule. */
export function oneNumber(text: RuleText, what: string): { readonly limit: number } | ArgumentProblem {
  const [value, more] = text.values
  if (value === undefined) return { position: text.rest.position, reason: `${what} is missing` }
  if (more !== undefined) return { position: more.position, reason: `only ${what} is expected` }
  const limit = /^\$?\d[\d_]*(?:\.\d+)?$/.test(value.text) ? Number(value.text.replace(/[$_]/g, "")) : Number.NaN
  return Number.isFinite(limit) ? { limit } : { position: value.position, reason: `${what} is not a number` }
}

/** The first option a rule does not know. */
export function unknownOption(text: RuleText, known: readonly string[]): ArgumentProblem | undefined {
  for (const [key, [first]] of text.options) {
    if (known.includes(key)) continue
    const names = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`
    return { position: first?.position ?? 0, reason: `the rule has no option ${key}; ${names}` }
  }
  return undefined
}
