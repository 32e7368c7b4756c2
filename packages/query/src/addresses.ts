import { OrangeboxError } from "@orangebox/contract"
import { safeJson } from "@orangebox/text"

/** What a user typed to point at something recorded. Whether it is there, and whether a prefix is unique, is for a store to say. */
export type Address =
  | RunAddress
  | { readonly form: "step"; readonly run: RunAddress; readonly n: number }
  | { readonly form: "step_id"; readonly stepId: string }
  | { readonly form: "trace"; readonly traceId: string }
  | { readonly form: "event"; readonly eventId: string }
  | { readonly form: "body"; readonly hashPrefix: string }
  | { readonly form: "id"; readonly id: string; readonly of: IdKind | undefined }

export type RunAddress =
  /** The newest run, or one so many before it. */
  { readonly form: "last"; readonly back: number } | { readonly form: "run"; readonly idPrefix: string }

/** Ids that applications and providers choose. Undefined where the text does not tell which; then all four are looked up. */
export type IdKind = "conversation" | "message" | "tool_call" | "provider_request"

/** The forms an address may take, for help pages and error messages. */
export const ADDRESS_FORMS = [
  "last (the newest run), last~1 (the one before)",
  "run_01J… (a run id or the beginning of one)",
  "last#13, last~1#13, run_01J…#13 or #13 (a step by its number)",
  "16 hex digits (a step id), 32 (a trace id)",
  "sha256:… (a body, or the beginning of its hash; at least 4 digits)",
  "conversation:…, message:…, tool_call:…, request:… or such an id alone",
] as const

export function parseAddress(text: string): Address {
  const typed = text.trim()
  if (typed === "") throw notAnAddress(text, "is empty")
  if (typed.length > MAX_ID) throw notAnAddress(`${typed.slice(0, 40)}…`, `is longer than ${MAX_ID} characters`)
  if (/[\p{Cc}\p{Cs}]/u.test(typed)) throw notAnAddress(text, "holds control characters")

  const explicit = /^(conversation|message|tool_call|request):(.+)$/s.exec(typed)
  if (explicit) return { form: "id", id: explicit[2]!, of: EXPLICIT.get(explicit[1]!) }

  const step = /^(last(?:~[^#]*)?|run_[^#]*)?#(.*)$/s.exec(typed)
  if (step) {
    if (!/^[1-9]\d{0,8}$/.test(step[2]!)) throw notAnAddress(text, "has no step number after the #")
    return { form: "step", run: parseRun(step[1] ?? "last", text), n: Number(step[2]) }
  }
  if (/^(last$|last~|run_)/.test(typed)) return parseRun(typed, text)
  if (/^sha256:/i.test(typed)) return parseBody(typed.slice("sha256:".length), text)

  if (/^[0-9a-f]{16}$/i.test(typed)) return { form: "step_id", stepId: typed.toLowerCase() }
  if (/^[0-9a-f]{32}$/i.test(typed)) return { form: "trace", traceId: typed.toLowerCase() }
  if (/^[0-9a-f]{64}$/i.test(typed)) return parseBody(typed, text)
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(typed)) {
    return { form: "event", eventId: typed.toLowerCase() }
  }
  return { form: "id", id: typed, of: KNOWN_SHAPES.find(([shape]) => shape.test(typed))?.[1] }
}

const MAX_ID = 512

const EXPLICIT: ReadonlyMap<string, IdKind> = new Map([
  ["conversation", "conversation"],
  ["message", "message"],
  ["tool_call", "tool_call"],
  ["request", "provider_request"],
])

/** Shapes that providers are known to use. A UUID could be anybody's, so it is not here. */
const KNOWN_SHAPES: readonly (readonly [RegExp, IdKind])[] = [
  [/^(toolu|srvtoolu|call|fc)_/, "tool_call"],
  [/^req_/, "provider_request"],
  [/^(msg|chatcmpl|resp)[_-]/, "message"],
  [/^(conv|thread)_/, "conversation"],
]

function parseRun(typed: string, text: string): RunAddress {
  if (typed.startsWith("last")) {
    const back = typed.slice("last~".length)
    if (!/^\d{0,9}$/.test(back) || typed === "last~") throw notAnAddress(text, "has no number after the ~")
    return { form: "last", back: Number(back) }
  }
  // Run ids are Crockford base 32, whose readers take lower case and the look-alikes I, L and O.
  const digits = typed.slice("run_".length).toUpperCase().replace(/[IL]/g, "1").replaceAll("O", "0")
  if (!/^[0-9A-HJKMNP-TV-Z]{1,26}$/.test(digits)) throw notAnAddress(text, "is not the beginning of a run id")
  return { form: "run", idPrefix: `run_${digits}` }
}

function parseBody(digits: string, text: string): Address {
  if (!/^[0-9a-f]{4,64}$/i.test(digits)) throw notAnAddress(text, "is not 4 to 64 hex digits of a SHA-256")
  return { form: "body", hashPrefix: `sha256:${digits.toLowerCase()}` }
}

function notAnAddress(text: string, why: string): OrangeboxError {
  return new OrangeboxError("ADDRESS_FORM", {
    what: `${safeJson(text)} ${why}`,
    next: `An address is one of: ${ADDRESS_FORMS.join("; ")}`,
  })
}
