import { z } from "zod"
import { Count, Digest, Name } from "./fields.js"
import { RunId } from "./ids.js"

/** What a signer vouches for: this run, with these events and these holes, at this place of the chain. */
export const SignedStatement = z.strictObject({
  schema: z.enum(["orangebox.signature/1"]),
  run_id: RunId,
  /** Of every event of the run. */
  digest: Digest,
  status: Name,
  events: Count,
  /** What `verify` had to say of the run when it was signed, by code. */
  gaps: z.record(z.string(), Count),
  /** The id of a certificate of replay that held when it was signed. */
  certificate: Digest.nullable(),
  signed_at: z.string(),
  /** The hash of the public key (SPKI, DER). */
  key: Digest,
  /** How many stand before it in the chain of its data folder. */
  place: Count,
  /** The hash of the one before it. */
  previous: Digest.nullable(),
})

/** `orangebox.signature/1`: an Ed25519 signature over the canonical JSON of its statement. */
export const RunSignature = z.strictObject({
  statement: SignedStatement,
  /** Base64. */
  signature: z.string().max(120),
})
