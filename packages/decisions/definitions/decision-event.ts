import { z } from "zod"
import { ActionType } from "../../contract/definitions/events/decision.js"
import { Verdict } from "../../contract/definitions/events/evaluation.js"
import { CaptureMode, Constraint, Environment } from "../../contract/definitions/fields.js"

/**
 * How recorded text stands in a DecisionEvent. Seed 002 allows `string | redacted | hash` in one place, so the value is always a string:
 * the text, the text with its secrets masked, or a `sha256:…` digest of it. Because a text may look like a digest, what is not verbatim
 * says so beside itself, in `<name>_form`; no form means verbatim.
 */
export const TextForm = z.enum(["redacted", "hash"])

const Count = z.number().int().nonnegative()
const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/)
const SpanId = z.string().regex(/^[0-9a-f]{16}$/)

export const BundleMessage = z.strictObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.string(),
  content_form: TextForm.optional(),
  tool_call_id: z.string().optional(),
  tool_calls: z
    .array(z.strictObject({ id: z.string().nullable(), name: z.string(), arguments: z.string() }))
    .optional(),
  /** What is no text: pictures, documents, thinking. */
  attachments: z.array(z.strictObject({ kind: z.string(), hash: Digest })).optional(),
})

export const BundleTool = z.strictObject({
  name: z.string(),
  description: z.string().nullable(),
  schema: z.record(z.string(), z.unknown()).nullable(),
})

export const Transformation = z.strictObject({
  type: z.enum(["template", "rewrite", "summarize", "other"]),
  summary: z.string(),
  /** It was not recorded: it shows in what was sent. */
  is_inferred: z.boolean().optional(),
})

/** What was actually sent. `source` tells what it was read from: the request's bytes, or hashes of its parts where no text is kept. */
export const PromptBundle = z.strictObject({
  messages: z.array(BundleMessage),
  retrieval: z.strictObject({
    enabled: z.boolean(),
    sources: z.array(
      z.strictObject({
        retriever_id: z.string(),
        top_k: Count.nullable(),
        candidate_count: Count.nullable(),
        candidate_list_ref: z.string().nullable(),
        source_uris: z.array(z.string()),
      }),
    ),
    snippets: z.string().nullable(),
    snippets_form: TextForm.optional(),
  }),
  source: z.enum(["request", "segments", "manifest", "none"]),
  tools: z.array(BundleTool),
  transformations: z.array(Transformation),
})

export const DecisionArtifact = z.strictObject({
  type: z.enum(["file_edit", "command", "test_run", "pr", "commit", "diff"]),
  id: z.string(),
  summary: z.string(),
  content_ref: z.string().nullable(),
  hash: Digest,
  metadata: z.strictObject({
    path: z.string().nullable(),
    lines_added: Count.nullable(),
    lines_removed: Count.nullable(),
    exit_code: z.number().int().nullable(),
    /** Of a commit, as git printed it or the command told it. */
    commit: z.strictObject({ sha: z.string().nullable(), message: z.string().nullable() }).optional(),
    tests: z
      .strictObject({
        runner: z.string(),
        passed: Count.nullable(),
        failed: Count.nullable(),
        skipped: Count.nullable(),
        outcome: z.enum(["passed", "failed", "unknown"]),
      })
      .optional(),
  }),
  /** The diff, the command, the runner's summary, the message of the commit, the address of the pull request. */
  content: z.string().nullable(),
  content_form: TextForm.optional(),
})

/** Where the evidence of a violation stands: a step, a body, and the bytes in it. */
export const Pointer = z.strictObject({
  step_id: z.string(),
  ref: z.string().nullable(),
  start: Count.optional(),
  end: Count.optional(),
})

export const Violation = z.strictObject({
  id: z.string(),
  severity: z.enum(["warn", "fail"]),
  message: z.string(),
  evidence: z.string().nullable(),
  rule: z.string().optional(),
  pointers: z.array(Pointer).optional(),
  /** Its constraint was read out of the request's words. */
  is_inferred: z.boolean().optional(),
})

export const CheckOutcome = z.strictObject({
  id: z.string(),
  status: Verdict,
  message: z.string().nullable(),
  rule: z.string().optional(),
})

export const HumanOverride = z.strictObject({
  event_id: z.string(),
  author: z.string(),
  verdict: Verdict,
  reason: z.string(),
  timestamp: z.string(),
})

export const DecisionEvaluation = z.strictObject({
  alignment: z.strictObject({
    status: Verdict,
    score: z.number().nullable(),
    violations: z.array(Violation),
  }),
  quality: z.strictObject({ status: Verdict, checks: z.array(CheckOutcome) }),
  policy: z.strictObject({ status: Verdict, checks: z.array(CheckOutcome) }),
  /** Who judged: checks that ran now, an evaluation on record, or no one. */
  evaluator: z.string().nullable().optional(),
  /** A person's word, which stands over the statuses and leaves them as they are. */
  overrides: z.array(HumanOverride).optional(),
})

export const DecisionToolCall = z.strictObject({
  id: z.string().nullable(),
  name: z.string(),
  arguments: z.string().nullable(),
  arguments_form: TextForm.optional(),
  runs_at: z.enum(["client", "provider"]),
})

export const DecisionToolResult = z.strictObject({
  tool_call_id: z.string().nullable(),
  tool_name: z.string(),
  status: z.enum(["success", "timeout", "error", "partial", "open", "crashed"]),
  exit_code: z.number().int().nullable(),
  result: z.string().nullable(),
  result_form: TextForm.optional(),
  result_ref: z.string().nullable(),
  /** Of a tool without an end: for how long at least it was at work when its run stopped. Null where no clock was. */
  duration_ms: z.number().nonnegative().nullable().optional(),
})

/** Why a call gave no answer. */
export const ModelError = z.strictObject({
  class: z.string().nullable(),
  http_status: z.number().int().nullable(),
  message: z.string().nullable(),
  message_form: TextForm.optional(),
})

/** DecisionEvent 0.2: one committed action boundary with its provenance and evaluation. */
export const DecisionEvent = z.strictObject({
  schema_version: z.literal("0.2"),
  event_id: z.uuid(),
  timestamp: z.iso.datetime({ offset: true }),
  trace_id: z.string(),
  /** The step, where the action is a step; else an id derived from the boundary event, whose parent is the step. */
  span_id: SpanId,
  parent_span_id: SpanId.nullable(),
  session: z.strictObject({
    session_id: z.string(),
    run_id: z.string(),
    agent_id: z.string(),
    agent_version: z.string(),
    environment: Environment,
  }),
  request: z.strictObject({
    request_id: z.string(),
    user_request_raw: z.string(),
    user_request_form: TextForm.optional(),
    constraints: z.array(Constraint),
    context: z.strictObject({
      channel: z.string(),
      repo: z.string().nullable(),
      branch: z.string().nullable(),
      ticket_id: z.string().nullable(),
    }),
  }),
  prompt_provenance: z.strictObject({
    provider: z.enum(["openai", "anthropic", "other"]),
    /** As the recording names it, where the three words above do not. */
    provider_name: z.string().optional(),
    model: z.string(),
    capture_mode: CaptureMode,
    prompt_bundle: PromptBundle,
    prompt_bundle_hash: Digest,
    parameters: z.strictObject({
      temperature: z.number().nullable(),
      top_p: z.number().nullable(),
      max_tokens: Count.nullable(),
    }),
    model_step_id: SpanId.nullable(),
    request_ref: z.string().nullable(),
  }),
  model_output: z.strictObject({
    completion_id: z.string().nullable(),
    output_raw: z.string().nullable(),
    output_form: TextForm.optional(),
    output_structured: z.record(z.string(), z.unknown()).nullable(),
    tool_calls: z.array(DecisionToolCall),
    usage: z.strictObject({
      input_tokens: Count.nullable(),
      output_tokens: Count.nullable(),
      latency_ms: z.number().nonnegative().nullable(),
    }),
    /** Only of a call that failed. */
    error: ModelError.optional(),
  }),
  agent_action: z.strictObject({
    action_type: ActionType,
    action_summary: z.string(),
    artifacts: z.array(DecisionArtifact),
    tool_results: z.array(DecisionToolResult),
    step_no: Count,
    status: z.enum(["success", "timeout", "error", "partial", "open", "crashed"]),
    inferred_by: z.string().nullable(),
  }),
  evaluation: DecisionEvaluation,
})
