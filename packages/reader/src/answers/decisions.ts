import type { Verdict } from "@orangebox/contract"
import {
  type DecisionEvent,
  decisionsOfReading,
  evaluationWords,
  hasFailed,
  recordedEvaluations,
  verdictOf,
  worstVerdict,
} from "@orangebox/decisions"
import { crashWords } from "@orangebox/runs"
import { formatTable, plural } from "@orangebox/text"
import { findTarget, runOf } from "../address/find-target.js"
import { type Court, type JudgedRun, judgeRun } from "../judging/judged-run.js"
import { leftOutWords } from "../run/bodies.js"
import type { Answer, Shown } from "./answer.js"
import type { PlacedReading } from "./placed.js"

/** An answer whose decisions are also handed over one by one. */
export interface DecisionsAnswer extends Answer {
  readonly decisions: readonly DecisionEvent[]
}

/** What the agent of a run did, or what it did in one step. */
export async function answerDecisions(place: PlacedReading, court: Court, { width }: Shown): Promise<DecisionsAnswer> {
  const { reader, freshness } = place
  const target = await findTarget(reader, place.address)
  const judged = await judgeRun(court, reader, await runOf(reader, target))
  const { reading, evaluation, run, leftOut } = judged
  const all = decisionsOfReading(reading, { evaluation })
  const no = target.stepId === null ? undefined : reading.index.stepOf(target.stepId)?.no
  const decisions = no === undefined ? all : all.filter(({ agent_action }) => agent_action.step_no === no)
  const recorded = recordedEvaluations(reading, evaluation)
  const { runId, status } = run.row
  const open = openWords(judged)
  const { lost } = reading.index.totals
  return {
    decisions,
    remarks: [
      ...(leftOut.bodies > 0 ? [`${runId} is too large: ${leftOutWords(leftOut)}`] : []),
      ...(lost > 0 ? [`${runId}: ${plural(lost, "event")} of the run lost; these are the decisions of the rest`] : []),
      ...(open === undefined ? [] : [`${runId}: ${open}`]),
    ],
    text: () => {
      const others = recorded.filter(({ differs }) => differs).map((one) => `on record: ${evaluationWords(one)}`)
      const computed = others.length === 0 ? [] : [`computed now: ${verdictOf(evaluation)}`]
      return [decisionsText(decisions, all.length, width), ...others, ...computed].join("\n")
    },
    json: () => ({
      ...{
        run_id: runId,
        status,
        is_open: evaluation.isOpen,
        lost_events: lost,
        total: all.length,
        recorded_evaluations: recorded,
      },
      ...{ decisions, ...freshness },
    }),
  }
}

export const VERDICT_MARK: Readonly<Record<Verdict, string>> = { pass: "✓", warn: "!", fail: "✗", unknown: "·" }

/** What a run that has not ended says about itself, and undefined for all others. */
export function openWords({ run, evaluation }: Pick<JudgedRun, "run" | "evaluation">): string | undefined {
  if (!evaluation.isOpen) return undefined
  const { crash } = run.view
  return crash ? `${crashWords(crash)}; judged for what there is` : "still in progress; judged for what there is so far"
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
      `${hasFailed({ status: action.status, verdict }) ? `${VERDICT_MARK.fail} failed` : `${VERDICT_MARK[verdict]} ${verdict}`}${said === undefined ? "" : " (a person)"}`,
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
  const hasFailure = rows.some(([, verdict]) => verdict?.startsWith(`${VERDICT_MARK.fail} failed`))
  const legend = hasFailure ? " · failed: the action did not succeed; fail: it broke a rule" : ""
  return `${table}\n${count}${legend}`
}
