/** Why bytes that are on record cannot be had. A value, not an exception: one damaged block must not stop a reader. */
export interface BodyProblem {
  readonly code: BodyProblemCode
  /** The pack file, chunk or body it is about. */
  readonly where: string
  readonly reason: string
}

export type BodyProblemCode =
  | "pack_missing"
  | "pack_unreadable"
  | "block_damaged"
  | "chunk_unknown"
  | "recipe_damaged"
  | "hash_mismatch"

export type BodyReading =
  | { readonly bytes: Buffer; readonly problem?: never }
  | { readonly bytes?: never; readonly problem: BodyProblem }
