import type { Action } from "./action.js"
import type { CheckedConstraint } from "./checks/constraint.js"
import { CHECKS_EVALUATOR, compileConstraints, evaluateAction } from "./checks/evaluate.js"
import type { CommandMemory } from "./checks/prepared-action.js"
import type { CheckContext } from "./checks/rule.js"
import { actionAhead, endedTool, outputSaid, type ToolCallAhead, type ToolEnd } from "./live-action.js"
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
      },
    }
  }
  return (made: ToolCallAhead | OutputSaid) => {
    if ("output" in made) return evaluated(outputSaid(made))
    const action = actionAhead(made, options)
    const ended = (end: ToolEnd) => workOf(endedTool(action, end, options))
    return { actionType: action.type, ended, ...evaluated(action) }
  }
}

/** What a call made, of which only figures, names of commits and digests will be left. */
function workOf({ edits, commits, testRuns }: Pick<Action, "edits" | "commits" | "testRuns">) {
  return [
    ...edits.map(({ path, diff, linesAdded, linesRemoved }, at) => ({
      id: `edit/${at + 1}`,
      type: "file_edit" as const,
      summary: path,
      content: diff,
      linesAdded,
      ...(linesRemoved !== null && { linesRemoved }),
    })),
    ...commits.map(({ id, message }) => ({
      id: id ?? "commit",
      type: "commit" as const,
      summary: message ?? "a commit",
      content: message ?? "",
    })),
    ...testRuns.map(({ runner, summary, exitCode, command }) => ({
      id: `tests/${runner}`.slice(0, 200),
      type: "test_run" as const,
      summary,
      content: `${command}\n${summary}`,
      ...(exitCode !== null && { exitCode }),
    })),
  ]
}
