import { type Observability, reportHtml, reportMarkdown, reportText, runReport } from "@orangebox/decisions"
import { snakeJson } from "@orangebox/text"
import { findRun } from "../address/find-target.js"
import { type Court, judgeRun } from "../judging/judged-run.js"
import { leftOutWords } from "../run/bodies.js"
import type { Answer, Shown } from "./answer.js"
import type { PlacedReading } from "./placed.js"

/** Of a run's report there is also a page, and Markdown. */
export interface ReportAnswer extends Answer {
  html(): string
  markdown(): string
}

/** What a run did, and whether that was what was asked. */
export async function answerReport(place: PlacedReading, court: Court, { width, color }: Shown): Promise<ReportAnswer> {
  const { reader, address, freshness } = place
  const { run, recorded, evaluation, leftOut } = await judgeRun(court, reader, await findRun(reader, address))
  const { tools } = court.config
  const made = runReport(recorded, { ...(tools === undefined ? {} : { tools }), evaluation })
  const shown = {
    ...(width === undefined ? {} : { width: Math.max(60, width) }),
    ...(color === undefined ? {} : { color }),
  }
  return {
    remarks: leftOut.bodies > 0 ? [`${run.row.runId} is too large: ${leftOutWords(leftOut)}`] : [],
    text: () => reportText(made, shown),
    html: () => reportHtml(made),
    markdown: () => reportMarkdown(made),
    json: () => ({ ...made, observability: trailJson(made.observability), ...freshness }),
  }
}

/** The holes in a run's trail. */
export const trailJson = ({ failures, bypasses, unreadCalls, pendingTools }: Observability): object =>
  snakeJson({ failures, bypasses, unreadCalls, pendingTools })
