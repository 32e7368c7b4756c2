import { canonicalJsonNode } from "@orangebox/contract"
import { behaviourHeadersOf, callSignature, detectDialect, readBody } from "@orangebox/dialects"
import { plural, pointerPattern } from "@orangebox/text"
import { askableCalls } from "../match/matcher.js"
import { addressOf, withTags } from "../tape/sign.js"
import { signedAgain } from "../tape/signature-of-call.js"
import { readStored } from "../tape/stored-body.js"
import type { Bodies, CallKind, Tape, TapeCall } from "../tape/tape.js"
import { ComparedAddresses } from "./addresses.js"

export interface ComparedQuestions {
  readonly differences: readonly string[]
  /** Whether the headers that change an answer, and the query, are on record for every call. */
  readonly areHeadersKnown: boolean
  readonly unknown: readonly { readonly what: string; readonly why: string }[]
}

/**
 * What a signature leaves out of two questions. The address and the headers that change what a server does have to be equal; whatever else
 * differs is named.
 */
export function compareBesideSignatures(source: Tape, replay: Tape, covers: readonly CallKind[]): ComparedQuestions {
  const originals = new Map(source.calls.map((call) => [call.stepId, call]))
  const differences: string[] = []
  const left = new Map<string, number>()
  let unknownHeaders = 0
  let respelled = 0
  const addresses = new ComparedAddresses(covers)
  for (const is of askableCalls(replay, "faithful")) {
    const was = originals.get(is.replayed?.sourceStepId ?? "")
    if (was === undefined || !covers.includes(is.kind)) continue
    const where = `${is.kind} ${is.name} (${was.stepId})`
    if (isAnother(was, source.bodies, is, replay.bodies))
      differences.push(`the question of ${where} is another than was recorded, though it has the same signature`)
    if (is.kind !== "model" && is.kind !== "http") continue
    differ(`the providers of ${where}`, was.provider ?? "", is.provider ?? "", differences)
    for (const [what, a, b] of addresses.differences(was, is)) differ(`the ${what} of ${where}`, a, b, differences)
    if (areBothSent(was, is)) differ(`the content types of ${where}`, typeOf(was), typeOf(is), differences)
    const areHeadersThere = was.request.headers !== null && is.request.headers !== null
    if (areHeadersThere)
      differ(`the headers of ${where}`, headersOf(was).join(", "), headersOf(is).join(", "), differences)
    // The digest of the wire is over the rest: headers that matter, and bytes.
    if (is.wire !== null && is.wire === was.wire) continue
    respelled++
    if (!areHeadersThere) unknownHeaders++
    for (const place of otherwiseDropped(was, source.bodies, is, replay.bodies))
      left.set(place, (left.get(place) ?? 0) + 1)
  }
  const unknown = [...left].map(([place, count]) => ({
    what: `${place} of ${plural(count, "question")}`,
    why: "it differs, and says how to send, bill or cache and not what to answer",
  }))
  unknown.push(...addresses.excepted())
  if (respelled > 0)
    unknown.push({
      what: `the spelling of ${plural(respelled, "question")}`,
      why: "they are equal in their canonical form: the order of keys and of tool definitions, white space and ids that are new in every run aside",
    })
  if (unknownHeaders > 0)
    unknown.push({ what: `the headers of ${plural(unknownHeaders, "question")}`, why: "they are not on record" })
  return { differences, areHeadersKnown: unknownHeaders === 0, unknown }
}

/**
 * Whether two questions that were taken for one by their signatures are not, by what is stored of them: a signature was stamped when the call
 * was made, and what is compared are recordings. Those that were equal under masks have been compared by their text.
 */
function isAnother(was: TapeCall, wasIn: Bodies, is: TapeCall, isIn: Bodies): boolean {
  // One that is told as a value has another form on the wire, and another signature.
  const isComparable = areBothSent(was, is) || was.request.url === is.request.url
  if (!isComparable || is.replayed?.tier === "masked" || storedQuestion(was) === storedQuestion(is)) return false
  return signedAgain(was, wasIn) !== signedAgain(is, isIn)
}

const storedQuestion = ({ name, provider, request: { body, retrieval } }: TapeCall): string =>
  JSON.stringify([name, provider, body?.hash, body?.masks.map(({ tag }) => tag), retrieval])

function differ(what: string, was: string, is: string, differences: string[]): void {
  if (was !== is) differences.push(`${what} differ: ${was || "none"} was recorded, it is ${is || "none"}`)
}

const headersOf = ({ request }: TapeCall): readonly string[] =>
  behaviourHeadersOf(Object.fromEntries((request.headers ?? []).map(([name, value]) => [name.toLowerCase(), value])))

/** How a server is told to read the body; without its parameters, which are new in every multipart body. */
const typeOf = ({ request }: TapeCall): string => request.body?.mimeType ?? ""
const areBothSent = (was: TapeCall, is: TapeCall): boolean => was.request.url !== null && is.request.url !== null

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
  if (body.text.length > 0 && reading.bytes[0] === 0xef) dropped.set("a byte order mark", "")
  for (const { pointer, value } of callSignature({ ...address, body, dialect }).nonsemantic) {
    const place = pointerPattern(pointer)
    dropped.set(place, `${dropped.get(place) ?? ""}${pointer}${canonicalJsonNode(value)}`)
  }
  return dropped
}
