import type { Action, FileEdit, ModelUse, RunActions, TestRun } from "../../src/action.js"
import { pointTo } from "../../src/evidence.js"
import { type CheckContext, type CheckedConstraint, evaluateRun, type RunEvaluation } from "../../src/index.js"

let counter = 0

/** An action with nothing in it, to be filled in. */
export function action(parts: Partial<Action> = {}): Action {
  const stepNo = ++counter
  const stepId = stepNo.toString(16).padStart(16, "0")
  return {
    eventId: `event-${stepNo}`,
    stepId,
    parentStepId: null,
    stepNo,
    boundary: "tool",
    type: "other",
    summary: "",
    status: "success",
    openedAt: "2026-01-31T12:00:00.000Z",
    closedAt: "2026-01-31T12:00:01.000Z",
    inferredBy: null,
    capture: "full",
    modelStepId: null,
    unread: [],
    tool: null,
    output: null,
    paths: [],
    commands: [],
    edits: [],
    testRuns: [],
    commits: [],
    pullRequests: [],
    targets: [],
    evidence: [],
    ...parts,
  }
}

const ARGS_REF = `sha256:${"a".repeat(64)}`
const OUTPUT_REF = `sha256:${"b".repeat(64)}`

export function toolAction(name: string, args: unknown, parts: Partial<Action> = {}): Action {
  const argsText = JSON.stringify(args)
  return action({
    tool: {
      name,
      callId: null,
      args,
      argsText,
      argsRef: ARGS_REF,
      resultText: null,
      resultRef: null,
      status: "success",
      exitCode: null,
    },
    ...parts,
  })
}

export function shellAction(command: string, parts: Partial<Action> & { workingDirectory?: string } = {}): Action {
  const { workingDirectory = null, ...rest } = parts
  const base = toolAction("Bash", { command })
  const evidence = pointTo(base.stepId, ARGS_REF, base.tool?.argsText ?? null, command)
  return { ...base, type: "command", commands: [{ text: command, workingDirectory, exitCode: 0, evidence }], ...rest }
}

export function editAction(path: string, parts: Partial<FileEdit> = {}): Action {
  const base = toolAction("Edit", { file_path: path })
  const evidence = pointTo(base.stepId, ARGS_REF, base.tool?.argsText ?? null, path)
  const edit: FileEdit = {
    path,
    kind: "change",
    diff: "",
    linesAdded: 1,
    linesRemoved: 1,
    beforeHash: null,
    afterHash: null,
    evidence,
    ...parts,
  }
  const access = edit.kind === "delete" ? "delete" : "write"
  return { ...base, type: "edit", edits: [edit], paths: [{ path, access, evidence }] }
}

export const outputAction = (text: string | null): Action =>
  action({ boundary: "output", type: "message", output: { text, ref: OUTPUT_REF } })

export function testAction(command: string, outcome: TestRun["outcome"], runner = "vitest"): Action {
  const base = shellAction(command)
  const evidence = base.commands[0]!.evidence
  const exitCode = outcome === "failed" ? 1 : 0
  const run = {
    runner,
    scope: command.split(" ").slice(2),
    command,
    exitCode,
    passed: 1,
    failed: null,
    skipped: null,
    outcome,
    summary: `1 ${outcome}`,
    evidence,
  }
  return { ...base, type: "run_tests", testRuns: [run] }
}

export function sampleRun(actions: readonly Action[], parts: Partial<RunActions> = {}): RunActions {
  return {
    runId: "run_01JT9QK2000000000000000000",
    traceId: "0".repeat(32),
    status: "completed",
    capture: "full",
    request: { text: "do it", ref: null },
    actions,
    stepCount: actions.length,
    modelCalls: [],
    ...parts,
  }
}

export function modelUse(modelId: string | null, prompt: number | null, completion: number | null): ModelUse {
  return {
    stepId: "00000000000000aa",
    provider: "anthropic",
    modelId,
    at: "2026-01-31T12:00:00.000Z",
    usage: prompt === null ? null : { prompt, completion, total: null },
    serviceTier: null,
    cacheWrite1hTokens: null,
  }
}

export const constraint = (rule: string, parts: Partial<CheckedConstraint> = {}): CheckedConstraint => ({
  id: "c",
  type: "scope",
  rule,
  ...parts,
})

/** How one rule fares over some actions. */
export function judge(
  rule: string,
  actions: readonly Action[],
  context: CheckContext = {},
  run: Partial<RunActions> = {},
): RunEvaluation["results"][number] {
  return evaluateRun(sampleRun(actions, run), [constraint(rule)], context).results[0]!
}

/** The verdict of one rule over one shell command. */
export const judgeCommand = (rule: string, command: string, context: CheckContext = {}): string =>
  judge(rule, [shellAction(command)], context).status

/** The verdict of one rule over one edited path. */
export const judgePath = (rule: string, path: string, context: CheckContext = {}): string =>
  judge(rule, [editAction(path)], context).status
