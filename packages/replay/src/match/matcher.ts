import { clientMasksBetween, type WithoutClientNoise } from "@orangebox/dialects"
import { addToList } from "../add-to-list.js"
import type { Tape, TapeCall } from "../tape/tape.js"
import type { Ask, AskedRequest, Tier } from "./ask.js"
import {
  type AcceptedMask,
  comparable,
  comparableText,
  driftKey,
  maskedKey,
  recordedComparable,
  recordedRequest,
  recordedText,
} from "./comparable.js"
import { asBeforeMove, type MovedTree } from "./moved-tree.js"
import type { ReplayPolicy } from "./policy.js"
import { masksServedIn, type RecordedSecret, secretsIn } from "./redacted.js"

export type Match =
  | { readonly found: "call"; readonly call: TapeCall; readonly tier: Tier; readonly maskIds: readonly string[] }
  /** Several lanes could be meant, and they answer differently. */
  | { readonly found: "ambiguous"; readonly calls: readonly TapeCall[] }
  /** The question was recorded so many times, and asked once more. */
  | { readonly found: "exhausted"; readonly recorded: number; readonly last: TapeCall }
  /** The same question in another framing: an event stream is never made of a whole answer, nor the other way round. */
  | { readonly found: "framing"; readonly call: TapeCall }
  /** The same question to another model, where a question does not name its model itself. */
  | { readonly found: "model"; readonly call: TapeCall }
  | { readonly found: "nothing" }

/** Which recorded calls may answer, and which lane of the recording an ask belongs to. */
export interface MatchScope {
  readonly lane: string | undefined
  /** The lane is new and has nothing but its number: of calls that came one after the other, the first that is left is meant. */
  readonly isLaneNew: boolean
  isFree(call: TapeCall): boolean
  /** Signature → how many of its calls from the first on are taken; kept by the session, so that long polls do not cost their square. */
  readonly heads: Map<string, number>
}

/**
 * The recorded calls of a tape by what they asked. It knows nothing about what was already served: that is the session's, so that one
 * matcher serves many replays of one tape.
 */
export class TapeMatcher {
  readonly #tape: Tape
  readonly #masks: readonly AcceptedMask[]
  readonly #serves: "exact" | "drift"
  readonly #moved: MovedTree | null
  readonly #bySig = new Map<string, TapeCall[]>()
  #byMask: MaskIndex | undefined
  #byDrift: Map<string, TapeCall[]> | undefined
  #byStored: Map<string, RedactedCall[]> | undefined

  constructor(tape: Tape, policy: Pick<ReplayPolicy, "masks" | "retries" | "onDrift" | "moved">) {
    this.#tape = tape
    this.#masks = policy.masks
    this.#moved = policy.moved
    this.#serves = policy.onDrift === "halt" ? "exact" : "drift"
    for (const call of askableCalls(tape, policy.retries)) {
      if (call.sig === null) continue
      addToList(this.#bySig, call.sig, call)
    }
  }

  /** Every recorded call with this question, in recorded order. */
  withSignature(sig: string): readonly TapeCall[] {
    return this.#bySig.get(sig) ?? NONE
  }

  find(ask: Ask, scope: MatchScope): Match {
    const same = this.withSignature(ask.sig)
    let head = scope.heads.get(ask.sig) ?? 0
    while (head < same.length && !scope.isFree(same[head]!)) head++
    scope.heads.set(ask.sig, head)

    const choice = new Choice(ask, scope)
    let other: TapeCall | undefined
    let ofAnotherModel: TapeCall | undefined
    let fitting = 0
    for (let at = 0; at < same.length && !choice.isDecided; at++) {
      const call = same[at]!
      if (call.kind !== ask.kind || !isOfCall(call, ask)) continue
      if (!isToModel(call, ask)) {
        ofAnotherModel ??= call
        continue
      }
      if (!hasFraming(call, ask)) {
        other ??= call
        continue
      }
      fitting++
      // Everything before the head was given already; it only counts when nothing is left.
      if (at < head) at = head - 1
      else if (scope.isFree(call)) choice.take(call)
    }
    if (!choice.isEmpty) return choice.match((call) => (call.wire !== null && call.wire === ask.wire ? "wire" : "sig"))
    if (fitting > 0) {
      const given = same.filter((call) => call.kind === ask.kind && isFor(call, ask))
      return { found: "exhausted", recorded: given.length, last: given.at(-1)! }
    }
    if (other) return { found: "framing", call: other }
    if (ofAnotherModel) return { found: "model", call: ofAnotherModel }
    return (
      this.#findRedacted(ask, scope) ??
      this.#findMasked(ask, scope) ??
      this.#findDrifted(ask, scope) ?? { found: "nothing" }
    )
  }

  /** The same request but for secrets that came back from us as the masks they are stored as; see `masksServedIn`. */
  #findRedacted(ask: Ask, scope: MatchScope): Match | undefined {
    const { request } = ask
    if (request === undefined || (request.maskCount ?? 0) > (request.masks?.length ?? 0)) return undefined
    this.#byStored ??= this.#indexRedacted()
    if (this.#byStored.size === 0) return undefined
    const key = `${ask.kind}\0${ask.name}\0${this.#asked(ask.kind, { ...request, masks: [] }).text}`
    const asked = this.#asked(ask.kind, request)
    const masks = new Map<TapeCall, readonly string[]>()
    for (const { call, recorded, secrets } of this.#byStored.get(key) ?? NONE) {
      if (!scope.isFree(call) || !isFor(call, ask)) continue
      const served = masksServedIn(recorded.text, asked.text, secrets)
      const ids = served?.map((rule) => `redaction:${rule}`)
      if (ids) masks.set(call, [...ids, ...clientMasksBetween(asked, recorded)])
    }
    if (masks.size === 0) return undefined
    return chosen([...masks.keys()], ask, scope).match(
      () => "masked",
      (call) => masks.get(call)!,
    )
  }

  /** Equal under the masks of the client that sent it, which are always on, and those that a person accepted. */
  #findMasked(ask: Ask, scope: MatchScope): Match | undefined {
    if (ask.request === undefined) return undefined
    const now = this.#asked(ask.kind, ask.request)
    if (this.#masks.length === 0 && now.taken.size === 0) return undefined
    this.#byMask ??= this.#indexMasked()
    const { key, used } = maskedKey(now.text, this.#masks)
    const entries = (this.#byMask.get(`${ask.kind}\0${key}`) ?? NONE).filter(
      ({ call }) => scope.isFree(call) && isFor(call, ask),
    )
    if (entries.length === 0) return undefined
    const entryOf = new Map(entries.map((entry) => [entry.call, entry]))
    const calls = entries.map(({ call }) => call)
    return chosen(calls, ask, scope).match(
      () => "masked",
      (call) => {
        const recorded = entryOf.get(call)!
        return [...new Set([...clientMasksBetween(now, recorded.comparable), ...used, ...recorded.used])]
      },
    )
  }

  #findDrifted(ask: Ask, scope: MatchScope): Match | undefined {
    if (this.#serves !== "drift" || ask.kind !== "model" || ask.request === undefined) return undefined
    const { key, results } = driftKey(this.#asked(ask.kind, ask.request).text)
    if (results === 0) return undefined
    this.#byDrift ??= this.#indexDrifted()
    const calls = (this.#byDrift.get(key) ?? NONE).filter((call) => scope.isFree(call) && isFor(call, ask))
    return calls.length === 0 ? undefined : chosen(calls, ask, scope).match(() => "drift")
  }

  #asked(kind: Ask["kind"], request: AskedRequest): WithoutClientNoise {
    return asBeforeMove(comparable(kind, request), this.#moved)
  }

  #indexRedacted(): Map<string, RedactedCall[]> {
    const index = new Map<string, RedactedCall[]>()
    for (const call of this.#all()) {
      const body = call.request.body
      if (body === null || body.masks.length === 0 || body.maskCount > body.masks.length) continue
      const request = recordedRequest(call, this.#tape.bodies)
      const recorded = recordedComparable(call, this.#tape.bodies)
      if (request === undefined || recorded === undefined) continue
      const key = `${call.kind}\0${call.name}\0${comparableText(call.kind, { ...request, masks: [] })}`
      addToList(index, key, { call, recorded, secrets: secretsIn(request.body, body.masks) })
    }
    return index
  }

  #indexMasked(): MaskIndex {
    const index: MaskIndex = new Map()
    for (const call of this.#all()) {
      const comparable = recordedComparable(call, this.#tape.bodies)
      if (comparable === undefined) continue
      const { key, used } = maskedKey(comparable.text, this.#masks)
      addToList(index, `${call.kind}\0${key}`, { call, comparable, used })
    }
    return index
  }

  #indexDrifted(): Map<string, TapeCall[]> {
    const index = new Map<string, TapeCall[]>()
    for (const call of this.#all()) {
      const text = call.kind === "model" ? recordedText(call, this.#tape.bodies) : undefined
      if (text !== undefined) addToList(index, driftKey(text).key, call)
    }
    return index
  }

  *#all(): Generator<TapeCall> {
    for (const calls of this.#bySig.values()) yield* calls
  }
}

const NONE: readonly never[] = []

/**
 * The best of several recorded calls that all answer the question: in the right lane before others, the same bytes before the same meaning,
 * the same place before another, and of equals the first.
 */
class Choice {
  readonly #ask: Ask
  readonly #lane: string | undefined
  readonly #isLaneNew: boolean
  readonly #highest: number
  #first: TapeCall | undefined
  #best: TapeCall | undefined
  #rank = -1
  #rivals: TapeCall[] = []

  constructor(ask: Ask, { lane, isLaneNew }: Pick<MatchScope, "lane" | "isLaneNew">) {
    this.#ask = ask
    this.#lane = lane
    this.#isLaneNew = isLaneNew
    this.#highest = IN_LANE + (ask.wire == null ? 0 : SAME_BYTES) + (ask.place === undefined ? 0 : SAME_PLACE)
  }

  get isEmpty(): boolean {
    return this.#best === undefined
  }
  /** Nothing that comes later can be better. */
  get isDecided(): boolean {
    return this.#rank === this.#highest
  }

  take(call: TapeCall): void {
    this.#first ??= call
    if (this.#isLaneNew && call.openedAt > (this.#first.closedAt ?? Number.POSITIVE_INFINITY)) return
    const { wire, place } = this.#ask
    const isInLane = call.lane === this.#lane
    const rank =
      (isInLane ? IN_LANE : 0) +
      (wire != null && call.wire === wire ? SAME_BYTES : 0) +
      (call.place === place ? SAME_PLACE : 0)
    const [rival] = this.#rivals
    if (!isInLane && (rival === undefined || (call.lane !== rival.lane && differs(call, rival))))
      this.#rivals.push(call)
    if (rank <= this.#rank) return
    this.#best = call
    this.#rank = rank
  }

  match(tierOf: (call: TapeCall) => Tier, maskIds: (call: TapeCall) => readonly string[] = () => NONE): Match {
    const call = this.#best!
    if (this.#rank < IN_LANE && this.#rivals.length > 1) return { found: "ambiguous", calls: this.#rivals }
    return { found: "call", call, tier: tierOf(call), maskIds: maskIds(call) }
  }
}

const IN_LANE = 4
const SAME_BYTES = 2
const SAME_PLACE = 1

function chosen(calls: readonly TapeCall[], ask: Ask, scope: MatchScope): Choice {
  const choice = new Choice(ask, scope)
  for (const call of calls) choice.take(call)
  return choice
}

/**
 * The calls that something outside can ask for. What was deduced happened inside the agent. A logical call and its tries have the same
 * question when a proxy saw them, so then only the tries stand for it; the SDK's own call has a question of its own.
 */
export function askableCalls(tape: Tape, retries: ReplayPolicy["retries"]): readonly TapeCall[] {
  const byId = new Map(tape.calls.map((call) => [call.stepId, call]))
  return tape.calls.filter((call) => {
    if (call.isInferred) return false
    if (call.attempts.some((id) => byId.get(id)?.sig === call.sig)) return false
    if (retries === "faithful" || call.attemptOf === null) return true
    return byId.get(call.attemptOf)?.attempts.at(-1) === call.stepId
  })
}

const isOfCall = (call: TapeCall, ask: Ask): boolean =>
  (ask.attemptOf === undefined || call.attemptOf === ask.attemptOf) &&
  (ask.within === undefined || call.within === ask.within)

const hasFraming = (call: TapeCall, ask: Ask): boolean =>
  ask.stream == null || call.stream === null || call.stream === ask.stream

export const isToModel = (call: TapeCall, ask: Ask): boolean => call.kind !== "model" || call.name === ask.name

/** Whether a call with this question may answer this ask. */
const isFor = (call: TapeCall, ask: Ask): boolean =>
  isOfCall(call, ask) && isToModel(call, ask) && hasFraming(call, ask)

/** Whether two calls would be answered differently. */
function differs(a: TapeCall, b: TapeCall): boolean {
  const of = ({ answer }: TapeCall): string => `${answer?.status}\0${answer?.httpStatus}\0${answer?.body?.hash}`
  return of(a) !== of(b)
}

type MaskIndex = Map<string, MaskedCall[]>

interface MaskedCall {
  readonly call: TapeCall
  readonly comparable: WithoutClientNoise
  /** The accepted masks that changed something in it. */
  readonly used: readonly string[]
}

interface RedactedCall {
  readonly call: TapeCall
  /** As it is compared, told apart by the tags of its secrets. */
  readonly recorded: WithoutClientNoise
  readonly secrets: readonly RecordedSecret[]
}
