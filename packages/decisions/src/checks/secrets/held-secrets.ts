import type { PathUse } from "../../shell/index.js"
import { holdsSecret } from "./secret-names.js"

/** What earlier actions of a run did with secrets that a later one may send: files that hold some now, a shell that kept one, an added file. */
export class HeldSecrets {
  readonly #files = new Set<string>()
  #isAnywhere = false
  isInVariable = false
  /** A file holds one that does not look like such a file, and so may be among those that are committed. */
  isInPlainFile = false
  /** A file with secrets was added to what a push sends. */
  isCommitted = false

  /** A command took a secret and wrote these. */
  take(written: readonly PathUse[], isInVariable: boolean): void {
    for (const { word } of written) {
      if (word.isKnown && !word.hasGlob) this.keep(word.text)
      else this.#isAnywhere = true
    }
    this.isInVariable ||= isInVariable
  }

  /** A secret was seen in what was read from a file. */
  keep(path: string): void {
    this.isInPlainFile ||= !holdsSecret(path)
    if (this.#files.size < MOST_FILES) this.#files.add(plain(path))
    else this.#isAnywhere = true
  }

  /** Tools name a file as they please, relative or absolute. */
  holds(path: string): boolean {
    const asked = plain(path)
    if (this.#isAnywhere || this.#files.has(asked)) return true
    for (const file of this.#files) if (file.endsWith(`/${asked}`) || asked.endsWith(`/${file}`)) return true
    return false
  }
}

const MOST_FILES = 256
const plain = (path: string): string =>
  path
    .replace(/\/+/g, "/")
    .replace(/^(?:\.\/)+/, "")
    .replace(/\/\.$|\/$/, "")
