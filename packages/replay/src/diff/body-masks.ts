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
