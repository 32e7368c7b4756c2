import { createReadStream } from "node:fs"
import type { Readable } from "node:stream"
import * as zlib from "node:zlib"
import { InputError } from "@orangebox/contract"
import { formatBytes } from "@orangebox/text"
import { Decompress } from "fzstd"

export type ReadLine =
  | { readonly lineNo: number; readonly value: unknown }
  | { readonly lineNo: number; readonly problem: string }

/** Longer lines hold pictures or nonsense; parsing one takes several times its size in memory. */
const LONGEST_LINE = 64 * 1024 * 1024
/** What a packed file may unpack to. */
const MOST_UNPACKED = 8 * 1024 ** 3

/**
 * The lines of a JSON Lines file, plain or packed, in groups, each with how many bytes of the file were read by then. A last line without its
 * end that is no JSON yet is the end so far; a bad line in the middle is a problem, and the rest is read all the same.
 */
export async function* readLines(
  path: string,
): AsyncGenerator<{ readonly lines: readonly ReadLine[]; readonly bytesRead: number }> {
  const file = createReadStream(path, { highWaterMark: 1 << 20 })
  let lineNo = 0
  let rest: Buffer = Buffer.alloc(0)
  let isTooLong = false
  let unpacked = 0
  for await (const piece of unpackedStream(file, path)) {
    unpacked += piece.length
    if (unpacked > MOST_UNPACKED) throw tooMuch(path)
    const lines: ReadLine[] = []
    let from = 0
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      const part = piece.subarray(from, end)
      const bytes = rest.length === 0 ? part : Buffer.concat([rest, part])
      rest = Buffer.alloc(0)
      from = end + 1
      lineNo++
      if (isTooLong || bytes.length > LONGEST_LINE) lines.push({ lineNo, problem: TOO_LONG })
      else if (bytes.length > 0) push(lines, parsed(bytes, lineNo))
      isTooLong = false
    }
    const tail = piece.subarray(from)
    if (rest.length + tail.length > LONGEST_LINE) {
      isTooLong = true
      rest = Buffer.alloc(0)
    } else if (!isTooLong) rest = rest.length === 0 ? Buffer.from(tail) : Buffer.concat([rest, tail])
    yield { lines, bytesRead: file.bytesRead }
  }
  if (rest.length === 0) return
  const last = parsed(rest, lineNo + 1)
  if (last !== undefined && "value" in last) yield { lines: [last], bytesRead: file.bytesRead }
}

const TOO_LONG = `the line is longer than ${formatBytes(LONGEST_LINE)} and left out`

const push = (lines: ReadLine[], line: ReadLine | undefined): void => {
  if (line !== undefined) lines.push(line)
}

function parsed(bytes: Buffer, lineNo: number): ReadLine | undefined {
  const text = bytes.toString("utf8").trim()
  if (text === "") return undefined
  try {
    return { lineNo, value: JSON.parse(text) }
  } catch {
    return { lineNo, problem: "the line is not JSON" }
  }
}

async function* unpackedStream(file: Readable, path: string): AsyncGenerator<Buffer> {
  try {
    if (path.endsWith(".gz")) yield* file.pipe(zlib.createGunzip())
    else if (path.endsWith(".zst")) yield* zstd(file)
    else yield* file
  } catch (cause) {
    if (cause instanceof InputError) throw cause
    throw new InputError("CANNOT_IMPORT", {
      what: `the file cannot be read to its end: ${cause instanceof Error ? cause.message : String(cause)}`,
      where: path,
      next: "What was read before that is kept; mend the file and import it again",
      cause,
    })
  }
}

/** By Node where it can (22.15 and later), else in JavaScript. */
async function* zstd(file: Readable): AsyncGenerator<Buffer> {
  const create = (zlib as { createZstdDecompress?: () => zlib.Gunzip }).createZstdDecompress
  if (create !== undefined) {
    yield* file.pipe(create())
    return
  }
  let ready: Buffer[] = []
  const unpack = new Decompress((piece) => ready.push(Buffer.from(piece)))
  for await (const piece of file) {
    unpack.push(piece as Uint8Array)
    yield* ready
    ready = []
  }
}

const tooMuch = (path: string): InputError =>
  new InputError("CANNOT_IMPORT", {
    what: `the file unpacks to more than ${formatBytes(MOST_UNPACKED)}`,
    where: path,
    next: "Unpack it yourself and import the parts you need",
  })
