import type { JsonNode } from "@orangebox/contract"
import type { CanonicalRequest } from "../dialect.js"
import { stringAt } from "../json/node.js"
import type { BodyNotes } from "../memory/notes.js"
import { type MemberRule, newCanon, nonsemanticTable, sortedByName } from "../signature/canon.js"
import type { IdNaming } from "../signature/id-naming.js"

export function canonicalResponses(root: JsonNode, ids: IdNaming, notes?: BodyNotes): CanonicalRequest {
  const canon = newCanon(ids, notes)
  const idOrObject: MemberRule = (value, pointer) =>
    value.kind === "string" ? canon.producerId(value, pointer) : canon.object({ id: canon.producerId })(value, pointer)
  const contentPart = canon.object({
    prompt_cache_breakpoint: canon.drop,
    image_url: canon.media,
    file_data: canon.media,
    file_id: canon.producerId,
    input_audio: canon.object({ data: canon.media }),
  })
  const partOrParts: MemberRule = (value, pointer) =>
    value.kind === "array" ? canon.items(contentPart)(value, pointer) : contentPart(value, pointer)
  const item = canon.object({
    id: canon.producerId,
    call_id: canon.callId,
    approval_request_id: canon.producerId,
    container_id: canon.producerId,
    encrypted_content: canon.opaque,
    prompt_cache_breakpoint: canon.drop,
    content: partOrParts,
    output: partOrParts,
    result: (value, pointer) => (value.kind === "string" ? canon.media(value, pointer) : value),
  })
  const table = {
    ...nonsemanticTable(canon),
    previous_response_id: canon.producerId,
    conversation: idOrObject,
    container: idOrObject,
    input: canon.items(canon.piece(item)),
    tools: canon.piece((value, pointer) => {
      const tools = canon.items(canon.object({ container: idOrObject }))(value, pointer)
      return tools && sortedByName(tools, (tool) => stringAt(tool, "name") ?? stringAt(tool, "server_label"))
    }),
  }
  return canon.request(canon.object(table)(root, ""), root)
}
