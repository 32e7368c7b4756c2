import type { BodyMask, Event } from "@orangebox/contract"
import { plural } from "@orangebox/text"
import { masksIn } from "../diff/body-masks.js"
import type { Bodies, Tape } from "../tape/tape.js"

/**
 * A secret that a recorded answer held comes back as its mask, and whatever the agent does with it holds the mask. Where two secrets of a
 * recording have one mask, nothing tells which of them such a mask stands for, so it cannot be said to be the recorded one.
 */
export function unsureSecrets(
  source: { readonly events: readonly Event[]; readonly bodies: Bodies; readonly tape: Tape },
  replay: Tape,
  servedInRecords: readonly BodyMask[],
): string[] {
  const served = new Set([...servedInRecords.map(({ tag }) => tag), ...servedInCalls(source.tape, replay)])
  if (served.size === 0) return []
  const unsure = tagsThatMaskAlike(source)
  const found = [...served].filter((tag) => unsure.has(tag)).length
  if (found === 0) return []
  return [
    `${plural(found, "secret")} came back as a mask that stands for several: nothing tells which of them is which`,
  ]
}

/** Secrets of recorded questions that are no secrets any more in the questions that stand for them. */
function servedInCalls(source: Tape, replay: Tape): readonly string[] {
  const originals = new Map(source.calls.map((call) => [call.stepId, call]))
  return replay.calls.flatMap(({ replayed, request }) => {
    const was = replayed?.tier === "masked" ? originals.get(replayed.sourceStepId) : undefined
    const kept = (request.body?.masks ?? []).map(({ tag }) => tag)
    return (was?.request.body?.masks ?? []).flatMap(({ tag }) => {
      const at = kept.indexOf(tag)
      if (at >= 0) kept.splice(at, 1)
      return at >= 0 ? [] : [tag]
    })
  })
}

function tagsThatMaskAlike({ events, bodies }: { readonly events: readonly Event[]; readonly bodies: Bodies }) {
  const byMask = new Map<string, Set<string>>()
  for (const event of events) {
    for (const { artifact_hash, masks } of event.artifact_refs) {
      const bytes = masks && bodies.get(artifact_hash)
      if (bytes === undefined) continue
      for (const { offset, length, tag } of masksIn(event, artifact_hash)) {
        const mask = Buffer.from(bytes.subarray(offset, offset + length)).toString("utf8")
        byMask.set(mask, (byMask.get(mask) ?? new Set()).add(tag))
      }
    }
  }
  return new Set([...byMask.values()].filter(({ size }) => size > 1).flatMap((tags) => [...tags]))
}
