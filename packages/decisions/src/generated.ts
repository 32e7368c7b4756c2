// Written by `npm run schemas` from the zod definitions in definitions/. Change those.
import { ObjectSchema } from "@orangebox/contract"
import type { SchemaNode } from "@orangebox/contract"

export type BundleMessage = {
  role: "system" | "developer" | "user" | "assistant" | "tool"
  content: string
  content_form?: TextForm | undefined
  tool_call_id?: string | undefined
  tool_calls?: {
    id: string | null
    name: string
    arguments: string
  }[] | undefined
  /** What is no text: pictures, documents, thinking. */
  attachments?: {
    kind: string
    hash: string
  }[] | undefined
}
export type BundleTool = {
  name: string
  description: string | null
  schema: Record<string, unknown> | null
}
export type DecisionArtifact = {
  type: "file_edit" | "command" | "test_run" | "pr" | "commit" | "diff"
  id: string
  summary: string
  content_ref: string | null
  hash: string
  metadata: {
    path: string | null
    lines_added: number | null
    lines_removed: number | null
    exit_code: number | null
    /** Of a commit, as git printed it or the command told it. */
    commit?: {
      sha: string | null
      message: string | null
    } | undefined
    tests?: {
      runner: string
      passed: number | null
      failed: number | null
      skipped: number | null
      outcome: "passed" | "failed" | "unknown"
    } | undefined
  }
  /** The diff, the command, the runner's summary, the message of the commit, the address of the pull request. */
  content: string | null
  content_form?: TextForm | undefined
}
export type HumanOverride = {
  event_id: string
  author: string
  verdict: "pass" | "warn" | "fail" | "unknown"
  reason: string
  timestamp: string
}
/** What was actually sent. `source` tells what it was read from: the request's bytes, or hashes of its parts where no text is kept. */
export type PromptBundle = {
  messages: BundleMessage[]
  retrieval: {
    enabled: boolean
    sources: {
      retriever_id: string
      top_k: number | null
      candidate_count: number | null
      candidate_list_ref: string | null
      source_uris: string[]
    }[]
    snippets: string | null
    snippets_form?: TextForm | undefined
  }
  source: "request" | "segments" | "manifest" | "none"
  tools: BundleTool[]
  transformations: Transformation[]
}
/**
 * How recorded text stands in a DecisionEvent. Seed 002 allows `string | redacted | hash` in one place, so the value is always a string:
 * the text, the text with its secrets masked, or a `sha256:…` digest of it. Because a text may look like a digest, what is not verbatim
 * says so beside itself, in `<name>_form`; no form means verbatim.
 */
export type TextForm = "redacted" | "hash"
export type Transformation = {
  type: "template" | "rewrite" | "summarize" | "other"
  summary: string
  /** It was not recorded: it shows in what was sent. */
  is_inferred?: boolean | undefined
}
export type Violation = {
  id: string
  severity: "warn" | "fail"
  message: string
  evidence: string | null
  rule?: string | undefined
  pointers?: {
    step_id: string
    ref: string | null
    start?: number | undefined
    end?: number | undefined
  }[] | undefined
  /** Its constraint was read out of the request's words. */
  is_inferred?: boolean | undefined
}
export type DecisionEvaluation = {
  alignment: {
    status: "pass" | "warn" | "fail" | "unknown"
    score: number | null
    violations: Violation[]
  }
  quality: {
    status: "pass" | "warn" | "fail" | "unknown"
    checks: {
      id: string
      status: "pass" | "warn" | "fail" | "unknown"
      message: string | null
      rule?: string | undefined
    }[]
  }
  policy: {
    status: "pass" | "warn" | "fail" | "unknown"
    checks: {
      id: string
      status: "pass" | "warn" | "fail" | "unknown"
      message: string | null
      rule?: string | undefined
    }[]
  }
  /** Who judged: checks that ran now, an evaluation on record, or no one. */
  evaluator?: string | null | undefined
  /** A person's word, which stands over the statuses and leaves them as they are. */
  overrides?: HumanOverride[] | undefined
}
/** DecisionEvent 0.2: one committed action boundary with its provenance and evaluation. */
export type DecisionEvent = {
  schema_version: "0.2"
  event_id: string
  timestamp: string
  trace_id: string
  /** The step, where the action is a step; else an id derived from the boundary event, whose parent is the step. */
  span_id: string
  parent_span_id: string | null
  session: {
    session_id: string
    run_id: string
    agent_id: string
    agent_version: string
    environment: "local" | "ci" | "staging" | "prod" | "unknown"
  }
  request: {
    request_id: string
    user_request_raw: string
    user_request_form?: TextForm | undefined
    constraints: {
      id: string
      type: "style" | "safety" | "format" | "scope" | "other"
      rule: string
    }[]
    context: {
      channel: string
      repo: string | null
      branch: string | null
      ticket_id: string | null
    }
  }
  prompt_provenance: {
    provider: "openai" | "anthropic" | "other"
    /** As the recording names it, where the three words above do not. */
    provider_name?: string | undefined
    model: string
    capture_mode: "full" | "redacted" | "hashed"
    prompt_bundle: PromptBundle
    prompt_bundle_hash: string
    parameters: {
      temperature: number | null
      top_p: number | null
      max_tokens: number | null
    }
    model_step_id: string | null
    request_ref: string | null
  }
  model_output: {
    completion_id: string | null
    output_raw: string | null
    output_form?: TextForm | undefined
    output_structured: Record<string, unknown> | null
    tool_calls: {
      id: string | null
      name: string
      arguments: string | null
      arguments_form?: TextForm | undefined
      runs_at: "client" | "provider"
    }[]
    usage: {
      input_tokens: number | null
      output_tokens: number | null
      latency_ms: number | null
    }
    /** Only of a call that failed. */
    error?: {
      class: string | null
      http_status: number | null
      message: string | null
      message_form?: TextForm | undefined
    } | undefined
  }
  agent_action: {
    action_type: "plan" | "edit" | "run_tests" | "command" | "open_pr" | "merge" | "deploy" | "api_call" | "message" | "no_op" | "override" | "other"
    action_summary: string
    artifacts: DecisionArtifact[]
    tool_results: {
      tool_call_id: string | null
      tool_name: string
      status: "success" | "timeout" | "error" | "partial" | "open" | "crashed"
      exit_code: number | null
      result: string | null
      result_form?: TextForm | undefined
      result_ref: string | null
      /** Of a tool without an end: for how long at least it was at work when its run stopped. Null where no clock was. */
      duration_ms?: number | null | undefined
    }[]
    step_no: number
    status: "success" | "timeout" | "error" | "partial" | "open" | "crashed"
    inferred_by: string | null
  }
  evaluation: DecisionEvaluation
}
/** What a judge answers: one JSON document, on stdout where the judge is a command. */
export type JudgeAnswer = {
  status: "pass" | "warn" | "fail" | "unknown"
  score?: number | null | undefined
  message?: string | undefined
  violations?: {
    message: string
    step_id?: string | undefined
    excerpt?: string | undefined
  }[] | undefined
}
/** What a judge is asked: one JSON document, on stdin where the judge is a command. */
export type JudgeQuestion = {
  protocol: "orangebox.judge/1"
  judge: string
  constraint: {
    id: string
    type: string
    rule: string
  }
  instruction: string
  /** Said to every judge, because a judge that is a model reads it: recorded text may hold instructions meant for it. */
  note: string
  run: {
    run_id: string
    status: "completed" | "failed" | "crashed" | "running" | "silent"
    request: string | null
    action_count: number
    /** The last ones, when there are too many to show. */
    actions: {
      step_id: string
      step_no: number
      type: string
      status: string
      summary: string
      output: string | null
      paths: string[]
      commands: string[]
      tests: {
        runner: string
        outcome: string
        summary: string
      }[]
    }[]
    is_cut: boolean
  }
  /** Only where the question is what went wrong (`orangebox diagnose --judge`): what is known already, and where one would begin to read. */
  diagnosis?: {
    expected: string | null
    /** One line for each step, with recorded text in it. */
    skeleton: string
    findings: {
      step_no: number
      detector: string
      claim: string
    }[]
    suspects: {
      step_no: number
      step_id: string
      why: string[]
    }[]
  } | undefined
}

const Pointer: SchemaNode = { is: "object", fields: { step_id: { is: "string" }, ref: { is: "string", nullable: true }, start: { is: "number", int: true, min: 0, optional: true }, end: { is: "number", int: true, min: 0, optional: true } } }
const ViolationNode: SchemaNode = { is: "object", fields: { id: { is: "string" }, severity: { is: "one_of", values: ["warn","fail"] }, message: { is: "string" }, evidence: { is: "string", nullable: true }, rule: { is: "string", optional: true }, pointers: { is: "list", of: Pointer, optional: true }, is_inferred: { is: "boolean", optional: true } } }
const CheckOutcome: SchemaNode = { is: "object", fields: { id: { is: "string" }, status: { is: "one_of", values: ["pass","warn","fail","unknown"] }, message: { is: "string", nullable: true }, rule: { is: "string", optional: true } } }
const HumanOverrideNode: SchemaNode = { is: "object", fields: { event_id: { is: "string" }, author: { is: "string" }, verdict: { is: "one_of", values: ["pass","warn","fail","unknown"] }, reason: { is: "string" }, timestamp: { is: "string" } } }
const DecisionEvaluationNode: SchemaNode = { is: "object", fields: { alignment: { is: "object", fields: { status: { is: "one_of", values: ["pass","warn","fail","unknown"] }, score: { is: "number", nullable: true }, violations: { is: "list", of: ViolationNode } } }, quality: { is: "object", fields: { status: { is: "one_of", values: ["pass","warn","fail","unknown"] }, checks: { is: "list", of: CheckOutcome } } }, policy: { is: "object", fields: { status: { is: "one_of", values: ["pass","warn","fail","unknown"] }, checks: { is: "list", of: CheckOutcome } } }, evaluator: { is: "string", nullable: true, optional: true }, overrides: { is: "list", of: HumanOverrideNode, optional: true } } }
const TextFormNode: SchemaNode = { is: "one_of", values: ["redacted","hash"] }
const BundleMessageNode: SchemaNode = { is: "object", fields: { role: { is: "one_of", values: ["system","developer","user","assistant","tool"] }, content: { is: "string" }, content_form: { ...TextFormNode, optional: true }, tool_call_id: { is: "string", optional: true }, tool_calls: { is: "list", of: { is: "object", fields: { id: { is: "string", nullable: true }, name: { is: "string" }, arguments: { is: "string" } } }, optional: true }, attachments: { is: "list", of: { is: "object", fields: { kind: { is: "string" }, hash: { is: "string", pattern: /^sha256:[0-9a-f]{64}$/ } } }, optional: true } } }
const BundleToolNode: SchemaNode = { is: "object", fields: { name: { is: "string" }, description: { is: "string", nullable: true }, schema: { is: "record", keys: { is: "string" }, of: { is: "any" }, nullable: true } } }
const TransformationNode: SchemaNode = { is: "object", fields: { type: { is: "one_of", values: ["template","rewrite","summarize","other"] }, summary: { is: "string" }, is_inferred: { is: "boolean", optional: true } } }
const PromptBundleNode: SchemaNode = { is: "object", fields: { messages: { is: "list", of: BundleMessageNode }, retrieval: { is: "object", fields: { enabled: { is: "boolean" }, sources: { is: "list", of: { is: "object", fields: { retriever_id: { is: "string" }, top_k: { is: "number", int: true, min: 0, nullable: true }, candidate_count: { is: "number", int: true, min: 0, nullable: true }, candidate_list_ref: { is: "string", nullable: true }, source_uris: { is: "list", of: { is: "string" } } } } }, snippets: { is: "string", nullable: true }, snippets_form: { ...TextFormNode, optional: true } } }, source: { is: "one_of", values: ["request","segments","manifest","none"] }, tools: { is: "list", of: BundleToolNode }, transformations: { is: "list", of: TransformationNode } } }
const DecisionToolCall: SchemaNode = { is: "object", fields: { id: { is: "string", nullable: true }, name: { is: "string" }, arguments: { is: "string", nullable: true }, arguments_form: { ...TextFormNode, optional: true }, runs_at: { is: "one_of", values: ["client","provider"] } } }
const ModelError: SchemaNode = { is: "object", fields: { class: { is: "string", nullable: true }, http_status: { is: "number", int: true, nullable: true }, message: { is: "string", nullable: true }, message_form: { ...TextFormNode, optional: true } } }
const DecisionArtifactNode: SchemaNode = { is: "object", fields: { type: { is: "one_of", values: ["file_edit","command","test_run","pr","commit","diff"] }, id: { is: "string" }, summary: { is: "string" }, content_ref: { is: "string", nullable: true }, hash: { is: "string", pattern: /^sha256:[0-9a-f]{64}$/ }, metadata: { is: "object", fields: { path: { is: "string", nullable: true }, lines_added: { is: "number", int: true, min: 0, nullable: true }, lines_removed: { is: "number", int: true, min: 0, nullable: true }, exit_code: { is: "number", int: true, nullable: true }, commit: { is: "object", fields: { sha: { is: "string", nullable: true }, message: { is: "string", nullable: true } }, optional: true }, tests: { is: "object", fields: { runner: { is: "string" }, passed: { is: "number", int: true, min: 0, nullable: true }, failed: { is: "number", int: true, min: 0, nullable: true }, skipped: { is: "number", int: true, min: 0, nullable: true }, outcome: { is: "one_of", values: ["passed","failed","unknown"] } }, optional: true } } }, content: { is: "string", nullable: true }, content_form: { ...TextFormNode, optional: true } } }
const DecisionToolResult: SchemaNode = { is: "object", fields: { tool_call_id: { is: "string", nullable: true }, tool_name: { is: "string" }, status: { is: "one_of", values: ["success","timeout","error","partial","open","crashed"] }, exit_code: { is: "number", int: true, nullable: true }, result: { is: "string", nullable: true }, result_form: { ...TextFormNode, optional: true }, result_ref: { is: "string", nullable: true }, duration_ms: { is: "number", min: 0, nullable: true, optional: true } } }
const DecisionEventNode: SchemaNode = { is: "object", fields: { schema_version: { is: "one_of", values: ["0.2"] }, event_id: { is: "string", pattern: /^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$/, says: "Invalid UUID" }, timestamp: { is: "string", pattern: /^(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|(?:02)-(?:0[1-9]|1\d|2[0-8])))T(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|([+-](?:[01]\d|2[0-3]):[0-5]\d)))$/, says: "Invalid ISO datetime" }, trace_id: { is: "string" }, span_id: { is: "string", pattern: /^[0-9a-f]{16}$/ }, parent_span_id: { is: "string", pattern: /^[0-9a-f]{16}$/, nullable: true }, session: { is: "object", fields: { session_id: { is: "string" }, run_id: { is: "string" }, agent_id: { is: "string" }, agent_version: { is: "string" }, environment: { is: "one_of", values: ["local","ci","staging","prod","unknown"] } } }, request: { is: "object", fields: { request_id: { is: "string" }, user_request_raw: { is: "string" }, user_request_form: { ...TextFormNode, optional: true }, constraints: { is: "list", of: { is: "object", fields: { id: { is: "string", min: 1, max: 512 }, type: { is: "one_of", values: ["style","safety","format","scope","other"] }, rule: { is: "string", max: 4096 } } } }, context: { is: "object", fields: { channel: { is: "string" }, repo: { is: "string", nullable: true }, branch: { is: "string", nullable: true }, ticket_id: { is: "string", nullable: true } } } } }, prompt_provenance: { is: "object", fields: { provider: { is: "one_of", values: ["openai","anthropic","other"] }, provider_name: { is: "string", optional: true }, model: { is: "string" }, capture_mode: { is: "one_of", values: ["full","redacted","hashed"] }, prompt_bundle: PromptBundleNode, prompt_bundle_hash: { is: "string", pattern: /^sha256:[0-9a-f]{64}$/ }, parameters: { is: "object", fields: { temperature: { is: "number", nullable: true }, top_p: { is: "number", nullable: true }, max_tokens: { is: "number", int: true, min: 0, nullable: true } } }, model_step_id: { is: "string", pattern: /^[0-9a-f]{16}$/, nullable: true }, request_ref: { is: "string", nullable: true } } }, model_output: { is: "object", fields: { completion_id: { is: "string", nullable: true }, output_raw: { is: "string", nullable: true }, output_form: { ...TextFormNode, optional: true }, output_structured: { is: "record", keys: { is: "string" }, of: { is: "any" }, nullable: true }, tool_calls: { is: "list", of: DecisionToolCall }, usage: { is: "object", fields: { input_tokens: { is: "number", int: true, min: 0, nullable: true }, output_tokens: { is: "number", int: true, min: 0, nullable: true }, latency_ms: { is: "number", min: 0, nullable: true } } }, error: { ...ModelError, optional: true } } }, agent_action: { is: "object", fields: { action_type: { is: "one_of", values: ["plan","edit","run_tests","command","open_pr","merge","deploy","api_call","message","no_op","override","other"] }, action_summary: { is: "string" }, artifacts: { is: "list", of: DecisionArtifactNode }, tool_results: { is: "list", of: DecisionToolResult }, step_no: { is: "number", int: true, min: 0 }, status: { is: "one_of", values: ["success","timeout","error","partial","open","crashed"] }, inferred_by: { is: "string", nullable: true } } }, evaluation: DecisionEvaluationNode } }
const JudgeAnswerNode: SchemaNode = { is: "object", others: "dropped", fields: { status: { is: "one_of", values: ["pass","warn","fail","unknown"] }, score: { is: "number", min: 0, max: 1, nullable: true, optional: true }, message: { is: "string", max: 4000, optional: true }, violations: { is: "list", of: { is: "object", others: "dropped", fields: { message: { is: "string", min: 1, max: 4000 }, step_id: { is: "string", max: 64, optional: true }, excerpt: { is: "string", max: 4000, optional: true } } }, max: 100, optional: true } } }
const JudgeQuestionNode: SchemaNode = { is: "object", fields: { protocol: { is: "one_of", values: ["orangebox.judge/1"] }, judge: { is: "string" }, constraint: { is: "object", fields: { id: { is: "string" }, type: { is: "string" }, rule: { is: "string" } } }, instruction: { is: "string" }, note: { is: "string" }, run: { is: "object", fields: { run_id: { is: "string" }, status: { is: "one_of", values: ["completed","failed","crashed","running","silent"] }, request: { is: "string", nullable: true }, action_count: { is: "number", int: true, min: 0 }, actions: { is: "list", of: { is: "object", fields: { step_id: { is: "string" }, step_no: { is: "number", int: true }, type: { is: "string" }, status: { is: "string" }, summary: { is: "string" }, output: { is: "string", nullable: true }, paths: { is: "list", of: { is: "string" } }, commands: { is: "list", of: { is: "string" } }, tests: { is: "list", of: { is: "object", fields: { runner: { is: "string" }, outcome: { is: "string" }, summary: { is: "string" } } } } } } }, is_cut: { is: "boolean" } } }, diagnosis: { is: "object", fields: { expected: { is: "string", nullable: true }, skeleton: { is: "string" }, findings: { is: "list", of: { is: "object", fields: { step_no: { is: "number", int: true }, detector: { is: "string" }, claim: { is: "string" } } } }, suspects: { is: "list", of: { is: "object", fields: { step_no: { is: "number", int: true }, step_id: { is: "string" }, why: { is: "list", of: { is: "string" } } } } } }, optional: true } } }
export const DecisionEvaluation = new ObjectSchema<DecisionEvaluation>(DecisionEvaluationNode)
export const DecisionEvent = new ObjectSchema<DecisionEvent>(DecisionEventNode)
export const JudgeAnswer = new ObjectSchema<JudgeAnswer>(JudgeAnswerNode)
export const JudgeQuestion = new ObjectSchema<JudgeQuestion>(JudgeQuestionNode)
