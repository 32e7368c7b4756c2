import type { Features } from "./features.js"
import { dice, type Shingles } from "./shingles.js"

/** Up to here two steps do the same thing. */
export const IN_SYNC = 0.3
/** Of different kinds: no pair of these is an answer to anything. */
export const NEVER = 1e6

/** What a step of the one run has to do with a step of the other: 0 the same, 1 nothing, `NEVER` what must not be paired. */
export function distance(a: Features, b: Features): number {
  if (a.own === b.own && a.childLabels.length + b.childLabels.length === 0) return 0
  if (a.label !== b.label) return a.step.kind === b.step.kind ? 1 : NEVER
  switch (a.step.kind) {
    case "run":
      return 0
    case "model":
      // Requests mostly echo the history: what was said tells calls apart, and what was decided more than that.
      if (a.decision >= 0 && a.decision === b.decision) return 0.2 * (1 - outputLikeness(a, b))
      return 0.6 * (1 - outputLikeness(a, b))
    case "tool":
    case "retrieval":
      return 0.6 * callDistance(a, b) + 0.4 * (1 - outputLikeness(a, b))
    case "step":
      if (a.childLabels.length + b.childLabels.length > 0) return 0.4 * (1 - dice(a.childLabels, b.childLabels))
      return 0.5 * (1 - outputLikeness(a, b))
    default:
      return 0.8 * (1 - outputLikeness(a, b))
  }
}

function callDistance(a: Features, b: Features): number {
  if (a.input === b.input) return 0
  return 0.15 + 0.85 * (1 - likeness(a.inputShingles, b.inputShingles))
}

function outputLikeness(a: Features, b: Features): number {
  if (a.output === b.output) return 1
  return likeness(a.outputShingles, b.outputShingles)
}

/** Without text it is unknown how much two different hashes share. */
const UNKNOWN_LIKENESS = 0.5

function likeness(a: Shingles | null, b: Shingles | null): number {
  return a && b ? dice(a, b) : UNKNOWN_LIKENESS
}
