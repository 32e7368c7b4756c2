import { isMask, MASK_MIDDLE, type Mask, maskedSecret, secretTag } from "./mask.js"
import { type RedactedText, redactText } from "./redact-text.js"
import { LABEL_INSIDE } from "./rules/paired-value.js"
import { kindOfName, type NameKind } from "./rules/secret-names.js"
import { isSecretValue } from "./rules/secret-values.js"
import type { Ruleset } from "./ruleset.js"

/** A mask, and where in the value its text stands: `user.tokens.0`. */
export interface ValueMask extends Mask {
  readonly path: string
}

export interface RedactedValue {
  readonly value: unknown
  readonly masks: readonly ValueMask[]
  /** Paths of what was dropped because it could not be looked at. */
  readonly failed: readonly string[]
}

/** What the user says about keys in nested objects. */
export type KeyPolicy = (key: string) => "mask" | "drop" | "hash" | "allow" | undefined

/**
 * A value with every secret in it masked: texts by their own form, and by the key they stand under. Keys themselves stay, so that the
 * shape of the value can still be read and compared. Never throws.
 */
export function redactValue(value: unknown, ruleset: Ruleset, policyOfKey: KeyPolicy = () => undefined): RedactedValue {
  const knownBefore = ruleset.known?.size
  const walk = new Walk(ruleset, policyOfKey)
  const redacted = { value: walk.visit(value, "", undefined, 0), masks: walk.masks, failed: walk.failed }
  // What was found at its end may stand at its beginning.
  if (ruleset.known?.size === knownBefore) return redacted
  const again = new Walk(ruleset, policyOfKey)
  return { value: again.visit(value, "", undefined, 0), masks: again.masks, failed: again.failed }
}

/** A text that stands under a name, as a value would: without the cost of walking one. */
export function redactNamedText(name: string, text: string, ruleset: Ruleset): RedactedText {
  const dot = name.lastIndexOf(".")
  const kind = (dot > 0 ? kindInside(name.slice(0, dot), name.slice(dot + 1)) : undefined) ?? kindOfName(name)
  if (!isNamedSecret(kind, text)) return redactText(text, ruleset)
  const masked = maskedSecret(text)
  const tag = secretTag(ruleset.key, text)
  ruleset.known?.learn(text)
  return { text: masked, masks: [{ offset: 0, length: masked.length, rule: "assignment", tag }] }
}

/** What an object calls its value or its key is what the object is called: `credentials: { key: "…" }`. */
function kindInside(object: string, key: string): NameKind | undefined {
  if (!LABEL_INSIDE.test(key)) return undefined
  return CREDENTIALS.test(object) ? "secret" : kindOfName(object)
}
const CREDENTIALS = /(?:^|[^a-z])(?:credentials?|creds)$/i

function isNamedSecret(kind: NameKind | undefined, text: string): boolean {
  return kind !== undefined && text.length <= LONGEST_NAMED && isSecretValue(text, kind, "quoted")
}

const DEEPEST = 200
/** Longer texts are no secret as a whole, whatever they are called. */
const LONGEST_NAMED = 4096

class Walk {
  readonly masks: ValueMask[] = []
  readonly failed: string[] = []

  constructor(
    readonly ruleset: Ruleset,
    readonly policyOfKey: KeyPolicy,
  ) {}

  visit(value: unknown, path: string, key: string | undefined, depth: number): unknown {
    try {
      if (typeof value === "string") return this.#text(value, path, key === undefined ? undefined : kindOfName(key))
      if (typeof value !== "object" || value === null) return value
      if (depth > DEEPEST) throw new RangeError("too deep")
      if (Array.isArray(value)) return value.map((item, i) => this.visit(item, join(path, String(i)), key, depth + 1))
      return this.#object(value as Record<string, unknown>, path, key, depth)
    } catch {
      this.failed.push(path)
      return MASK_MIDDLE
    }
  }

  #object(value: Record<string, unknown>, path: string, name: string | undefined, depth: number): unknown {
    // Object.fromEntries defines its properties: a key called __proto__ stays a key.
    return Object.fromEntries(
      Object.keys(value).flatMap((key) => {
        const policy = this.policyOfKey(key)
        if (policy === "drop") return []
        const inner = join(path, key)
        if (policy === "mask" || policy === "hash") return [[key, this.#whole(value[key], inner, policy)]]
        const item = value[key]
        const kind = typeof item === "string" && policy !== "allow" && name !== undefined && kindInside(name, key)
        if (kind) return [[key, this.#text(item as string, inner, kind)]]
        return [[key, this.visit(item, inner, policy === "allow" ? undefined : key, depth + 1)]]
      }),
    )
  }

  #text(text: string, path: string, kind: NameKind | undefined): string {
    if (isNamedSecret(kind, text)) return this.#masked(text, path, "assignment")
    const redacted = redactText(text, this.ruleset)
    if (redacted.failed !== undefined) this.failed.push(path)
    for (const mask of redacted.masks) this.masks.push({ ...mask, path })
    return redacted.text
  }

  #whole(value: unknown, path: string, policy: "mask" | "hash"): unknown {
    if (value === null || value === undefined) return value
    const text = typeof value === "string" ? value : JSON.stringify(value)
    if (isMask(text)) return text
    if (policy === "hash") return `hmac:${secretTag(this.ruleset.key, text)}`
    return this.#masked(text, path, "user-key")
  }

  #masked(text: string, path: string, rule: string): string {
    const masked = maskedSecret(text)
    this.ruleset.known?.learn(text)
    this.masks.push({ path, offset: 0, length: masked.length, rule, tag: secretTag(this.ruleset.key, text) })
    return masked
  }
}

const join = (path: string, part: string): string => (path === "" ? part : `${path}.${part}`)
