import { type BodyMask, countIn, type Event, recordsIn, textIn } from "@orangebox/contract"

/** What was taken out of the bodies of an event, or of one of them. */
export function masksIn(event: Event | undefined, hash?: string): BodyMask[] {
  return (event?.artifact_refs ?? []).flatMap((ref) => {
    if (!("masks" in ref) || (hash !== undefined && ref.artifact_hash !== hash)) return []
    return recordsIn({ ...ref }, "masks").flatMap((mask) => {
      const [offset, length] = [countIn(mask, "offset"), countIn(mask, "length")]
      const [rule, tag] = [textIn(mask, "rule"), textIn(mask, "tag")]
      const isWhole = offset !== undefined && length !== undefined && rule !== undefined && tag !== undefined
      return isWhole ? [{ offset, length, rule, tag }] : []
    })
  })
}

/** The tags of the secrets in a body, in order and each once: an error names its secret in its message and again in its stack. */
export const tagsIn = (event: Event | undefined, hash: string | undefined): readonly string[] =>
  hash === undefined ? [] : [...new Set(masksIn(event, hash).map(({ tag }) => tag))]

/**
 * Whether two bodies of the same bytes hold the same secrets, place by place. Where one of them has no secret but a text that looks like its
 * mask, it got that from a recording, where nothing else was left of it.
 */
export function haveSameSecrets(a: readonly BodyMask[], b: readonly BodyMask[]): boolean {
  const tags = new Map(a.map(({ offset, tag }) => [offset, tag]))
  return b.every(({ offset, tag }) => (tags.get(offset) ?? tag) === tag)
}

/** The same of errors, by the tags of `tagsIn`. */
export const areSameTags = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === 0 || b.length === 0 || a.join(" ") === b.join(" ")
