import { asRecord, countIn, type LoosePayload, listIn, recordsIn, textIn } from "@orangebox/contract"
import type { JsonBody } from "../json/body.js"
import { stringsOf } from "../json/node.js"
import type { PromptPart } from "./outline.js"
import type { OutlinedRequest } from "./read-request.js"

/** A prompt as it was rendered for a call. */
export interface RenderedText {
  readonly prompt: string
  /** In bytes: where its cacheable beginning ends, and a request may cut it in two. */
  readonly prefixLength: number | null
}

/** A prompt that an application put together by itself: texts that have to be in the request, each somewhere. */
export interface AssembledTexts {
  readonly texts: readonly string[]
  /** The request they were put into, as the application holds it: what stands between them there was not added on the way. */
  readonly request: Uint8Array | undefined
}

/** What a call is expected to be asked. */
export type ExpectedPrompt = RenderedText | AssembledTexts

/** What stands in a request beside the prompt that was rendered for it. */
export interface BesidePrompt {
  /**
   * `system`: another instruction. `turn`: something said by anybody. `text`: words in the same text as the prompt. `tools`: definitions of
   * tools. `provider`: context that the provider keeps and adds. `settings`: metadata that names a user or a session.
   */
  readonly what: "system" | "turn" | "text" | "tools" | "provider" | "settings"
  readonly where: "before" | "after" | "beside"
  readonly count: number
  /** In bytes of the request; unknown for what the provider keeps. */
  readonly length: number | null
}

/** A request accounted for: where the rendered prompt stands in it, and everything else. */
export interface PromptAccount {
  /** `split`: its prefix and its rest in two texts. `inside`: with words around it. `elsewhere`: as something the model itself or a tool said. */
  readonly prompt: "whole" | "split" | "inside" | "elsewhere" | "missing"
  /** `incomplete`: nothing was added, and told items are not there. */
  readonly delivery: "verbatim" | "context_injected" | "incomplete" | "unknown"
  readonly beside: readonly BesidePrompt[]
  /** The told items that the request does not hold, by their place among them, from 0. */
  readonly missingItems?: readonly number[]
}

/**
 * Whether a request carries the prompt that was rendered for it at its place, and what else it carries. Tools and settings are listed and are
 * no context; anything else the model reads beside the prompt was put there by another than its renderer.
 */
function accountForPrompt(request: OutlinedRequest, found: Place): PromptAccount {
  const { parts } = request
  const first = found.at[0] ?? Number.POSITIVE_INFINITY
  const last = found.at.at(-1) ?? -1
  const beside: BesidePrompt[] = []
  const add = (
    what: BesidePrompt["what"],
    where: BesidePrompt["where"],
    count: number,
    length: number | null,
  ): void => {
    const known = beside.findIndex((one) => one.what === what && one.where === where)
    if (known < 0) beside.push({ what, where, count, length })
    else {
      const { count: before, length: size } = beside[known]!
      beside[known] = { what, where, count: before + count, length: sum(size, length) }
    }
  }
  parts.forEach((part, at) => {
    if (found.at.includes(at) || isEmpty(part)) return
    const written = part.node.end - part.node.start
    const length = Buffer.byteLength(part.text ?? "") || written
    if (part.kind === "tool-def") add("tools", "beside", 1, written)
    else
      add(part.kind === "system" ? "system" : "turn", at < first ? "before" : at > last ? "after" : "beside", 1, length)
  })
  if (found.extra > 0) add("text", "beside", 1, found.extra)
  if (request.serverContext.length > 0) add("provider", "before", request.serverContext.length, null)
  const settings = SETTINGS.filter((name) => Object.hasOwn(request.params, name))
  if (settings.length > 0) {
    const length = settings.reduce((total, name) => total + request.params[name]!.end - request.params[name]!.start, 0)
    add("settings", "beside", settings.length, length)
  }
  return withMissing({ prompt: found.prompt, delivery: deliveryOf(found, beside), beside }, found.missing)
}

const withMissing = (account: PromptAccount, missing: readonly number[]): PromptAccount =>
  missing.length === 0 ? account : { ...account, missingItems: missing.slice(0, MOST_MISSING) }

const MOST_MISSING = 1000

/**
 * The same for a body and what is known of it. Of one that no dialect reads: only whether the prompt is in its texts.
 *
 * @param told the request that an application holds of its own, read as the body is
 */
export function accountForRequest(
  { root, text }: JsonBody,
  outlined: OutlinedRequest | undefined,
  expected: ExpectedPrompt,
  told?: OutlinedRequest,
): PromptAccount {
  if (outlined !== undefined) return accountForPrompt(outlined, expectedPlace(outlined, expected, told))
  const all = new Set(root === undefined ? [text] : Array.from(stringsOf(root), ({ value }) => value))
  if ("texts" in expected) {
    const held = [...all]
    const isHeld = (wanted: string): boolean => all.has(wanted) || held.some((one) => one.includes(wanted))
    const missing = expected.texts.flatMap((wanted, at) => (isHeld(wanted) ? [] : [at]))
    if (missing.length === 0) return { prompt: "split", delivery: "unknown", beside: [] }
    return withMissing({ prompt: "missing", delivery: "incomplete", beside: [] }, missing)
  }
  const { prefix, rest } = cut(expected)
  const isWhole = all.has(expected.prompt)
  const isSplit = rest !== "" && all.has(prefix) && all.has(rest)
  if (isWhole || isSplit) return { prompt: isWhole ? "whole" : "split", delivery: "unknown", beside: [] }
  return { prompt: "missing", delivery: "context_injected", beside: [] }
}

function deliveryOf({ prompt, missing, isWhole }: Place, beside: readonly BesidePrompt[]): PromptAccount["delivery"] {
  if (beside.some(({ what }) => what === "system" || what === "turn" || what === "text")) return "context_injected"
  if (missing.length > 0 && isWhole) return "incomplete"
  if (prompt !== "whole" && prompt !== "split") return "context_injected"
  return beside.some(({ what }) => what === "provider") ? "unknown" : "verbatim"
}

interface Place {
  readonly prompt: PromptAccount["prompt"]
  /** The parts that hold it. */
  readonly at: readonly number[]
  /** How many bytes stand around it in the same text. */
  readonly extra: number
  /** Those words, by the part they stand in. */
  readonly added: ReadonlyMap<number, string>
  /** Of told texts, those that are nowhere. */
  readonly missing: readonly number[]
  /** Whether everything else that was expected is there. */
  readonly isWhole: boolean
}

/** The parts of a request that hold what was expected in it, and the words that were added to them. */
export function partsExpected(
  outlined: OutlinedRequest,
  expected: ExpectedPrompt,
  told?: OutlinedRequest,
): { readonly held: ReadonlySet<number>; readonly added: ReadonlyMap<number, string> } {
  const { at, added } = expectedPlace(outlined, expected, told)
  return { held: new Set(at), added }
}

const expectedPlace = ({ parts }: OutlinedRequest, expected: ExpectedPrompt, told?: OutlinedRequest): Place =>
  "texts" in expected ? placeOfTexts(parts, expected.texts, told?.parts ?? []) : placeOf(parts, expected)

/**
 * Where texts stand that an application assembled: each in a part of its own, or several with words between them. In a part that the
 * application's own request holds as well, those words are its own.
 */
function placeOfTexts(parts: readonly PromptPart[], texts: readonly string[], ownParts: readonly PromptPart[]): Place {
  const left = parts.map(readBy)
  const byText = new Map<string, number[]>()
  left.forEach((text, at) => {
    const places = byText.get(text)
    if (places) places.push(at)
    else byText.set(text, [at])
  })
  const held = new Set<number>()
  const hold = (at: number, text: string): void => {
    held.add(at)
    // Taken out once: the same text twice among the items has to be there twice.
    left[at] = left[at]!.replace(text, () => "\n")
  }
  const inside: number[] = []
  texts.forEach((text, item) => {
    if (text.trim() === "") return
    const at = byText.get(text)?.shift()
    if (at === undefined) inside.push(item)
    else hold(at, text)
  })
  const missing: number[] = []
  for (const item of inside) {
    const text = texts[item]!
    const at = left.findIndex((rest) => rest.includes(text))
    if (at < 0) missing.push(item)
    else hold(at, text)
  }
  const own = new Map<string, number>()
  for (const part of ownParts) own.set(keyOf(part), (own.get(keyOf(part)) ?? 0) + 1)
  let extra = 0
  const added = new Map<number, string>()
  parts.forEach((part, at) => {
    const count = own.get(keyOf(part)) ?? 0
    const words = left[at]!.trim()
    if (count > 0) {
      own.set(keyOf(part), count - 1)
      held.add(at)
    } else if (held.has(at) && words !== "") {
      extra += Buffer.byteLength(words)
      added.set(at, words)
    }
  })
  // What the application's own request held and this one does not.
  const isWhole = [...own.values()].every((count) => count === 0)
  const at = [...held].sort((a, b) => a - b)
  const isMissing = missing.length > 0 || !isWhole
  const prompt = isMissing ? "missing" : extra > 0 ? "inside" : at.length === 1 ? "whole" : "split"
  return { prompt, at, extra, added, missing, isWhole }
}

const readBy = ({ text, arguments: args }: PromptPart): string => text ?? args ?? ""
const keyOf = (part: PromptPart): string => `${part.kind}\0${part.name ?? ""}\0${readBy(part)}`

/** Said to the model, and not by it or by a tool. */
const isTelling = ({ kind, role }: PromptPart): boolean =>
  kind === "system" || (kind === "text" && role !== "assistant" && role !== "tool")

function placeOf(parts: readonly PromptPart[], rendered: RenderedText): Place {
  const { prompt } = rendered
  const tells = (text: string, from = 0): number =>
    parts.findIndex((part, at) => at >= from && isTelling(part) && part.text === text)
  const whole = parts.findLastIndex((part) => isTelling(part) && part.text === prompt)
  if (whole >= 0) return found("whole", [whole])
  const { prefix, rest } = cut(rendered)
  if (prefix !== "" && rest !== "") {
    const first = tells(prefix)
    const second = first < 0 ? -1 : tells(rest, first + 1)
    if (second >= 0) return found("split", [first, second])
  }
  const around = prompt === "" ? -1 : parts.findIndex((part) => isTelling(part) && part.text?.includes(prompt))
  if (around >= 0) {
    const text = parts[around]!.text!
    const extra = Buffer.byteLength(text) - Buffer.byteLength(prompt)
    const words = text.replace(prompt, () => "\n").trim()
    return { ...found("inside", [around]), extra, added: new Map([[around, words]]) }
  }
  const other = prompt === "" ? -1 : parts.findIndex((part) => part.text?.includes(prompt))
  return other >= 0 ? found("elsewhere", [other]) : found("missing", [])
}

const found = (prompt: Place["prompt"], at: readonly number[]): Place => ({
  ...{ prompt, at, extra: 0, added: new Map(), missing: [] },
  isWhole: prompt !== "missing",
})

function cut({ prompt, prefixLength }: RenderedText): { prefix: string; rest: string } {
  if (!prefixLength) return { prefix: "", rest: prompt }
  const bytes = Buffer.from(prompt)
  return { prefix: bytes.subarray(0, prefixLength).toString(), rest: bytes.subarray(prefixLength).toString() }
}

const isEmpty = (part: PromptPart): boolean => part.text === "" && (part.kind === "text" || part.kind === "system")

/** Members of a request that say whose it is, in any dialect; what they say reaches no model. */
const SETTINGS = ["metadata", "user", "safety_identifier", "client_metadata"]

const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b)

/** `1 system message before the prompt (212 bytes), 2 turns after it (1,024 bytes)`. */
export function besideWords(beside: readonly BesidePrompt[]): string {
  return beside
    .map(({ what, where, count, length }) => {
      const [one, many] = WORDS[what]
      const size = length === null ? "" : ` (${length} ${length === 1 ? "byte" : "bytes"})`
      const place = where === "beside" ? "beside the prompt" : `${where} the prompt`
      return `${count} ${count === 1 ? one : many} ${place}${size}`
    })
    .join(", ")
}

const WORDS: Readonly<Record<BesidePrompt["what"], readonly [one: string, many: string]>> = {
  system: ["system message", "system messages"],
  turn: ["turn", "turns"],
  text: ["added text", "added texts"],
  tools: ["tool definition", "tool definitions"],
  provider: ["thing the provider keeps", "things the provider keeps"],
  settings: ["setting", "settings"],
}

/** Why a request counts as `context_injected`, in words; undefined where it does not. */
export function injectionWords(account: PromptAccount): string | undefined {
  const { prompt, delivery, beside } = account
  if (delivery !== "context_injected") return undefined
  const context = beside.filter(({ what }) => what === "system" || what === "turn" || what === "text")
  // That told items are missing is said for itself, unless nothing else is to be said.
  const isSaid = account.missingItems !== undefined && context.length > 0
  const place = isSaid ? undefined : PLACE_WORDS[prompt]
  return [...(place === undefined ? [] : [place]), ...(context.length === 0 ? [] : [besideWords(context)])].join(", ")
}

const PLACE_WORDS: Readonly<Partial<Record<PromptAccount["prompt"], string>>> = {
  inside: "words were added to the prompt",
  elsewhere: "the prompt is not at its place",
  missing: "the request does not hold the prompt byte for byte",
}

/** What of the told items a request does not hold, in words; undefined where it holds them all. */
export function missingWords({ missingItems = [] }: PromptAccount): string | undefined {
  if (missingItems.length === 0) return undefined
  const numbers = missingItems.slice(0, 8).map((at) => at + 1)
  const more = missingItems.length > numbers.length ? ` and ${missingItems.length - numbers.length} more` : ""
  const are = missingItems.length === 1 ? "is" : "are"
  return `told item${missingItems.length === 1 ? "" : "s"} ${numbers.join(", ")}${more} ${are} not in the request`
}

/** The account as a recorded call holds it; undefined where it holds none, or none this version understands. */
export function promptAccountIn(called: LoosePayload): PromptAccount | undefined {
  const account = asRecord(called["prompt_account"])
  const prompt = account && textIn(account, "prompt")
  const delivery = account && textIn(account, "delivery")
  if (account === undefined || !isOneOf(PROMPTS, prompt) || !isOneOf(DELIVERIES, delivery)) return undefined
  const beside = recordsIn(account, "beside").flatMap((one): BesidePrompt[] => {
    const what = textIn(one, "what")
    const where = textIn(one, "where")
    if (!isOneOf(WHATS, what) || !isOneOf(WHERES, where)) return []
    return [{ what, where, count: countIn(one, "count") ?? 0, length: countIn(one, "length") ?? null }]
  })
  const missing = listIn(account, "missing_items").filter((at): at is number => Number.isSafeInteger(at))
  return withMissing({ prompt, delivery, beside }, missing)
}

const PROMPTS = ["whole", "split", "inside", "elsewhere", "missing"] as const
const DELIVERIES = ["verbatim", "context_injected", "incomplete", "unknown"] as const
const WHATS = ["system", "turn", "text", "tools", "provider", "settings"] as const
const WHERES = ["before", "after", "beside"] as const

const isOneOf = <T extends string>(words: readonly T[], word: string | undefined): word is T =>
  word !== undefined && (words as readonly string[]).includes(word)
