import { join } from "node:path"
import type { Event } from "@orangebox/contract"
import { ensurePrivateFolder, readPrivateFile, readStoreKey, replacePrivateFile } from "@orangebox/journal"
import { maskKeyId } from "@orangebox/redaction"

/** The key under which the secrets of a run were tagged. Tags of two keys say nothing about whether two secrets are the same. */
export interface MaskKey {
  readonly id: string
  /** Where it came along. Its holder can try out guesses at short secrets, so it is handed on only when that is asked for. */
  readonly bytes?: Uint8Array | undefined
}

/** On the word about a run that was imported: the key is not that of the store it stands in. */
export const MASK_KEY_ATTRIBUTE = "mask_key"

/** The key of a run of this data folder: the folder's own, unless the run came from elsewhere. Undefined where it is unknown. */
export function maskKeyIn(folder: string, annotations: readonly Event[]): MaskKey | undefined {
  const told = annotations.map(({ attributes }) => attributes?.[MASK_KEY_ATTRIBUTE]).find((id) => id !== undefined)
  return typeof told === "string" ? foreignKey(folder, told) : ownMaskKey(folder)
}

export function ownMaskKey(folder: string): MaskKey | undefined {
  const bytes = readStoreKey(folder)
  return bytes && { id: maskKeyId(bytes), bytes }
}

const FOREIGN_KEYS = "mask-keys"

function foreignKey(folder: string, id: string): MaskKey {
  try {
    const bytes = KEY_ID.test(id) ? readPrivateFile(join(folder, FOREIGN_KEYS, id), KEY_BYTES) : undefined
    return { id, bytes }
  } catch {
    // It did not come along, or another user can write to it.
    return { id }
  }
}

const KEY_ID = /^[0-9a-f]{16}$/
const KEY_BYTES = 32

/** Keeps a key that came with an imported run, for replays of it. */
export function keepMaskKey(folder: string, { id, bytes }: MaskKey): void {
  if (bytes === undefined || !KEY_ID.test(id) || ownMaskKey(folder)?.id === id) return
  ensurePrivateFolder(join(folder, FOREIGN_KEYS))
  replacePrivateFile(join(folder, FOREIGN_KEYS, id), bytes)
}

/** Whether secrets stood in what an event says. */
export const hasMasks = ({ artifact_refs }: Event): boolean =>
  artifact_refs.some(({ masks, mask_count }) => (masks?.length ?? 0) > 0 || (mask_count ?? 0) > 0)
