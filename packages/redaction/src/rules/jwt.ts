import { beginsWord } from "../text-edges.js"
import { endOfRun, isBase64Url } from "./character-run.js"
import type { Finder } from "./finder.js"

const HEADER_NAME = /"(?:alg|typ|enc|kid|cty|zip)"/

/** JSON web tokens: known by their header, which must decode to one. The signature may be missing. */
export const jwt: Finder = {
  patterns: [HEADER_NAME],
  find(text, start) {
    if (!beginsWord(text, start)) return undefined
    const headerEnd = endOfRun(text, start, 2000, isBase64Url)
    if (text[headerEnd] !== "." || !isHeader(text.slice(start, headerEnd))) return undefined
    let end = headerEnd
    // Two more parts in a signed token, four in an encrypted one.
    for (let part = 0; part < 4 && text[end] === "."; part++) {
      const partEnd = endOfRun(text, end + 1, part === 0 ? 8000 : 1500, isBase64Url)
      if (partEnd === end + 1) break
      end = partEnd
    }
    return end - headerEnd > 10 ? { start, end } : undefined
  },
}

function isHeader(encoded: string): boolean {
  return HEADER_NAME.test(Buffer.from(encoded.slice(0, 400), "base64url").toString("latin1"))
}
