import { canonicalJson } from "@orangebox/contract"

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/**
 * A copy of its own, of JSON values only. A metric that is NaN or infinite stays visible as text: left out, or turned into
 * null, it would read as "not measured". Undefined where the value has no JSON form, such as a function or a cycle.
 */
export function plainJson(value: unknown): Json | undefined {
  try {
    const text = JSON.stringify(value, (_, member: unknown) =>
      typeof member === "bigint" || (typeof member === "number" && !Number.isFinite(member)) ? String(member) : member,
    )
    return text === undefined ? undefined : (JSON.parse(text) as Json)
  } catch {
    return undefined
  }
}

/**
 * Canonical JSON with a space behind every colon and comma. The spaces matter: the estimate counts words, and a thousand numbers without
 * any are one word.
 */
export function spacedJson(value: Json): string {
  const text = canonicalJson(value)
  let spaced = ""
  let from = 0
  let isInString = false
  // By hand: a regular expression over strings overflows the matcher's stack on a text of megabytes.
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isInString = !isInString
    else if (isInString && code === BACKSLASH) at++
    else if (!isInString && (code === COMMA || code === COLON)) {
      spaced += `${text.slice(from, at + 1)} `
      from = at + 1
    }
  }
  return spaced + text.slice(from)
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
