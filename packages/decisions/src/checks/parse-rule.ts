import { nearestWord } from "@orangebox/text"
import type { Rule } from "./rule.js"
import { readRuleText } from "./rule-text.js"
import { JUDGE_PREFIX, judgeRule } from "./rules/judge.js"
import { RULE_NAMES, RULES } from "./rules.js"

/** Why a rule cannot be used. */
export interface RuleProblem {
  readonly rule: string
  /** Where in the rule the reader stopped, from 0. */
  readonly position: number
  readonly reason: string
  readonly knownRules: readonly string[]
  /** The rule that was probably meant. */
  readonly nearest?: string
}

export type RuleReading = { readonly rule: Rule } | { readonly problem: RuleProblem }

const MAX_RULE = 65_536

/**
 * Reads one rule of the rule language.
 *
 *     parseRule("paths.only src/**")      // { rule }
 *     parseRule("path.only src/**")       // { problem: { position: 0, reason: "there is no rule path.only", nearest: "paths.only", … } }
 */
export function parseRule(text: string, constraintId = ""): RuleReading {
  const problem = (position: number, reason: string, nearest?: string): RuleReading => ({
    problem: {
      rule: text.slice(0, 200),
      position,
      reason,
      knownRules: RULE_NAMES,
      ...(nearest !== undefined && { nearest }),
    },
  })
  if (text.length > MAX_RULE) return problem(MAX_RULE, `it is longer than ${MAX_RULE} characters`)
  const read = readRuleText(text)
  if ("reason" in read) return problem(read.position, read.reason)
  const isJudge = read.name.startsWith(JUDGE_PREFIX)
  const definition = isJudge ? judgeRule : RULES.find((rule) => rule.name === read.name)
  if (definition === undefined) {
    const named = read.name.slice(0, 80)
    return problem(text.indexOf(read.name), `there is no rule ${named}`, nearestWord(read.name, RULE_NAMES))
  }
  const compiled = definition.compile(read, constraintId)
  return "reason" in compiled ? problem(compiled.position, compiled.reason) : { rule: compiled }
}

/** A problem in one sentence, for people. */
export function describeRuleProblem({ rule, position, reason, nearest, knownRules }: RuleProblem): string {
  const meant = nearest === undefined ? `Rules are: ${knownRules.join(", ")}` : `Did you mean ${nearest}?`
  return `rule ${JSON.stringify(rule)} cannot be used: ${reason} (at ${position}). ${meant}`
}
