import { type Dialect, dialectOfBytes, foldResponse, streamAnswer, type WithoutClientNoise } from "@orangebox/dialects"

/**
 * A work tree that is found at another path than the recorded one, where the system cannot show it there. Full paths are written anew: in
 * answers, so that the agent's tools go to its copy, and in what is asked, so that it is compared as it was recorded.
 */
export interface MovedTree {
  /** The top of the recorded tree. */
  readonly from: string
  /** The top of the copy. */
  readonly to: string
}

/** Named wherever masks are. */
export const MOVED_MASK = "workspace:path"

/** A request as the agent would ask it in the recorded tree. */
export function asBeforeMove(asked: WithoutClientNoise, moved: MovedTree | null): WithoutClientNoise {
  if (moved === null) return asked
  const text = rewritten(asked.text, moved.to, moved.from)
  return text === asked.text ? asked : { text, taken: new Map([...asked.taken, [MOVED_MASK, moved.to]]) }
}

/**
 * An answer as the agent can use it in its copy. What a stream says is only known once it is put together: one whose pieces cut a path is cut
 * anew.
 */
export function asAfterMove(bytes: Uint8Array, isEventStream: boolean, { from, to }: MovedTree): Uint8Array {
  const said = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  const text = rewritten(said, from, to)
  const changed = text === said ? bytes : Buffer.from(text, "utf8")
  const dialect = isEventStream ? dialectOfBytes(bytes) : undefined
  const whole = dialect && wholeText(dialect, bytes)
  if (dialect === undefined || whole === undefined) return changed
  const moved = rewritten(whole, from, to)
  if (moved === whole) return bytes
  if (wholeText(dialect, changed) === moved) return changed
  return streamAnswer(dialect, Buffer.from(moved, "utf8")) ?? changed
}

function wholeText(dialect: Dialect, bytes: Uint8Array): string | undefined {
  const { message } = foldResponse(dialect, bytes)
  return message == null ? undefined : JSON.stringify(message)
}

/** The path itself and what is below it, and not another one that begins or ends like it. */
function rewritten(text: string, from: string, to: string): string {
  const [was, is] = [from, to].map((path) => JSON.stringify(path).slice(1, -1)) as [string, string]
  if (!text.includes(was)) return text
  return text.replace(
    new RegExp(`${BEFORE}${was.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\w-]|\\.\\w)`, "g"),
    () => is,
  )
}

/** The beginning, a sign that is in no path, or an escape such as that of a line end, whose letter looks like one. */
const BEFORE = String.raw`(?<=^|[^\w.~-]|\\[bfnrt]|\\u[0-9a-fA-F]{4})`
