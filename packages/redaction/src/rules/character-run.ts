import { isAlphanumeric } from "../text-edges.js"

/** Where a run of characters ends that begins at `from`; looks at no more than `limit` of them. */
export function endOfRun(text: string, from: number, limit: number, belongs: (code: number) => boolean): number {
  const last = Math.min(text.length, from + limit)
  let at = from
  while (at < last && belongs(text.charCodeAt(at))) at++
  return at
}

/** Whether what stands here is cut out of a longer run of base64, such as a picture: its signs are no ends of words there. */
export function isInsideBase64(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - CONTEXT), start)
  const behind = text.slice(end, end + CONTEXT)
  return (BASE64_BEFORE.test(before) && isMixed(before)) || (BASE64_BEHIND.test(behind) && isMixed(behind))
}
const CONTEXT = 24
const BASE64_BEFORE = /^[\w+/-]{23}[+/_-]$/
const BASE64_BEHIND = /^[+/_-][\w+/-]{23}$/
/** A path or a name of many words has no digits and capitals all over. */
const isMixed = (run: string): boolean => /[a-z]/.test(run) && /[A-Z]/.test(run) && /\d/.test(run)

export const isBase64 = (code: number): boolean =>
  isAlphanumeric(code) || code === 0x2b || code === 0x2f || code === 0x3d
export const isBase64Url = (code: number): boolean =>
  isAlphanumeric(code) || code === 0x2d || code === 0x5f || code === 0x3d
