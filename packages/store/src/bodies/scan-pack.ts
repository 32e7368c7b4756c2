import { closeSync, fstatSync, readSync } from "node:fs"
import { openPrivateFile } from "@orangebox/journal"
import { BLOCK_HEADER_BYTES, decodeBlock } from "./block-format.js"
import { PACK_HEADER } from "./pack-writer.js"

/**
 * Everything that lies in a pack, block after block, whatever rows say about it: for the question whether some text is still in it. Ends with a
 * sentence where the file is not what a pack is.
 */
export function* scanPack(path: string): Generator<Buffer, string | undefined> {
  const handle = openPrivateFile(path, "read")
  try {
    if (!readAt(handle, PACK_HEADER.length, 0)?.equals(PACK_HEADER)) return "it does not begin as a pack does"
    for (let at = PACK_HEADER.length; ; ) {
      const header = readAt(handle, BLOCK_HEADER_BYTES, at)
      if (header === undefined) return isEnd(handle, at) ? undefined : `it is cut short at byte ${at}`
      const block = readAt(handle, BLOCK_HEADER_BYTES + header.readUInt32LE(4), at)
      const raw = block === undefined ? "the block is cut short" : decodeBlock(block)
      if (typeof raw === "string") return `byte ${at}: ${raw}`
      yield raw
      at += block!.length
    }
  } finally {
    closeSync(handle)
  }
}

const isEnd = (handle: number, at: number): boolean => readSync(handle, Buffer.alloc(1), 0, 1, at) === 0

/** Undefined where there are not as many. A length is read before it is believed, so that a damaged one reserves nothing. */
function readAt(handle: number, length: number, at: number): Buffer | undefined {
  const { size } = fstatSync(handle)
  if (at + length > size) return undefined
  const bytes = Buffer.allocUnsafe(length)
  for (let done = 0; done < length; ) {
    const read = readSync(handle, bytes, done, length - done, at + done)
    if (read === 0) return undefined
    done += read
  }
  return bytes
}
