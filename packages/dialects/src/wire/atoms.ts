import { type BodyHash, canonicalJsonNode, type JsonNode, readJson, textHash } from "@orangebox/contract"
import type { AnswerPart } from "../dialect.js"
import { objectNode } from "../json/node.js"
import { type BodyNotes, type Piece, pieceOf } from "../memory/notes.js"
import type { PromptPart } from "../request/outline.js"
import { CACHE_MARKS, partHash } from "../request/part-hash.js"
import type { OutlinedRequest } from "../request/read-request.js"

/**
 * The smallest pieces of a conversation, in a form that an answer and its echo in the next request share: no ids, no cache marks, no
 * thinking (clients drop it), text without the blanks around it, arguments in canonical order. A text is the same whether it was sent as
 * a string or as a list of one block.
 */
export interface Atom {
  /** Asked for only where the hash behind it is not known yet. */
  content(): string
  /** Said by the model: a shared question proves little, a shared answer proves a common past. */
  readonly isAnswer: boolean
  /** Position in the prompt's parts; -1 for an answer that is not in a request yet. */
  readonly part: number
}

export interface RequestAtom extends Atom {
  readonly piece: Piece
  readonly kind: PromptPart["kind"]
  readonly role: string | null
}

export function atomsOfRequest(parts: readonly PromptPart[], notes: BodyNotes): RequestAtom[] {
  const atoms: RequestAtom[] = []
  parts.forEach((part, index) => {
    if (!isAtom(part)) return
    atoms.push({
      content: () => atomText(part, notes),
      isAnswer: part.role === "assistant",
      part: index,
      piece: pieceOf(notes, part.node),
      kind: part.kind,
      role: part.role,
    })
  })
  return atoms
}

export function atomsOfAnswer(parts: readonly AnswerPart[]): Atom[] {
  return parts.flatMap((part): Atom[] => {
    if (part.kind === "thinking") return []
    if (part.kind === "text" && isBlank(part.text)) return []
    const content =
      part.kind === "tool-call"
        ? `call\0${part.name}\0${canonicalArguments(part.arguments)}`
        : spoken("assistant", part.text)
    return [{ content: () => content, isAnswer: true, part: -1 }]
  })
}

/** The hash of a conversation that goes one atom further. */
export const nextLink = (before: BodyHash, atom: Atom): BodyHash => textHash(`${before}\0${atom.content()}`)

/** The same for an atom of a request, which the request before most likely had in the same place. */
export function nextLinkNoted(before: BodyHash, atom: RequestAtom): BodyHash {
  const { piece, kind, role } = atom
  if (piece.link?.before !== before || piece.link.kind !== kind || piece.link.role !== role) {
    piece.link = { before, kind, role, after: nextLink(before, atom) }
  }
  return piece.link.after
}

const TELLING = 48

/** The key of a single answer, if it is long enough that two of them are not the same by chance. */
export function answerKey(atom: Atom): BodyHash | undefined {
  const content = atom.isAnswer ? atom.content() : ""
  return content.length >= TELLING ? textHash(`answer\0${content}`) : undefined
}

/** What a lane is rooted in, apart from its messages. Tools are a set; system texts are a list. */
export function headOf(
  request: Pick<OutlinedRequest, "system" | "tools">,
  notes: BodyNotes,
): { readonly system: BodyHash; readonly tools: BodyHash } {
  const system = request.system.map((part) => part.text?.trim() ?? "").filter((said) => said !== "")
  const tools = request.tools.map((part) => partHash(part.node, notes)).sort()
  return { system: textHash(system.join("\0")), tools: textHash(tools.join("\0")) }
}

function isAtom({ kind, text }: PromptPart): boolean {
  if (kind === "text") return text !== null && !isBlank(text)
  return kind !== "tool-def" && kind !== "system" && kind !== "thinking"
}

const isBlank = (text: string): boolean => !/\S/.test(text)

function atomText(part: PromptPart, notes: BodyNotes): string {
  switch (part.kind) {
    case "tool-def":
    case "system":
    case "thinking":
    case "text":
      return spoken(part.role ?? "", part.text ?? "")
    case "tool-call":
      return `call\0${part.name ?? ""}\0${canonicalArguments(part.arguments ?? "")}`
    case "tool-result":
      return `result\0${part.text ?? withoutIds(part.node)}`
    case "image":
    case "document":
      return `${part.kind}\0${partHash(part.node, notes)}`
    case "other":
      return `other\0${withoutIds(part.node)}`
  }
}

const spoken = (role: string, text: string): string => `text\0${role}\0${text.trim()}`

function canonicalArguments(argumentText: string): string {
  const reading = readJson(argumentText)
  return reading.ok ? canonicalJsonNode(reading.node, { text: argumentText }) : argumentText
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
