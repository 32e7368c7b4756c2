import { asRecord, recordsIn, textIn } from "@orangebox/contract"
import { parseJson } from "@orangebox/dialects"

/** The text a tool gave, taken out of the envelopes results come in: an object with stdout and stderr, MCP content, a JSON string. */
export function outputTextOf(result: string): string {
  if (!/^\s*[{["]/.test(result)) return result
  const value = parseJson(result)
  if (typeof value === "string") return value
  if (Array.isArray(value)) return textsOf({ content: value }) ?? result
  const record = asRecord(value)
  if (!record) return result
  const streams = ["output", "stdout", "stderr"].flatMap((name) => textIn(record, name) ?? [])
  return streams.length > 0 ? streams.join("\n") : (textsOf(record) ?? textIn(record, "result") ?? result)
}

function textsOf(record: { readonly content?: unknown }): string | undefined {
  const texts = recordsIn(record as { readonly [name: string]: unknown }, "content").flatMap(
    (part) => textIn(part, "text") ?? [],
  )
  return texts.length > 0 ? texts.join("\n") : undefined
}
