import type { CacheCall, CacheSegment } from "../cache/cache-call.js"
import { marksOf } from "../cache/cache-call.js"

/** What put a piece into a prompt, as far as the traffic tells. */
export type PieceKind = "tool-def" | "system" | "user" | "assistant" | "tool-result" | "evidence" | "other"

/** One piece of prompts: the same bytes of the same speaker, in however many calls. */
export interface Piece {
  readonly hash: string
  readonly kind: PieceKind
  readonly contributor: string
  readonly label: string
  readonly isError: boolean
  /** Fixed when it is first seen, so that a piece that stays does not seem to grow. */
  readonly tokens: number
}

/** A piece at its place in the prompt of one call. */
export interface PlacedPiece {
  /** Its place in the list of pieces. */
  readonly piece: number
  /** Tokens before it. */
  readonly offset: number
  readonly tokens: number
}

/** One call as a column, from the top of its prompt to the end. */
export interface Column {
  readonly call: CacheCall
  /** Empty where nobody knows what the prompt was made of. */
  readonly pieces: readonly PlacedPiece[]
  readonly tokens: number
  /** Who counted the whole: the provider, or nobody and it was estimated from its bytes. */
  readonly countedBy: "provider" | "estimate"
}

/** Bytes a token where no call of the lane was counted. */
const BYTES_A_TOKEN = 4

/**
 * The calls of one lane as columns of pieces. The provider's count is shared out by size among the pieces that are new, apart before and behind
 * the last cache mark: what a call read and wrote together ends exactly there, so the line of the cache falls on the edge of a piece.
 */
export function columnsOfCalls(calls: readonly CacheCall[]): {
  readonly pieces: readonly Piece[]
  readonly columns: readonly Column[]
} {
  const pieces: Piece[] = []
  const places = new Map<string, number>()
  const names = toolNames(calls)
  let perByte = 1 / BYTES_A_TOKEN
  const columns = calls.map((call): Column => {
    const segments = call.segments ?? []
    const keys = keysOf(segments)
    const bytes = segments.reduce((sum, { length }) => sum + length, 0)
    if (call.prompt !== null && bytes > 0) perByte = call.prompt / bytes
    const isNew = (at: number): boolean => !places.has(keys[at]!)
    for (const { from, to, tokens } of groupsOf(call)) {
      const known = sum(from, to, (at) => (isNew(at) ? 0 : pieces[places.get(keys[at]!)!]!.tokens))
      const fresh = range(from, to).filter(isNew)
      const lengths = fresh.map((at) => segments[at]!.length)
      // A provider that counts less than before for the same pieces leaves nothing to share out; then size alone tells.
      const left = tokens === null || tokens - known <= 0 ? perByte * total(lengths) : tokens - known
      const shares = sharesOf(Math.round(left), lengths)
      fresh.forEach((at, index) => {
        places.set(keys[at]!, pieces.length)
        pieces.push(pieceOf(segments[at]!, shares[index]!, call, names))
      })
    }
    let offset = 0
    const placed = keys.map((key) => {
      const piece = places.get(key)!
      const { tokens } = pieces[piece]!
      const at = { piece, offset, tokens }
      offset += tokens
      return at
    })
    return { call, pieces: placed, tokens: offset, countedBy: call.prompt === null ? "estimate" : "provider" }
  })
  return { pieces, columns }
}

/** The parts of a prompt whose size is known by itself: before the last mark, and behind it. */
function groupsOf(
  call: CacheCall,
): readonly { readonly from: number; readonly to: number; readonly tokens: number | null }[] {
  const { prompt, read, written, segments = [] } = call
  const end = segments.length
  const mark = marksOf(call).at(-1)
  const kept = read === null && written === null ? null : (read ?? 0) + (written ?? 0)
  if (mark === undefined || kept === null || kept === 0 || prompt === null || kept > prompt || mark + 1 >= end)
    return [{ from: 0, to: end, tokens: prompt }]
  return [
    { from: 0, to: mark + 1, tokens: kept },
    { from: mark + 1, to: end, tokens: prompt - kept },
  ]
}

/** The same text may stand in a prompt twice: the second one is another piece. */
function keysOf(segments: readonly CacheSegment[]): string[] {
  const seen = new Map<string, number>()
  return segments.map(({ hash, role }) => {
    const key = `${role ?? ""}\0${hash}`
    const count = seen.get(key) ?? 0
    seen.set(key, count + 1)
    return `${key}\0${count}`
  })
}

/** Whole numbers in proportion to sizes that add up to the total: what is left over goes to the largest remainders. */
export function sharesOf(wanted: number, sizes: readonly number[]): number[] {
  const all = total(sizes)
  if (all === 0) return sizes.map((_, at) => (at === 0 ? wanted : 0))
  const exact = sizes.map((size) => (wanted * size) / all)
  const shares = exact.map(Math.floor)
  const order = exact
    .map((share, at) => ({ at, rest: share - shares[at]! }))
    .sort((a, b) => b.rest - a.rest || a.at - b.at)
  for (let left = wanted - total(shares), next = 0; left > 0; left--, next++) shares[order[next]!.at]! += 1
  return shares
}

function pieceOf(
  segment: CacheSegment,
  tokens: number,
  { told }: CacheCall,
  names: ReadonlyMap<string, string>,
): Piece {
  const { hash, contributor, is_error } = segment
  // What the application calls it, where its account names the same bytes.
  const named = told.find((one) => one.hash === hash)
  const kind = kindOf(named ?? segment, segment, named !== undefined)
  return { hash, kind, contributor, label: labelOf(segment, named, kind, names), isError: is_error === true, tokens }
}

function kindOf({ kind }: Pick<CacheSegment, "kind">, { contributor, role }: CacheSegment, isTold: boolean): PieceKind {
  if (kind === "tool-def") return "tool-def"
  if (contributor.startsWith("tool-result:")) return "tool-result"
  if (isTold && kind === "other") return "evidence"
  if (kind === "persona" || kind === "skill" || kind === "agent-profile" || role === "system" || role === "developer")
    return "system"
  if (role === "assistant" || role === "model") return "assistant"
  return role === "user" ? "user" : "other"
}

function labelOf(
  { contributor, tool_call_id }: CacheSegment,
  named: CacheSegment | undefined,
  kind: PieceKind,
  names: ReadonlyMap<string, string>,
): string {
  if (kind === "tool-def") return contributor.replace(/^tool:/, "tool ")
  if (kind === "tool-result") return contributor.replace(/^tool-result:/, "result ")
  if (kind === "assistant" && tool_call_id !== undefined) return `asks ${names.get(tool_call_id) ?? "a tool"}`
  if (named !== undefined && named.contributor !== contributor) return named.contributor
  return kind === "system" ? "system prompt" : kind === "other" ? contributor : kind
}

/** What asks for a tool does not say its name where only the outline was kept; its result does. */
function toolNames(calls: readonly CacheCall[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const { segments = [] } of calls)
    for (const { tool_call_id, contributor } of segments)
      if (tool_call_id !== undefined && contributor.startsWith("tool-result:"))
        names.set(tool_call_id, contributor.slice("tool-result:".length))
  return names
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at)
const sum = (from: number, to: number, of: (at: number) => number): number => {
  let result = 0
  for (let at = from; at < to; at++) result += of(at)
  return result
}
