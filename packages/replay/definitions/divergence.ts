import { z } from "zod"

/**
 * What a replay found. One object feeds the command line, the pages and the agents that read it; the schema is published with the package.
 */
export const DivergenceCode = z.enum([
  "REQ_CHANGED",
  "REQ_EXTRA",
  "REQ_MISSING",
  "OCCURRENCE_EXHAUSTED",
  "AMBIGUOUS",
  "ORDER_RELAXED",
  "TOOL_DRIFT",
  "PARAM_DRIFT",
  "MODEL_ALIAS",
  "STATEFUL_ID_UNKNOWN",
  "STRIPPED_REASONING",
  "FORK_SNAPPED",
  "STATE_NOT_RESTORED",
  "COVERAGE_GAP",
  "NEEDS_RECONCILIATION",
  "RULE_UNUSED",
  "CANON_MISMATCH",
  "RECORDING_ENDS",
  "BODY_ABSENT",
  "EFFECT_DENIED",
  "NO_TRAFFIC",
])

export const LeafClass = z.enum([
  "model",
  "param",
  "system",
  "tools",
  "tool_result",
  "assistant",
  "user",
  "args",
  "query",
  "other",
])

/** One place where two requests differ. Long text is shown by its first line that differs. */
export const LeafDiff = z.strictObject({
  ptr: z.string(),
  class: LeafClass,
  recorded: z.string().nullable(),
  now: z.string().nullable(),
  /** In texts of several lines: which one is shown. */
  line: z.number().int().positive().optional(),
})

export const NearestCall = z.strictObject({
  step: z.string(),
  equal_leaves: z.number().int().nonnegative(),
  diff_leaves: z.number().int().nonnegative(),
  diffs: z.array(LeafDiff),
  more_diffs: z.number().int().nonnegative(),
})

export const Divergence = z.strictObject({
  n: z.number().int().positive(),
  code: DivergenceCode,
  /** `halt`: the call was not answered. `warn`: it was, and not exactly. `note`: nothing is wrong, and it has to be known. */
  severity: z.enum(["halt", "warn", "note"]),
  /** The recorded step it is about, where there is one. */
  step: z.string().nullable(),
  lane: z.string().nullable(),
  at: z.strictObject({
    kind: z.enum(["model", "tool", "retriever", "http", "run"]),
    name: z.string(),
    occurrence: z.number().int().nonnegative(),
  }),
  incoming: z.strictObject({ sig: z.string(), blob: z.string().nullable() }).nullable(),
  nearest: z.array(NearestCall),
  cause: z.enum([
    "TOOL_OUTPUT",
    "SYSTEM_PROMPT",
    "TOOL_DEFINITIONS",
    "PARAMETERS",
    "MODEL",
    "USER_INPUT",
    "HISTORY",
    "ARGUMENTS",
    "QUERY",
    "FRAMING",
    "UNKNOWN",
  ]),
  message: z.string(),
  suggest: z.array(z.string()),
})

export const Fidelity = z.enum(["exact", "exact_prefix", "mixed", "degraded", "none"])

export const DivergenceReport = z.strictObject({
  v: z.literal(1),
  /** The new run; null for the engine, which writes none. */
  run: z.string().nullable(),
  source_run: z.string(),
  fidelity: Fidelity,
  /** How many calls were exact before the first that was not. */
  exact_prefix: z.number().int().nonnegative(),
  counts: z.strictObject({
    asked: z.number().int().nonnegative(),
    wire: z.number().int().nonnegative(),
    sig: z.number().int().nonnegative(),
    masked: z.number().int().nonnegative(),
    drift: z.number().int().nonnegative(),
    cached: z.number().int().nonnegative(),
    simulated: z.number().int().nonnegative(),
    live: z.number().int().nonnegative(),
    missed: z.number().int().nonnegative(),
    unconsumed: z.number().int().nonnegative(),
    aux_unconsumed: z.number().int().nonnegative(),
  }),
  egress: z.strictObject({ upstream_sockets: z.number().int().nonnegative(), denied: z.number().int().nonnegative() }),
  masks: z.array(z.string()),
  divergences: z.array(Divergence),
  certificate: z.strictObject({ issued: z.boolean(), blocking: z.array(z.number().int().positive()) }),
})
