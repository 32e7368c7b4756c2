import type { WatchStatus } from "@orangebox/collector"
import { holderWords } from "@orangebox/reader"
import { plural } from "@orangebox/text"
import { holderJson } from "../json-shapes.js"

export function watchText(status: WatchStatus): string {
  switch (status.kind) {
    case "waiting":
      return `waiting: ${status.heldBy ? holderWords(status.heldBy) : "another process"} is collecting`
    case "opened":
      return status.setAside
        ? `the database was damaged (${status.setAside.reason}) and is now ${status.setAside.path}`
        : "the store is open"
    case "collected":
      return `${plural(status.report.events, "event")}${status.report.crashedRuns.length > 0 ? `, crashed: ${status.report.crashedRuns.join(", ")}` : ""}`
    case "failing":
      return `the store takes nothing: ${status.failure.message}; next try in ${Math.round(status.retryInMs / 1000)} s`
    case "pruned":
      return `pruned ${plural(status.report.runsPruned, "run")}, ${plural(status.report.bodiesPruned, "body", "bodies")}`
  }
}

/** One line of JSON for each thing that happens. */
export function watchJson(status: WatchStatus) {
  switch (status.kind) {
    case "waiting":
      return { kind: status.kind, held_by: holderJson(status.heldBy) }
    case "opened":
      return { kind: status.kind, is_fresh: status.isFresh, set_aside: status.setAside ?? null }
    case "collected":
      return { kind: status.kind, events: status.report.events, crashed_runs: status.report.crashedRuns }
    case "failing":
      return { kind: status.kind, code: status.failure.code, what: status.failure.what, retry_in_ms: status.retryInMs }
    case "pruned":
      return { kind: status.kind, runs_pruned: status.report.runsPruned, bodies_pruned: status.report.bodiesPruned }
  }
}
