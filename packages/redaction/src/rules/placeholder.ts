import { VALUES } from "./rules.generated.js"

/**
 * What people write where a secret will stand: `<your token>`, `${TOKEN}`, `%s`, `xxxxxxxx`, `AKIAIOSFODNN7EXAMPLE`. Masking these would
 * only hide from the reader that there never was a secret.
 */
export function isPlaceholder(value: string): boolean {
  return FILLER.test(value) || REFERENCE.test(value) || isRepetition(value)
}

const FILLER = new RegExp(VALUES.filler)
const REFERENCE = new RegExp(VALUES.reference)

// One character over and over is a drawing of a secret; so is a value that is nothing but zeros with something at its end.
function isRepetition(value: string): boolean {
  if (value.length <= 8) return false
  const first = value.charCodeAt(0)
  let second = first
  for (let i = 1; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code === first || code === second) continue
    if (second !== first) return false
    second = code
  }
  return true
}
