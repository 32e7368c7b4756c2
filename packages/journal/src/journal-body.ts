import { closeSync, fstatSync, readSync } from "node:fs"
import { join } from "node:path"
import { bodyHash, OrangeboxError } from "@orangebox/contract"
import { failureCode } from "./journal-fs.js"
import { listJournals, placeOf } from "./journal-list.js"
import { sidecarName } from "./journal-name.js"
import type { BodyEntry } from "./line-format.js"
import { openPrivateFile } from "./private-file.js"
import { tailJournal } from "./reader.js"

/** The bytes of a body or chunk entry of a line of `file`. Throws `BODY_LOST` when they are not there or not the ones written. */
export function readJournalBody(file: string, entry: BodyEntry): Uint8Array {
  const bytes = entryBytes(file, entry)
  if (bytes.length !== entry.byteSize) {
    throw lost(file, `has ${bytes.length} of ${entry.byteSize} bytes`)
  }
  if (entry.hash !== null && bodyHash(bytes) !== entry.hash) throw lost(file, `does not match its hash ${entry.hash}`)
  return bytes
}

function entryBytes(file: string, entry: BodyEntry): Uint8Array {
  switch (entry.form) {
    case "text":
    case "base64":
      return inlineBytes(entry)
    case "sidecar":
      return readSidecar(file, entry.offset, entry.byteSize)
    case "streamed":
      return readStream(file, entry.streamId).bytes
  }
}

/** The bytes of an entry that holds them itself. */
export function inlineBytes(entry: Extract<BodyEntry, { form: "text" | "base64" }>): Uint8Array {
  return entry.form === "text" ? Buffer.from(entry.text, "utf8") : Buffer.from(entry.base64, "base64")
}

export interface StreamedBody {
  readonly bytes: Uint8Array
  /** False when pieces in the middle are missing. What a killed writer had not yet received is not known here. */
  readonly isUnbroken: boolean
}

/**
 * What there is of a streamed body: the chunks in `file` and in the earlier files of the same writer. Reads those files from the
 * start; a collector, which passes every line anyway, keeps the chunks as they come by.
 */
export function readStream(file: string, streamId: string): StreamedBody {
  const { folder, stem, fileNo } = placeOf(file)
  const pieces: Uint8Array[] = []
  let length = 0
  let isUnbroken = true
  for (const journal of listJournals(folder)) {
    const place = placeOf(journal.path)
    if (place.stem !== stem || place.fileNo > fileNo) continue
    for (const item of tailJournal(journal.path)) {
      if (item.kind !== "line" || item.line.kind !== "chunk" || item.line.streamId !== streamId) continue
      if (item.line.streamOffset !== length) isUnbroken = false
      const piece = readJournalBody(journal.path, item.line.bytes)
      pieces.push(piece)
      length = item.line.streamOffset + piece.length
    }
  }
  return { bytes: Buffer.concat(pieces), isUnbroken }
}

function readSidecar(file: string, offset: number, byteSize: number): Uint8Array {
  const { folder, stem, fileNo } = placeOf(file)
  const path = join(folder, sidecarName(stem, fileNo))
  let fd: number
  try {
    fd = openPrivateFile(path, "read")
  } catch (error) {
    throw lost(path, `cannot be read (${failureCode(error)})`, error)
  }
  try {
    // An entry may claim any size; what is not there must not be allocated for.
    const available = Math.max(0, fstatSync(fd).size - offset)
    const bytes = Buffer.allocUnsafeSlow(Math.min(byteSize, available))
    for (let done = 0; done < bytes.length; ) {
      const read = readSync(fd, bytes, done, bytes.length - done, offset + done)
      if (read === 0) return bytes.subarray(0, done)
      done += read
    }
    return bytes
  } finally {
    closeSync(fd)
  }
}

function lost(where: string, how: string, cause?: unknown): OrangeboxError {
  return new OrangeboxError("BODY_LOST", {
    what: `a recorded body ${how}`,
    where,
    next: "The event that names it stays readable; its ref says lost",
    cause,
  })
}
