import { type Event, integerIn, payloadOf, textIn } from "@orangebox/contract"
import type { Step } from "@orangebox/runs"
import type { Action, TestRun } from "./action.js"
import type { BodyLookup } from "./recorded-run.js"
import { editOf, isChange } from "./workspace-changes.js"

// A classifier's ids tell its artifacts from those that an application or a look recorded, and say what no field does.
const EDIT_ID = /^edit\/\d+$/
const TESTS_ID = /^tests\/(.+)\/(passed|failed|unknown)$/s

export const classifiedTestId = (runner: string, outcome: TestRun["outcome"]): string =>
  `tests/${runner.slice(0, 200)}/${outcome}`

export const isClassifiedEdit = (event: Event): boolean => isChange(event) && EDIT_ID.test(idOf(event))

const idOf = (event: Event): string => textIn(payloadOf(event), "artifact_id") ?? ""

/** What a call made whose text is not kept, as a classifier read it when it was there; nothing where it read nothing. */
export function classifiedWork(step: Step, bodies: BodyLookup): Partial<Pick<Action, "edits" | "testRuns">> {
  const edits = step.events.filter(isClassifiedEdit).map((event) => editOf(event, bodies))
  const testRuns = step.events.flatMap((event) => testRunOf(event, step))
  return { ...(edits.length > 0 && { edits }), ...(testRuns.length > 0 && { testRuns }) }
}

function testRunOf(event: Event, step: Step): TestRun[] {
  const payload = payloadOf(event)
  if (event.event_type !== "artifact_recorded" || payload["artifact_type"] !== "test_run") return []
  const [, runner, outcome] = TESTS_ID.exec(idOf(event)) ?? []
  if (runner === undefined) return []
  return [
    {
      runner,
      // Which tests they were is not kept: no other run is known to have run them again.
      scope: [step.id],
      command: step.id,
      exitCode: integerIn(payload, "exit_code") ?? null,
      passed: null,
      failed: null,
      skipped: null,
      outcome: outcome as TestRun["outcome"],
      summary: outcome === "unknown" ? "result unknown" : `tests ${outcome}`,
      evidence: { stepId: step.id, ref: textIn(payload, "content_ref") ?? null },
    },
  ]
}
