/**
 * Folds a long list of parts into groups (see `recipe.ts` for why). Where a group ends is decided by the part it ends with, as
 * chunk ends are decided by content: a history that grows at its end keeps the groups of its beginning.
 */
import type { ChunkWriter } from "./chunk-writer.js"
import { encodeParts, MAX_LEVEL, type Part } from "./recipe.js"

/** Below this a list stays as it is. */
const FOLD_FROM = 16
const MIN_GROUP = 4
const MAX_GROUP = 64

export function foldParts(parts: readonly Part[], chunks: ChunkWriter): readonly Part[] {
  let folded = parts
  for (let level = 0; level < MAX_LEVEL; level++) {
    const until = folded.findIndex((part) => part.level < level)
    const head = until === -1 ? folded : folded.slice(0, until)
    if (head.length < FOLD_FROM) return folded
    const { groups, rest } = group(head, level + 1, chunks)
    folded = [...groups, ...rest, ...folded.slice(head.length)]
  }
  return folded
}

/** The groups that are complete, and the parts behind the last of them. */
function group(parts: readonly Part[], level: number, chunks: ChunkWriter) {
  const groups: Part[] = []
  let start = 0
  for (let at = 0; at < parts.length; at++) {
    const size = at + 1 - start
    if (size < MIN_GROUP || (size < MAX_GROUP && !endsGroup(parts[at]!))) continue
    const members = parts.slice(start, at + 1)
    const bytes = members.reduce((sum, part) => sum + part.bytes, 0)
    groups.push({ level, first: chunks.putShared(encodeParts(members)), count: 1, bytes })
    start = at + 1
  }
  return { groups, rest: parts.slice(start) }
}

/** One part in eight. The factor spreads consecutive ids over the high bits. */
function endsGroup({ first, count }: Part): boolean {
  return Math.imul(first * 31 + count, 0x9e3779b1) >>> 29 === 0
}
