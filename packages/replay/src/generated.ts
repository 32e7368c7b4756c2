// Written by `npm run schemas` from the zod definitions in definitions/. Change those.
import type { JsonValue } from "@orangebox/contract"
import { ObjectSchema, WordSchema } from "@orangebox/contract"
import type { SchemaNode } from "@orangebox/contract"

/** Why a difference is there: see `causes.ts`. */
export type Cause = "origin" | "propagated" | "absorbed" | "environment"
export type Change = "same" | "noise" | "changed" | "inserted" | "removed" | "moved" | "reordered"
/** What a certificate speaks for. Whatever stands neither here nor in `not_compared` is not part of a run. */
export type Compared = "recording" | "questions" | "answers" | "order" | "behaviour_headers" | "addresses" | "input" | "steps" | "verdicts" | "artifacts" | "ending" | "exit_status" | "stdout" | "final_output" | "files" | "diff"
/** Which message of the history is meant. Several members narrow each other down. */
export type ContextRef = {
  message_hash?: string | undefined
  from_step_id?: string | undefined
  /** From the start; negative counts from the end. */
  index?: number | undefined
  role?: string | undefined
}
export type DiffItem = {
  kind: "run" | "model" | "tool" | "retrieval" | "step" | "unknown" | "input" | "verdict" | "artifact"
  change: Change
  /** What differs between the steps of a pair. */
  fields: Field[]
  /** What differs without meaning: spelling on the wire, ids, accepted masks, retries. */
  noise: Field[]
  cause: Cause | null
  tiers: Tier[]
  /**
   * Differs only in wording, ids and times, or in figures of which nothing came, so that no root begins here. Looked for in unrelated runs.
   */
  incidental: boolean
  distance: number
  a: StepOfDiff | null
  b: StepOfDiff | null
  /** Names of the tools a model asked for, where the two answers decided differently. */
  decision: {
    a: string[]
    b: string[]
  } | null
  /** Null where the payloads were not compared. */
  payloads: PayloadDiff[] | null
}
export type Divergence = {
  n: number
  code: DivergenceCode
  /** `halt`: the call was not answered. `warn`: it was, and not exactly. `note`: nothing is wrong, and it has to be known. */
  severity: "halt" | "warn" | "note"
  /** The recorded step it is about, where there is one. */
  step: string | null
  lane: string | null
  at: {
    kind: "model" | "tool" | "retriever" | "http" | "run"
    name: string
    occurrence: number
  }
  incoming: {
    sig: string
    blob: string | null
  } | null
  nearest: NearestCall[]
  cause: "TOOL_OUTPUT" | "SYSTEM_PROMPT" | "TOOL_DEFINITIONS" | "PARAMETERS" | "MODEL" | "USER_INPUT" | "HISTORY" | "ARGUMENTS" | "QUERY" | "FRAMING" | "UNKNOWN"
  message: string
  suggest: string[]
}
export type Field = "name" | "input" | "output" | "status" | "attempts" | "wire"
export type JsonPatchOp = {
  op: "add" | "replace" | "test"
  path: string
  value: JsonValue
} | {
  op: "remove"
  path: string
} | {
  op: "move" | "copy"
  from: string
  path: string
}
export type LeafClass = "model" | "param" | "system" | "tools" | "tool_result" | "assistant" | "user" | "args" | "query" | "other"
/** One place where two requests differ. Long text is shown by its first line that differs. */
export type LeafDiff = {
  ptr: string
  class: LeafClass
  recorded: string | null
  now: string | null
  /** In texts of several lines: which one is shown. */
  line?: number | undefined
}
export type NearestCall = {
  step: string
  equal_leaves: number
  diff_leaves: number
  diffs: LeafDiff[]
  more_diffs: number
}
export type OverrideOp = {
  type: "model.swap"
  model: string
  provider?: string | undefined
  reasoning_blocks: "auto" | "keep" | "strip"
} | {
  type: "param.set"
  set?: Record<string, JsonValue> | undefined
  unset?: string[] | undefined
} | {
  type: "system.edit"
  edit: TextEdit
} | {
  type: "message.edit"
  at: ContextRef
  edit: TextEdit
} | {
  type: "context.drop"
  at: ContextRef
  pairing: "refuse" | "drop_pair"
} | {
  type: "context.insert"
  at: ContextRef
  position: "before" | "after"
  item: Record<string, JsonValue>
} | {
  type: "tools.edit"
  add?: (Record<string, JsonValue>)[] | undefined
  remove?: string[] | undefined
  /** Tool name → members of its definition to set. */
  patch?: Record<string, Record<string, JsonValue>> | undefined
} | {
  type: "tool.result"
  result: OverrideValue
  is_error: boolean
} | {
  type: "retrieval.result"
  documents?: OverrideValue | undefined
  drop_ids?: string[] | undefined
  reorder?: string[] | undefined
} | {
  type: "response.replace"
  response: OverrideValue
} | {
  type: "fault"
  fault: "http_status" | "reset" | "timeout" | "truncate_stream"
  status?: number | undefined
  after_bytes?: number | undefined
} | {
  type: "policy"
  mode: "exact" | "cached" | "simulated" | "live" | "deny"
  simulator?: string | undefined
}
export type OverrideRule = {
  id: string
  select: Selector
  times?: number | undefined
  op: OverrideOp
}
export type OverrideValue = {
  artifact: string
} | {
  inline: JsonValue
} | {
  from_run: string
  step_id: string
} | {
  json_patch: JsonPatchOp[]
}
export type PayloadDiff = {
  what: "input" | "output"
  /** `absent`: the bytes of one side are not there, so only their hashes were compared. `bytes`: not text. */
  form: "context" | "json" | "text" | "bytes" | "absent"
  ops: PayloadOp[]
  /** Operations that are not listed. */
  more: number
  /** Differences that an earlier item already shows, by the index of that item. */
  inherits: {
    item: number
    parts: number
  }[]
  /** Why bytes are not there. */
  absent: {
    a: string | null
    b: string | null
  } | null
}
export type PayloadOp = {
  op: "add" | "remove" | "change"
  /** JSON pointer; into the second body for what came, into the first for the rest. Empty for a body that is not JSON. */
  ptr: string
  /** The values as JSON or text, cut to a few hundred characters. */
  a: string | null
  b: string | null
  text: TextDiff | null
}
export type Selector = {
  step_id?: string | undefined
  lane_id?: string | undefined
  kind?: "model" | "tool" | "retriever" | "mcp" | "http" | undefined
  tool?: string | undefined
  model?: string | undefined
  occurrence?: number | undefined
  /** JSON Pointer into the request → a literal, or `{ "regex": … }` for texts. */
  match?: Record<string, JsonValue> | undefined
}
export type SideOfDiff = {
  run_id: string | null
  app: string | null
  entrypoint: string | null
  status: string
  /** What it is a replay of, and how; null for a run of its own. */
  replay: {
    source_run_id: string
    reason: string
    fork_step_id: string | null
    override_profile_id: string | null
  } | null
  /** Runs that were started from inside it and are part of the comparison. */
  runs: {
    run_id: string
    entrypoint: string | null
    status: string
  }[]
  steps: number
  /** How many things of the run were compared: its steps with their attempts folded, and artifacts and events that stand for themselves. */
  compared: number
  /** Of its steps, those that are a try of a call: told and compared with it. `steps` less these are the rows of `orangebox show`. */
  folded_attempts: number
  /** Null where no call reported a figure. */
  tokens_in: number | null
  tokens_out: number | null
  duration_us: number | null
  /** Bodies that were asked for and are not there, by reason. */
  absent_bodies: Record<string, number>
}
export type StepOfDiff = {
  /** The step's number in its run: `#n`. */
  n: number
  /** The run it is a step of, where that is one that the compared run started. */
  run: {
    run_id: string
    entrypoint: string
  } | null
  step_id: string | null
  /** Set where an event inside the step is meant. */
  event_id: string | null
  name: string
  lane_id: string | null
  status: string
  mode: "live" | "exact" | "cached" | "simulated"
  effect_class: string | null
  attempts: number
  call_signature_hash: string | null
  output_ref: string | null
  duration_us: number | null
  tokens_in: number | null
  tokens_out: number | null
}
export type TextDiff = {
  chars_a: number
  chars_b: number
  /** `words` were compared, or the texts have too little in common and one simply replaced the other. */
  form: "words" | "replaced"
  hunks: TextHunk[]
  /** Hunks that are not listed. */
  more: number
}
export type TextEdit = {
  replace_all: string
} | {
  find: string
  with: string
  expect_count: number
} | {
  append: string
} | {
  unified_diff: string
}
export type TextHunk = {
  /** Character in the first text where the hunk begins. */
  at: number
  /** What stands before it, a few words. */
  before: string
  a: string
  b: string
}
/**
 * Says that a replay was exact, in which sense, and how far it looked. Small enough to keep beside a result, and checkable by anybody who has
 * the recordings: see `recheckCertificate`, which works out every field again.
 */
export type Certificate = {
  v: 3
  type: "orangebox-exactness"
  /** Hash of everything below. */
  id: string
  driver: "engine" | "sdk" | "proxy"
  source_run: string
  /** Digest of every event of the source run. */
  source_digest: string
  /** Null for the engine, which runs no agent and writes no run. */
  replay_run: string | null
  replay_digest: string | null
  fingerprint: string
  scope: {
    /** What was checked, in words made from the members below. */
    says: string
    covers: ("model" | "tool" | "retriever" | "http")[]
    compared: Compared[]
    /** What was not, each with why. */
    not_compared: {
      what: string
      why: string
    }[]
    calls: number
    tools_executed: number
    hermetic: boolean
  }
  grades: {
    wire: number
    sig: number
    masked: number
  }
  /** Every mask under which a question was equal, by its id. */
  masks: string[]
  /** Those of them that a person accepted, so that they can be applied again. */
  accepted_masks: {
    /** Hash of everything below. */
    id: string
    type: "harness_line" | "uuid" | "iso_date" | "epoch_ms" | "epoch_s" | "duration" | "abs_path" | "git_sha" | "hex" | "port"
    at: string
  }[]
  aux_unconsumed: number
  upstream_sockets: 0
  outputs: DeclaredOutputs
  runs: {
    entrypoint: string
    source_run: string
    /** Null for the engine, which runs no agent and writes no run. */
    replay_run: string | null
    ended: string
    compared: Compared[]
  }[]
  canon_version: number
  versions: {
    replay: string
  }
}
/** What both runs have to show for themselves in the end. Null is "not on record", and is then named in `not_compared`. */
export type DeclaredOutputs = {
  ended: string
  error_class: string | null
  error: string | null
  exit_code: number | null
  signal: string | null
  /** What was written to a piped stdout, by its hash or, where it was more than is kept, its digest. */
  stdout: string | null
  last_model_output: string | null
  final_outputs: string[]
  /** What was left of the files that changed: path in the work tree → what is there now. Null where the work tree was not looked at. */
  files: Record<string, string> | null
}
/**
 * What a replay found. One object feeds the command line, the pages and the agents that read it; the schema is published with the package.
 */
export type DivergenceCode = "REQ_CHANGED" | "REQ_EXTRA" | "REQ_MISSING" | "OCCURRENCE_EXHAUSTED" | "AMBIGUOUS" | "ORDER_RELAXED" | "TOOL_DRIFT" | "PARAM_DRIFT" | "MODEL_ALIAS" | "STATEFUL_ID_UNKNOWN" | "STRIPPED_REASONING" | "FORK_SNAPPED" | "STATE_NOT_RESTORED" | "COVERAGE_GAP" | "NEEDS_RECONCILIATION" | "RULE_UNUSED" | "CANON_MISMATCH" | "RECORDING_ENDS" | "BODY_ABSENT" | "EFFECT_DENIED" | "NO_TRAFFIC"
export type DivergenceReport = {
  v: 1
  /** The new run; null for the engine, which writes none. */
  run: string | null
  source_run: string
  fidelity: "exact" | "exact_prefix" | "mixed" | "degraded" | "none"
  /** How many calls were exact before the first that was not. */
  exact_prefix: number
  counts: {
    asked: number
    wire: number
    sig: number
    masked: number
    drift: number
    cached: number
    simulated: number
    live: number
    missed: number
    unconsumed: number
    aux_unconsumed: number
  }
  egress: {
    upstream_sockets: number
    denied: number
  }
  masks: string[]
  divergences: Divergence[]
  certificate: {
    issued: boolean
    blocking: number[]
  }
}
/** The masks that a person accepted for a project, as a file beside its configuration. Every report names the ones it used. */
export type MasksFile = {
  v: 1
  /** The canonical form the places point into. */
  canon_version: number
  masks: {
    id: string
    type: "harness_line" | "uuid" | "iso_date" | "epoch_ms" | "epoch_s" | "duration" | "abs_path" | "git_sha" | "hex" | "port"
    at: string
    accepted_by: string
    accepted_at: string
  }[]
}
export type OverrideProfile = {
  schema_version: 1
  name?: string | undefined
  seed?: number | undefined
  /** Where the rules apply: the fork's step alone, it and what follows, or everywhere. */
  scope: "fork_step_only" | "from_fork" | "whole_run"
  egress: "deny" | "models_only" | "allow"
  rules: OverrideRule[]
}
export type PortableHeader = {
  v: 1 | 2
  format: "orangebox-run"
  run_id: string
  /** More than one when runs of sub-agents come along. */
  runs: string[]
  events: number
  bodies: number
  /** Digest of the runs' events: what a certificate names. */
  digest: string
  written_by: string
}
/** What a store knows about runs beside their events. */
export type PortableNotes = {
  /** Answers that were cut off, or still arriving when the file was written. */
  partial_streams: {
    run_id: string
    stream_id: string
    step_id: string | null
    role: string
    mime_type: string | null
    byte_size: number
    withheld_bytes?: number | undefined
    chunks: number
    is_unbroken: boolean
    last_at_us: number
    state: "open" | "abandoned"
    /** The bytes, as a body of the file. */
    body: string | null
  }[]
  /** Records that were lost, as their loss was recorded. */
  gaps: {
    run_id: string
    code: string
    reason: string
    lost?: number | undefined
    at_ms?: number | undefined
    detail?: Record<string, unknown> | undefined
  }[]
  /** Why bodies that events name were not there any more. */
  absent_bodies: {
    hash: string
    absent: "pruned" | "redacted_later" | "lost" | "unknown"
    reason: string
    on_ms?: number | undefined
    byte_size?: number | undefined
  }[]
  /** Events that were redacted after they were recorded. */
  redactions: {
    run_id: string
    event_id: string
    at_ms: number
  }[]
  /** Events whose id came again with other content; the first is in the file. Left out where there are none. */
  conflicts?: {
    run_id: string
    event_id: string
  }[] | undefined
  /** Under which key secrets were tagged; the key itself only where it was asked for. Left out where no secret was masked. */
  mask_key?: {
    id: string
    key?: string | undefined
  } | undefined
}
/** What two runs differ in. Items are in the order of the runs; positions in other members are indexes of `items`. */
export type RunDiff = {
  v: 1
  /** R1: one run is a replay of the other, or both of a third; R2: unrelated. */
  regime: "R1" | "R2"
  verdict: "same" | "noise" | "differs"
  a: SideOfDiff
  b: SideOfDiff
  stats: {
    same: number
    noise: number
    changed: number
    inserted: number
    removed: number
    moved: number
    reordered: number
    /** Share of calls that do the same thing on both sides; null without calls. */
    in_sync_share: number | null
    /** How much work aligning was: anchors found, table cells filled. */
    anchors: number
    cells: number
  }
  first: number | null
  root: number | null
  /**
   * Why there is no root: the runs have too little in common to say, every difference is followed by calls in sync, nothing else was decided
   * or seen, or an earlier difference may have led to a later one.
   */
  root_absent: "no_difference" | "no_common_prefix" | "resynced" | "no_origin" | "undecided" | null
  /** What would tell where no root is named: a fork at an item, or a good run to compare with. */
  would_decide: {
    by: "fork" | "good_run"
    item: number | null
  }[]
  decisive: {
    item: number
    effect: "write" | "unknown"
  } | null
  /** The first item of every tier. */
  tiers: {
    T0: number | null
    T1: number | null
    T2: number | null
    T3: number | null
  }
  outcome: {
    differs: boolean
    fields: ("status" | "error" | "exit" | "output" | "files")[]
    a: {
      status: string
      error_class: string | null
      error: string | null
      exit_code: number | null
      text: string | null
      output_ref: string | null
    }
    b: {
      status: string
      error_class: string | null
      error: string | null
      exit_code: number | null
      text: string | null
      output_ref: string | null
    }
    /** What the runs left in their work trees; null where one of them was not looked at, or its looks were not kept. */
    files: {
      differing: {
        path: string
        a: string | null
        b: string | null
      }[]
      more: number
    } | null
    /** Why they were not compared. */
    files_not_compared: string | null
  }
  /** A value that is only in the diverged output, and the first later call that uses it. */
  carry: {
    from: number
    to: number
    value: string
    ptr: string
    side: "a" | "b"
  } | null
  items: DiffItem[]
  /** Differing items whose payloads were not compared. */
  payloads_left_out: number
  notes: {
    code: string
    text: string
  }[]
}
/** T0 wording · T1 decision · T2 observation · T3 effect · T4 outcome. */
export type Tier = "T0" | "T1" | "T2" | "T3" | "T4"
/**
 * What a recorder of a work tree leaves at a look, as the content of a `workspace_snapshot` artifact: all that differed from a commit.
 * Contents are artifacts of their own, each recorded once in a run, and named here by their ids.
 */
export type WorkspaceSnapshot = {
  version: 1
  /** The top of the work tree on the machine it was recorded on. */
  root: string
  /** Where in it the command was started; empty for the top. */
  folder: string
  /** The commit the files differ from; null where there was none. */
  base: string | null
  /** The commit that was checked out. */
  head: string | null
  branch: string | null
  /** The call whose request had just come; null before the command and after it. */
  at_step: string | null
  files: {
    path: string
    kind: "file" | "executable" | "symlink" | "deleted"
    /** Equal within a run for equal files. */
    hash: string
    byte_size: number | null
    /** The artifact with its bytes, or with the target of a link; null for a deleted one. */
    content: string | null
  }[]
  left_out: {
    path: string
    why: string
  }[]
  /** How many more were left out than are named. */
  left_out_more: number
}

const ComparedNode: SchemaNode = { is: "one_of", values: ["recording","questions","answers","order","behaviour_headers","addresses","input","steps","verdicts","artifacts","ending","exit_status","stdout","final_output","files","diff"] }
const DeclaredOutputsNode: SchemaNode = { is: "object", fields: { ended: { is: "string" }, error_class: { is: "string", nullable: true }, error: { is: "string", nullable: true }, exit_code: { is: "number", int: true, nullable: true }, signal: { is: "string", nullable: true }, stdout: { is: "string", nullable: true }, last_model_output: { is: "string", pattern: /^sha256:[0-9a-f]{64}$/, says: "is not a sha256: hash", nullable: true }, final_outputs: { is: "list", of: { is: "string", pattern: /^sha256:[0-9a-f]{64}$/, says: "is not a sha256: hash" } }, files: { is: "record", keys: { is: "string" }, of: { is: "string" }, nullable: true } } }
const CertificateNode: SchemaNode = { is: "object", fields: { v: { is: "one_of", values: [3] }, type: { is: "one_of", values: ["orangebox-exactness"] }, id: { is: "string", pattern: /^sha256:[0-9a-f]{64}$/, says: "is not a sha256: hash" }, driver: { is: "one_of", values: ["engine","sdk","proxy"] }, source_run: { is: "string" }, source_digest: { is: "string", pattern: /^sha256:[0-9a-f]{64}$/, says: "is not a sha256: hash" }, replay_run: { is: "string", nullable: true }, replay_digest: { is: "string", pattern: /^sha256:[0-9a-f]{64}$/, says: "is not a sha256: hash", nullable: true }, fingerprint: { is: "string", pattern: /^sha256:[0-9a-f]{64}$/, says: "is not a sha256: hash" }, scope: { is: "object", fields: { says: { is: "string" }, covers: { is: "list", of: { is: "one_of", values: ["model","tool","retriever","http"] } }, compared: { is: "list", of: ComparedNode }, not_compared: { is: "list", of: { is: "object", fields: { what: { is: "string" }, why: { is: "string" } } } }, calls: { is: "number", int: true, min: 0 }, tools_executed: { is: "number", int: true, min: 0 }, hermetic: { is: "boolean" } } }, grades: { is: "object", fields: { wire: { is: "number", int: true, min: 0 }, sig: { is: "number", int: true, min: 0 }, masked: { is: "number", int: true, min: 0 } } }, masks: { is: "list", of: { is: "string" } }, accepted_masks: { is: "list", of: { is: "object", fields: { id: { is: "string" }, type: { is: "one_of", values: ["harness_line","uuid","iso_date","epoch_ms","epoch_s","duration","abs_path","git_sha","hex","port"] }, at: { is: "string" } } } }, aux_unconsumed: { is: "number", int: true, min: 0 }, upstream_sockets: { is: "one_of", values: [0] }, outputs: DeclaredOutputsNode, runs: { is: "list", of: { is: "object", fields: { entrypoint: { is: "string" }, source_run: { is: "string" }, replay_run: { is: "string", nullable: true }, ended: { is: "string" }, compared: { is: "list", of: ComparedNode } } } }, canon_version: { is: "number", int: true, min: 0 }, versions: { is: "object", fields: { replay: { is: "string" } } } } }
const DivergenceCodeNode: SchemaNode = { is: "one_of", values: ["REQ_CHANGED","REQ_EXTRA","REQ_MISSING","OCCURRENCE_EXHAUSTED","AMBIGUOUS","ORDER_RELAXED","TOOL_DRIFT","PARAM_DRIFT","MODEL_ALIAS","STATEFUL_ID_UNKNOWN","STRIPPED_REASONING","FORK_SNAPPED","STATE_NOT_RESTORED","COVERAGE_GAP","NEEDS_RECONCILIATION","RULE_UNUSED","CANON_MISMATCH","RECORDING_ENDS","BODY_ABSENT","EFFECT_DENIED","NO_TRAFFIC"] }
const Fidelity: SchemaNode = { is: "one_of", values: ["exact","exact_prefix","mixed","degraded","none"] }
const LeafClassNode: SchemaNode = { is: "one_of", values: ["model","param","system","tools","tool_result","assistant","user","args","query","other"] }
const LeafDiffNode: SchemaNode = { is: "object", fields: { ptr: { is: "string" }, class: LeafClassNode, recorded: { is: "string", nullable: true }, now: { is: "string", nullable: true }, line: { is: "number", int: true, over: 0, optional: true } } }
const NearestCallNode: SchemaNode = { is: "object", fields: { step: { is: "string" }, equal_leaves: { is: "number", int: true, min: 0 }, diff_leaves: { is: "number", int: true, min: 0 }, diffs: { is: "list", of: LeafDiffNode }, more_diffs: { is: "number", int: true, min: 0 } } }
const DivergenceNode: SchemaNode = { is: "object", fields: { n: { is: "number", int: true, over: 0 }, code: DivergenceCodeNode, severity: { is: "one_of", values: ["halt","warn","note"] }, step: { is: "string", nullable: true }, lane: { is: "string", nullable: true }, at: { is: "object", fields: { kind: { is: "one_of", values: ["model","tool","retriever","http","run"] }, name: { is: "string" }, occurrence: { is: "number", int: true, min: 0 } } }, incoming: { is: "object", fields: { sig: { is: "string" }, blob: { is: "string", nullable: true } }, nullable: true }, nearest: { is: "list", of: NearestCallNode }, cause: { is: "one_of", values: ["TOOL_OUTPUT","SYSTEM_PROMPT","TOOL_DEFINITIONS","PARAMETERS","MODEL","USER_INPUT","HISTORY","ARGUMENTS","QUERY","FRAMING","UNKNOWN"] }, message: { is: "string" }, suggest: { is: "list", of: { is: "string" } } } }
const DivergenceReportNode: SchemaNode = { is: "object", fields: { v: { is: "one_of", values: [1] }, run: { is: "string", nullable: true }, source_run: { is: "string" }, fidelity: Fidelity, exact_prefix: { is: "number", int: true, min: 0 }, counts: { is: "object", fields: { asked: { is: "number", int: true, min: 0 }, wire: { is: "number", int: true, min: 0 }, sig: { is: "number", int: true, min: 0 }, masked: { is: "number", int: true, min: 0 }, drift: { is: "number", int: true, min: 0 }, cached: { is: "number", int: true, min: 0 }, simulated: { is: "number", int: true, min: 0 }, live: { is: "number", int: true, min: 0 }, missed: { is: "number", int: true, min: 0 }, unconsumed: { is: "number", int: true, min: 0 }, aux_unconsumed: { is: "number", int: true, min: 0 } } }, egress: { is: "object", fields: { upstream_sockets: { is: "number", int: true, min: 0 }, denied: { is: "number", int: true, min: 0 } } }, masks: { is: "list", of: { is: "string" } }, divergences: { is: "list", of: DivergenceNode }, certificate: { is: "object", fields: { issued: { is: "boolean" }, blocking: { is: "list", of: { is: "number", int: true, over: 0 } } } } } }
const MasksFileNode: SchemaNode = { is: "object", fields: { v: { is: "one_of", values: [1] }, canon_version: { is: "number", int: true, min: 0 }, masks: { is: "list", of: { is: "object", fields: { id: { is: "string", min: 1 }, type: { is: "one_of", values: ["harness_line","uuid","iso_date","epoch_ms","epoch_s","duration","abs_path","git_sha","hex","port"] }, at: { is: "string", pattern: /^\/.*/, says: "Invalid string: must start with \"/\"" }, accepted_by: { is: "string", min: 1 }, accepted_at: { is: "string", min: 1 } } } } } }
const SelectorNode: SchemaNode = { is: "object", fields: { step_id: { is: "string", optional: true }, lane_id: { is: "string", optional: true }, kind: { is: "one_of", values: ["model","tool","retriever","mcp","http"], optional: true }, tool: { is: "string", optional: true }, model: { is: "string", optional: true }, occurrence: { is: "number", int: true, min: 0, optional: true }, match: { is: "record", keys: { is: "string" }, of: { is: "json" }, optional: true } } }
const TextEditNode: SchemaNode = { is: "union", of: [{ is: "object", fields: { replace_all: { is: "string", max: 4000000 } } }, { is: "object", fields: { find: { is: "string", max: 4000000, min: 1 }, with: { is: "string", max: 4000000 }, expect_count: { is: "number", int: true, min: 0, default: 1 } } }, { is: "object", fields: { append: { is: "string", max: 4000000 } } }, { is: "object", fields: { unified_diff: { is: "string", max: 4000000 } } }] }
const ContextRefNode: SchemaNode = { is: "object", fields: { message_hash: { is: "string", optional: true }, from_step_id: { is: "string", optional: true }, index: { is: "number", int: true, optional: true }, role: { is: "string", optional: true } } }
const JsonPatchOpNode: SchemaNode = { is: "union", by: "op", of: [{ is: "object", fields: { op: { is: "one_of", values: ["add","replace","test"] }, path: { is: "string" }, value: { is: "json" } } }, { is: "object", fields: { op: { is: "one_of", values: ["remove"] }, path: { is: "string" } } }, { is: "object", fields: { op: { is: "one_of", values: ["move","copy"] }, from: { is: "string" }, path: { is: "string" } } }] }
const OverrideValueNode: SchemaNode = { is: "union", of: [{ is: "object", fields: { artifact: { is: "string", pattern: /^sha256:[0-9a-f]{64}$/, says: "is not a body id" } } }, { is: "object", fields: { inline: { is: "json" } } }, { is: "object", fields: { from_run: { is: "string" }, step_id: { is: "string" } } }, { is: "object", fields: { json_patch: { is: "list", of: JsonPatchOpNode } } }] }
const OverrideOpNode: SchemaNode = { is: "union", by: "type", of: [{ is: "object", fields: { type: { is: "one_of", values: ["model.swap"] }, model: { is: "string", min: 1 }, provider: { is: "string", optional: true }, reasoning_blocks: { is: "one_of", values: ["auto","keep","strip"], default: "auto" } } }, { is: "object", fields: { type: { is: "one_of", values: ["param.set"] }, set: { is: "record", keys: { is: "string" }, of: { is: "json" }, optional: true }, unset: { is: "list", of: { is: "string" }, optional: true } } }, { is: "object", fields: { type: { is: "one_of", values: ["system.edit"] }, edit: TextEditNode } }, { is: "object", fields: { type: { is: "one_of", values: ["message.edit"] }, at: ContextRefNode, edit: TextEditNode } }, { is: "object", fields: { type: { is: "one_of", values: ["context.drop"] }, at: ContextRefNode, pairing: { is: "one_of", values: ["refuse","drop_pair"], default: "drop_pair" } } }, { is: "object", fields: { type: { is: "one_of", values: ["context.insert"] }, at: ContextRefNode, position: { is: "one_of", values: ["before","after"], default: "after" }, item: { is: "record", keys: { is: "string" }, of: { is: "json" } } } }, { is: "object", fields: { type: { is: "one_of", values: ["tools.edit"] }, add: { is: "list", of: { is: "record", keys: { is: "string" }, of: { is: "json" } }, optional: true }, remove: { is: "list", of: { is: "string" }, optional: true }, patch: { is: "record", keys: { is: "string" }, of: { is: "record", keys: { is: "string" }, of: { is: "json" } }, optional: true } } }, { is: "object", fields: { type: { is: "one_of", values: ["tool.result"] }, result: OverrideValueNode, is_error: { is: "boolean", default: false } } }, { is: "object", fields: { type: { is: "one_of", values: ["retrieval.result"] }, documents: { ...OverrideValueNode, optional: true }, drop_ids: { is: "list", of: { is: "string" }, optional: true }, reorder: { is: "list", of: { is: "string" }, optional: true } } }, { is: "object", fields: { type: { is: "one_of", values: ["response.replace"] }, response: OverrideValueNode } }, { is: "object", fields: { type: { is: "one_of", values: ["fault"] }, fault: { is: "one_of", values: ["http_status","reset","timeout","truncate_stream"] }, status: { is: "number", int: true, min: 100, max: 599, optional: true }, after_bytes: { is: "number", int: true, min: 0, optional: true } } }, { is: "object", fields: { type: { is: "one_of", values: ["policy"] }, mode: { is: "one_of", values: ["exact","cached","simulated","live","deny"] }, simulator: { is: "string", optional: true } } }] }
const OverrideRuleNode: SchemaNode = { is: "object", fields: { id: { is: "string", min: 1 }, select: SelectorNode, times: { is: "number", int: true, min: 1, optional: true }, op: OverrideOpNode } }
const OverrideProfileNode: SchemaNode = { is: "object", fields: { schema_version: { is: "one_of", values: [1] }, name: { is: "string", optional: true }, seed: { is: "number", int: true, optional: true }, scope: { is: "one_of", values: ["fork_step_only","from_fork","whole_run"], default: "from_fork" }, egress: { is: "one_of", values: ["deny","models_only","allow"], default: "models_only" }, rules: { is: "list", of: OverrideRuleNode } } }
const PortableHeaderNode: SchemaNode = { is: "object", fields: { v: { is: "union", of: [{ is: "one_of", values: [1] }, { is: "one_of", values: [2] }] }, format: { is: "one_of", values: ["orangebox-run"] }, run_id: { is: "string" }, runs: { is: "list", of: { is: "string" } }, events: { is: "number", int: true, min: 0 }, bodies: { is: "number", int: true, min: 0 }, digest: { is: "string" }, written_by: { is: "string" } } }
const PortableNotesNode: SchemaNode = { is: "object", fields: { partial_streams: { is: "list", of: { is: "object", fields: { run_id: { is: "string" }, stream_id: { is: "string" }, step_id: { is: "string", nullable: true }, role: { is: "string" }, mime_type: { is: "string", nullable: true }, byte_size: { is: "number", int: true, min: 0 }, withheld_bytes: { is: "number", int: true, min: 0, optional: true }, chunks: { is: "number", int: true, min: 0 }, is_unbroken: { is: "boolean" }, last_at_us: { is: "number", min: 0 }, state: { is: "one_of", values: ["open","abandoned"] }, body: { is: "string", nullable: true } } } }, gaps: { is: "list", of: { is: "object", fields: { run_id: { is: "string" }, code: { is: "string" }, reason: { is: "string" }, lost: { is: "number", int: true, min: 0, optional: true }, at_ms: { is: "number", optional: true }, detail: { is: "record", keys: { is: "string" }, of: { is: "any" }, optional: true } } } }, absent_bodies: { is: "list", of: { is: "object", fields: { hash: { is: "string" }, absent: { is: "one_of", values: ["pruned","redacted_later","lost","unknown"] }, reason: { is: "string" }, on_ms: { is: "number", optional: true }, byte_size: { is: "number", int: true, min: 0, optional: true } } } }, redactions: { is: "list", of: { is: "object", fields: { run_id: { is: "string" }, event_id: { is: "string" }, at_ms: { is: "number" } } } }, conflicts: { is: "list", of: { is: "object", fields: { run_id: { is: "string" }, event_id: { is: "string" } } }, optional: true }, mask_key: { is: "object", fields: { id: { is: "string" }, key: { is: "string", pattern: /^[0-9a-f]{64}$/, optional: true } }, optional: true } } }
const SideOfDiffNode: SchemaNode = { is: "object", fields: { run_id: { is: "string", nullable: true }, app: { is: "string", nullable: true }, entrypoint: { is: "string", nullable: true }, status: { is: "string" }, replay: { is: "object", fields: { source_run_id: { is: "string" }, reason: { is: "string" }, fork_step_id: { is: "string", nullable: true }, override_profile_id: { is: "string", nullable: true } }, nullable: true }, runs: { is: "list", of: { is: "object", fields: { run_id: { is: "string" }, entrypoint: { is: "string", nullable: true }, status: { is: "string" } } } }, steps: { is: "number", int: true, min: 0 }, compared: { is: "number", int: true, min: 0 }, folded_attempts: { is: "number", int: true, min: 0 }, tokens_in: { is: "number", nullable: true }, tokens_out: { is: "number", nullable: true }, duration_us: { is: "number", nullable: true }, absent_bodies: { is: "record", keys: { is: "string" }, of: { is: "number", int: true, min: 0 } } } }
const ChangeNode: SchemaNode = { is: "one_of", values: ["same","noise","changed","inserted","removed","moved","reordered"] }
const FieldNode: SchemaNode = { is: "one_of", values: ["name","input","output","status","attempts","wire"] }
const CauseNode: SchemaNode = { is: "one_of", values: ["origin","propagated","absorbed","environment"] }
const TierNode: SchemaNode = { is: "one_of", values: ["T0","T1","T2","T3","T4"] }
const StepOfDiffNode: SchemaNode = { is: "object", fields: { n: { is: "number", int: true, min: 0 }, run: { is: "object", fields: { run_id: { is: "string" }, entrypoint: { is: "string" } }, nullable: true }, step_id: { is: "string", nullable: true }, event_id: { is: "string", nullable: true }, name: { is: "string" }, lane_id: { is: "string", nullable: true }, status: { is: "string" }, mode: { is: "one_of", values: ["live","exact","cached","simulated"] }, effect_class: { is: "string", nullable: true }, attempts: { is: "number", int: true, min: 0 }, call_signature_hash: { is: "string", nullable: true }, output_ref: { is: "string", nullable: true }, duration_us: { is: "number", nullable: true }, tokens_in: { is: "number", nullable: true }, tokens_out: { is: "number", nullable: true } } }
const TextHunkNode: SchemaNode = { is: "object", fields: { at: { is: "number", int: true, min: 0 }, before: { is: "string" }, a: { is: "string" }, b: { is: "string" } } }
const TextDiffNode: SchemaNode = { is: "object", fields: { chars_a: { is: "number", int: true, min: 0 }, chars_b: { is: "number", int: true, min: 0 }, form: { is: "one_of", values: ["words","replaced"] }, hunks: { is: "list", of: TextHunkNode }, more: { is: "number", int: true, min: 0 } } }
const PayloadOpNode: SchemaNode = { is: "object", fields: { op: { is: "one_of", values: ["add","remove","change"] }, ptr: { is: "string" }, a: { is: "string", nullable: true }, b: { is: "string", nullable: true }, text: { ...TextDiffNode, nullable: true } } }
const PayloadDiffNode: SchemaNode = { is: "object", fields: { what: { is: "one_of", values: ["input","output"] }, form: { is: "one_of", values: ["context","json","text","bytes","absent"] }, ops: { is: "list", of: PayloadOpNode }, more: { is: "number", int: true, min: 0 }, inherits: { is: "list", of: { is: "object", fields: { item: { is: "number", int: true, min: 0 }, parts: { is: "number", int: true, min: 0 } } } }, absent: { is: "object", fields: { a: { is: "string", nullable: true }, b: { is: "string", nullable: true } }, nullable: true } } }
const DiffItemNode: SchemaNode = { is: "object", fields: { kind: { is: "one_of", values: ["run","model","tool","retrieval","step","unknown","input","verdict","artifact"] }, change: ChangeNode, fields: { is: "list", of: FieldNode }, noise: { is: "list", of: FieldNode }, cause: { ...CauseNode, nullable: true }, tiers: { is: "list", of: TierNode }, incidental: { is: "boolean" }, distance: { is: "number" }, a: { ...StepOfDiffNode, nullable: true }, b: { ...StepOfDiffNode, nullable: true }, decision: { is: "object", fields: { a: { is: "list", of: { is: "string" } }, b: { is: "list", of: { is: "string" } } }, nullable: true }, payloads: { is: "list", of: PayloadDiffNode, nullable: true } } }
const RunDiffNode: SchemaNode = { is: "object", fields: { v: { is: "one_of", values: [1] }, regime: { is: "one_of", values: ["R1","R2"] }, verdict: { is: "one_of", values: ["same","noise","differs"] }, a: SideOfDiffNode, b: SideOfDiffNode, stats: { is: "object", fields: { same: { is: "number", int: true, min: 0 }, noise: { is: "number", int: true, min: 0 }, changed: { is: "number", int: true, min: 0 }, inserted: { is: "number", int: true, min: 0 }, removed: { is: "number", int: true, min: 0 }, moved: { is: "number", int: true, min: 0 }, reordered: { is: "number", int: true, min: 0 }, in_sync_share: { is: "number", nullable: true }, anchors: { is: "number", int: true, min: 0 }, cells: { is: "number", int: true, min: 0 } } }, first: { is: "number", int: true, min: 0, nullable: true }, root: { is: "number", int: true, min: 0, nullable: true }, root_absent: { is: "one_of", values: ["no_difference","no_common_prefix","resynced","no_origin","undecided"], nullable: true }, would_decide: { is: "list", of: { is: "object", fields: { by: { is: "one_of", values: ["fork","good_run"] }, item: { is: "number", int: true, min: 0, nullable: true } } } }, decisive: { is: "object", fields: { item: { is: "number", int: true, min: 0 }, effect: { is: "one_of", values: ["write","unknown"] } }, nullable: true }, tiers: { is: "object", fields: { T0: { is: "number", int: true, min: 0, nullable: true }, T1: { is: "number", int: true, min: 0, nullable: true }, T2: { is: "number", int: true, min: 0, nullable: true }, T3: { is: "number", int: true, min: 0, nullable: true } } }, outcome: { is: "object", fields: { differs: { is: "boolean" }, fields: { is: "list", of: { is: "one_of", values: ["status","error","exit","output","files"] } }, a: { is: "object", fields: { status: { is: "string" }, error_class: { is: "string", nullable: true }, error: { is: "string", nullable: true }, exit_code: { is: "number", int: true, nullable: true }, text: { is: "string", nullable: true }, output_ref: { is: "string", nullable: true } } }, b: { is: "object", fields: { status: { is: "string" }, error_class: { is: "string", nullable: true }, error: { is: "string", nullable: true }, exit_code: { is: "number", int: true, nullable: true }, text: { is: "string", nullable: true }, output_ref: { is: "string", nullable: true } } }, files: { is: "object", fields: { differing: { is: "list", of: { is: "object", fields: { path: { is: "string" }, a: { is: "string", nullable: true }, b: { is: "string", nullable: true } } } }, more: { is: "number", int: true, min: 0 } }, nullable: true }, files_not_compared: { is: "string", nullable: true } } }, carry: { is: "object", fields: { from: { is: "number", int: true, min: 0 }, to: { is: "number", int: true, min: 0 }, value: { is: "string" }, ptr: { is: "string" }, side: { is: "one_of", values: ["a","b"] } }, nullable: true }, items: { is: "list", of: DiffItemNode }, payloads_left_out: { is: "number", int: true, min: 0 }, notes: { is: "list", of: { is: "object", fields: { code: { is: "string" }, text: { is: "string" } } } } } }
const WorkspaceSnapshotNode: SchemaNode = { is: "object", others: "dropped", fields: { version: { is: "one_of", values: [1] }, root: { is: "string", max: 4096 }, folder: { is: "string", max: 4096 }, base: { is: "string", max: 64, nullable: true }, head: { is: "string", max: 64, nullable: true }, branch: { is: "string", max: 1024, nullable: true }, at_step: { is: "string", nullable: true }, files: { is: "list", of: { is: "object", others: "dropped", fields: { path: { is: "string", max: 4096 }, kind: { is: "one_of", values: ["file","executable","symlink","deleted"] }, hash: { is: "string", max: 128 }, byte_size: { is: "number", int: true, min: 0, nullable: true }, content: { is: "string", max: 128, nullable: true } } } }, left_out: { is: "list", of: { is: "object", others: "dropped", fields: { path: { is: "string", max: 4096 }, why: { is: "string", max: 128 } } } }, left_out_more: { is: "number", int: true, min: 0 } } }
export const Certificate = new ObjectSchema<Certificate>(CertificateNode)
export const DeclaredOutputs = new ObjectSchema<DeclaredOutputs>(DeclaredOutputsNode)
export const DivergenceCode = new WordSchema<DivergenceCode>(DivergenceCodeNode)
export const DivergenceReport = new ObjectSchema<DivergenceReport>(DivergenceReportNode)
export const MasksFile = new ObjectSchema<MasksFile>(MasksFileNode)
export const OverrideProfile = new ObjectSchema<OverrideProfile>(OverrideProfileNode)
export const PortableHeader = new ObjectSchema<PortableHeader>(PortableHeaderNode)
export const PortableNotes = new ObjectSchema<PortableNotes>(PortableNotesNode)
export const RunDiff = new ObjectSchema<RunDiff>(RunDiffNode)
export const Tier = new WordSchema<Tier>(TierNode)
export const WorkspaceSnapshot = new ObjectSchema<WorkspaceSnapshot>(WorkspaceSnapshotNode)
