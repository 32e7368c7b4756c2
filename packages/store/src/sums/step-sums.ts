import { type PriceTable, priceOf } from "@orangebox/dialects"
import { type FoldedStep, hasUsage } from "@orangebox/runs"
import { ORIGINS, STEP_KINDS, STEP_STATUSES } from "../codes.js"
import { column } from "../column-text.js"
import type { Row } from "../row-values.js"
import { contributorRows, nano, skillRow, type Told, usageOf } from "./prompt-sums.js"
import type { SumShape } from "./sum-shape.js"

export const DAY_MS = 86_400_000

const STEPS: SumShape = {
  table: "rollup_rows",
  key: [
    ...["run", "day", "kind", "work_kind", "name", "provider", "source", "status", "error_class"],
    ...["origin", "app", "agent_version"],
  ],
  added: [
    ...["count", "attempts", "duration_sum", "first_byte_sum"],
    ...["prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"],
    ...["without_usage", "usd_nano", "unpriced"],
  ],
  largest: ["duration_max", "first_byte_max"],
  counted: ["durations", "first_bytes", "generations"],
}

const CONTRIBUTORS: SumShape = {
  table: "contributor_rows",
  key: ["run", "day", "contributor", "kind", "origin", "app"],
  added: [
    ...["prompts", "bytes", "tokens_est", "uncounted", "usd_nano", "unpriced"],
    ...["uses", "unheard", "entries"],
  ],
  largest: [],
  counted: [],
}

export const ROLLUP_SHAPES = { steps: STEPS, contributors: CONTRIBUTORS }

/** One literal: on Node 20 each spread of an object of this size costs as much as the rest of counting a step. */
export function stepSum(run: number, step: FoldedStep<unknown>, prices: PriceTable): Row {
  const { durationMicros: duration, firstByteMicros: firstByte, tokens } = step
  const isCall = step.kind === "model"
  const usd = isCall ? priceOf(usageOf(step), step.name, step.openedAtMs, prices).usd : null
  return {
    run,
    day: dayOf(step),
    kind: STEP_KINDS.indexOf(step.kind),
    work_kind: column(step.workKind) ?? "",
    name: column(step.name) ?? "",
    provider: column(step.provider) ?? "",
    source: column(step.source) ?? "",
    status: STEP_STATUSES.indexOf(step.status),
    error_class: column(step.errorClass) ?? "",
    origin: originOf(step),
    app: "",
    agent_version: "",
    count: 1,
    attempts: isCall ? Math.max(1, step.attempts) : null,
    duration_sum: duration,
    first_byte_sum: firstByte,
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.completion,
    cache_read_tokens: tokens.cacheRead,
    cache_write_tokens: tokens.cacheWrite,
    reasoning_tokens: tokens.reasoning,
    without_usage: isCall ? Number(!hasUsage(tokens)) : null,
    usd_nano: usd === null ? null : nano(usd),
    unpriced: isCall ? Number(usd === null) : null,
    duration_max: duration,
    first_byte_max: firstByte,
    durations: inBucket(duration),
    first_bytes: inBucket(firstByte),
    generations: inBucket(duration === null || firstByte === null ? null : Math.max(0, duration - firstByte)),
  }
}

/** What a step that has ended adds to the contributors of its prompt. */
export function contributorSums(run: number, step: FoldedStep<unknown>, told: Told, prices: PriceTable): Row[] {
  const rows =
    step.kind === "model"
      ? contributorRows(step, told, prices)
      : told.skill !== undefined && step.status === "success"
        ? [skillRow(told.skill)]
        : []
  return rows.map((row) => ({ ...row, run, day: dayOf(step), origin: originOf(step), app: "" }))
}

const dayOf = ({ openedAtMs }: FoldedStep<unknown>): number => Math.floor(openedAtMs / DAY_MS)

const originOf = ({ isReplayed }: FoldedStep<unknown>): number => ORIGINS.indexOf(isReplayed ? "replayed" : "recorded")

/** A count of one under the number of binary digits of the microseconds: bucket n holds what is under 2ⁿ µs and at least half of that. */
function inBucket(micros: number | null): string | null {
  return micros === null ? null : `{"${micros === 0 ? 0 : Math.round(micros).toString(2).length}":1}`
}

/** What a step without an end counts as: itself, and nothing of what only an end tells. */
export function openStepSum(run: number, step: FoldedStep<unknown>): Row {
  return {
    run,
    day: dayOf(step),
    kind: STEP_KINDS.indexOf(step.kind),
    work_kind: column(step.workKind) ?? "",
    name: column(step.name) ?? "",
    provider: column(step.provider) ?? "",
    source: column(step.source) ?? "",
    status: STEP_STATUSES.indexOf("open"),
    error_class: "",
    origin: originOf(step),
    app: "",
    agent_version: "",
    count: 1,
    ...Object.fromEntries([...STEPS.added.slice(1), ...STEPS.largest, ...STEPS.counted].map((name) => [name, null])),
  }
}
