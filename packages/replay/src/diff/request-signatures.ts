import {
  type CallToSign,
  createRequestMemory,
  detectDialect,
  type MaskType,
  maskText,
  type RequestMemory,
  readBody,
  requestIdentity,
  requestSignature,
} from "@orangebox/dialects"
import { Interner } from "@orangebox/text"
import { addressOf, withTags } from "../tape/sign.js"
import type { DiffStep } from "./diff-step.js"

/**
 * What model calls asked, in the one form that runs recorded in different ways share. Worked out once for every body, because a request
 * carries its whole history: of a long session they are a hundred megabytes, and only the newest part of each is new.
 */
export class RequestSignatures {
  /** Null where the dialect of a request is unknown. */
  readonly #known = new Map<string, string | null>()
  readonly #memory: RequestMemory = createRequestMemory()
  readonly #mask: ((text: string) => string) | undefined
  readonly #pieces: Interner | undefined

  /** @param areStamped whether requests are compared with some that were signed when they were made */
  constructor(masks: readonly MaskType[], areStamped: boolean) {
    this.#mask = masks.length === 0 ? undefined : remembering(maskText(masks))
    this.#pieces = this.#mask || areStamped ? undefined : new Interner()
  }

  /** Undefined where the request is not there, or of no known dialect. */
  of(step: DiffStep, bytesOf: (step: DiffStep) => Uint8Array | undefined): string | undefined {
    if (!this.knows(step)) {
      const bytes = bytesOf(step)
      if (bytes === undefined) return undefined
      this.learn(step, bytes)
    }
    return this.#known.get(keyOf(step)) ?? undefined
  }

  knows(step: DiffStep): boolean {
    return this.#known.has(keyOf(step))
  }

  learn(step: DiffStep, bytes: Uint8Array): void {
    const address = addressOfStep(step)
    const body = readBody(withTags(bytes, step.inputMasks), this.#memory)
    const dialect = detectDialect({ ...address, requestBody: body })?.dialect
    const call = { ...address, body, dialect, ...(this.#mask ? { mask: this.#mask } : {}) }
    this.#known.set(keyOf(step), dialect === undefined ? null : this.#signed(call))
  }

  #signed(call: CallToSign): string {
    const pieces = this.#pieces
    return pieces ? requestIdentity(call, (piece) => pieces.of(piece)) : requestSignature(call)
  }
}

/** Where a call went. One that an application told without its address is known by its body. */
export function addressOfStep({ method, url }: DiffStep): ReturnType<typeof addressOf> {
  return method === undefined || url === undefined ? { method: "POST", path: "" } : addressOf(method, url)
}

/** The same bytes may stand for other secrets, and ask for something else when they are sent to another place. */
const keyOf = ({ inputRef, inputMasks, method, url }: DiffStep): string =>
  JSON.stringify([inputRef, method, url, ...inputMasks.map(({ tag }) => tag)])

const MOST_REMEMBERED = 16 * 1024 * 1024

/** Every text of a history comes again with the next request. */
function remembering(mask: (text: string) => string): (text: string) => string {
  const masked = new Map<string, string>()
  let characters = 0
  return (text) => {
    const known = masked.get(text)
    if (known !== undefined) return known
    const found = mask(text)
    characters += text.length
    if (characters > MOST_REMEMBERED) {
      masked.clear()
      characters = text.length
    }
    masked.set(text, found)
    return found
  }
}
