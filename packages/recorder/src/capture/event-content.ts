import {
  ActionType,
  type Attributes,
  type EventType,
  type FlatAttributes,
  isEventType,
  type Link,
  type RedactionStatus,
  refFieldsOf,
} from "@orangebox/contract"
import {
  effectOfDrop,
  isDigestWord,
  MASK_MIDDLE,
  type RedactedText,
  type Ruleset,
  redactNamedText,
  redactText,
  redactValue,
  rulesetOfName,
} from "@orangebox/redaction"
import type { Capture } from "./capture.js"
import { OUR_ATTRIBUTES } from "./own-attributes.js"
import { worse } from "./redaction-status.js"

/** Everything an event says in its own line, as it may be written. */
export interface EventContent {
  readonly payload: object
  readonly attributes: FlatAttributes | undefined
  readonly links: readonly Link[] | undefined
  readonly status: RedactionStatus
}

/**
 * The last gate before a record is built: whatever a caller put into an event's own fields goes through the policy of that field here, so that
 * no path can forget to. Bodies went through the capture mode when they were added; their fields hold hashes only.
 */
export function captureEvent(
  capture: Capture,
  type: EventType,
  payload: object,
  attributes: FlatAttributes | undefined,
  links: readonly Link[] | undefined,
  bodies: RedactionStatus,
): EventContent {
  if (capture.mode === "full") return { payload, attributes, links, status: "not_required" }
  const gate = new Gate(capture, type, bodies)
  return {
    payload: gate.payload(payload as Record<string, unknown>),
    attributes: attributes && gate.attributes(attributes),
    links: links && gate.links(links),
    status: gate.status,
  }
}

/** Shorter texts hold no secret that is known by its form alone. */
const SHORTEST_SHAPE = 16

/** Digests of content that was read before anything was taken out of it. */
const DIGESTS = new Set([
  "call_signature_hash",
  "wire_digest",
  "shape_digest",
  "prefix_fingerprint",
  "prefix_hash",
  "cache_params_digest",
])

/** What a program calls its errors. Anybody may set the name of one to a sentence. */
const CLASS_NAME = /^(?:[A-Za-z][A-Za-z_.$]{0,63}|HTTP (?:\d{3}|error))$/

const SEGMENT_DIGESTS = ["segment_hash", "canonical_hash", "media_hash", "stable_hash"] as const

class Gate {
  status: RedactionStatus
  readonly #capture: Capture
  readonly #type: EventType
  readonly #isHashed: boolean
  /** Whether a digest of the bodies as they were could tell what was taken out of them. */
  readonly #hidesBodies: boolean

  constructor(capture: Capture, type: EventType, bodies: RedactionStatus) {
    this.#capture = capture
    this.status = bodies
    this.#hidesBodies = bodies !== "not_required"
    this.#type = type
    this.#isHashed = capture.mode === "hashed"
  }

  payload(payload: Record<string, unknown>): object {
    let copy: Record<string, unknown> | undefined
    for (const field of Object.keys(payload)) {
      const value = payload[field]
      if (value === null || value === undefined || typeof value === "boolean") continue
      const captured = this.#safely(MASK_MIDDLE, () => this.#field(field, value))
      if (captured === value) continue
      copy ??= { ...payload }
      if (captured === undefined) delete copy[field]
      else copy[field] = captured
    }
    return copy ?? payload
  }

  /** What breaks the treatment of one value takes that value with it, and nothing else. */
  #safely<T>(instead: T, treat: () => T): T {
    try {
      return treat()
    } catch {
      this.status = worse(this.status, "failed")
      return instead
    }
  }

  #field(field: string, value: unknown): unknown {
    if (this.#isHashed && DIGESTS.has(field)) return this.#capture.digest(value as string)
    if (isRefField(this.#type, field)) return value
    if (this.#isHashed && field === "error_class" && !CLASS_NAME.test(String(value)))
      return this.#digested(String(value))
    if (field === "link") return this.links([value as Link])[0]
    // A flag and the name of a body, which went through the capture mode.
    if (field === "told_model") return value
    if (field === "segments") return this.#segments(value)
    const { policy, ruleset } = this.#capture.treatmentOf(this.#type, field)
    if (policy === "drop") return this.#dropped(field, value)
    if (policy === "hash_only") return this.#hashed(value)
    if (policy === "raw_allowed") return this.#name(value, ruleset)
    if (this.#isHashed) return this.#withoutContent(field, value)
    return typeof value === "string" ? this.#text(value, ruleset) : this.#value(value, ruleset)
  }

  /** What our own code or a developer put there; still, a name may be built from anything. */
  #name(value: unknown, ruleset: Ruleset | undefined): unknown {
    if (typeof value === "string")
      return value.length < SHORTEST_SHAPE
        ? this.#knownOnly(value)
        : this.#text(value, rulesetOfName(value, this.#capture.ruleset))
    if (typeof value !== "object") return value
    return this.#value(value, ruleset)
  }

  #text(text: string, ruleset: Ruleset | undefined): string {
    if (ruleset === undefined || text.startsWith("sha256:")) return text
    return this.#noted(redactText(text, ruleset))
  }

  #knownOnly(text: string): string {
    const { known, shapes } = this.#capture.ruleset
    return known === undefined || known.findIn(text).length === 0 ? text : this.#noted(redactText(text, shapes))
  }

  #noted({ text, masks, failed }: RedactedText): string {
    if (failed !== undefined) this.status = worse(this.status, "failed")
    else if (masks.length > 0) this.status = worse(this.status, "redacted")
    return text
  }

  #value(value: unknown, ruleset: Ruleset | undefined): unknown {
    if (ruleset === undefined || !holdsText(value)) return value
    const redacted = redactValue(value, ruleset)
    if (redacted.failed.length > 0) this.status = worse(this.status, "failed")
    else if (redacted.masks.length > 0) this.status = worse(this.status, "redacted")
    return redacted.masks.length === 0 && redacted.failed.length === 0 ? value : redacted.value
  }

  #hashed(value: unknown): unknown {
    const text = typeof value === "string" ? value : JSON.stringify(value)
    if (text.startsWith("sha256:")) return value
    this.status = worse(this.status, "redacted")
    return this.#capture.digestWord(text)
  }

  #dropped(field: string, value: unknown): unknown {
    this.status = worse(this.status, "redacted")
    switch (effectOfDrop(this.#type, field)) {
      case "omit":
        return undefined
      case "null":
        return null
      case "empty_list":
        return []
      case "empty_record":
        return {}
      case "mask":
        return MASK_MIDDLE
      default:
        return value
    }
  }

  /** `hashed`: lists keep their shape, text leaves a digest where the field must be there and nothing where it need not. */
  #withoutContent(field: string, value: unknown): unknown {
    this.status = worse(this.status, "redacted")
    if (field === "path" && isDigestWord(value)) return value
    if (field === "constraints")
      return (value as { id: string; type: string; rule: string }[]).map((c) => this.#rule(c))
    const kept = this.#dropped(field, value)
    return kept === MASK_MIDDLE ? this.#capture.digestWord(String(value)) : kept
  }

  /** A request has a hundred of them and nothing in them is free text but the name of who contributed it. */
  #segments(value: unknown): unknown {
    if (!Array.isArray(value)) return this.#isHashed ? [] : this.#value(value, this.#capture.ruleset)
    let isChanged = this.#isHashed
    const captured = (value as Record<string, unknown>[]).map((segment) => {
      const { contributor, tool_call_id: callId } = segment
      const { shapes } = this.#capture.ruleset
      const named = typeof contributor === "string" ? this.#name(contributor, shapes) : contributor
      const called = typeof callId === "string" ? this.#name(callId, shapes) : callId
      const isSame = named === contributor && called === callId
      if (!isSame) isChanged = true
      if (isSame && !this.#isHashed) return segment
      const captured: Record<string, unknown> = { ...segment, contributor: named }
      if (called !== undefined) captured["tool_call_id"] = called
      if (!this.#isHashed) return captured
      for (const name of SEGMENT_DIGESTS) {
        const hash = segment[name]
        if (typeof hash === "string") captured[name] = this.#capture.digest(hash)
      }
      return captured
    })
    return isChanged ? captured : value
  }

  /** A rule of the rule language is what a run was held to, and no content; a wish in plain words may be anybody's. */
  #rule(constraint: { id: string; type: string; rule: string }): object {
    const rule = String(constraint.rule)
    const isRule = /^(?:[a-z]+\.[a-z_]+|judge:[\w.-]+)(?=[\s:]|$)/.test(rule)
    return { ...constraint, rule: isRule ? this.#value(rule, this.#capture.ruleset) : this.#capture.digestWord(rule) }
  }

  attributes(flat: FlatAttributes): FlatAttributes {
    let copy: Record<string, Attributes[string]> | undefined
    const renamed: [name: string, captured: string][] = []
    for (const name of Object.keys(flat.attributes)) {
      const value = flat.attributes[name]!
      const captured = this.#safely(MASK_MIDDLE, () => this.#attribute(name, value))
      const kept = this.#safely(MASK_MIDDLE, () => this.#attributeName(name))
      if (kept !== name && captured !== undefined) renamed.push([name, kept])
      if (captured === value) continue
      copy ??= { ...flat.attributes }
      if (captured === undefined) delete copy[name]
      else copy[name] = captured
    }
    const captured = copy ? { ...flat, attributes: copy } : flat
    return renamed.length === 0 ? captured : withNames(captured, renamed)
  }

  #attributeName(name: string): string {
    if (OUR_ATTRIBUTES.has(name) || JOINED_ID.test(name)) return name
    const kept = this.#capture.chosenName(name)
    if (kept !== name) this.status = worse(this.status, "redacted")
    return kept
  }

  #attribute(name: string, value: Attributes[string]): Attributes[string] | undefined {
    if (value === null || typeof value === "boolean") return value
    if (name.endsWith("_wire_digest") && this.#hidesBodies) return this.#capture.keyed(String(value))
    const treatment = this.#capture.treatmentOf(
      this.#type,
      this.#capture.hasFieldRules ? `attributes.${name}` : "attributes",
    )
    if (treatment.policy === "drop") return undefined
    if (treatment.policy === "hash_only") return this.#capture.digestWord(String(value))
    if (typeof value === "number") return value
    if (this.#isHashed) return this.#staysReadable(name, value) ? value : this.#digested(value)
    if (value.length < SHORTEST_NAMED || treatment.ruleset === undefined) return value
    const redacted = redactNamedText(name, value, treatment.ruleset)
    // What is masked compares no more; an id has to.
    return redacted.masks.length > 0 && JOINED_ID.test(name) ? this.#digested(value) : this.#noted(redacted)
  }

  #staysReadable(name: string, value: string): boolean {
    return staysReadable(name, value) || (JOINED_ID.test(name) && this.#capture.isSafeId(value))
  }

  #digested(value: string): string {
    this.status = worse(this.status, "redacted")
    return this.#capture.digestWord(value)
  }

  links(links: readonly Link[]): readonly Link[] {
    if (links.every((link) => link?.reason === undefined)) return links
    return links.map((link) => {
      const { reason, ...rest } = link
      if (reason === undefined) return link
      if (!this.#isHashed && typeof reason === "string") {
        return { ...rest, reason: this.#text(reason, this.#capture.ruleset) }
      }
      this.status = worse(this.status, "redacted")
      return rest
    })
  }
}

/** Attributes and what is said about them under other names. Of two that mask alike the second gets a number. */
function withNames(
  flat: FlatAttributes,
  renamed: readonly (readonly [name: string, captured: string])[],
): FlatAttributes {
  const names = new Map<string, string>()
  for (const [name, captured] of renamed) {
    let free = captured
    for (let i = 2; Object.hasOwn(flat.attributes, free) || names.has(free); i++) free = `${captured} ${i}`
    names.set(free, name)
  }
  const nameOf = new Map([...names].map(([kept, name]) => [name, kept]))
  const moved = <T>(record: { readonly [name: string]: T }): { [name: string]: T } =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [nameOf.get(name) ?? name, value]))
  return { ...flat, attributes: moved(flat.attributes), marks: flat.marks && moved(flat.marks) }
}

/** Ids by which events of several runs are joined. */
const JOINED_ID = /(?:^|[._-])(?:message|conversation)[._-]?id$/i

/** Shorter values are never masked, whatever they are called. */
const SHORTEST_NAMED = 5

/** Whether there is any text in a value: usage counts have none. */
function holdsText(value: unknown): boolean {
  if (typeof value === "string") return true
  if (typeof value !== "object" || value === null) return false
  return Object.values(value).some(holdsText)
}

const refFields = new Map<EventType, ReadonlySet<string>>()

function isRefField(type: EventType, field: string): boolean {
  let fields = refFields.get(type)
  if (!fields) {
    fields = new Set(isEventType(type) ? refFieldsOf(type) : [])
    refFields.set(type, fields)
  }
  return fields.has(field)
}

/**
 * Attributes that the recorder and the proxy set, with the only values they ever have. In `hashed` mode these stay readable; any other text under the same
 * name, and every other text attribute, leaves a digest.
 */
const READABLE_ATTRIBUTES: { readonly [name: string]: RegExp } = {
  http_method: /^[A-Z]{1,16}$/,
  stream_end: /^(?:complete|client_abort|upstream_reset|timeout)$/,
  context_held_by_provider: /^[a-z_ ]{1,120}$/,
  side_call: /^[a-z_-]{1,40}$/,
  request_sent: /^in part$/,
  request_wire_encoding: /^[a-z0-9, -]{1,64}$/,
  response_wire_encoding: /^[a-z0-9, -]{1,64}$/,
  history: /^[a-z_]{1,40}$/,
  certainty: /^(?:certain|likely)$/,
  action_type: new RegExp(`^(?:${ActionType.options.join("|")})$`),
  mcp_method: /^[a-z]+\/[a-z]+$/,
  // Ids of constraints, which the run names beside its rules.
  broken: /^(?:fail|warn):[\w.-]{1,64}(?: (?:fail|warn):[\w.-]{1,64})*$/,
}

function staysReadable(name: string, value: string): boolean {
  return Object.hasOwn(READABLE_ATTRIBUTES, name) && READABLE_ATTRIBUTES[name]!.test(value)
}
