import { type BodyHash, canonicalJsonNode, type JsonNode, readJson, textHash } from "@orangebox/contract"
import type { AnswerPart } from "../dialect.js"
import { objectNode } from "../json/node.js"
import type { PromptPart } from "../request/outline.js"
import { CACHE_MARKS, hashAsWritten } from "../request/part-hash.js"

/**
 * The smallest pieces of a conversation, in a form that an answer and its echo in the next request share: no ids, no cache marks, no
 * thinking (clients drop it), text without the blanks around it, arguments in canonical order. A text is the same whether it was sent as
 * a string or as a list of one block.
 */
export interface Atom {
  readonly content: string
  /** Said by the model: a shared question proves little, a shared answer proves a common past. */
  readonly isAnswer: boolean
  /** Position in the prompt's parts; -1 for an answer that is not in a request yet. */
  readonly part: number
}

export function atomsOfRequest(parts: readonly PromptPart[], text: string): Atom[] {
  const atoms: Atom[] = []
  parts.forEach((part, index) => {
    const content = atomText(part, text)
    if (content !== undefined) atoms.push({ content, isAnswer: part.role === "assistant", part: index })
  })
  return atoms
}

export function atomsOfAnswer(parts: readonly AnswerPart[]): Atom[] {
  return parts.flatMap((part): Atom[] => {
    if (part.kind === "thinking") return []
    const content =
      part.kind === "tool-call"
        ? `call\0${part.name}\0${canonicalArguments(part.arguments)}`
        : spoken("assistant", part.text)
    return content === undefined ? [] : [{ content, isAnswer: true, part: -1 }]
  })
}

/** The hash of a conversation that goes one atom further. */
export const nextLink = (before: BodyHash, atom: Atom): BodyHash => textHash(`${before}\0${atom.content}`)

const TELLING = 48

/** The key of a single answer, if it is long enough that two of them are not the same by chance. */
export function answerKey(atom: Atom): BodyHash | undefined {
  return atom.isAnswer && atom.content.length >= TELLING ? textHash(`answer\0${atom.content}`) : undefined
}

/** What a lane is rooted in, apart from its messages. Tools are a set; system texts are a list. */
export function headOf(
  parts: readonly PromptPart[],
  text: string,
): { readonly system: BodyHash; readonly tools: BodyHash } {
  const system = parts.flatMap((part) => (part.kind === "system" && part.text?.trim() ? [part.text.trim()] : []))
  const tools = parts.flatMap((part) => (part.kind === "tool-def" ? [hashAsWritten(part.node, text)] : [])).sort()
  return { system: textHash(system.join("\0")), tools: textHash(tools.join("\0")) }
}

function atomText(part: PromptPart, text: string): string | undefined {
  switch (part.kind) {
    case "tool-def":
    case "system":
    case "thinking":
      return undefined
    case "text":
      return part.text === null ? undefined : spoken(part.role ?? "", part.text)
    case "tool-call":
      return `call\0${part.name ?? ""}\0${canonicalArguments(part.arguments ?? "")}`
    case "tool-result":
      return `result\0${part.text ?? withoutIds(part.node)}`
    case "image":
    case "document":
      return `${part.kind}\0${hashAsWritten(part.node, text)}`
    case "other":
      return `other\0${withoutIds(part.node)}`
  }
}

function spoken(role: string, text: string): string | undefined {
  const said = text.trim()
  return said === "" ? undefined : `text\0${role}\0${said}`
}

function canonicalArguments(argumentText: string): string {
  const reading = readJson(argumentText)
  return reading.ok ? canonicalJsonNode(reading.node) : argumentText
}

const IDS = new Set(["id", "tool_use_id", "tool_call_id", "call_id", ...CACHE_MARKS])

function withoutIds(node: JsonNode): string {
  if (node.kind !== "object") return canonicalJsonNode(node)
  return canonicalJsonNode(
    objectNode(
      node.members.filter((member) => !IDS.has(member.key)),
      node,
    ),
  )
}
