import { payloadOf, textIn } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"
import type { StepView } from "../../run-view.js"
import { type CaseFile, modelCallsOf, toolCallsOf } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

const artifactsOf = (steps: readonly StepView[], kind: string) =>
  steps.flatMap((step) =>
    step.events
      .filter((event) => event.event_type === "artifact_recorded" && textIn(payloadOf(event), "artifact_type") === kind)
      .map((event) => ({ step, event })),
  )

/** The run says it completed, and the last tests after the last edit say otherwise. */
export function falseSuccess({ view }: CaseFile): Detected {
  if (view.status !== "completed") return []
  const tests = artifactsOf(view.steps, "test_run")
  if (tests.length === 0) return { notRun: "no test run is on record" }
  const last = tests.at(-1)!
  const exitCode = payloadOf(last.event)["exit_code"]
  const lastEdit = artifactsOf(view.steps, "file_edit").at(-1)
  const isStale = lastEdit !== undefined && (lastEdit.event.sequence_no ?? 0) > (last.event.sequence_no ?? 0)
  if (typeof exitCode !== "number" || exitCode === 0 || isStale) return []
  return [
    {
      detector: "false_success",
      kind: "tests_failed",
      severity: "harm",
      confidence: "proven",
      cause: last.step.n,
      fails: 1,
      claim: `the run completed though the last tests, #${last.step.n}, ended with exit code ${exitCode} and nothing was edited after them`,
      by: null,
      evidence: [at(last.step, "result")],
    },
  ]
}

/** A tool failed, what it was to do was never done, and the run ended well all the same. Harm only where it was to change something and nobody speaks of it. */
export function ignoredToolError(file: CaseFile): Detected {
  const { view } = file
  if (view.status !== "completed") return []
  const steps = toolCallsOf(view)
  const found: Finding[] = []
  for (const [index, step] of steps.entries()) {
    if (step.status !== "error" && step.status !== "timeout") continue
    const isWrite = isChange(step)
    const after = whatCameAfter(file, step, steps.slice(index + 1), isWrite)
    if (after === "done") continue
    const isHarm = isWrite && after === "nothing"
    found.push({
      detector: "ignored_tool_error",
      kind: isWrite ? "write" : null,
      severity: isHarm ? "harm" : "notice",
      confidence: isHarm ? "likely" : "possible",
      cause: step.n,
      fails: 1,
      claim: `the tool of #${step.n} failed, ${AFTER_WORDS[after]}, and the run completed`,
      by: null,
      evidence: [at(step, "error_message"), at(step)],
    })
  }
  return found
}

const isChange = ({ tool }: StepView): boolean => tool?.effectClass?.startsWith("write") === true

const AFTER_WORDS = {
  nothing: "no later call of it succeeded",
  elsewhere: "later calls of it succeeded on something else",
  unknown: "a later call changed something, and whether it is the same is not on record",
  told: "no later call of it succeeded, the answer speaks of it",
} as const

/** What became of a call that failed. A file that could not be edited and is then written anew is done, whatever the tool is called. */
function whatCameAfter(
  { words, finalOutput, view }: CaseFile,
  failed: StepView,
  later: readonly StepView[],
  isWrite: boolean,
): "done" | keyof typeof AFTER_WORDS {
  const succeeded = later.filter(({ status }) => status === "success")
  const again = succeeded.filter(({ tool }) => tool?.name === failed.tool?.name)
  const target = valuesIn(words.get(failed.n)?.said)
  const hasTarget = ({ n }: StepView): boolean => [...valuesIn(words.get(n)?.said)].some((value) => target.has(value))
  if (again.length > 0 && (!isWrite || target.size === 0 || again.some(hasTarget))) return "done"
  if (isWrite && succeeded.some(hasTarget)) return "done"
  if (again.length > 0) return "elsewhere"
  if (isWrite && target.size === 0 && succeeded.some(isChange)) return "unknown"
  const last = modelCallsOf(view).at(-1)
  const said = [finalOutput, last && last.n > failed.n ? words.get(last.n)?.said : undefined].join("\n").toLowerCase()
  const error = [...new Set((failed.error?.line || words.get(failed.n)?.got || "").toLowerCase().match(TELLING) ?? [])]
  return error.length > 0 && error.filter((word) => said.includes(word)).length * 2 > error.length ? "told" : "nothing"
}

const TELLING = /[\p{L}\d_./-]{4,}/gu
const LONGEST_VALUE = 300

/** The texts among a call's arguments that can name what it works on. */
function valuesIn(args = ""): ReadonlySet<string> {
  const values = new Set<string>()
  const take = (value: unknown): void => {
    if (typeof value === "string" && value.length >= 4 && value.length <= LONGEST_VALUE && !/\s/.test(value))
      values.add(value)
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(take)
  }
  take(parseJson(args))
  return values
}

export function schemaRepairFailure({ view }: CaseFile): Detected {
  return view.steps.flatMap((step) =>
    step.events
      .filter((event) => event.event_type === "repair" && textIn(payloadOf(event), "outcome") === "failed")
      .slice(0, 1)
      .map(
        (): Finding => ({
          detector: "schema_repair_failure",
          kind: null,
          severity: "harm",
          confidence: "proven",
          cause: step.n,
          fails: step.n,
          claim: `an answer in #${step.n} was never valid, and repairing it was given up`,
          by: "the model",
          evidence: [at(step)],
        }),
      ),
  )
}

/** A rule that the run was given, broken. */
export function constraintViolation({ view, evaluation }: CaseFile): Detected {
  if (evaluation === undefined) return { notRun: "nobody judged the run" }
  const results = evaluation.results
  if (results.length === 0) return { notRun: "the run was given no rules" }
  const noOf = new Map(view.steps.map(({ id, n }) => [id, n]))
  return results
    .filter(({ status, violations }) => status === "fail" && violations.length > 0)
    .map(({ constraint, violations }): Finding => {
      const pointers = violations.flatMap(({ pointers: own }) => own ?? [])
      const steps = pointers.flatMap(({ step_id }) => noOf.get(step_id) ?? [])
      const n = steps[0] ?? 1
      return {
        detector: "constraint_violation",
        kind: null,
        severity: "harm",
        confidence: "proven",
        cause: n,
        fails: n,
        claim: `a rule of type ${constraint.type} was broken ${violations.length === 1 ? "once" : `${violations.length} times`}, first in #${n}; orangebox check tells it in full`,
        by: null,
        evidence: [...new Set([n, ...steps])].slice(0, 4).map((no) => at({ n: no })),
      }
    })
}
