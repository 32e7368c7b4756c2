import { z } from "zod"

const Hash = z.string().regex(/^sha256:[0-9a-f]{64}$/, "is not a sha256: hash")
const Count = z.number().int().nonnegative()

/** What a run shows for itself at the end. Null is "the driver cannot see it", and what it cannot see is not claimed. */
export const DeclaredOutputs = z.strictObject({
  last_model_output: Hash.nullable(),
  final_outputs: z.array(Hash),
  exit_code: z.number().int().nullable(),
  stdout: Hash.nullable(),
  /** Path relative to the workspace → hash of the file. */
  files: z.record(z.string(), Hash),
})

/**
 * Says that a replay was exact, in which sense, and how far it looked. Small enough to keep beside a result, and checkable by anybody who has
 * the recordings: see `recheckCertificate`.
 */
export const Certificate = z.strictObject({
  v: z.literal(1),
  type: z.literal("orangebox-exactness"),
  /** Hash of everything below. */
  id: Hash,
  driver: z.enum(["engine", "sdk", "proxy"]),
  source_run: z.string(),
  /** Digest of every event of the source run. */
  source_digest: Hash,
  /** Null for the engine, which runs no agent and writes no run. */
  replay_run: z.string().nullable(),
  fingerprint: Hash,
  scope: z.strictObject({
    /** One sentence that claims no more than was checked. */
    says: z.string(),
    covers: z.array(z.enum(["model", "tool", "retriever", "http"])),
    calls: Count,
    tools_executed: Count,
    hermetic: z.boolean(),
  }),
  grades: z.strictObject({ wire: Count, sig: Count, masked: Count }),
  masks: z.array(z.string()),
  aux_unconsumed: Count,
  upstream_sockets: z.literal(0),
  outputs: DeclaredOutputs,
  canon_version: Count,
  versions: z.strictObject({ replay: z.string() }),
})
