import {
  type DecisionEvent,
  decisionLogRecords,
  decisionsOfReading,
  evaluationWords,
  hasFailed,
  recordedEvaluations,
  verdictOf,
  worstVerdict,
} from "@orangebox/decisions"
import { findTarget, type RuleOptions, runOf } from "@orangebox/reader"
import { formatTable, plural, safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { MARK, openWords } from "../decisions/format-check.js"
import { addRuleOptions, courtHere, judgeHere } from "../decisions/judging.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, type Session, wrongUsage } from "../session.js"

interface DecisionsOptions extends RuleOptions {
  readonly jsonl?: boolean
  readonly otel?: boolean
  readonly root?: string
}

export function define(command: Command, session: Session): void {
  command
    .description("List what the agent did: every action with its type, its verdict and where it came from.")
    .argument("[address]", "a run, one step of it, or an exported file", "last")
    .option("--jsonl", "one DecisionEvent a line, whole")
    .option("--otel", "OpenTelemetry log records as OTLP/JSON, with trace and span")
  addRuleOptions(command)
    .option("--root <folder>", "the workspace, for absolute paths; default: the folder that holds .orangebox")
    .addHelpText("after", "\nJudges are not asked; orangebox check asks them.")
  bindShell<DecisionsOptions>(command, session, listDecisions, [
    ["orangebox decisions", "what the agent of the last run did"],
    ["orangebox decisions last#5 --json", "everything about one action"],
    ["orangebox decisions last --jsonl >> decisions.jsonl", "for a log pipeline"],
  ])
}

function listDecisions(
  session: Session,
  options: DecisionsOptions & GlobalOptions,
  typed = "last",
): Promise<number | undefined> {
  if ([options.jsonl, options.otel, options.json].filter(Boolean).length > 1) {
    throw wrongUsage("--json, --jsonl and --otel are three forms", "Choose one")
  }
  const court = courtHere(session, options)
  return withRunAt(session, options, typed, async (place) => {
    const { reader, freshness } = place
    const target = await findTarget(reader, place.address)
    const judged = await judgeHere(session, court, reader, await runOf(reader, target))
    const { reading, evaluation, run } = judged
    const all = decisionsOfReading(reading, { evaluation })
    const no = target.stepId === null ? undefined : reading.index.stepOf(target.stepId)?.no
    const decisions = no === undefined ? all : all.filter(({ agent_action }) => agent_action.step_no === no)
    const recorded = recordedEvaluations(reading, evaluation)
    const { terminal } = session
    if (options.jsonl) {
      for (const decision of decisions) {
        terminal.out(safeJson(decision))
        await terminal.drained()
      }
    } else if (options.otel) terminal.out(safeJson(decisionLogRecords(decisions), 2))
    else if (options.json) {
      const { runId, status } = run.row
      const { isOpen } = evaluation
      const facts = { run_id: runId, status, is_open: isOpen, total: all.length, recorded_evaluations: recorded }
      terminal.out(safeJson({ ...facts, decisions, ...freshness }, 2))
    } else {
      const open = openWords(judged)
      if (open !== undefined) terminal.say(`orangebox: ${run.row.runId}: ${open}`)
      const others = recorded.filter(({ differs }) => differs).map((one) => `on record: ${evaluationWords(one)}`)
      const computed = others.length === 0 ? [] : [`computed now: ${verdictOf(evaluation)}`]
      terminal.out([decisionsText(decisions, all.length, terminal.columns), ...others, ...computed].join("\n"))
    }
    return undefined
  })
}

function decisionsText(decisions: readonly DecisionEvent[], total: number, columns = 120): string {
  if (decisions.length === 0) return total === 0 ? "no decisions yet" : `no decision in this step, ${total} in the run`
  const rows = decisions.map(({ agent_action: action, evaluation }) => {
    const said = evaluation.overrides?.at(-1)?.verdict
    const spoken = [evaluation.alignment, evaluation.quality, evaluation.policy]
      .map(({ status }) => status)
      .filter((status) => status !== "unknown")
    const verdict = said ?? worstVerdict(spoken)
    return [
      `#${action.step_no}`,
      `${hasFailed({ status: action.status, verdict }) ? `${MARK.fail} failed` : `${MARK[verdict]} ${verdict}`}${said === undefined ? "" : " (a person)"}`,
      action.action_type,
      action.status,
      `${action.inferred_by === null || action.inferred_by === undefined ? "" : "≈ "}${action.action_summary}`,
    ]
  })
  const table = formatTable(
    [
      { title: "step", align: "right" },
      { title: "verdict" },
      { title: "action" },
      { title: "status" },
      { title: "what", minWidth: 24 },
    ],
    rows,
    { width: columns },
  )
  const count = decisions.length === total ? plural(total, "decision") : `${decisions.length} of ${total} decisions`
  return `${table}\n${count}`
}
