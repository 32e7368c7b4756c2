import { isUtf8 } from "node:buffer"
import {
  type ArtifactRef,
  type BodyHash,
  bodyHash,
  type CaptureMode,
  MAX_LISTED_MASKS,
  type RedactionStatus,
  summarizeText,
} from "@orangebox/contract"
import {
  type CompiledRules,
  createRuleset,
  decidePolicy,
  defaultPolicy,
  digestWord,
  type FieldPolicy,
  KnownValues,
  keyedDigest,
  MASK_MIDDLE,
  type Mask,
  type RedactedBytes,
  type Ruleset,
  redactBytes,
  redactKeys,
  redactOctets,
  redactText,
  SeenText,
  taggedBytes,
  taggedText,
} from "@orangebox/redaction"

export interface CaptureOptions {
  readonly mode: CaptureMode
  /** Of the store. */
  readonly key: Uint8Array
  readonly pii?: boolean
  readonly publicKeys?: boolean
  readonly rules?: CompiledRules
  /** Conversation ids, scopes and names of attributes that stay readable under `hashed`. `*` at the end stands for any ending. */
  readonly safeIds?: readonly string[]
}

/** How a field is to be treated: by which policy, and with which rules its text is searched. */
export interface FieldTreatment {
  readonly policy: FieldPolicy
  /** Undefined where nothing is searched. */
  readonly ruleset: Ruleset | undefined
}

/** Content as it may be stored. */
export interface CapturedContent {
  readonly hash: BodyHash
  /** Undefined when the bytes are not kept. */
  readonly bytes: Uint8Array | undefined
  readonly byteSize: number
  readonly masks: readonly Mask[]
  readonly status: RedactionStatus
  readonly profile: string
  readonly absent?: NonNullable<ArtifactRef["absent"]>
}

/**
 * What becomes of content on its way to the journal, in the one place every path goes through. `full` keeps it, `redacted` keeps it with its
 * secrets masked, `hashed` keeps a keyed digest of it. Pure but for a memory of what was searched before.
 */
export class Capture {
  readonly mode: CaptureMode
  readonly key: Uint8Array
  readonly ruleset: Ruleset
  readonly #rules: CompiledRules | undefined
  readonly #seen = new SeenText()
  readonly #safeIds: readonly string[]
  readonly #cleanNames = new Set<string>()
  #knownAtNames: number | undefined
  readonly #treatments = new Map<string, Map<string, FieldTreatment>>()

  constructor(options: CaptureOptions) {
    this.mode = options.mode
    this.key = options.key
    this.#rules = options.rules
    this.#safeIds = options.safeIds ?? []
    this.ruleset = createRuleset({
      key: options.key,
      ...(options.mode === "full" ? {} : { known: new KnownValues() }),
      ...(options.pii === undefined ? {} : { pii: options.pii }),
      ...(options.publicKeys === undefined ? {} : { publicKeys: options.publicKeys }),
      ...(options.rules === undefined ? {} : { patterns: options.rules.patterns }),
    })
  }

  treatmentOf(eventType: string, field: string): FieldTreatment {
    let ofType = this.#treatments.get(eventType)
    const known = ofType?.get(field)
    if (known) return known
    const { policy, because } =
      this.#rules?.policyOf(eventType, field) ?? decidePolicy(undefined, defaultPolicy(eventType, field), false)
    const searches = policy === "redact_required" ? this.ruleset : this.ruleset.shapes
    const treatment = { policy: because === "allow" ? "redact_required" : policy, ruleset: searches }
    // Names of fields come from the contract; those of attributes from any caller.
    ofType ??= new Map<string, FieldTreatment>()
    this.#treatments.set(eventType, ofType)
    if (ofType.size < MOST_TREATMENTS) ofType.set(field, treatment)
    return treatment
  }

  /** Whether the user said anything about single fields, so that attributes have to be judged one by one. */
  get hasFieldRules(): boolean {
    return this.#rules !== undefined
  }

  /** Whether the user said anything about keys of nested objects. */
  get hasKeyRules(): boolean {
    return this.#rules?.hasKeyRules === true
  }

  /** Free text that stands inside an event. */
  text(text: string): string {
    return this.mode === "hashed" ? this.digestWord(text) : this.searched(text)
  }

  /** Text that goes on to be looked at as text: with its secrets masked, unless everything is kept. */
  searched(text: string): string {
    return this.mode === "full" ? text : redactText(text, this.ruleset).text
  }

  /** The beginning of a text on one line; none where no content is kept. Searched before it is cut, for half a secret has no form. */
  summary(text: string): string {
    if (this.mode === "hashed") return ""
    return summarizeText(this.text(text.slice(0, SUMMARY_SOURCE)))
  }

  /** The beginning of a text that has to be cut: searched before, with all that a secret at its end may need. */
  beginning(text: string, longest: number): string {
    if (text.length <= longest) return text
    return this.searched(text.slice(0, longest + LONGEST_SECRET))
      .slice(0, longest)
      .toWellFormed()
  }

  /** What a digest of this text may be taken of. */
  comparable(text: string): string {
    if (this.mode !== "redacted") return text
    const { text: redacted, masks } = redactText(text, this.ruleset)
    return taggedText(redacted, masks)
  }

  /** A digest of content: keyed where the content itself is not kept. */
  digest(digest: BodyHash): BodyHash
  digest(digest: string): string
  digest(digest: string): string {
    return this.mode === "hashed" ? keyedDigest(this.key, digest) : digest
  }

  /** A short value that only ever leaves a digest. */
  keyed(value: string): BodyHash {
    return keyedDigest(this.key, value)
  }

  /** The same where a field takes any text. */
  digestWord(value: string): string {
    return digestWord(this.key, value)
  }

  /** An id that every event of a run repeats. Undefined where nothing of it may be kept. */
  conversationId(id: string): string | undefined {
    if (this.mode === "full") return id
    const { policy } = this.treatmentOf("run_started", "conversation_id")
    if (policy === "drop") return undefined
    const isHidden = (this.mode === "hashed" && !this.isSafeId(id)) || policy === "hash_only"
    return isHidden || redactText(id, this.ruleset).masks.length > 0 ? this.digestWord(id) : id
  }

  /** The name of a part of the application, or of an attribute: an id that its developer chose, out of anything. */
  chosenName(name: string): string {
    if (this.mode === "full") return name
    if (this.mode === "hashed") return this.isSafeId(name) ? name : this.digestWord(name)
    // The same few names over and over; what was clean may be known as a secret by now.
    if (this.#knownAtNames !== this.ruleset.known?.size || this.#cleanNames.size > MOST_NAMES) {
      this.#cleanNames.clear()
      this.#knownAtNames = this.ruleset.known?.size
    }
    if (this.#cleanNames.has(name)) return name
    const { text } = redactText(name, this.ruleset)
    if (text === name) this.#cleanNames.add(name)
    return text
  }

  /** Whether the user said that this id says nothing about anybody, or our own code made it. */
  isSafeId(id: string): boolean {
    return this.#safeIds.some((safe) => (safe.endsWith("*") ? id.startsWith(safe.slice(0, -1)) : id === safe))
  }

  /** Bytes of a body that an event names in `field`. */
  content(eventType: string, field: string, bytes: Uint8Array, isEncoded = false): CapturedContent {
    if (this.mode === "full") return plain(bytes, "none")
    const { policy, ruleset } = this.treatmentOf(eventType, field)
    if (this.mode === "hashed" && !OUR_BODIES.has(field)) return this.#hashed(bytes, "hashed")
    if (policy === "hash_only") return this.#hashed(bytes, "hashed")
    if (policy === "drop") return this.#hashed(bytes, "not_kept")
    if (isEncoded) return { ...this.#hashed(bytes, "not_kept"), status: "blocked" }
    if (field === "stream_index_ref" || this.mode === "hashed") return plain(bytes, "none")
    // A body may hold any text, whatever its field is called; only what the user allowed is searched for shapes alone.
    return this.#redacted(bytes, policy === "raw_allowed" ? this.ruleset : (ruleset ?? this.ruleset))
  }

  /** The text of a body with its secrets masked, and those masks. */
  redact(bytes: Uint8Array, ruleset: Ruleset = this.ruleset): RedactedBytes {
    const policyOfKey = this.#rules?.policyOfKey
    const redacted = isUtf8(bytes)
      ? redactBytes(bytes, ruleset, ruleset === this.ruleset ? this.#seen : undefined)
      : redactOctets(bytes, ruleset)
    return policyOfKey && this.hasKeyRules ? redactKeys(redacted, this.key, policyOfKey) : redacted
  }

  #redacted(bytes: Uint8Array, ruleset: Ruleset): CapturedContent {
    const { profile } = ruleset
    const redacted = this.redact(bytes, ruleset)
    if (redacted.failed !== undefined) {
      const mask = Buffer.from(MASK_MIDDLE)
      return { hash: bodyHash(mask), bytes: mask, byteSize: mask.length, masks: [], status: "failed", profile }
    }
    return {
      hash: bodyHash(redacted.bytes),
      bytes: redacted.bytes,
      byteSize: redacted.bytes.length,
      masks: redacted.masks,
      status: redacted.masks.length > 0 ? "redacted" : "not_required",
      profile,
    }
  }

  #hashed(bytes: Uint8Array, absent: "hashed" | "not_kept"): CapturedContent {
    return {
      hash: keyedDigest(this.key, bytes),
      bytes: undefined,
      byteSize: bytes.length,
      masks: [],
      status: "redacted",
      profile: "hashed",
      absent,
    }
  }
}

const SUMMARY_SOURCE = 4096
const MOST_TREATMENTS = 256
const MOST_NAMES = 1024
/** More than any rule finds. */
const LONGEST_SECRET = 16_384

/** Bodies that hold figures of the recorder and no recorded text: kept in every mode. A manifest has lost its words before it comes here. */
const OUR_BODIES = new Set(["stream_index_ref", "manifest_ref"])

function plain(bytes: Uint8Array, profile: string): CapturedContent {
  return { hash: bodyHash(bytes), bytes, byteSize: bytes.length, masks: [], status: "not_required", profile }
}

/** The form of captured bytes that signatures are taken of. */
export function comparableBytes({ bytes, masks }: Pick<CapturedContent, "bytes" | "masks">): Uint8Array | undefined {
  return bytes && taggedBytes(bytes, masks)
}

/** Masks as a ref lists them. */
export function listedMasks(masks: readonly Mask[]): Pick<ArtifactRef, "masks" | "mask_count"> {
  if (masks.length === 0) return {}
  return {
    masks: masks.slice(0, MAX_LISTED_MASKS).map(({ offset, length, rule, tag }) => ({ offset, length, rule, tag })),
    ...(masks.length > MAX_LISTED_MASKS ? { mask_count: masks.length } : {}),
  }
}
