/**
 * The beginning of a text that is too long to keep, before the redactor has looked for secrets: half a secret has no form to be known by, so the
 * word that the end falls into goes as a whole.
 */
export function cutAtWord(text: string, longest: number): string {
  if (text.length <= longest) return text
  const earliest = Math.max(0, longest - LONGEST_WORD)
  let end = longest
  while (end > earliest && !SPACE.test(text.charAt(end - 1))) end--
  return `${text.slice(0, Math.min(end, longest - 1)).toWellFormed()}…`
}

/** Its end, in the same way. */
export function endFromWord(text: string, longest: number): string {
  if (text.length <= longest) return text
  let start = text.length - longest + 1
  const latest = Math.min(text.length, start + LONGEST_WORD)
  while (start < latest && !SPACE.test(text.charAt(start - 1))) start++
  return `…${text.slice(start).toWellFormed()}`
}

const SPACE = /\s/
/** As long as a secret may be. */
const LONGEST_WORD = 16_384
