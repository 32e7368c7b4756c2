import { isRecord, type LoosePayload, type Problem } from "@orangebox/contract"
import type { OutcomeRecord } from "../bundle.js"
import type { ContextSource, SourceExclusion, SourceItem } from "../stage.js"
import { fileProblem } from "../workspace-files.js"
import { parseJson, stageOf, textOf } from "./json-lines.js"

/** Curated outcomes of earlier runs: every `*.json` of a folder, one outcome or a list of outcomes each; newest first. */
export function outcomeSummaries(folder = "chapter13/summaries"): ContextSource {
  return {
    id: "outcome-summaries",
    read(files, stage) {
      const found: { id: string; outcome: OutcomeRecord }[] = []
      const problems: Problem[] = []
      for (const name of files.list(folder)) {
        if (!name.endsWith(".json") || name.includes("/")) continue
        const path = `${folder}/${name}`
        const bytes = files.read(path)
        if (bytes === undefined) continue
        const content = parseJson(textOf(bytes))
        const records: readonly unknown[] = Array.isArray(content) ? content : [content]
        for (const [index, record] of records.entries()) {
          const outcome = isRecord(record) ? outcomeOf(record) : undefined
          const field = Array.isArray(content) ? `[${index}]` : ""
          if (outcome) found.push({ id: `${path}#${index}`, outcome })
          else problems.push(fileProblem("malformed_outcome", path, field, `is not an outcome (${FIELDS})`))
        }
      }
      found.sort((a, b) => newestFirst(a.outcome, b.outcome) || (a.id < b.id ? -1 : 1))

      const items: SourceItem[] = []
      const excluded: SourceExclusion[] = []
      for (const { id, outcome } of found) {
        const about = { id, type: "memory", sourceRef: `file:${id}` } as const
        // A stage learns from its own outcomes.
        if (stage.judgesAllStages || String(outcome.step) === String(stage.id)) {
          items.push({ ...about, placed: { section: "recent_outcomes", value: outcome } })
        } else {
          excluded.push({ ...about, reason: "other_stage" })
        }
      }
      return { items, excluded, problems }
    },
  }
}

const FIELDS = "step, run_id, result, metric_delta, key_metric, timestamp"

function outcomeOf(record: LoosePayload): OutcomeRecord | undefined {
  const step = stageOf(record)
  const { run_id, result, metric_delta, key_metric, timestamp } = record
  if (step === undefined || typeof run_id !== "string" || typeof result !== "string") return undefined
  if (typeof key_metric !== "string" || typeof timestamp !== "string") return undefined
  if (typeof metric_delta !== "number" && metric_delta !== null && metric_delta !== undefined) return undefined
  return { step, run_id, result, metric_delta: metric_delta ?? null, key_metric, timestamp }
}

/** Times that cannot be read are the oldest. */
function newestFirst(a: OutcomeRecord, b: OutcomeRecord): number {
  const at = (outcome: OutcomeRecord): number => {
    const time = Date.parse(outcome.timestamp)
    return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time
  }
  const [first, second] = [at(a), at(b)]
  return first === second ? 0 : second > first ? 1 : -1
}
