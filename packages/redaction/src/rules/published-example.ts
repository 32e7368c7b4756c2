import { hash } from "node:crypto"
import { VALUES } from "./rules.generated.js"
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
const PUBLISHED = wordList(VALUES.published)
