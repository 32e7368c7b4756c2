/** Shorter values stand by chance in everything that is encoded. */
const SHORTEST_ENCODED = 8

/**
 * The ways a value may be written in recorded text: as it is, inside JSON (and JSON inside JSON), in a URL, in hex and in base64, where
 * it looks different at each of three alignments. Longest first, so that a form is masked whole before a shorter one inside it.
 */
export function valueForms(value: string): string[] {
  const once = escaped(value)
  const forms = [value, once, escaped(once), escaped(escaped(once)), encodeURIComponent(value.toWellFormed())]
  forms.push(encodeURIComponent(value.toWellFormed()).replaceAll("%20", "+"), asciiEscaped(value))
  if (value.length >= SHORTEST_ENCODED) {
    const hex = Buffer.from(value).toString("hex")
    forms.push(hex, hex.toUpperCase(), ...base64Forms(value))
  }
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

const asciiEscaped = (text: string): string =>
  escaped(text).replaceAll(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** At each alignment the characters that hold nothing but bits of the value. */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value)
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64")
    const form = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return [form, form.replaceAll("+", "-").replaceAll("/", "_")]
  })
}
