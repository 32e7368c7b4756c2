import { z } from "zod"
import { DIFF_KINDS } from "../src/diff/diff-step.js"

export const Change = z.enum(["same", "noise", "changed", "inserted", "removed", "moved", "reordered"])

/** Why a difference is there: see `causes.ts`. */
export const Cause = z.enum(["origin", "propagated", "absorbed", "environment"])

/** T0 wording · T1 decision · T2 observation · T3 effect · T4 outcome. */
export const Tier = z.enum(["T0", "T1", "T2", "T3", "T4"])

export const Field = z.enum(["name", "input", "output", "status", "attempts", "wire"])

const Count = z.number().int().nonnegative()
const Kind = z.enum(DIFF_KINDS)

export const StepOfDiff = z.strictObject({
  /** The step's number in its run: `#n`. */
  n: Count,
  /** The run it is a step of, where that is one that the compared run started. */
  run: z.strictObject({ run_id: z.string(), entrypoint: z.string() }).nullable(),
  step_id: z.string().nullable(),
  /** Set where an event inside the step is meant. */
  event_id: z.string().nullable(),
  name: z.string(),
  lane_id: z.string().nullable(),
  status: z.string(),
  mode: z.enum(["live", "exact", "cached", "simulated"]),
  effect_class: z.string().nullable(),
  attempts: Count,
  call_signature_hash: z.string().nullable(),
  output_ref: z.string().nullable(),
  duration_us: z.number().nullable(),
  tokens_in: z.number().nullable(),
  tokens_out: z.number().nullable(),
})

export const TextHunk = z.strictObject({
  /** Character in the first text where the hunk begins. */
  at: Count,
  /** What stands before it, a few words. */
  before: z.string(),
  a: z.string(),
  b: z.string(),
})

export const TextDiff = z.strictObject({
  chars_a: Count,
  chars_b: Count,
  /** `words` were compared, or the texts have too little in common and one simply replaced the other. */
  form: z.enum(["words", "replaced"]),
  hunks: z.array(TextHunk),
  /** Hunks that are not listed. */
  more: Count,
})

export const PayloadOp = z.strictObject({
  op: z.enum(["add", "remove", "change"]),
  /** JSON pointer; into the second body for what came, into the first for the rest. Empty for a body that is not JSON. */
  ptr: z.string(),
  /** The values as JSON or text, cut to a few hundred characters. */
  a: z.string().nullable(),
  b: z.string().nullable(),
  text: TextDiff.nullable(),
})

export const PayloadDiff = z.strictObject({
  what: z.enum(["input", "output"]),
  /** `absent`: the bytes of one side are not there, so only their hashes were compared. `bytes`: not text. */
  form: z.enum(["context", "json", "text", "bytes", "absent"]),
  ops: z.array(PayloadOp),
  /** Operations that are not listed. */
  more: Count,
  /** Differences that an earlier item already shows, by the index of that item. */
  inherits: z.array(z.strictObject({ item: Count, parts: Count })),
  /** Why bytes are not there. */
  absent: z.strictObject({ a: z.string().nullable(), b: z.string().nullable() }).nullable(),
})

export const DiffItem = z.strictObject({
  kind: Kind,
  change: Change,
  /** What differs between the steps of a pair. */
  fields: z.array(Field),
  /** What differs without meaning: spelling on the wire, ids, accepted masks, retries. */
  noise: z.array(Field),
  cause: Cause.nullable(),
  tiers: z.array(Tier),
  /**
   * Differs only in wording, ids and times, or in figures of which nothing came, so that no root begins here. Looked for in unrelated runs.
   */
  incidental: z.boolean(),
  distance: z.number(),
  a: StepOfDiff.nullable(),
  b: StepOfDiff.nullable(),
  /** Names of the tools a model asked for, where the two answers decided differently. */
  decision: z.strictObject({ a: z.array(z.string()), b: z.array(z.string()) }).nullable(),
  /** Null where the payloads were not compared. */
  payloads: z.array(PayloadDiff).nullable(),
})

export const SideOfDiff = z.strictObject({
  run_id: z.string().nullable(),
  app: z.string().nullable(),
  entrypoint: z.string().nullable(),
  status: z.string(),
  /** What it is a replay of, and how; null for a run of its own. */
  replay: z
    .strictObject({
      source_run_id: z.string(),
      reason: z.string(),
      fork_step_id: z.string().nullable(),
      override_profile_id: z.string().nullable(),
    })
    .nullable(),
  /** Runs that were started from inside it and are part of the comparison. */
  runs: z.array(z.strictObject({ run_id: z.string(), entrypoint: z.string().nullable(), status: z.string() })),
  steps: Count,
  /** How many things of the run were compared: its steps with their attempts folded, and artifacts and events that stand for themselves. */
  compared: Count,
  /** Of its steps, those that are a try of a call: told and compared with it. `steps` less these are the rows of `orangebox show`. */
  folded_attempts: Count,
  /** Null where no call reported a figure. */
  tokens_in: z.number().nullable(),
  tokens_out: z.number().nullable(),
  duration_us: z.number().nullable(),
  /** Bodies that were asked for and are not there, by reason. */
  absent_bodies: z.record(z.string(), Count),
})

const OutcomeOfSide = z.strictObject({
  status: z.string(),
  error_class: z.string().nullable(),
  /** What it failed with, in a few words; of a recorded command how it exited. */
  error: z.string().nullable(),
  /** Of the process, where it is on record. */
  exit_code: z.number().int().nullable(),
  text: z.string().nullable(),
  output_ref: z.string().nullable(),
})

/** A file that one run left otherwise than the other. Null where a run did not change it. */
const FileOfOutcome = z.strictObject({
  path: z.string(),
  a: z.string().nullable(),
  b: z.string().nullable(),
})

/** What two runs differ in. Items are in the order of the runs; positions in other members are indexes of `items`. */
export const RunDiff = z.strictObject({
  v: z.literal(1),
  /** R1: one run is a replay of the other, or both of a third; R2: unrelated. */
  regime: z.enum(["R1", "R2"]),
  verdict: z.enum(["same", "noise", "differs"]),
  a: SideOfDiff,
  b: SideOfDiff,
  stats: z.strictObject({
    same: Count,
    noise: Count,
    changed: Count,
    inserted: Count,
    removed: Count,
    moved: Count,
    reordered: Count,
    /** Share of calls that do the same thing on both sides; null without calls. */
    in_sync_share: z.number().nullable(),
    /** How much work aligning was: anchors found, table cells filled. */
    anchors: Count,
    cells: Count,
  }),
  first: Count.nullable(),
  root: Count.nullable(),
  /**
   * Why there is no root: the runs have too little in common to say, every difference is followed by calls in sync, nothing else was decided
   * or seen, or an earlier difference may have led to a later one.
   */
  root_absent: z.enum(["no_difference", "no_common_prefix", "resynced", "no_origin", "undecided"]).nullable(),
  /** What would tell where no root is named: a fork at an item, or a good run to compare with. */
  would_decide: z.array(z.strictObject({ by: z.enum(["fork", "good_run"]), item: Count.nullable() })),
  decisive: z.strictObject({ item: Count, effect: z.enum(["write", "unknown"]) }).nullable(),
  /** The first item of every tier. */
  tiers: z.strictObject({ T0: Count.nullable(), T1: Count.nullable(), T2: Count.nullable(), T3: Count.nullable() }),
  outcome: z.strictObject({
    differs: z.boolean(),
    fields: z.array(z.enum(["status", "error", "exit", "output", "files"])),
    a: OutcomeOfSide,
    b: OutcomeOfSide,
    /** What the runs left in their work trees; null where one of them was not looked at, or its looks were not kept. */
    files: z.strictObject({ differing: z.array(FileOfOutcome), more: Count }).nullable(),
    /** Why they were not compared. */
    files_not_compared: z.string().nullable(),
  }),
  /** A value that is only in the diverged output, and the first later call that uses it. */
  carry: z
    .strictObject({ from: Count, to: Count, value: z.string(), ptr: z.string(), side: z.enum(["a", "b"]) })
    .nullable(),
  items: z.array(DiffItem),
  /** Differing items whose payloads were not compared. */
  payloads_left_out: Count,
  notes: z.array(z.strictObject({ code: z.string(), text: z.string() })),
})
