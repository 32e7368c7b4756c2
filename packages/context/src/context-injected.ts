import { type JsonNode, type Problem, readJson } from "@orangebox/contract"

/**
 * Whether a request carries the compiled prompt byte for byte: as one text, or cut in two where the cacheable prefix ends. Anything else
 * (a word added, a section moved, another prompt) is context that did not come from the compiler.
 */
export function findInjectedContext(
  request: string,
  compiled: { readonly prompt: string; readonly prefixLength: number },
  subject: string,
): Problem | undefined {
  const texts = new Set(textsOf(request))
  if (texts.has(compiled.prompt)) return undefined
  const bytes = new TextEncoder().encode(compiled.prompt)
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  const prefix = decoder.decode(bytes.subarray(0, compiled.prefixLength))
  const rest = decoder.decode(bytes.subarray(compiled.prefixLength))
  if (rest !== "" && texts.has(prefix) && texts.has(rest)) return undefined
  return {
    code: "context_injected",
    severity: "error",
    subject,
    field: "request",
    reason: "the request does not hold the rendered prompt byte for byte",
  }
}

/** Every string value of a JSON request; the whole request where it is not JSON. */
function textsOf(request: string): string[] {
  const reading = readJson(request)
  if (!reading.ok) return [request]
  const texts: string[] = []
  const waiting: JsonNode[] = [reading.node]
  while (waiting.length > 0) {
    const node = waiting.pop()!
    if (node.kind === "string") texts.push(node.value)
    else if (node.kind === "array") waiting.push(...node.items)
    else if (node.kind === "object") for (const member of node.members) waiting.push(member.value)
  }
  return texts
}
