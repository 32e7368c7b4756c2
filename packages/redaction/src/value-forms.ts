/** Shorter values stand by chance in everything that is encoded. */
const SHORTEST_ENCODED = 8

/**
 * The ways a value may be written in recorded text: as it is, inside JSON (and JSON inside JSON), in a URL, in HTML, in UTF-16, in hex and in
 * base64, where it looks different at each of three alignments. Longest first, so that a form is masked whole before a shorter one inside it.
 */
export function valueForms(value: string): string[] {
  const forms = PLAIN.test(value) ? [value] : writtenForms(value)
  if (value.length >= SHORTEST_ENCODED) {
    const bytes = Buffer.from(value)
    const hex = bytes.toString("hex")
    // Without the zero at either end it is the same in both byte orders.
    forms.push(hex, hex.toUpperCase(), value.split("").join("\0"), ...base64Forms(bytes))
  }
  return [...new Set(forms)].sort((a, b) => b.length - a.length)
}

/** Most keys: there is nothing in them that any notation would escape. */
const PLAIN = /^[\w.~-]*$/

function writtenForms(value: string): string[] {
  const once = escaped(value)
  const inUrl = encodeURIComponent(value.toWellFormed())
  return [
    value,
    once,
    escaped(once),
    escaped(escaped(once)),
    asciiEscaped(value),
    inUrl,
    inUrl.replaceAll("%20", "+"),
    inUrl.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()),
    value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
  ]
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

const asciiEscaped = (text: string): string =>
  escaped(text).replaceAll(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** At each alignment the characters that hold nothing but bits of the value. */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = (before === 0 ? bytes : Buffer.concat([Buffer.alloc(before), bytes])).toString("base64")
    const form = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    return /[+/]/.test(form) ? [form, form.replaceAll("+", "-").replaceAll("/", "_")] : [form]
  })
}
