import { hasEnded } from "@orangebox/runs"
import type { RunActions, TestRun } from "../../action.js"
import { mayRunTests } from "../../commands/read-command.js"
import { runsAgain } from "../../commands/test-scope.js"
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
    const last = ran.at(-1)
    if (last !== undefined && last.at >= lastEdit) {
      const hidden = argument.afterEdits ? actions.slice(last.at + 1).some(mayHideEdit) : false
      return hidden ? unknownAnswer("what may have been an edit after the tests could not be read") : PASSED
    }
    if (!hasEnded(run.status)) return unknownAnswer("the run has not ended")
    const unseen = actions
      .slice(Math.max(0, lastEdit))
      .some((one) => mayHideTests(one) || (last === undefined && one.unreadable.length > 0))
    if (unseen) return unknownAnswer("a command that may have been a test run could not be read")
    const which = argument.runners.length === 0 ? "tests" : argument.runners.join(", ")
    const message = last !== undefined ? `${which} did not run after the last edit` : `${which} did not run`
    return { findings: [{ certainty: "sure", message, excerpt: null, pointers: pointersOf(last?.test) }] }
  },
})

export const testsMustPass = defineRule<TestsArgument>({
  name: "tests.must_pass",
  form: "tests.must_pass [<runner>…]",
  about: "The tests that ran passed when they ran last; what failed before and was made to pass does not count",
  example: "tests.must_pass",
  concerns: ["alignment", "quality"],
  judged: "end",
  read: (text) => readRunners(text, []),
  onRun: (argument, run, actions) => judgeOutcomes(run, testRunsOf(actions, argument), actions),
})

function readRunners(text: RuleText, options: readonly string[]): TestsArgument | ArgumentProblem {
  const option = unknownOption(text, options)
  if (option !== undefined) return option
  const after = text.options.get("after")?.[0]
  if (after !== undefined && after.text !== "edits") return { position: after.position, reason: "after is edits" }
  return { runners: text.values.map((value) => value.text), afterEdits: after !== undefined }
}

interface PlacedTest {
  readonly test: TestRun
  readonly at: number
}

function testRunsOf(actions: readonly PreparedAction[], { runners }: TestsArgument): PlacedTest[] {
  return actions.flatMap(({ action }, at) =>
    action.testRuns
      .filter(({ runner }) => runners.length === 0 || runners.some((pattern) => matchesName(pattern, runner)))
      .map((test) => ({ test, at })),
  )
}

/** What a command ran, and how that went, may stand only in the text that is not kept. */
const mayHideTests = ({ action: { tool, type, unread }, commands }: PreparedAction): boolean => {
  if (tool === null || unread.length === 0) return false
  if (unread.includes("args")) return type === "run_tests" || type === "command" || type === "other"
  return type === "run_tests" || commands.some(({ effects }) => mayRunTests(effects))
}

const mayHideEdit = ({ action: { tool, type, unread, edits } }: PreparedAction): boolean => {
  if (tool === null) return false
  if (type === "edit") return edits.length === 0
  return unread.includes("args") && (type === "command" || type === "other")
}

function judgeOutcomes(run: RunActions, tests: readonly PlacedTest[], actions: readonly PreparedAction[]): Answer {
  const hiddenAt = actions.findLastIndex(mayHideTests)
  if (tests.length === 0) {
    return unknownAnswer(hiddenAt === -1 ? "no tests ran" : "what may have been a test run could not be read")
  }
  const last = tests.filter(({ test }, at) => !tests.slice(at + 1).some((later) => runsAgain(later.test, test)))
  const failed = last.filter(({ test }) => test.outcome === "failed")
  const findings = failed.map(
    ({ test }): Finding => ({
      certainty: "sure",
      message: `tests failed: ${test.summary}`,
      excerpt: test.command,
      pointers: pointersOf(test),
    }),
  )
  // A later run of other tests does not make up for these, but while the run goes on they may yet be made to pass.
  if (findings.length > 0 && !hasEnded(run.status)) return unknownAnswer("tests failed, and the run has not ended")
  // What is not kept may be the run that made them pass, and where nothing failed, one that did.
  const madeGood = findings.length > 0 && failed.every(({ at }) => hiddenAt > at)
  if (madeGood) return unknownAnswer("tests failed, and what may have been a later run of them could not be read")
  const unclear = last.find(({ test }) => test.outcome === "unknown")
  if (unclear !== undefined) return { findings, unknown: `how ${unclear.test.runner} ended is not known` }
  return { findings, unknown: hiddenAt === -1 ? undefined : "what may have been a test run could not be read wholly" }
}

const pointersOf = (test: TestRun | undefined): Finding["pointers"] => (test === undefined ? [] : [test.evidence])
