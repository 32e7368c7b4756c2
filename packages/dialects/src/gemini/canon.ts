import type { JsonNode } from "@orangebox/contract"
import type { CanonicalRequest } from "../dialect.js"
import { arrayNode, itemsAt, memberOf, objectNode, stringAt } from "../json/node.js"
import type { BodyNotes } from "../memory/notes.js"
import { newCanon, nonsemanticTable, sortedByName } from "../signature/canon.js"
import type { IdNaming } from "../signature/id-naming.js"

export function canonicalGemini(root: JsonNode, ids: IdNaming, notes?: BodyNotes): CanonicalRequest {
  const canon = newCanon(ids, notes)
  const part = canon.object({
    thoughtSignature: canon.opaque,
    inlineData: canon.object({ data: canon.media }),
    fileData: canon.object({ fileUri: canon.producerId }),
    functionCall: canon.object({ id: canon.callId }),
    functionResponse: canon.object({ id: canon.callId }),
  })
  const request = {
    ...nonsemanticTable(canon),
    labels: canon.drop,
    cachedContent: canon.producerId,
    contents: canon.items(canon.piece(canon.object({ parts: canon.items(part) }))),
    tools: canon.piece(canon.items((tool) => sortedDeclarations(tool))),
  }
  // The Code Assist endpoint wraps the request and numbers it.
  const table = {
    ...request,
    request: canon.object({ ...request, session_id: canon.drop }),
    user_prompt_id: canon.drop,
  }
  return canon.request(canon.object(table)(root, ""), root)
}

function sortedDeclarations(tool: JsonNode): JsonNode {
  const list = memberOf(tool, "functionDeclarations")
  if (tool.kind !== "object" || list === undefined) return tool
  const sorted = sortedByName(arrayNode(itemsAt(tool, "functionDeclarations"), list), (item) => stringAt(item, "name"))
  return objectNode(
    tool.members.map((member) => (member.key === "functionDeclarations" ? { key: member.key, value: sorted } : member)),
    tool,
  )
}
