import type { BodyComparison } from "./compare-bodies.js"

/** Two steps or two bodies, exactly these, held against each other to the byte. */
export interface ExactDiff {
  readonly v: 1
  readonly compared: "steps" | "bodies"
  readonly verdict: BodyComparison["verdict"]
  readonly a: ExactSide
  readonly b: ExactSide
  /** What the records of two steps say beside their bodies, where they say different things. */
  readonly facts: readonly { readonly name: string; readonly a: ExactFact; readonly b: ExactFact }[]
  readonly bodies: readonly ComparedBody[]
}

export type ExactFact = string | number | null

/** A step, or a body, which stands in no particular one. */
export interface ExactSide {
  readonly run_id: string | null
  readonly n: number | null
  readonly step_id: string | null
}

export interface ComparedBody extends BodyComparison {
  /** The name to read it by: `--body NAME`. */
  readonly role: string
  /** Null for a step that has no such body. */
  readonly a: BodySide | null
  readonly b: BodySide | null
}

export interface BodySide {
  /** Null for a stream that has no end. */
  readonly hash: string | null
  readonly bytes: number | null
  /** Why the bytes are not there. */
  readonly absent: string | null
  /** Only what had arrived of it. */
  readonly is_partial: boolean
}

/** The word for all of it: the weightiest of what was found. */
export function exactVerdict({ facts, bodies }: Pick<ExactDiff, "facts" | "bodies">): ExactDiff["verdict"] {
  const verdicts = new Set(bodies.map(({ verdict }) => verdict))
  if (facts.length > 0 || verdicts.has("differs")) return "differs"
  return verdicts.has("unknown") ? "unknown" : verdicts.has("noise") ? "noise" : "same"
}

/** As of diff(1). Bytes that say the same count as a difference only where every byte is asked for; what cannot be told is no pass. */
export function exactExitCode({ verdict }: ExactDiff, isEveryByte: boolean): 0 | 1 {
  return verdict === "same" || (verdict === "noise" && !isEveryByte) ? 0 : 1
}
