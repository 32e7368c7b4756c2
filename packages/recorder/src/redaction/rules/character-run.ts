import { isAlphanumeric } from "../text-edges.js"

/** Where a run of characters ends that begins at `from`; looks at no more than `limit` of them. */
export function endOfRun(text: string, from: number, limit: number, belongs: (code: number) => boolean): number {
  const last = Math.min(text.length, from + limit)
  let at = from
  while (at < last && belongs(text.charCodeAt(at))) at++
  return at
}

export const isBase64 = (code: number): boolean =>
  isAlphanumeric(code) || code === 0x2b || code === 0x2f || code === 0x3d
export const isBase64Url = (code: number): boolean =>
  isAlphanumeric(code) || code === 0x2d || code === 0x5f || code === 0x3d
