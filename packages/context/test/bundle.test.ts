import {
  buildLlmContext,
  buildStepAwarenessBundle,
  compile,
  defineStages,
  renderPromptFromBundle,
  stepAwarenessCatalog,
} from "@orangebox/context"
import { describe, expect, test } from "vitest"
import { PIPELINE_FILES, RESULTS, setupOver } from "./workspace.js"

describe("the bundle", () => {
  test("[B-01] a bundle has every field of the object model and no other", () => {
    const bundle = buildStepAwarenessBundle({ stepId: 3, runId: "run_7", results: RESULTS }, setupOver(PIPELINE_FILES))
    expect(Object.keys(bundle)).toEqual([
      "bundle_version",
      "step_id",
      "step_name",
      "run_id",
      "is_chapter_13",
      "context",
      "budgets",
      "provenance",
      "generated_at",
    ])
    expect(Object.keys(bundle.context)).toEqual([
      "mission",
      "schema_excerpt",
      "grammar_name",
      "contracts",
      "guardrails",
      "inputs_summary",
      "evaluation_summary",
      "recent_outcomes",
      "trend_summary",
      "open_incidents",
    ])
    expect(bundle).toMatchObject({
      bundle_version: "1.0.0",
      step_id: 3,
      step_name: "full_scoring",
      run_id: "run_7",
      is_chapter_13: false,
      generated_at: "2026-02-02T00:00:00.000Z",
    })
    expect(bundle.context.recent_outcomes[0]).toEqual({
      step: 3,
      run_id: "run_42",
      result: "improved",
      metric_delta: -0.5,
      key_metric: "mean_score",
      timestamp: "2026-01-03T00:00:00Z",
    })
    expect(bundle.context.trend_summary).toEqual([
      { metric_name: "mean_score", direction: "rising", recent_values: [0.41, 0.44, 0.46], window_size: 3 },
    ])
  })

  test("[B-01] freezing is deep, and what the caller passed in stays the caller's", () => {
    const results = { mean_score: 1, top_candidates: [{ id: 1 }] }
    const bundle = buildStepAwarenessBundle({ stepId: 3, results }, setupOver(PIPELINE_FILES))
    const thawed: string[] = []
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== "object" || value === null) return
      if (!Object.isFrozen(value)) thawed.push(path)
      for (const [key, member] of Object.entries(value)) visit(member, `${path}.${key}`)
    }
    visit(bundle, "bundle")
    expect(thawed).toEqual([])
    expect(() => Object.assign(bundle.context, { mission: "other" })).toThrow(TypeError)
    results.top_candidates[0]!.id = 2
    expect(bundle.context.inputs_summary["top_candidates"]).toEqual([{ id: 1 }])
  })

  test("[B-01] a run id is generated only where none is given", () => {
    const setup = setupOver()
    expect(buildStepAwarenessBundle({ stepId: 1 }, setup).run_id).toBe("run_generated")
    expect(buildStepAwarenessBundle({ stepId: 1, runId: "" }, setup).run_id).toBe("run_generated")
    expect(buildStepAwarenessBundle({ stepId: 1, runId: "mine" }, setup).run_id).toBe("mine")
  })

  test("[B-04] prompt, grammar and bundle of the one entry point agree with the renderer", () => {
    const { prompt, grammarName, bundle } = buildLlmContext({ stepId: 2 }, setupOver(PIPELINE_FILES))
    expect(renderPromptFromBundle(bundle)).toBe(prompt)
    expect(grammarName).toBe("sieve_analysis.gbnf")
    expect(bundle.context.grammar_name).toBe(grammarName)
  })

  test("[B-04] a bundle that went through JSON renders the same prompt", () => {
    const { prompt, bundle } = buildLlmContext({ stepId: 3, results: RESULTS }, setupOver(PIPELINE_FILES))
    expect(renderPromptFromBundle(JSON.parse(JSON.stringify(bundle)))).toBe(prompt)
  })
})

describe("what each step brings at least", () => {
  test.each([1, 2, 3, 4, 5, 6, 13])(
    "[B-03] step %i has mission, schema, grammar, guardrails and contracts",
    (stepId) => {
      const { context, is_chapter_13 } = buildStepAwarenessBundle({ stepId }, setupOver())
      expect(context.mission).not.toBe("")
      expect(context.schema_excerpt).not.toBe("")
      expect(context.contracts.length).toBeGreaterThan(0)
      expect(context.guardrails.length).toBeGreaterThan(0)
      expect(context.inputs_summary).toEqual({})
      expect(context.evaluation_summary).toEqual({})
      expect(is_chapter_13).toBe(stepId === 13)
    },
  )

  test("[B-03] grammars and key metrics are those of the specification", () => {
    const table = stepAwarenessCatalog.stages.map(({ id, name, grammar, keyMetrics }) => [
      id,
      name,
      grammar?.name,
      keyMetrics.join(", "),
    ])
    expect(table).toEqual([
      [
        1,
        "window_optimizer",
        "agent_decision.gbnf",
        "survivor_count, bidirectional_count, forward_count, reverse_count, precision, recall",
      ],
      [2, "scorer_meta", "sieve_analysis.gbnf", "best_accuracy, completed_trials, convergence_rate"],
      [
        3,
        "full_scoring",
        "agent_decision.gbnf",
        "completion_rate, survivors_scored, survivors_total, feature_dimensions, mean_score, score_std, top_candidates",
      ],
      [4, "ml_meta", "agent_decision.gbnf", "best_r2, validation_r2, architecture_stability"],
      [5, "anti_overfit", "agent_decision.gbnf", "val_r2, test_r2, overfit_ratio, feature_importance_entropy"],
      [6, "prediction", "agent_decision.gbnf", "prediction_count, mean_confidence, pool_coverage, feature_hash_valid"],
      [
        13,
        "chapter_13_feedback",
        "chapter_13.gbnf",
        "drift_detected, metric_delta, trigger_action, retrain_recommended",
      ],
    ])
  })

  test("[B-03] with results there are an evaluation and the key metrics; what is unknown stays unknown", () => {
    const { context } = buildStepAwarenessBundle(
      { stepId: 1, runNumber: 4, results: { survivor_count: 12, precision: Number.NaN, secret: "x" } },
      setupOver(),
    )
    expect(context.inputs_summary).toEqual({ survivor_count: 12, precision: "NaN" })
    expect(context.evaluation_summary).toEqual({
      success: null,
      confidence: null,
      interpretation:
        "Run 4: 2 of 6 key metrics reported, missing: bidirectional_count, forward_count, reverse_count, recall",
    })
  })

  test("[B-03] chapter 13 takes its evaluation from the results directly", () => {
    const results = { success: false, confidence: 0.4, interpretation: "Drift since Monday.", drift_detected: true }
    const { context } = buildStepAwarenessBundle({ stepId: 13, results }, setupOver())
    expect(context.evaluation_summary).toEqual({
      success: false,
      confidence: 0.4,
      interpretation: "Drift since Monday.",
    })
    expect(context.inputs_summary).toEqual({ drift_detected: true })
  })

  test("[B-03] chapter 13 mode judges another step with the mission of chapter 13", () => {
    const bundle = buildStepAwarenessBundle({ stepId: 3, isChapter13: true }, setupOver())
    expect(bundle).toMatchObject({ step_id: 3, step_name: "chapter_13_feedback", is_chapter_13: true })
    expect(bundle.context.grammar_name).toBe("chapter_13.gbnf")
  })

  test("[B-08] a catalog of one's own may judge results its own way", () => {
    const catalog = defineStages({
      name: "own",
      version: "1",
      stages: [
        {
          id: "grade",
          name: "grade",
          mission: "Grade it.",
          keyMetrics: ["score"],
          evaluate: (results, { runNumber }) => ({
            success: Number(results["score"]) > 0.5,
            confidence: 1,
            interpretation: `try ${runNumber}`,
          }),
        },
      ],
    })
    const { bundle, prompt, grammarName } = compile(catalog.stage("grade"), {
      runId: "run_1",
      generatedAt: "2026-01-01T00:00:00Z",
      results: { score: 0.7 },
      runNumber: 2,
    })
    expect(bundle.context.evaluation_summary).toEqual({ success: true, confidence: 1, interpretation: "try 2" })
    expect(grammarName).toBeNull()
    expect(prompt).toBe(
      '# Mission\nGrade it.\n\n# Step inputs\n- score: 0.7\n\n# Evaluation\n- success: true\n- confidence: 1\n- interpretation: "try 2"\n',
    )
  })
})
