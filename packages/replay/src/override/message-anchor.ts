import type { JsonNode } from "@orangebox/contract"
import { historyOf, messageHash } from "@orangebox/dialects"
import type { JsonArrayNode } from "../json/json-edit.js"
import type { AskedRequest } from "../match/ask.js"
import { absent, type Changes, inJson, type RequestEdit } from "./request-edit.js"

/** A message by what it says, and by which of its kind it is where it is said more than once. */
export interface MessageAnchor {
  readonly hash: string
  /** Undefined means every message that says this. */
  readonly nth: number | undefined
}

export interface AnchoredMessage {
  readonly node: JsonNode
  readonly index: number
}

/** Edits the messages that anchors name, wherever in the history they stand by now. */
export function inMessages(
  request: AskedRequest,
  anchors: readonly MessageAnchor[],
  edit: (text: string, history: JsonArrayNode, messages: readonly AnchoredMessage[]) => Changes,
): RequestEdit {
  return inJson(request, (text, root) => {
    const history = historyOf(root)
    const messages = history ? messagesAt(history, anchors) : []
    if (!history || messages.length === 0) return absent("the message is not in it")
    return edit(text, history, messages)
  })
}

function messagesAt(history: JsonArrayNode, anchors: readonly MessageAnchor[]): AnchoredMessage[] {
  const seen = new Map<string, number>()
  return history.items.flatMap((node, index) => {
    const hash = messageHash(node)
    const nth = seen.get(hash) ?? 0
    seen.set(hash, nth + 1)
    return anchors.some((anchor) => anchor.hash === hash && (anchor.nth ?? nth) === nth) ? [{ node, index }] : []
  })
}
