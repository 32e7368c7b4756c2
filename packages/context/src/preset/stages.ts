import { reportedEvaluation } from "../result-candidates.js"
import type { StageDefinition } from "../stage.js"

/**
 * Steps 1–6 and 13 of the step-awareness specification. It fixes ids, names, grammars and key metrics; where it gives only names the texts
 * below are ours, written to fit, and meant to be replaced by those who run such a pipeline.
 */
const DECISION_SCHEMA = `One JSON object, in this order:
success: boolean, whether the step met its success condition
confidence: number from 0 to 1
interpretation: string, one to three sentences that name the metrics they rest on
recommended_action: "proceed" | "retry" | "escalate"
warnings: list of strings, empty where there is nothing to warn of`

const SIEVE_SCHEMA = `One JSON object, in this order:
success: boolean, whether the search met its success condition
confidence: number from 0 to 1
interpretation: string, one to three sentences that name the metrics they rest on
convergence: "converged" | "converging" | "stalled" | "diverging"
recommended_action: "proceed" | "retry" | "escalate"
warnings: list of strings, empty where there is nothing to warn of`

const CHAPTER_13_SCHEMA = `One JSON object, in this order:
drift_detected: boolean
metric_delta: number, or null where it was not measured
trigger_action: "none" | "hold" | "retrain" | "escalate"
retrain_recommended: boolean
confidence: number from 0 to 1
interpretation: string, one to three sentences that name the evidence they rest on`

const COMMON_GUARDRAILS = [
  "Judge only what is in this context; ask for no files and assume no results that are not shown.",
  "A metric that is missing is unknown, not zero and not a success.",
]

const decided = { name: "agent_decision.gbnf", fallback: "json_generic.gbnf" }

export const PRESET_STAGES: readonly StageDefinition[] = [
  {
    id: 1,
    name: "window_optimizer",
    mission:
      "Judge the window optimization: does the chosen window leave enough survivors in both directions to score, and few enough to be selective?",
    schemaExcerpt: DECISION_SCHEMA,
    grammar: decided,
    keyMetrics: ["survivor_count", "bidirectional_count", "forward_count", "reverse_count", "precision", "recall"],
    guardrails: [
      ...COMMON_GUARDRAILS,
      "A survivor count of zero is a failure whatever precision and recall say.",
      "Bidirectional survivors cannot outnumber forward or reverse survivors; if they do, escalate.",
    ],
  },
  {
    id: 2,
    name: "scorer_meta",
    mission:
      "Judge the search for scorer parameters: has it converged on an accuracy worth carrying into full scoring, or does it need more trials?",
    schemaExcerpt: SIEVE_SCHEMA,
    grammar: { name: "sieve_analysis.gbnf", fallback: "json_generic.gbnf" },
    keyMetrics: ["best_accuracy", "completed_trials", "convergence_rate"],
    guardrails: [
      ...COMMON_GUARDRAILS,
      "Do not call a search converged on fewer completed trials than it was given to run.",
    ],
  },
  {
    id: 3,
    name: "full_scoring",
    mission:
      "Judge the full scoring run: were all survivors scored with all features, and do the scores separate candidates?",
    schemaExcerpt: DECISION_SCHEMA,
    grammar: decided,
    keyMetrics: [
      "completion_rate",
      "survivors_scored",
      "survivors_total",
      "feature_dimensions",
      "mean_score",
      "score_std",
      "top_candidates",
    ],
    guardrails: [
      ...COMMON_GUARDRAILS,
      "Do not recommend proceeding while survivors_scored is below survivors_total.",
      "A score_std near zero means that scores do not separate candidates; warn of it.",
    ],
  },
  {
    id: 4,
    name: "ml_meta",
    mission:
      "Judge the model search: does the best architecture generalise to validation data, and do repeated searches agree on it?",
    schemaExcerpt: DECISION_SCHEMA,
    grammar: decided,
    keyMetrics: ["best_r2", "validation_r2", "architecture_stability"],
    guardrails: [...COMMON_GUARDRAILS, "Prefer validation_r2 over best_r2 wherever the two disagree."],
  },
  {
    id: 5,
    name: "anti_overfit",
    mission:
      "Judge the trained model for overfitting: does it hold on test data what it shows on validation data, and does it rest on more than a few features?",
    schemaExcerpt: DECISION_SCHEMA,
    grammar: decided,
    keyMetrics: ["val_r2", "test_r2", "overfit_ratio", "feature_importance_entropy"],
    guardrails: [
      ...COMMON_GUARDRAILS,
      "Never recommend proceeding on val_r2 alone; without test_r2 the step is not judged.",
    ],
  },
  {
    id: 6,
    name: "prediction",
    mission:
      "Judge the prediction pool: is it complete, confident enough to be used, and made from the features the model was trained on?",
    schemaExcerpt: DECISION_SCHEMA,
    grammar: decided,
    keyMetrics: ["prediction_count", "mean_confidence", "pool_coverage", "feature_hash_valid"],
    guardrails: [...COMMON_GUARDRAILS, "If feature_hash_valid is false, the predictions are void: escalate."],
  },
  {
    id: 13,
    name: "chapter_13_feedback",
    mission:
      "Compare recent outcomes with what the pipeline predicted: is there drift, and does it call for holding, retraining or escalating?",
    schemaExcerpt: CHAPTER_13_SCHEMA,
    grammar: { name: "chapter_13.gbnf" },
    keyMetrics: ["drift_detected", "metric_delta", "trigger_action", "retrain_recommended"],
    guardrails: [
      ...COMMON_GUARDRAILS,
      "Recommend; do not execute. Retraining starts only on the controller's decision.",
      "One outcome is no drift: name at least two that point the same way before recommending retraining.",
    ],
    judgesAllStages: true,
    // Its interpretation is a verdict over many runs, so it stands without the number of this one.
    evaluate: (results, { stage, runNumber }) => {
      const evaluation = reportedEvaluation(stage, results, runNumber)
      const { interpretation } = results
      return typeof interpretation === "string" ? { ...evaluation, interpretation } : evaluation
    },
  },
]
