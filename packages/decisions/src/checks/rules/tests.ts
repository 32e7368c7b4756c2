import type { RunActions, TestRun } from "../../action.js"
import { matchesName } from "../paths/glob.js"
import type { PreparedAction } from "../prepared-action.js"
import {
  type Answer,
  type ArgumentProblem,
  defineRule,
  type Finding,
  PASSED,
  unknownAnswer,
  unknownOption,
} from "../rule.js"
import type { RuleText } from "../rule-text.js"

interface TestsArgument {
  /** Runners that count; empty: any. */
  readonly runners: readonly string[]
  readonly afterEdits: boolean
}

export const testsMustRun = defineRule<TestsArgument>({
  name: "tests.must_run",
  form: "tests.must_run [<runner>…] [after=edits]",
  about: "Tests are run at least once; with after=edits, once more after the last edit",
  example: "tests.must_run vitest after=edits",
  concerns: ["alignment", "quality"],
  judged: "end",
  read: (text) => readRunners(text, ["after"]),
  onRun: (argument, run, actions) => {
    const ran = testRunsOf(actions, argument)
    const lastEdit = argument.afterEdits ? actions.findLastIndex(({ action }) => action.edits.length > 0) : -1
    if (ran.some(({ at }) => at >= lastEdit)) return PASSED
    if (run.status === "open") return unknownAnswer("the run has not ended")
    const unseen = actions.find(({ action, unreadable }) => action.unread.includes("args") || unreadable.length > 0)
    if (unseen !== undefined && ran.length === 0)
      return unknownAnswer("a command that may have been a test run could not be read")
    const which = argument.runners.length === 0 ? "tests" : argument.runners.join(", ")
    const message = ran.length > 0 ? `${which} did not run after the last edit` : `${which} did not run`
    return { findings: [{ certainty: "sure", message, excerpt: null, pointers: pointersOf(ran.at(-1)?.test) }] }
  },
})

export const testsMustPass = defineRule<TestsArgument>({
  name: "tests.must_pass",
  form: "tests.must_pass [<runner>…]",
  about: "The last run of each test command passed; what failed before and was made to pass does not count",
  example: "tests.must_pass",
  concerns: ["alignment", "quality"],
  judged: "end",
  read: (text) => readRunners(text, []),
  onRun: (argument, run, actions) =>
    judgeOutcomes(
      run,
      testRunsOf(actions, argument).map(({ test }) => test),
    ),
})

function readRunners(text: RuleText, options: readonly string[]): TestsArgument | ArgumentProblem {
  const option = unknownOption(text, options)
  if (option !== undefined) return option
  const after = text.options.get("after")?.[0]
  if (after !== undefined && after.text !== "edits") return { position: after.position, reason: "after is edits" }
  return { runners: text.values.map((value) => value.text), afterEdits: after !== undefined }
}

function testRunsOf(actions: readonly PreparedAction[], { runners }: TestsArgument): { test: TestRun; at: number }[] {
  return actions.flatMap(({ action }, at) =>
    action.testRuns
      .filter(({ runner }) => runners.length === 0 || runners.some((pattern) => matchesName(pattern, runner)))
      .map((test) => ({ test, at })),
  )
}

function judgeOutcomes(run: RunActions, tests: readonly TestRun[]): Answer {
  if (tests.length === 0) return unknownAnswer("no tests ran")
  const last = new Map<string, TestRun>()
  for (const test of tests) last.set(test.command, test)
  const findings = [...last.values()]
    .filter(({ outcome }) => outcome === "failed")
    .map(
      (test): Finding => ({
        certainty: "sure",
        message: `tests failed: ${test.summary}`,
        excerpt: test.command,
        pointers: pointersOf(test),
      }),
    )
  // A later run of other tests does not make up for these, but while the run goes on they may yet be made to pass.
  if (findings.length > 0 && run.status === "open") return unknownAnswer("tests failed, and the run has not ended")
  const unclear = [...last.values()].find(({ outcome }) => outcome === "unknown")
  return { findings, unknown: unclear === undefined ? undefined : `how ${unclear.runner} ended is not known` }
}

const pointersOf = (test: TestRun | undefined): Finding["pointers"] => (test === undefined ? [] : [test.evidence])
