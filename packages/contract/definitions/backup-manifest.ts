import { z } from "zod"
import { Count, Digest, Name } from "./fields.js"

/** What a backup holds, written last: a folder without it is no backup. */
export const BackupManifest = z.strictObject({
  schema: z.enum(["orangebox.backup/1"]),
  made_at: z.string(),
  /** Every run with the digest of its events; null where events of it cannot be read. */
  runs: z.array(z.strictObject({ run_id: Name, status: Name, digest: Digest.nullable() })),
  files: z.array(z.strictObject({ path: Name, byte_size: Count, sha256: Digest })),
})
