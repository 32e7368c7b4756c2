import { isRecord, type LoosePayload } from "@orangebox/contract"
import type { TrendSummary } from "../bundle.js"
import type { ContextSource, SourceItem } from "../stage.js"
import { readJsonLines, stageOf } from "./json-lines.js"

/**
 * How a stage's key metrics moved over its last runs: one JSON object a line, oldest first, with `step` and the metrics either in
 * `metrics` or beside it.
 */
export function metricTrends(path = "run_history.jsonl", windowSize = 5): ContextSource {
  return {
    id: "metric-trends",
    read(files, stage) {
      const { records, problems } = readJsonLines(files, path)
      const own = records
        .map(({ record }) => record)
        .filter((record) => stageOf(record) !== undefined && String(stageOf(record)) === String(stage.id))
      const items = stage.keyMetrics.flatMap((metric): SourceItem[] => {
        const trend = trendOf(metric, valuesOf(own, metric).slice(-windowSize))
        if (!trend) return []
        const id = `${path}#trend:${metric}`
        return [{ id, type: "summary", sourceRef: `file:${id}`, placed: { section: "trend_summary", value: trend } }]
      })
      return { items, excluded: [], problems }
    },
  }
}

function valuesOf(records: readonly LoosePayload[], metric: string): number[] {
  return records.flatMap((record) => {
    const metrics = isRecord(record["metrics"]) ? record["metrics"] : record
    const value = Object.hasOwn(metrics, metric) ? metrics[metric] : undefined
    return typeof value === "number" ? [value] : []
  })
}

/** One value is no trend. */
function trendOf(metric_name: string, recent_values: readonly number[]): TrendSummary | undefined {
  const [first, last] = [recent_values[0], recent_values.at(-1)]
  if (first === undefined || last === undefined || recent_values.length < 2) return undefined
  const delta = last - first
  // Below a millionth of the values themselves a difference is rounding.
  const isFlat = Math.abs(delta) <= 1e-6 * Math.max(Math.abs(first), Math.abs(last))
  const direction = isFlat ? "flat" : delta > 0 ? "rising" : "falling"
  return { metric_name, direction, recent_values, window_size: recent_values.length }
}
