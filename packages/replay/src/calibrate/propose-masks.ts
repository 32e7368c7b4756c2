import { type JsonNode, readJson } from "@orangebox/contract"
import { MASK_TYPES, type MaskType, maskText } from "@orangebox/dialects"
import { jsonDifference, pointerPattern } from "@orangebox/text"
import { addToList } from "../add-to-list.js"
import { type AcceptedMask, recordedText } from "../match/comparable.js"
import { askableCalls } from "../match/matcher.js"
import type { Tape, TapeCall } from "../tape/tape.js"

/** A mask that would let the two runs match in one place. Proposed, never applied: a person says yes. */
export interface MaskProposal extends AcceptedMask {
  /** The steps of the first run where it would help. */
  readonly steps: readonly string[]
  /** Values as they were and as they came back; a look at them is what the decision is made of. */
  readonly examples: readonly { readonly recorded: string; readonly now: string }[]
}

/** A difference no typed mask covers: the agent really asked something else there. */
export interface UnmaskedChange {
  readonly step: string
  readonly pointer: string
  readonly recorded: string | null
  readonly now: string | null
}

export interface Calibration {
  readonly proposals: readonly MaskProposal[]
  readonly unmasked: readonly UnmaskedChange[]
  /** Calls that were compared, and those that had no partner because the runs went different ways. */
  readonly compared: number
  readonly unpaired: number
}

const EXAMPLES = 3
const SHOWN = 200

/** Compares two runs of one unchanged agent, and says which typed masks would make their requests equal. */
export function proposeMasks(first: Tape, second: Tape): Calibration {
  const { pairs, unpaired } = pairCalls(first, second)
  const proposals = new Map<
    string,
    { type: MaskType; at: string; steps: Set<string>; examples: MaskProposal["examples"][number][] }
  >()
  const unmasked: UnmaskedChange[] = []
  for (const [call, other] of pairs) {
    const before = recordedText(call, first.bodies)
    const after = recordedText(other, second.bodies)
    // Also what their client makes up anew: that needs no consent.
    if (call.sig === other.sig || before === after) continue
    const [readBefore, readAfter] = [before, after].map((text) => (text === undefined ? undefined : readJson(text)))
    if (!readBefore?.ok || !readAfter?.ok) continue
    for (const change of jsonDifference(readBefore.node, readAfter.node)) {
      const recorded = writtenValue(change.before)
      const now = writtenValue(change.after)
      const types = recorded === null || now === null ? [] : typesFor(recorded, now)
      if (types.length === 0) {
        unmasked.push({
          step: call.stepId,
          pointer: change.pointer,
          recorded: change.to === undefined ? cut(written(change.before, before!)) : change.pointer,
          now: change.to ?? cut(written(change.after, after!)),
        })
        continue
      }
      for (const type of types) {
        const at = pointerPattern(change.pointer)
        const id = `${type}@${at}`
        const proposal = proposals.get(id) ?? { type, at, steps: new Set<string>(), examples: [] }
        proposal.steps.add(call.stepId)
        if (proposal.examples.length < EXAMPLES) proposal.examples.push({ recorded: cut(recorded)!, now: cut(now)! })
        proposals.set(id, proposal)
      }
    }
  }
  return {
    proposals: [...proposals].map(([id, { steps, ...rest }]) => ({ id, ...rest, steps: [...steps] })),
    unmasked,
    compared: pairs.length,
    unpaired,
  }
}

/**
 * The same place in two runs. Calls that ask the same belong together; of the others the k-th of its kind, lane by lane, and where two lanes
 * began in another order, the k-th that looks like it.
 */
function pairCalls(first: Tape, second: Tape): { readonly pairs: [TapeCall, TapeCall][]; readonly unpaired: number } {
  const placeOf = (call: TapeCall): string => `${call.place}\0${call.kind}\0${call.kind === "model" ? "" : call.name}`
  const partners = new Map<TapeCall, TapeCall>()
  const taken = new Set<TapeCall>()
  const calls = askableCalls(first, "faithful")
  const others = askableCalls(second, "faithful")
  const pairBy = (keyOf: (call: TapeCall, tape: Tape) => string): void => {
    const waiting = new Map<string, TapeCall[]>()
    for (const other of others) if (!taken.has(other)) addToList(waiting, keyOf(other, second), other)
    for (const call of calls) {
      const partner = partners.has(call) ? undefined : waiting.get(keyOf(call, first))?.shift()
      if (!partner) continue
      partners.set(call, partner)
      taken.add(partner)
    }
  }
  pairBy((call, { bodies }) => `${placeOf(call)}\0${recordedText(call, bodies) ?? call.sig}`)
  pairBy((call) => `${placeOf(call)}\0${call.lane}\0${call.shape}`)
  pairBy((call) => `${placeOf(call)}\0${call.shape}`)
  pairBy((call) => `${placeOf(call)}\0${call.lane}`)
  const pairs = calls.flatMap((call): [TapeCall, TapeCall][] => {
    const partner = partners.get(call)
    return partner ? [[call, partner]] : []
  })
  return { pairs, unpaired: calls.length + others.length - 2 * pairs.length }
}

/** The fewest types of mask under which two texts are equal; none when no set of them does it. */
function typesFor(recorded: string, now: string): readonly MaskType[] {
  const isEqualUnder = (types: readonly MaskType[]): boolean => maskText(types)(recorded) === maskText(types)(now)
  const single = MASK_TYPES.find((type) => isEqualUnder([type]))
  if (single) return [single]
  if (!isEqualUnder(MASK_TYPES)) return []
  return MASK_TYPES.reduce<readonly MaskType[]>((kept, type) => {
    const without = kept.filter((other) => other !== type)
    return isEqualUnder(without) ? without : kept
  }, MASK_TYPES)
}

/** Of what a mask can cover: a text, or a number as it is written. */
function writtenValue(node: JsonNode | undefined): string | null {
  if (node?.kind === "string") return node.value
  return node?.kind === "number" ? node.lexeme : null
}

const written = (node: JsonNode | undefined, text: string): string | null =>
  node ? text.slice(node.start, node.end) : null

function cut(text: string | null): string | null {
  if (text === null) return null
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN).toWellFormed()}…`
}
