import { canonicalJsonNode, MASK_MIDDLE } from "@orangebox/contract"
import { behaviourHeadersOf, callSignature, detectDialect, readBody } from "@orangebox/dialects"
import { plural, pointerPattern } from "@orangebox/text"
import { askableCalls } from "../match/matcher.js"
import { addressOf, withTags } from "../tape/sign.js"
import { readStored } from "../tape/stored-body.js"
import type { Bodies, CallKind, Tape, TapeCall } from "../tape/tape.js"

export interface ComparedQuestions {
  readonly differences: readonly string[]
  /** Whether the headers that change an answer, and the query, are on record for every call. */
  readonly areHeadersKnown: boolean
  readonly unknown: readonly { readonly what: string; readonly why: string }[]
}

/**
 * What a signature leaves out of two questions. Headers and parameters of the address that change what a server does have to be equal;
 * whatever else differs is named.
 */
export function compareBesideSignatures(source: Tape, replay: Tape, covers: readonly CallKind[]): ComparedQuestions {
  const originals = new Map(source.calls.map((call) => [call.stepId, call]))
  const differences: string[] = []
  const left = new Map<string, number>()
  let unknownHeaders = 0
  let respelled = 0
  for (const is of askableCalls(replay, "faithful")) {
    const was = originals.get(is.replayed?.sourceStepId ?? "")
    // The digest of the wire is over all of it: address, headers that matter, bytes.
    if (was === undefined || !covers.includes(is.kind) || (is.wire !== null && is.wire === was.wire)) continue
    if (is.kind !== "model" && is.kind !== "http") continue
    respelled++
    const where = `${is.kind} ${is.name} (${was.stepId})`
    if (was.request.headers === null || is.request.headers === null) unknownHeaders++
    else differ(`the headers of ${where}`, headersOf(was).join(", "), headersOf(is).join(", "), differences)
    differ(`the query of ${where}`, queryOf(was), queryOf(is), differences)
    for (const place of otherwiseDropped(was, source.bodies, is, replay.bodies))
      left.set(place, (left.get(place) ?? 0) + 1)
  }
  const unknown = [...left].map(([place, count]) => ({
    what: `${place} of ${plural(count, "question")}`,
    why: "it differs, and says how to send, bill or cache and not what to answer",
  }))
  if (respelled > 0)
    unknown.push({
      what: `the spelling of ${plural(respelled, "question")}`,
      why: "they are equal in their canonical form: key order, white space and ids that are new in every run aside",
    })
  if (unknownHeaders > 0)
    unknown.push({ what: `the headers of ${plural(unknownHeaders, "question")}`, why: "they are not on record" })
  return { differences, areHeadersKnown: unknownHeaders === 0, unknown }
}

function differ(what: string, was: string, is: string, differences: string[]): void {
  if (was !== is) differences.push(`${what} differ: ${was || "none"} was recorded, it is ${is || "none"}`)
}

const headersOf = ({ request }: TapeCall): readonly string[] =>
  behaviourHeadersOf(Object.fromEntries((request.headers ?? []).map(([name, value]) => [name.toLowerCase(), value])))

/** Sorted; a key that stands there was masked, and who asks is no part of the question. */
function queryOf({ request }: TapeCall): string {
  const query = /^[^?#]*\?([^#]*)/.exec(request.url ?? "")?.[1] ?? ""
  const isMasked = (pair: string): boolean =>
    pair.includes(MASK_MIDDLE) || pair.includes(encodeURIComponent(MASK_MIDDLE))
  return query
    .split("&")
    .filter((pair) => pair !== "" && !isMasked(pair))
    .sort()
    .join("&")
}

/** Where the two requests differ in what their canonical form leaves out. */
function otherwiseDropped(was: TapeCall, wasIn: Bodies, is: TapeCall, isIn: Bodies): readonly string[] {
  const [a, b] = [droppedFrom(was, wasIn), droppedFrom(is, isIn)]
  if (a === undefined || b === undefined) return []
  const places = new Set([...a.keys(), ...b.keys()])
  return [...places].filter((place) => a.get(place) !== b.get(place))
}

function droppedFrom({ request }: TapeCall, bodies: Bodies): ReadonlyMap<string, string> | undefined {
  const reading = request.body && readStored(request.body, bodies)
  if (!reading?.ok) return undefined
  const body = readBody(withTags(reading.bytes, request.body!.masks))
  const address = addressOf(request.method ?? "POST", request.url ?? "")
  const dialect = detectDialect({ ...address, requestBody: body })?.dialect
  const dropped = new Map<string, string>()
  for (const { pointer, value } of callSignature({ ...address, body, dialect }).nonsemantic) {
    const place = pointerPattern(pointer)
    dropped.set(place, `${dropped.get(place) ?? ""}${pointer}${canonicalJsonNode(value)}`)
  }
  return dropped
}
