import { z } from "zod"
import { DecisionEvent } from "../../decisions/definitions/decision-event.js"
import { RunDiff as Diff, DiffItem } from "../../replay/definitions/run-diff.js"

const Count = z.number().int().nonnegative()
const Amount = z.number().nonnegative()
const Text = z.string()
/** Null is unknown, or does not apply. */
const MaybeText = z.string().nullable()
const MaybeCount = Count.nullable()
const MaybeAmount = Amount.nullable()
const StepNo = z.number().int().positive()
const Moment = z.iso.datetime()

/** Part of every answer: how much of the journals is not in the store yet. */
const behind = { behind_bytes: Count }
const runId = { run_id: Text }
/** Of a list that the command line gives in pages; here all of it is one. */
const page = { from: Count, to: Count, total: Count, next_cursor: MaybeCount }

export const Meta = z.strictObject({
  version: Text,
  data_folder: Text,
  /** Projections that this build has. */
  features: z.array(Text),
  store: z.strictObject({
    ...{
      runs: Count,
      steps: Count,
      events: Count,
      bodies: Count,
      gaps: Count,
      conflicts: Count,
      schema_version: Count,
    },
  }),
  last_commit_at: Moment.nullable(),
  ...behind,
})

const Tokens = z.strictObject({
  ...{ prompt: MaybeCount, completion: MaybeCount, cache_read: MaybeCount, cache_write: MaybeCount },
  reasoning: MaybeCount,
})
const RunStatus = z.enum(["running", "completed", "failed", "crashed", "silent"])

const RunRow = z.strictObject({
  ...{ run_id: Text, trace_id: MaybeText, conversation_id: MaybeText, app: MaybeText, entrypoint: MaybeText },
  ...{ environment: MaybeText, agent_version: MaybeText, input_summary: MaybeText },
  ...{ error_class: MaybeText, error_summary: MaybeText, source_run_id: MaybeText },
  ...{ events: Count, annotations: Count, steps: Count, open_steps: Count },
  ...{ model_calls: Count, tool_calls: Count, errors: Count, tokens: Tokens, status: RunStatus },
  ...{ duration_ms: MaybeAmount, bodies_pruned: z.boolean(), imported: z.boolean() },
  ...{ started_at: Moment, ended_at: Moment.nullable() },
})

export const RunList = z.strictObject({ runs: z.array(RunRow), total: Count, cursor: MaybeText, ...behind })

const Money = z.looseObject({ usd: MaybeAmount, priced_calls: Count, unpriced_calls: Count, table_version: Text })

const RunHead = z.looseObject({
  ...{ run_id: MaybeText, app: MaybeText, entrypoint: MaybeText, input: MaybeText, started_at: MaybeText },
  ...{
    conversation_id: MaybeText,
    trace_id: MaybeText,
    status: RunStatus,
    duration_us: MaybeAmount,
    digest: MaybeText,
  },
  totals: z.looseObject({
    ...{ events: Count, annotations: Count, steps: Count, lost: Count, model_calls: Count, tool_calls: Count },
    ...{ errors: Count, failed_attempts: Count, warnings: Count },
    tokens: z.strictObject({
      ...{ input: MaybeCount, output: MaybeCount, cache_read: MaybeCount, cache_read_of: MaybeCount },
      calls_without_usage: Count,
    }),
    modes: z.record(z.string(), Count),
  }),
  money: Money,
  crash: z.looseObject({ pid: MaybeCount, step: StepNo.nullable() }).nullable(),
  replay: z.strictObject({ source_run_id: Text, reason: Text, is_fork: z.boolean() }).nullable(),
})

const Gap = z.looseObject({ reason: Text, count: Count })

export const Run = z.strictObject({
  run: RunHead,
  ...{ status: RunStatus, events: Count, annotations: Count, declared_lost: Count, gaps: z.array(Gap) },
  ...behind,
})

const Column = z.array(z.number().nullable())

/** Steps as columns. Entries of the columns that are words are places in `words`. */
export const StepColumns = z.strictObject({
  ...runId,
  total: Count,
  next_from: StepNo.nullable(),
  words: z.array(Text),
  columns: z.strictObject({
    ...{ n: z.array(StepNo), parent: Column, kind: Column, work_kind: Column, name: Column, provider: Column },
    ...{ status: Column, mode: Column, lane: Column, inferred_by: Column, attempt_no: Column, error_class: Column },
    ...{ started_us: Column, duration_us: Column, input_tokens: Column, output_tokens: Column },
    ...{ cache_read_tokens: Column, cache_write_tokens: Column },
  }),
  ...behind,
})

/** As the skeleton says them, safe to show. */
export const StepWords = z.strictObject({
  ...{ ...runId, from: StepNo, total: Count },
  words: z.array(
    z.strictObject({
      ...{ n: StepNo, label: Text, time: Text, tone: z.enum(["plain", "warn", "bad"]) },
      ...{ trouble: MaybeText, words: Text, notes: Count },
    }),
  ),
  ...behind,
})

const StepSummary = z.looseObject({
  ...{ step_id: MaybeText, n: StepNo, kind: Text, work_kind: MaybeText, name: MaybeText, parent: StepNo.nullable() },
  ...{ status: Text, duration_us: MaybeAmount, mode: Text, attempts: Count, events: Count, children: Count },
})
const Partial = z.looseObject({ role: Text, byte_size: Count })

export const Step = z.strictObject({
  run_id: MaybeText,
  step: StepSummary,
  rows: z.array(
    z.strictObject({
      ...{ section: Text, name: Text, value: z.union([z.string(), z.number(), z.boolean(), z.null()]) },
      detail: z.string().optional(),
    }),
  ),
  ...page,
  bodies: z.array(
    z.strictObject({
      ...{ role: Text, hash: Text, byte_size: Count, mime_type: Text, absent: MaybeText, full_byte_size: MaybeCount },
      redaction_profile: Text,
    }),
  ),
  partials: z.array(Partial),
  ...{ follows: z.array(StepNo), followed_by: z.array(StepNo) },
  linked_from: z.array(z.looseObject({ kind: Text })),
  ...behind,
})

/** A text as far as it is shown at once: all of it, or its beginning, and its end in `tail`. */
const CutText = { text: Text, tail: MaybeText, chars: Count }
const TextPart = z.strictObject({ type: z.enum(["text", "thinking", "other", "image", "document"]), ...CutText })
const CallPart = z.strictObject({
  ...{ type: z.literal("call"), name: MaybeText, call_id: MaybeText, step: StepNo.nullable() },
  arguments: z.strictObject(CutText),
  edits: z.array(
    z.strictObject({
      ...{ path: Text, kind: Text, lines_added: MaybeCount, lines_removed: MaybeCount, diff: z.strictObject(CutText) },
    }),
  ),
})
const Part = z.union([TextPart, CallPart])

/** A model call as people read it. */
export const CallConversation = z.strictObject({
  ...{ ...runId, n: StepNo, lane: MaybeText },
  /** Why there are no pieces. */
  request: z.strictObject({ absent: Text }).nullable(),
  /** The call that it goes on from, and what both hold. */
  since: z
    .strictObject({
      ...{ run_id: MaybeText, n: StepNo, prompt_tokens: MaybeCount, pieces: Count, tokens: Count },
      kinds: z.array(z.strictObject({ kind: Text, count: Count })),
    })
    .nullable(),
  pieces: z
    .array(
      z.strictObject({
        ...{ state: z.enum(["again", "new"]), kind: Text, role: MaybeText, message: MaybeCount, tool: MaybeText },
        ...{ tokens: MaybeCount, is_estimated: z.boolean(), is_error: z.boolean(), has_cache_mark: z.boolean() },
        ...{ from_step: StepNo.nullable(), hash: Text, part: Part },
        /** Where its bytes are in the request. */
        body: z.strictObject({ hash: Text, from: Count, to: Count }),
      }),
    )
    .nullable(),
  answer: z
    .strictObject({
      ...{ hash: MaybeText, dialect: MaybeText, tokens: MaybeCount, finish_reason: MaybeText, is_torn: z.boolean() },
      ...{ byte_size: MaybeCount, withheld_bytes: Count, parts: z.array(Part).nullable() },
      error: z.strictObject({ type: MaybeText, code: MaybeText, message: MaybeText }).nullable(),
    })
    .nullable(),
  ...behind,
})

/** What the model saw in one lane, call by call. */
export const Strata = z.strictObject({
  ...{ ...runId, lane: Text, lanes: z.array(z.strictObject({ lane: Text, calls: Count })) },
  calls: z.array(
    z.strictObject({
      ...{
        n: StepNo,
        tokens: Count,
        prompt_tokens: MaybeCount,
        counted_by: z.enum(["provider", "estimate"]).nullable(),
      },
      ...{ output_tokens: MaybeCount, cache_read: MaybeCount, cache_write: MaybeCount },
      /** What was read is told in multiples of this. */
      cache_read_step: Count,
      /** What was paid: read from the cache, held by the call before and not read, and the rest. Null where nobody says. */
      ...{ cached: MaybeCount, again: MaybeCount, fresh: Count },
      again_why: z.strictObject({ cause: Text, words: Text }).nullable(),
      ...{ token_budget: MaybeCount, excluded: MaybeCount },
      ...{ usd: MaybeAmount, lost_usd: z.number().nullable(), held_by_provider: MaybeText, status: Text },
      broke: z.strictObject({ offset: Count, piece: MaybeCount, contributor: Text, cause: Text }).nullable(),
      dropped: z.strictObject({ tokens: Count, pieces: Count, why: Text }).nullable(),
    }),
  ),
  pieces: z.array(
    z.strictObject({
      ...{ hash: Text, contributor: Text, label: Text, is_error: z.boolean() },
      kind: z.enum(["tool-def", "system", "user", "assistant", "tool-result", "evidence", "other"]),
    }),
  ),
  /** Piece, first and last call, offset and tokens; pieces and calls by their places in the lists above. */
  bands: z.array(z.array(Count).length(5)),
  ...{ total_bands: Count, merged: z.boolean() },
  again: z
    .strictObject({
      ...{ tokens: Count, of: Count, calls: z.array(StepNo), says: Text },
      why: z.array(z.strictObject({ cause: Text, words: Text, tokens: Count, calls: z.array(StepNo) })),
    })
    .nullable(),
  ...behind,
})

export const ContextList = z.looseObject({
  run_id: MaybeText,
  contexts: z.array(
    z.looseObject({
      ...{ n: StepNo, lane: MaybeText, basis: Text, tokens: MaybeCount, is_estimated: z.boolean() },
      ...{ budget: MaybeCount, items: Count, excluded: MaybeCount },
    }),
  ),
  ...page,
  ...behind,
})

const ContextItem = z.looseObject({ id: MaybeText, item_type: Text, tokens: MaybeCount })
const Rows = z.array(z.looseObject({}))

export const Context = z.looseObject({
  ...{ run_id: MaybeText, n: StepNo, basis: Text, lane: MaybeText, delivery: Text, gaps: z.array(Text) },
  prompt: z.looseObject({ tokens: MaybeCount, counted_by: MaybeText, budget: MaybeCount }),
  counts: z.strictObject({ items: Count, missing: Count, beside: Count, excluded: MaybeCount }),
  ...{ budget: z.looseObject({}).nullable(), manifest: z.looseObject({}).nullable() },
  ...{ changes: z.looseObject({}).nullable(), items: z.array(ContextItem), excluded: z.array(ContextItem) },
  ...{ missing: Rows, beside: Rows, removed: Rows, changed: Rows, provider: Rows, revisions: Rows },
  ...page,
  ...behind,
})

export const Why = z.looseObject({
  ...{ run_id: MaybeText, wanted: Text, matched_by: MaybeText, contexts: Count },
  items: z.array(z.looseObject({ id: MaybeText, sightings: z.array(z.looseObject({ n: StepNo, state: Text })) })),
  ...page,
  ...behind,
})

export const CacheAudit = z.strictObject({
  ...{ ...runId, expected_tokens: Count, read_tokens: Count, lost_tokens: Count, lost_usd: z.number().nullable() },
  ...{ unpriced_calls: Count, rules_version: Text, prices_version: Text },
  calls: z.array(
    z.looseObject({
      ...{ step_no: StepNo, model: MaybeText, verdict: z.enum(["hit", "short", "miss", "unknown"]).nullable() },
      ...{ expected_tokens: MaybeCount, is_exact: z.boolean(), prompt_tokens: MaybeCount, read_tokens: MaybeCount },
      ...{ written_tokens: MaybeCount, lost_tokens: MaybeCount, why: MaybeText, cause: MaybeText },
    }),
  ),
  ...page,
  ...behind,
})

const Diagnosed = {
  ...runId,
  ...{ status: RunStatus, detectors: Count, is_unexplained: z.boolean() },
  not_run: z.array(z.strictObject({ detector: Text, why: Text })),
  suspects: z.array(z.looseObject({ step_no: StepNo, why: z.array(Text) })),
  findings: z.array(
    z.looseObject({
      ...{ finding_id: Text, rank: Count, detector: Text, kind: MaybeText, claim: Text },
      severity: z.enum(["fatal", "harm", "waste", "notice"]),
      confidence: z.enum(["proven", "likely", "possible"]),
      ...{ cause_step: StepNo.nullable(), fails_step: StepNo.nullable() },
      evidence: z.array(z.looseObject({ step_no: StepNo.nullable() })),
    }),
  ),
  ...page,
}

export const Findings = z.looseObject({ ...Diagnosed, runs_inside: z.array(z.looseObject(Diagnosed)), ...behind })

export const Decisions = z.strictObject({
  ...{ ...runId, status: RunStatus, is_open: z.boolean(), lost_events: Count, total: Count },
  recorded_evaluations: z.array(z.looseObject({})),
  decisions: z.array(DecisionEvent),
  ...behind,
})

const Verdict = z.enum(["pass", "warn", "fail", "unknown"])

export const Report = z.looseObject({
  report_version: Count,
  run: z.looseObject({ run_id: Text, status: RunStatus, request: MaybeText }),
  summary: z.looseObject({
    ...{ verdict: Verdict, alignment: Verdict, quality: Verdict, policy: Verdict, decisions: Count },
    violations: z.strictObject({ fail: Count, warn: Count }),
  }),
  violations: z.array(z.looseObject({ id: Text, severity: Text, message: Text, count: Count })),
  timeline: z.array(z.looseObject({ step_no: StepNo, action_type: Text, summary: Text, verdict: Verdict })),
  artifacts: z.array(z.looseObject({ type: Text, summary: Text, step_no: StepNo.nullable() })),
  observability: z.looseObject({ failures: z.array(z.looseObject({})), bypasses: z.array(z.looseObject({})) }),
  ...{ overrides: z.array(z.looseObject({})), recorded_evaluations: z.array(z.looseObject({})) },
  ...behind,
})

export const Handoff = z.strictObject({ ...runId, text: Text, ...behind })

export const Found = z.strictObject({
  ...{ ...runId, total: Count, steps: z.array(StepNo), is_total_exact: z.boolean() },
  ...behind,
})

export const RunDiff = Diff.extend(behind)
export const RunDiffItem = DiffItem.extend({ index: Count, ...behind })

/** A row of a list of runs, judged. */
export const RunVerdict = z.strictObject({
  ...{ ...runId, verdict: z.enum(["pass", "warn", "fail", "unknown"]), violations: Count },
  ...{ usd: MaybeAmount, unpriced_calls: Count },
  ...behind,
})

export const BodySlice = z.strictObject({
  /** Null for what never ended. */
  hash: MaybeText,
  ...{ mime: MaybeText, is_partial: z.boolean(), form: z.enum(["text", "pretty", "folded", "hex"]) },
  ...{ from: Count, to: Count, total: Count },
  /** Of the body as recorded; `total` counts bytes of the form. */
  byte_size: Count,
  ...{ next_from: MaybeCount, text: Text },
  ...behind,
})

const Place = {
  n: StepNo.nullable(),
  step_id: MaybeText,
  event_id: Text,
  event_type: Text,
  field: Text,
  hash: MaybeText,
}

export const SearchPage = z.strictObject({
  hits: z.array(
    z.strictObject({
      ...Place,
      ...{ run_id: MaybeText, mode: Text, snippet: Text, at: Moment, places: Count },
      match: z.strictObject({ at: Count, length: Count }),
      also: z.array(z.strictObject(Place)),
    }),
  ),
  ...{ total: Count, places: Count, is_total_exact: z.boolean(), cursor: MaybeText },
  ...behind,
})

export const ConversationRuns = z.looseObject({
  ...{ conversation_id: MaybeText, trace_id: MaybeText, runs: z.array(RunHead), shown: Count, total: Count },
  ...behind,
})

/** By model, tool and day, by one of the groupings, or what stands in prompts against its use. */
export const Analytics = z.looseObject({ by: MaybeText, first_day: MaybeText, last_day: MaybeText, ...behind })

export const OpenApi = z.looseObject({ openapi: z.literal("3.1.0"), paths: z.looseObject({}) })

export const Problem = z.strictObject({
  ...{ type: Text, status: Count, code: Text, what: Text, where: MaybeText, next: Text },
})

export const Session = z.union([z.strictObject({ key: Text }), z.strictObject({ code: Text })])
