import type { JsonNode } from "@orangebox/contract"
import type { CanonicalRequest } from "../dialect.js"
import { stringAt } from "../json/node.js"
import type { BodyNotes } from "../memory/notes.js"
import { newCanon, nonsemanticTable, sortedByName } from "../signature/canon.js"
import type { IdNaming } from "../signature/id-naming.js"

export function canonicalChat(root: JsonNode, ids: IdNaming, notes?: BodyNotes): CanonicalRequest {
  const canon = newCanon(ids, notes)
  const contentPart = canon.object({
    cache_control: canon.drop,
    prompt_cache_breakpoint: canon.drop,
    image_url: (value, pointer) =>
      value.kind === "string" ? canon.media(value, pointer) : canon.object({ url: canon.media })(value, pointer),
    input_audio: canon.object({ data: canon.media }),
    file: canon.object({ file_data: canon.media, file_id: canon.producerId }),
    signature: canon.opaque,
  })
  const message = canon.object({
    cache_control: canon.drop,
    content: canon.items(contentPart),
    tool_call_id: canon.callId,
    tool_calls: canon.items(canon.object({ id: canon.callId })),
    audio: canon.object({ id: canon.producerId }),
    // OpenRouter's form of signed and sealed thinking.
    reasoning_details: canon.items(canon.object({ signature: canon.opaque, data: canon.opaque })),
  })
  const tools = canon.piece((value, pointer) => {
    const plain = canon.items(canon.object({ cache_control: canon.drop }))(value, pointer)
    return plain && sortedByName(plain, toolName)
  })
  const table = {
    messages: canon.items(canon.piece(message)),
    tools,
    functions: tools,
    ...nonsemanticTable(canon),
  }
  return canon.request(canon.object(table)(root, ""), root)
}

const toolName = (tool: JsonNode): string | null =>
  stringAt(tool, "function", "name") ?? stringAt(tool, "custom", "name") ?? stringAt(tool, "name")
