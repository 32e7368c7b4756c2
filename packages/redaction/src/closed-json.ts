import { type JsonNode, readJson } from "@orangebox/contract"

/**
 * JSON that was cut off, read as if it had been closed where it ends: a stream that dies in the middle of a frame leaves half a string, and
 * that half may be half a secret. Undefined where it cannot be read even so. Nodes may reach beyond the text.
 */
export function readCutJson(text: string): JsonNode | undefined {
  const open: string[] = []
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (isInString) {
      if (character === "\\") at++
      else if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === "{") open.push("}")
    else if (character === "[") open.push("]")
    else if (character === "}" || character === "]") open.pop()
  }
  const closing = open.reverse().join("")
  const ending = isInString ? `${text.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, "")}"` : text.replace(/,\s*$/, "")
  for (const missing of ["", ":null", "null"]) {
    const reading = readJson(ending + missing + closing)
    if (reading.ok) return reading.node
  }
  return undefined
}
