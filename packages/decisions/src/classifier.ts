import type { Action, FileEdit } from "./action.js"
import type { CheckedConstraint } from "./checks/constraint.js"
import { CHECKS_EVALUATOR, compileConstraints, evaluateAction } from "./checks/evaluate.js"
import type { CommandMemory } from "./checks/prepared-action.js"
import type { CheckContext } from "./checks/rule.js"
import { classifiedTestId } from "./classified-work.js"
import { actionAhead, endedTool, outputSaid, type ToolCallAhead, type ToolEnd } from "./live-action.js"
import { isSamePath, netLines } from "./net-changes.js"
import type { ReadOptions } from "./read-run.js"

/** Something the agent said. */
export interface OutputSaid {
  readonly output: string
  readonly isFinal: boolean
  readonly stepId: string
}

/**
 * What of a tool call or an output outlives its text: `Recorder.open({ capture: "hashed", classify: classifier(constraints) })`. The kind of action
 * it is, how it fares by the rules that can be judged on it alone, and what it made; all are on record before the text is dropped, and stand.
 */
export function classifier(
  constraints: readonly CheckedConstraint[] = [],
  context: CheckContext = {},
  options: ReadOptions = {},
) {
  const alone = compileConstraints(constraints).filter(({ rule }) => rule !== undefined && rule.judged !== "end")
  const memory: CommandMemory = new Map()
  const editsOf = new WeakMap<object, FileEdit[]>()
  const evaluated = (action: Action) => {
    const { results, evaluation } = evaluateAction(action, alone, context, memory)
    if (results.length === 0) return {}
    const { alignment, quality, policy } = evaluation
    return {
      evaluation: {
        evaluator: CHECKS_EVALUATOR,
        alignment: alignment.status,
        quality: quality.status,
        policy: policy.status,
        score: alignment.score,
        detail: evaluation,
        broken: results.flatMap(({ constraint, violations }) =>
          violations.slice(0, 1).map(({ severity }) => ({ id: constraint.id, severity })),
        ),
      },
    }
  }
  return (made: ToolCallAhead | OutputSaid) => {
    if ("output" in made) return evaluated(outputSaid(made))
    const action = actionAhead(made, options)
    const edited = (made.run && editsOf.get(made.run)) ?? []
    if (made.run !== undefined) editsOf.set(made.run, edited)
    const ended = (end: ToolEnd) => workOf(endedTool(action, end, options), edited)
    return { actionType: action.type, ended, ...evaluated(action) }
  }
}

/** Past this many a run's memory of its edits would outgrow the run; how many lines differ in the end is unknown from then on. */
const MOST_EDITS = 2_000

/**
 * What a call made, of which only figures, names of commits and digests will be left.
 *
 * @param edited what the run edited before, which this adds to: a file that is edited again counts as the difference of all its edits
 */
function workOf({ edits, commits, testRuns }: Pick<Action, "edits" | "commits" | "testRuns">, edited: FileEdit[]) {
  return [
    ...edits.map((edit, at) => {
      const { path, diff, linesAdded, linesRemoved } = edit
      if (edited.length <= MOST_EDITS) edited.push(edit)
      const ofFile = edited.filter((one) => isSamePath(one.path, path))
      const net = ofFile.length > 1 && edited.length <= MOST_EDITS ? netLines(ofFile) : undefined
      return {
        id: `edit/${at + 1}`,
        type: "file_edit" as const,
        summary: path,
        path,
        content: diff,
        linesAdded,
        ...(linesRemoved !== null && { linesRemoved }),
        ...(typeof net?.linesAdded === "number" && { netLinesAdded: net.linesAdded }),
        ...(typeof net?.linesRemoved === "number" && { netLinesRemoved: net.linesRemoved }),
      }
    }),
    ...commits.map(({ id, message }) => ({
      id: id ?? "commit",
      type: "commit" as const,
      summary: message ?? "a commit",
      content: message ?? "",
    })),
    ...testRuns.map(({ runner, summary, exitCode, command, outcome }) => ({
      id: classifiedTestId(runner, outcome),
      type: "test_run" as const,
      summary,
      content: `${command}\n${summary}`,
      ...(exitCode !== null && { exitCode }),
    })),
  ]
}
