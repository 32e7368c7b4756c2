import { withTags } from "../tape/sign.js"
import { readStored } from "../tape/stored-body.js"
import type { RecordedStdout, Tape } from "../tape/tape.js"

/** What two commands wrote to their stdout. */
export interface ComparedStdout {
  /** What both wrote, by its hash or digest; null where it was not compared. */
  readonly output: string | null
  readonly differences: readonly string[]
  readonly unknown: readonly { readonly what: string; readonly why: string }[]
}

/** To the byte, secrets told apart by their tags: the reader of a pipe reads all of it. */
export function compareStdout(source: Tape, replay: Tape): ComparedStdout {
  const [was, is] = [source.outputs.stdout, replay.outputs.stdout]
  if (was === null || is === null)
    return notCompared(
      `in the ${was === null ? "source" : "replay"} it was no pipe of its own that was read to its end`,
    )
  if (was.digest !== null && is.digest !== null && keyOf(was) !== keyOf(is) && was.byteSize === is.byteSize)
    return notCompared("its digests were made under two keys")
  const [a, b] = [tellingOf(was, source), tellingOf(is, replay)]
  if (a === b) return { output: was.body?.hash ?? was.digest, differences: [], unknown: [] }
  return { output: null, differences: [`stdout differs: ${firstDifference(was, source, is, replay)}`], unknown: [] }
}

const notCompared = (why: string): ComparedStdout => ({
  output: null,
  differences: [],
  unknown: [{ what: "stdout", why }],
})

const keyOf = ({ digest }: RecordedStdout): string | undefined => digest?.split(":", 1)[0]

/** Two secrets that mask alike are two by their tags, where the bytes are not there to say where each of them stands, too. */
function tellingOf({ byteSize, body, digest }: RecordedStdout, tape: Tape): string {
  const bytes = body && bytesIn(body, tape)
  if (bytes) return `${byteSize}\0${Buffer.from(bytes).toString("latin1")}`
  return JSON.stringify([byteSize, digest, body?.hash, body?.masks.map(({ tag }) => tag)])
}

function bytesIn(body: NonNullable<RecordedStdout["body"]>, { bodies }: Tape): Uint8Array | undefined {
  const reading = readStored(body, bodies)
  return reading.ok ? withTags(reading.bytes, body.masks) : undefined
}

/** The line where it begins, as both have it. */
function firstDifference(was: RecordedStdout, source: Tape, is: RecordedStdout, replay: Tape): string {
  const a = was.body && bytesIn(was.body, source)
  const b = is.body && bytesIn(is.body, replay)
  if (!a || !b || Buffer.from(a).equals(b))
    return `${was.byteSize} bytes were written, it is ${is.byteSize}, and not the same`
  const [before, now] = [a, b].map((bytes) => Buffer.from(bytes).toString("utf8").split("\n")) as [string[], string[]]
  const at = before.findIndex((line, index) => line !== now[index])
  const line = at < 0 ? before.length : at
  return `line ${line + 1} was ${shown(before[line])}, it is ${shown(now[line])}`
}

const SHOWN = 80

const shown = (line: string | undefined): string =>
  line === undefined ? "not there" : JSON.stringify(line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line)
