import { hash } from "node:crypto"
import { wordList } from "./word-list.js"

/**
 * Whether a value of a perfect form is one that its vendor, or a scanner of secrets, prints as an example and says so: masking it hides
 * nothing. Kept as the beginnings of SHA-256 hashes, for no scanner that reads this file should find a key in it.
 */
export function isPublishedExample(value: string): boolean {
  return LENGTHS.has(value.length) && PUBLISHED.has(hash("sha256", value, "hex").slice(0, 16))
}

/** Most values are of another length and need no hash. */
const LENGTHS: ReadonlySet<number> = new Set([11, 14, 39])

/** Google's keys in its own documentation and sample applications; the passwords in the documentation of NuGet. */
const PUBLISHED = wordList(`
  f56e323494a6ffc2 2037abcaffb2b777 3f370c9dd8225c63 e4a5542bb7fd7b67 a19f89ab3555eac1 0b476bdf9acf2123
  eb540d2b6ee2a0a4 37f8f09bdf12c2f2 8731261cb72d8626 49f777db995e8260 27a9a42931dff7eb dc0fcf046c61640c
  4c98242dcadc8b29 ea9bb1082cf95663 3a8b61d0f636b007 a6c814bc555ae62c
  dba72c00f41f4e4c a0702bc91d699f60
`)
