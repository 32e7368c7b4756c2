import { snakeJson } from "@orangebox/text"
import { pageJson } from "../page.js"
import { countsOf } from "./context-changes.js"
import type { ContextRow, ContextRowOf, ContextRowValues } from "./context-rows.js"
import { type ContextOptions, contextPage } from "./context-text.js"
import type { ContextView } from "./context-view.js"

/** The same rows for programs, by what they are; print it with `safeJson`. */
export function contextJson(view: ContextView, options: Omit<ContextOptions, "format" | "color">) {
  const page = contextPage(view, options)
  const { rows } = page
  const { context, basis, inferredBy, prompt, prefix, changes, manifest, excludedCount, gaps, delivery, account } = view
  return {
    n: context.n,
    step_id: context.step.id ?? null,
    lane: context.lane ?? null,
    lane_inferred_by: context.laneInferredBy ?? null,
    ...snakeJson({ basis, inferredBy, delivery }),
    ...(account ? { prompt_account: snakeJson(account) } : {}),
    prompt: snakeJson(prompt),
    budget: manifest?.token_budget ? budgetJson(manifest.token_budget) : null,
    prefix: prefix ? snakeJson(prefix) : null,
    manifest: manifest ? manifestJson(manifest) : null,
    counts: {
      items: view.items.length,
      missing: view.missing.length,
      beside: view.beside.length,
      excluded: excludedCount ?? null,
    },
    changes: changes ? snakeJson(countsOf(changes)) : null,
    gaps,
    asked: valuesOf(rows, "asked"),
    items: valuesOf(rows, "items"),
    folded: valuesOf(rows, "folded"),
    missing: valuesOf(rows, "missing"),
    beside: valuesOf(rows, "beside"),
    excluded: valuesOf(rows, "excluded"),
    removed: valuesOf(rows, "removed"),
    changed: valuesOf(rows, "changed"),
    provider: valuesOf(rows, "provider"),
    revisions: valuesOf(rows, "revisions"),
    ...pageJson(page),
  }
}

function valuesOf<S extends keyof ContextRowValues>(rows: readonly ContextRow[], section: S) {
  const isOf = (row: ContextRow): row is ContextRow & ContextRowOf<S> => row.section === section
  return snakeJson(rows.filter(isOf).map(({ value }: ContextRowOf<S>) => value))
}

type Manifest = NonNullable<ContextView["manifest"]>

function budgetJson(budget: NonNullable<Manifest["token_budget"]>) {
  const { ctx_max_tokens, prompt_tokens } = budget
  const { headroom_tokens = null, counter = null, tiers = null } = "tiers" in budget ? budget : {}
  return { ctx_max_tokens, prompt_tokens, headroom_tokens, counter, tiers }
}

function manifestJson(manifest: Manifest) {
  const { snapshot_id, revision, stage, compiler_version, prompt_hash, considered_count } = manifest
  const { reranker_model, reranker_version, retrievers, candidate_chunk_ids, selected_chunk_ids } = manifest
  return {
    made_by: manifest.made_by ?? "compiler",
    ...{ snapshot_id, revision, stage, compiler_version, prompt_hash, considered_count },
    ...{ reranker_model, reranker_version, retrievers },
    ...{ candidates: candidate_chunk_ids?.length ?? null, selected_chunk_ids },
  }
}
