import { readableText } from "@orangebox/dialects"
import {
  explain,
  linesOfBinaryEvents,
  maskedSecret,
  type Ruleset,
  redactBytes,
  redactText,
  rulesetOfName,
  SeenText,
  valueForms,
} from "@orangebox/redaction"

/** What is looked for in the store: one value, or what some rules find. */
export interface Search {
  /** One value, known to the byte; else what rules find. */
  readonly isValue: boolean
  /** The text with everything masked that was looked for; the same string where nothing was found. */
  readonly redact: (text: string) => string
  readonly isIn: (bytes: Uint8Array, mime: string | null) => boolean
  /** The same for fields that our own code fills: a value may stand anywhere, but there rules look for forms alone, as a recorder does. */
  readonly redactOurs: (text: string) => string
}

/** A cut summary may end in the middle of the value; so much of it is no accident. */
const SHORTEST_HEAD = 8

export function searchForValue(value: string): Search {
  const forms = [...valueForms(value), ...base64Twice(value)]
  const coloured = colouredForm(value)
  const needles = forms.map((form) => Buffer.from(form))
  const mask = maskedSecret(value)
  const redact = (text: string): string => {
    let redacted = text
    for (const form of forms) if (redacted.includes(form)) redacted = redacted.replaceAll(form, mask)
    if (IS_COLOURED.test(redacted)) redacted = redacted.replaceAll(coloured, mask)
    return withoutHead(redacted, value, mask)
  }
  return {
    isValue: true,
    redact,
    isIn: (bytes, mime) => {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      if (needles.some((needle) => buffer.includes(needle))) return true
      const text = buffer.toString("utf8")
      if (IS_COLOURED.test(text) && text.search(coloured) >= 0) return true
      const folded = textOf(buffer, mime)
      return forms.some((form) => folded.includes(form))
    },
    redactOurs: redact,
  }
}

/** What base64 of base64 shows of it; the inner one begins at any of three places. */
function base64Twice(value: string): string[] {
  if (value.length < SHORTEST_HEAD) return []
  return ["", " ", "  "].flatMap((before) => {
    const once = Buffer.from(`${before}${value}`).toString("base64")
    // The first group holds what stood before, the last what stands behind.
    return valueForms(once.slice(before === "" ? 0 : 4, -4)).filter((form) => form.length >= SHORTEST_HEAD)
  })
}

const COLOUR = "(?:(?:\\x1b|\\\\+(?:u001[bB]|x1[bB]|033))\\[[0-9;:?]*[A-Za-z])*"
const IS_COLOURED = /(?:\x1b|\\(?:u001[bB]|x1[bB]|033))\[/

/** The value with terminal sequences inside of it. */
const colouredForm = (value: string): RegExp =>
  new RegExp([...value].map((character) => character.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join(COLOUR), "g")

function withoutHead(text: string, value: string, mask: string): string {
  const end = text.endsWith("…") ? text.length - 1 : text.length
  for (let length = Math.min(value.length - 1, end); length >= SHORTEST_HEAD; length--) {
    if (text.startsWith(value.slice(0, length), end - length))
      return text.slice(0, end - length) + mask + text.slice(end)
  }
  return text
}

/** With `only`, what other rules find stays. */
export function searchWithRules(ruleset: Ruleset, only: ReadonlySet<string> | undefined): Search {
  const isWanted = ({ rule }: { readonly rule: string }): boolean => only === undefined || only.has(rule)
  const seen = new SeenText()
  // Nearly every text holds nothing, and saying so is much quicker than explaining it.
  const isClean = (text: string, rules: Ruleset): boolean => {
    const { masks, failed } = redactText(text, rules)
    return masks.length === 0 && failed === undefined
  }
  const isInText = (text: string): boolean => !isClean(text, ruleset) && explain(text, ruleset).some(isWanted)
  const redactWith = (text: string, rules: Ruleset): string => {
    if (isClean(text, rules)) return text
    let redacted = ""
    let at = 0
    for (const { start, end, masked } of explain(text, rules).filter(isWanted)) {
      redacted += text.slice(at, start) + masked
      at = end
    }
    return at === 0 ? text : redacted + text.slice(at)
  }
  return {
    isValue: false,
    redact: (text) => redactWith(text, ruleset),
    redactOurs: (text) => redactWith(text, rulesetOfName(text, ruleset)),
    isIn: (bytes, mime) => {
      const { masks, isUndecodable, failed } = redactBytes(bytes, ruleset, seen)
      // A rule that breaks has not looked: what it might have found must not stay.
      if (failed !== undefined || masks.some(isWanted)) return true
      if (isUndecodable === true) return isInText(Buffer.from(bytes).toString("utf8"))
      const folded = textOf(bytes, mime)
      return folded !== "" && isInText(folded)
    },
  }
}

const isBinaryEvents = (mime: string | null): boolean => mime !== null && /[./]eventstream/i.test(mime)

/** Whether what a streamed answer says could not be put together whole, so that what was cut over its damaged part may stand in it unseen. */
export const isDamagedStream = (bytes: Uint8Array, mime: string | null): boolean =>
  isBinaryEvents(mime) && linesOfBinaryEvents(bytes).isDamaged

/** A streamed answer comes a few characters per frame, so it is looked at as the text it adds up to as well. */
function textOf(bytes: Uint8Array, mime: string | null): string {
  if (mime === null || !/event-?stream/i.test(mime)) return ""
  try {
    if (isBinaryEvents(mime)) {
      const { lines } = linesOfBinaryEvents(bytes)
      const asEvents = Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(""))
      return `${lines.join("\n")}\n${readableText(asEvents, "text/event-stream")}`
    }
    return readableText(bytes, mime)
  } catch {
    return ""
  }
}
