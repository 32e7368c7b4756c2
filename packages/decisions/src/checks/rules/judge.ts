import { type ArgumentProblem, defineRule, type Finding, unknownAnswer } from "../rule.js"
import type { RuleText } from "../rule-text.js"

export interface JudgeArgument {
  readonly judge: string
  readonly instruction: string
}

/** `judge:<name>`: the one rule whose name has an argument in it. */
export const JUDGE_PREFIX = "judge:"

export const judgeRule = defineRule<JudgeArgument>({
  name: "judge:<name>",
  form: 'judge:<name> ["<what to judge>"]',
  about: "A judge outside answers: a function of the application, or a command that speaks JSON; no judge, no verdict",
  example: 'judge:reviewer "The answer names the file and the line of the cause."',
  concerns: ["alignment"],
  judged: "end",
  read: readJudge,
  onRun: ({ judge }, run, _, context, constraintId) => {
    const outcome = context.judgements?.get(constraintId)
    if (outcome === undefined) return unknownAnswer(`judge ${judge} was not asked`)
    if (!outcome.isAnswered) return unknownAnswer(`judge ${judge} gave no verdict: ${outcome.reason}`)
    const { answer } = outcome
    if (answer.status === "unknown") return unknownAnswer(answer.message ?? `judge ${judge} does not know`)
    if (answer.status === "pass") return { findings: [] }
    const certainty = answer.status === "warn" ? "possible" : "sure"
    const known = new Set(run.actions.map((action) => action.stepId))
    const told = answer.violations ?? []
    const findings = told.map(
      ({ message, excerpt, step_id }): Finding => ({
        certainty,
        message: message.slice(0, 500),
        excerpt: excerpt ?? null,
        // A judge may invent a step; evidence must be there.
        pointers: step_id !== undefined && known.has(step_id) ? [{ stepId: step_id, ref: null }] : [],
      }),
    )
    const whole: Finding = {
      certainty,
      message: answer.message ?? `judge ${judge} says ${answer.status}`,
      excerpt: null,
      pointers: [],
    }
    return { findings: findings.length > 0 ? findings : [whole] }
  },
})

export function readJudge(text: RuleText): JudgeArgument | ArgumentProblem {
  const judge = text.name.slice(JUDGE_PREFIX.length)
  if (!/^[\w.-]{1,64}$/.test(judge))
    return { position: JUDGE_PREFIX.length, reason: "a judge's name is letters, digits, dots and dashes" }
  return { judge, instruction: text.values.map((value) => value.text).join(" ") }
}
