import type { LoosePayload } from "@orangebox/contract"
import type { ContextSource, SourceExclusion, SourceItem } from "../stage.js"
import { badLine, readJsonLines, stageOf } from "./json-lines.js"

/**
 * Failures that are not resolved: one JSON object a line with `message` (or `error`), optionally `step` and `id`. A line is resolved by
 * `resolved: true` or `status: "resolved"`, its own or that of a later line with the same id. Newest first.
 */
export function openIncidents(path = "watcher_failures.jsonl"): ContextSource {
  return {
    id: "open-incidents",
    read(files, stage) {
      const { records, problems } = readJsonLines(files, path)
      const latest = new Map<unknown, LoosePayload>()
      for (const { record } of records) {
        const id = incidentId(record)
        if (id !== undefined) latest.set(id, record)
      }

      const items: SourceItem[] = []
      const excluded: SourceExclusion[] = []
      for (const { line, record } of records.toReversed()) {
        const id = `${path}#L${line}`
        const about = { id, type: "evidence", sourceRef: `file:${id}` } as const
        const incident = incidentId(record)
        const standing = incident === undefined ? record : latest.get(incident)
        if (isResolved(record) || (standing && isResolved(standing))) {
          excluded.push({ ...about, reason: "resolved" })
        } else if (standing !== record) {
          excluded.push({ ...about, reason: "duplicate" })
        } else if (!concerns(record, stage.id) && !stage.judgesAllStages) {
          excluded.push({ ...about, reason: "other_stage" })
        } else {
          const message = record["message"] ?? record["error"]
          if (typeof message === "string" && message.trim() !== "") {
            items.push({ ...about, placed: { section: "open_incidents", value: sentence(record, message) } })
          } else {
            problems.push(badLine(path, line, "has neither message nor error"))
            excluded.push({ ...about, reason: "unreadable" })
          }
        }
      }
      return { items, excluded, problems }
    },
  }
}

function incidentId(record: LoosePayload): string | number | undefined {
  const id = record["id"] ?? record["incident_id"]
  return typeof id === "string" || typeof id === "number" ? id : undefined
}

const isResolved = (record: LoosePayload): boolean => record["resolved"] === true || record["status"] === "resolved"

/** An incident that names no step concerns all of them. */
function concerns(record: LoosePayload, stageId: number | string): boolean {
  const step = stageOf(record)
  return step === undefined || String(step) === String(stageId)
}

function sentence(record: LoosePayload, message: string): string {
  const step = stageOf(record)
  return step === undefined ? message : `step ${step}: ${message}`
}
