import { type JsonNode, readJson } from "@orangebox/contract"
import { type Splice, spliced } from "../json/splice.js"
import { historyOf, historyParts, systemTexts, toolTrafficOf } from "../request/request-places.js"
import { CLIENT_MASKS, type Client, type ClientMask, clientMaskId } from "./client-masks.js"

export interface WithoutClientNoise {
  /** The canonical request with a token in the place of whatever its client makes up anew. */
  readonly text: string
  /** Mask id → what it took out. Two requests that are equal here differ under exactly those masks that took out something else. */
  readonly taken: ReadonlyMap<string, string>
}

type Headers = readonly (readonly [name: string, value: string])[]

/**
 * @param text a canonical request, as `canonicalRequestText` gives it
 * @param headers what it was sent with; without them only a client that its prompt tells of is known
 */
export function withoutClientNoise(text: string, headers: Headers): WithoutClientNoise {
  const reading = readJson(text)
  const masks = reading.ok ? CLIENT_MASKS.filter(({ client }) => isSentBy(client, headers, reading.node)) : []
  const taken = new Map<string, string>()
  const noteFor = (mask: ClientMask) => (value: string) => {
    const id = clientMaskId(mask)
    taken.set(id, taken.has(id) ? `${taken.get(id)}\0${value}` : value)
  }
  let rest = text
  for (const mask of masks) if (mask.takes === "result order") rest = inCallOrder(rest, mask, noteFor(mask))
  return { text: withTokens(rest, masks, noteFor), taken }
}

/** The masks under which two requests that are equal without noise were different. */
export function clientMasksBetween(a: WithoutClientNoise, b: WithoutClientNoise): readonly string[] {
  return [...new Set([...a.taken.keys(), ...b.taken.keys()])].filter((id) => a.taken.get(id) !== b.taken.get(id))
}

/** What a tool gave back, by itself. Whose tool it was is not known there, so the masks of all clients apply. */
export function resultWithoutClientNoise(text: string): string {
  const reading = readJson(text)
  if (!reading.ok) return RESULT_MASKS.reduce((rest, mask) => masked(rest, mask, ignore), text)
  return spliced(text, tokensIn(stringsIn(reading.node), RESULT_MASKS))
}

const RESULT_MASKS = CLIENT_MASKS.filter(({ at }) => at === "tool results")
const ignore = (): void => {}

function isSentBy({ userAgent, systemPrompt }: Client, headers: Headers, root: JsonNode): boolean {
  if (userAgent) return headers.some(([name, value]) => name.toLowerCase() === "user-agent" && userAgent.test(value))
  return systemPrompt !== undefined && systemTexts(root).some(({ value }) => systemPrompt.test(value))
}

type Note = (value: string) => void

function withTokens(text: string, masks: readonly ClientMask[], noteFor: (mask: ClientMask) => Note): string {
  const reading = masks.length === 0 ? undefined : readJson(text)
  if (!reading?.ok) return text
  const results = masks.some(({ at }) => at === "tool results") ? resultTexts(reading.node) : []
  const splices = masks.flatMap((mask): Splice[] => {
    if (mask.takes === "result order") return []
    const nodes = mask.at === "tool results" ? results : nodesAt(reading.node, mask.at)
    return tokensIn(nodes, [mask], text, noteFor(mask))
  })
  return spliced(text, splices)
}

/** A token for each value, or for each part of a text, that a mask covers. No two masks of a client cover the same text. */
function tokensIn(nodes: Iterable<JsonNode>, masks: readonly ClientMask[], text = "", note: Note = ignore): Splice[] {
  const splices: Splice[] = []
  for (const node of nodes) {
    for (const mask of masks) {
      const { start, end } = node
      if (mask.takes === "value") {
        note(text.slice(start, end))
        splices.push({ start, end, with: JSON.stringify(tokenOf(mask)) })
      } else if (node.kind === "string") {
        const value = masked(node.value, mask, note)
        if (value !== node.value) splices.push({ start, end, with: JSON.stringify(value) })
      }
    }
  }
  return splices
}

function masked(text: string, mask: ClientMask, note: Note): string {
  if (typeof mask.takes === "string" || (mask.within && !mask.within.test(text))) return text
  return text.replace(mask.takes, (match) => {
    note(match)
    return tokenOf(mask)
  })
}

const tokenOf = ({ client, covers }: ClientMask): string => `<${client.name}.${covers}>`

/** Every value at a place. As deep as the place, which is written in our own table. */
function nodesAt(node: JsonNode, at: readonly string[]): readonly JsonNode[] {
  const [part, ...rest] = at
  if (part === undefined) return [node]
  if (node.kind === "array") return part === "*" ? node.items.flatMap((item) => nodesAt(item, rest)) : []
  if (node.kind !== "object") return []
  return node.members.filter(({ key }) => key === part).flatMap(({ value }) => nodesAt(value, rest))
}

function resultTexts(root: JsonNode): readonly JsonNode[] {
  const history = historyOf(root)
  if (!history) return []
  return historyParts(history).parts.flatMap(({ result }) => (result?.content ? [...stringsIn(result.content)] : []))
}

/** With a list, not with the call stack: what a tool gave back may be nested as deep as it likes. */
function* stringsIn(root: JsonNode): Generator<JsonNode> {
  const waiting = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.kind === "string") yield node
    else if (node.kind === "array") waiting.push(...node.items)
    else if (node.kind === "object") waiting.push(...node.members.map(({ value }) => value))
  }
}

const NAMED_CALL = /^#(\d+)$/

/** Tool results that stand side by side, in the order in which their calls were made. */
function inCallOrder(text: string, { at }: ClientMask, note: Note): string {
  const reading = readJson(text)
  if (!reading.ok || at === "tool results") return text
  const splices: Splice[] = []
  for (const node of nodesAt(reading.node, at)) {
    if (node.kind !== "array") continue
    for (const run of runsOfResults(node.items)) {
      note(run.map(({ number }) => number).join(","))
      const sorted = [...run].sort((a, b) => a.number - b.number)
      splices.push({
        start: run[0]!.item.start,
        end: run.at(-1)!.item.end,
        with: sorted.map(({ item }) => text.slice(item.start, item.end)).join(","),
      })
    }
  }
  return spliced(text, splices)
}

interface NumberedResult {
  readonly item: JsonNode
  /** Of the call it answers, as the canonical request numbers them. */
  readonly number: number
}

function runsOfResults(items: readonly JsonNode[]): readonly (readonly NumberedResult[])[] {
  const runs: NumberedResult[][] = [[]]
  for (const item of items) {
    const [, digits] = NAMED_CALL.exec(toolTrafficOf(item)?.result?.id ?? "") ?? []
    if (digits === undefined) runs.push([])
    else runs.at(-1)!.push({ item, number: Number(digits) })
  }
  return runs.filter(({ length }) => length > 1)
}
