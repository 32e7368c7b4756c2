import { canonicalJsonNode, readJson, textHash } from "@orangebox/contract"
import {
  CANON_VERSION,
  createRequestMemory,
  type Dialect,
  detectDialect,
  type FoldedResponse,
  type JsonBody,
  type MaskType,
  maskText,
  parseJson,
  type RequestMemory,
  readableText,
  readBody,
  resultWithoutClientNoise,
} from "@orangebox/dialects"
import { foldedAnswer } from "@orangebox/runs"
import { comparableText } from "../match/comparable.js"
import { headersIn } from "../tape/recorded-answer.js"
import { decided } from "./chance.js"
import type { DiffStep } from "./diff-step.js"
import { addressOfStep, type RequestSignatures } from "./request-signatures.js"
import { type BodyAbsence, type BodyReading, TO_COME } from "./run-to-diff.js"
import { NO_SHINGLES, type Shingles, shinglesOf } from "./shingles.js"

/** A request in a known dialect. */
export interface ReadRequest {
  readonly body: JsonBody
  readonly dialect: Dialect
}

const KEPT_REQUESTS = 4

/** Where the bodies of both runs come from. */
export interface BodySource {
  body(ref: string): BodyReading
  /** The request of a step, to be signed and not looked at otherwise. */
  requestToSign(step: DiffStep): BodyReading
  /** False for a body that is still to come; asking is enough to make it come. */
  isSettled(ref: string): boolean
}

/**
 * What the bodies of a run's steps say, read when asked for and remembered. Where there are no bytes (hashed capture, pruned bodies)
 * every question still has an answer: by hash.
 */
export class StepReader {
  readonly #bodies: BodySource
  readonly #mask: ((text: string) => string) | undefined
  readonly #signatures: RequestSignatures
  readonly #memory: RequestMemory = createRequestMemory()
  readonly #answers: Memory<FoldedResponse | undefined> = new Map()
  readonly #inputs: Memory<string> = new Map()
  readonly #outputs: Memory<string> = new Map()
  readonly #outputShingles: Memory<Shingles | undefined> = new Map()
  readonly #requests: Memory<ReadRequest | undefined> = new Map()
  /** How often a body was asked for that is still to come. */
  toCome = 0
  bytesRead = 0
  /** What this comparison asked for and is not there, for good. */
  absences: Absences = new Map()

  constructor(bodies: BodySource, masks: readonly MaskType[], signatures: RequestSignatures) {
    this.#bodies = bodies
    this.#signatures = signatures
    this.#mask = masks.length === 0 ? undefined : maskText(masks)
  }

  /** What an earlier comparison missed, with fewer bodies at hand and so with other steps aligned, is not what this one misses. */
  startComparison(): void {
    this.toCome = 0
    this.absences = new Map()
  }

  body(ref: string): BodyReading {
    const found = this.#bodies.body(ref)
    this.#count(ref, found)
    return found
  }

  /** Has a body fetched that is going to be read. */
  await(ref: string | undefined): void {
    if (ref !== undefined && !this.#bodies.isSettled(ref)) this.toCome++
  }

  bytes(ref: string | undefined): Uint8Array | undefined {
    const found = ref === undefined ? undefined : this.body(ref)
    return found instanceof Uint8Array ? found : undefined
  }

  text(ref: string | undefined): string | undefined {
    const bytes = this.bytes(ref)
    return bytes && decode(bytes)
  }

  masked(text: string): string {
    return this.#mask ? this.#mask(text) : text
  }

  /** What a step was asked: equal for two steps that were asked the same, accepted masks applied. */
  looseInput(step: DiffStep): string {
    return this.#remember(this.#inputs, step, () => this.#looseInput(step))
  }

  /** A request without what its client makes up anew, under accepted masks; undefined where it is not there. */
  withoutClientNoise(step: DiffStep): string | undefined {
    const body = this.bytes(step.inputRef)
    if (body === undefined) return undefined
    const { method = null, url = null, inputMasks: masks } = step
    const headers = headersIn(parseJson(this.text(step.headersRef) ?? "null"))
    return this.masked(comparableText("model", { method, url, headers, body, masks }))
  }

  /** What came back, without what differs by itself: ids the provider makes, spacing of JSON, what clients make up, accepted masks. */
  looseOutput(step: DiffStep): string {
    return this.#remember(this.#outputs, step, () => `${this.#looseOutput(step)} ${step.outputFacts}`)
  }

  /** A model's answer, folded; undefined where it was not kept or its dialect is unknown. */
  answer(step: DiffStep): FoldedResponse | undefined {
    if (step.kind !== "model") return undefined
    return this.#remember(this.#answers, step, () => {
      const bytes = this.bytes(step.outputRef)
      return bytes && foldedAnswer(bytes)
    })
  }

  /** The calls an answer asks for, without what is other in every run; undefined where it asks for none, or was not kept. */
  decision(step: DiffStep): string | undefined {
    const calls = this.answer(step)?.toolCalls ?? []
    return calls.length === 0 ? undefined : calls.map((call) => `${call.name} ${decided(call.arguments)}`).join("\n")
  }

  /** A model call's request. The last few stay at hand, because each is asked for again by the call that goes on with it. */
  request(step: DiffStep): ReadRequest | undefined {
    if (!this.#requests.has(step)) {
      for (const oldest of this.#requests.keys())
        if (this.#requests.size >= KEPT_REQUESTS) this.#requests.delete(oldest)
    }
    return this.#remember(this.#requests, step, () => this.#readRequest(step))
  }

  #readRequest(step: DiffStep): ReadRequest | undefined {
    const bytes = this.bytes(step.inputRef)
    if (!bytes) return undefined
    const body = readBody(bytes, this.#memory)
    const dialect = detectDialect({ ...addressOfStep(step), requestBody: body })?.dialect
    return dialect && { body, dialect }
  }

  inputShingles(step: DiffStep): Shingles | undefined {
    const text = this.text(step.inputRef) ?? step.inputSummary
    return text === undefined ? undefined : shinglesOf(this.masked(text))
  }

  outputShingles(step: DiffStep): Shingles | undefined {
    return this.#remember(this.#outputShingles, step, () => {
      const text = this.outputText(step)
      if (text !== undefined) return shinglesOf(this.masked(text))
      return step.outputRef === undefined ? NO_SHINGLES : undefined
    })
  }

  /** The words of what came back: an answer's text and calls, anything else as it is. */
  outputText(step: DiffStep): string | undefined {
    const answer = this.answer(step)
    if (answer && isTelling(answer)) {
      return answer.parts
        .map((part) => (part.kind === "tool-call" ? `${part.name} ${part.arguments}` : part.text))
        .join("\n")
    }
    const bytes = this.bytes(step.outputRef)
    if (bytes) return step.kind === "model" ? readableText(bytes, "") : decode(bytes)
    return step.outputSummary
  }

  #looseInput(step: DiffStep): string {
    const exact = step.sig ?? step.inputRef ?? ""
    if (step.kind === "model") {
      if (!this.#mask && isStamped(step)) return exact
      const signature = this.#signatures.of(step, (unsigned) => this.#requestToSign(unsigned))
      if (signature !== undefined || !this.#mask) return signature ?? exact
      // A text in an unknown dialect is masked as the text it is, like any other input.
    }
    if (!this.#mask) return `${exact} ${step.inputFacts}`
    const text = this.text(step.inputRef)
    const facts = this.masked(step.inputFacts)
    return `${text === undefined ? exact : textHash(this.masked(canonicalOf(text)))} ${facts}`
  }

  #requestToSign(step: DiffStep): Uint8Array | undefined {
    if (step.inputRef === undefined) return undefined
    const found = this.#bodies.requestToSign(step)
    this.#count(step.inputRef, found)
    return found instanceof Uint8Array ? found : undefined
  }

  #looseOutput(step: DiffStep): string {
    const answer = this.answer(step)
    if (answer && isTelling(answer)) return textHash(this.masked(answerText(answer)))
    const text = this.text(step.outputRef)
    if (text === undefined) return step.outputRef ?? ""
    const chain = errorChainIn(text)
    if (chain) return textHash(this.masked(JSON.stringify(chain)))
    const told = step.kind === "tool" ? resultWithoutClientNoise(canonicalOf(text)) : canonicalOf(text)
    return textHash(this.masked(told))
  }

  /** The error that a step ended with, without what led to it. */
  thrown(step: DiffStep): string | undefined {
    return thrownIn(this.bytes(step.outputRef))
  }

  #count(ref: string, found: BodyReading): void {
    if (found instanceof Uint8Array) this.bytesRead += found.length
    else if (found === TO_COME) this.toCome++
    else this.absences.set(ref, found.absent)
  }

  #remember<T>(known: Memory<T>, step: DiffStep, find: () => T): T {
    let found = known.get(step)
    if (found === undefined) {
      const { absences, toCome } = this
      this.absences = new Map()
      found = { value: find(), absences: this.absences }
      this.absences = absences
      if (this.toCome === toCome) known.set(step, found)
    }
    for (const [ref, reason] of found.absences) this.absences.set(ref, reason)
    return found.value
  }
}

type Absences = Map<string, BodyAbsence["absent"]>

/** What was found out about steps, and which bodies were missed in finding it. */
type Memory<T> = Map<DiffStep, { readonly value: T; readonly absences: Absences }>

/** Whether a model call carries the signature we would give it. */
export const isStamped = ({ kind, canonVersion }: DiffStep): boolean =>
  kind === "model" && canonVersion === CANON_VERSION

/** Name and arguments of every call in an answer, in order: the decision in it. */
export function decisionOf(answer: FoldedResponse): string {
  const calls = answer.toolCalls.map((call) => [call.name, canonicalOf(call.arguments)])
  return JSON.stringify([calls, answer.finishKind ?? answer.finishReason])
}

/** An answer without the ids its provider made, as JSON with pointers a reader can follow. */
export function answerText(answer: FoldedResponse): string {
  const calls = answer.toolCalls.map(
    (call) => `{"tool":${JSON.stringify(call.name)},"arguments":${canonicalOf(call.arguments)}}`,
  )
  return `{"text":${JSON.stringify(answer.text)},"thinking":${JSON.stringify(answer.thinking)},"calls":[${calls.join(",")}],"finish":${JSON.stringify(answer.finishReason)},"error":${JSON.stringify(answer.error?.message ?? null)}}`
}

/** The error that a body describes, without what led to it and without its stack; undefined for what describes none. */
export function thrownIn(bytes: Uint8Array | undefined): string | undefined {
  const chain = bytes && errorChainIn(decode(bytes))
  return chain?.[0] && JSON.stringify(chain[0])
}

/** What an error says, link by link. Where in the code it was thrown is no part of it. */
function errorChainIn(text: string): readonly (readonly unknown[])[] | undefined {
  if (!text.startsWith("[{")) return undefined
  try {
    const links = JSON.parse(text) as Record<string, unknown>[]
    if (!links.every((link) => typeof link["message"] === "string" && "class" in link && "stack" in link))
      return undefined
    return links.map((link) => [link["class"], link["message"], link["code"] ?? null])
  } catch {
    return undefined
  }
}

export function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
}

const isTelling = (answer: FoldedResponse): boolean =>
  (answer.form === "json" || answer.form === "stream") && (answer.parts.length > 0 || answer.error !== null)

/** JSON in its canonical spelling; anything else as a JSON string, so that the result always is JSON. */
function canonicalOf(text: string): string {
  if (!/^\s*[[{"]/.test(text)) return JSON.stringify(text)
  const reading = readJson(text)
  return reading.ok ? canonicalJsonNode(reading.node) : JSON.stringify(text)
}
