import type { ArtifactRef } from "@orangebox/contract"

/** What the store needs of a ref. */
export type UsableRef = Pick<ArtifactRef, "artifact_hash" | "artifact_type" | "byte_size" | "absent"> & {
  readonly mime_type: string | null
}

/**
 * A ref with values the database can take. An event that breaks the contract is stored all the same, so anything may stand in its refs;
 * one that names no body at all is undefined.
 */
export function usableRef(ref: ArtifactRef): UsableRef | undefined {
  if (isSound(ref)) return ref
  const { artifact_hash, artifact_type, byte_size, mime_type, absent }: Partial<Record<keyof ArtifactRef, unknown>> =
    ref
  if (typeof artifact_hash !== "string") return undefined
  return {
    artifact_hash,
    artifact_type: typeof artifact_type === "string" ? artifact_type : "",
    byte_size: isSize(byte_size) ? byte_size : 0,
    mime_type: typeof mime_type === "string" ? mime_type : null,
    ...(absent === undefined ? {} : { absent: ref.absent }),
  }
}

function isSound(ref: ArtifactRef): boolean {
  return (
    typeof ref.artifact_hash === "string" &&
    typeof ref.artifact_type === "string" &&
    typeof ref.mime_type === "string" &&
    isSize(ref.byte_size)
  )
}

const isSize = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
