import { MASK_TYPES, type MaskType } from "@orangebox/dialects"
import { z } from "zod"

const Hash = z.string().regex(/^sha256:[0-9a-f]{64}$/, "is not a sha256: hash")
const Count = z.number().int().nonnegative()

/** What both runs have to show for themselves in the end. Null is "not on record", and is then named in `not_compared`. */
export const DeclaredOutputs = z.strictObject({
  ended: z.string(),
  error_class: z.string().nullable(),
  error: z.string().nullable(),
  exit_code: z.number().int().nullable(),
  signal: z.string().nullable(),
  /** What was written to a piped stdout, by its hash or, where it was more than is kept, its digest. */
  stdout: z.string().nullable(),
  last_model_output: Hash.nullable(),
  final_outputs: z.array(Hash),
  /** What was left of the files that changed: path in the work tree → what is there now. Null where the work tree was not looked at. */
  files: z.record(z.string(), z.string()).nullable(),
})

/** What a certificate speaks for. Whatever stands neither here nor in `not_compared` is not part of a run. */
export const Compared = z.enum([
  "recording",
  "questions",
  "answers",
  "order",
  "behaviour_headers",
  "addresses",
  "input",
  "steps",
  "verdicts",
  "artifacts",
  "ending",
  "exit_status",
  "stdout",
  "final_output",
  "files",
  "diff",
])

/** A run of the family: the one that is replayed, or one that was started from inside it. */
const ComparedRun = z.strictObject({
  entrypoint: z.string(),
  source_run: z.string(),
  /** Null for the engine, which writes no run. */
  replay_run: z.string().nullable(),
  ended: z.string(),
  /** What of it was held against the other, beside its calls. */
  compared: z.array(Compared),
})

/**
 * Says that a replay was exact, in which sense, and how far it looked. Small enough to keep beside a result, and checkable by anybody who has
 * the recordings: see `recheckCertificate`, which works out every field again.
 */
export const Certificate = z.strictObject({
  v: z.literal(3),
  type: z.literal("orangebox-exactness"),
  /** Hash of everything below. */
  id: Hash,
  driver: z.enum(["engine", "sdk", "proxy"]),
  source_run: z.string(),
  /** Digest of every event of the source run. */
  source_digest: Hash,
  /** Null for the engine, which runs no agent and writes no run. */
  replay_run: z.string().nullable(),
  replay_digest: Hash.nullable(),
  fingerprint: Hash,
  scope: z.strictObject({
    /** What was checked, in words made from the members below. */
    says: z.string(),
    covers: z.array(z.enum(["model", "tool", "retriever", "http"])),
    compared: z.array(Compared),
    /** What was not, each with why. */
    not_compared: z.array(z.strictObject({ what: z.string(), why: z.string() })),
    calls: Count,
    tools_executed: Count,
    hermetic: z.boolean(),
  }),
  grades: z.strictObject({ wire: Count, sig: Count, masked: Count }),
  /** Every mask under which a question was equal, by its id. */
  masks: z.array(z.string()),
  /** Those of them that a person accepted, so that they can be applied again. */
  accepted_masks: z.array(
    z.strictObject({ id: z.string(), type: z.enum(MASK_TYPES as [MaskType, ...MaskType[]]), at: z.string() }),
  ),
  aux_unconsumed: Count,
  upstream_sockets: z.literal(0),
  outputs: DeclaredOutputs,
  runs: z.array(ComparedRun),
  canon_version: Count,
  versions: z.strictObject({ replay: z.string() }),
})
